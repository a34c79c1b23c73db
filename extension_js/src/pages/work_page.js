// What does SoulMem learn at rest: with which model, at what price, how far is it, and what came of it?

import { el } from '../base/dom.js';
import { isGoing, jobList } from '../widgets/job_list.js';
import { drawLearned } from './learned_runs.js';
import { modelCard } from './model_card.js';

/** @typedef {import('./browser_context.js').Desk} Desk */

const GOING = 1000; // ms between looks while work goes on
const RESTING = 10_000;

/** @param {Desk} desk @param {HTMLElement} page */
export async function workPage(desk, page) {
    const { memories, soul } = desk;
    const jobs = el('div', {});
    const learned = el('div', { id: 'soulmem_learned' });
    const card = modelCard(desk, look);
    page.append(card.element, jobs, learned);
    let shown = ''; // of the jobs: what did not change is not drawn anew under the user's finger
    let known = ''; // how much was written when what was learned was drawn
    let timer = /** @type {ReturnType<typeof setTimeout> | undefined} */ (undefined);

    async function look() {
        const [all, ledger] = await Promise.all([memories.jobs(soul), memories.ledger(soul)]);
        card.draw(ledger, all);
        if (JSON.stringify(all) !== shown) jobs.replaceChildren(jobList(desk, all, look));
        shown = JSON.stringify(all);
        const now = JSON.stringify([
            all.filter(job => !isGoing(job)).map(job => job.job),
            Object.values(ledger.totals).map(one => one.memories),
        ]);
        if (now !== known) await drawLearned(desk, learned);
        known = now;
        plan(all.some(isGoing) ? GOING : RESTING);
    }

    /** @param {number} pause ms */
    function plan(pause) {
        clearTimeout(timer);
        timer = setTimeout(() => void again(), pause);
    }

    /** As long as the page is open; a look that fails is followed by the next. */
    async function again() {
        if (!page.isConnected) return;
        plan(RESTING);
        if (!document.hidden)
            await look().catch(error =>
                console.debug('[SoulMem] the work at rest cannot be seen:', error.message),
            );
    }

    await look();
}
