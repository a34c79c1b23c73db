// The page of background work: the models, the price of a run, jobs, and what was learned.

import { el } from '../base/dom.js';
import { embedderCard } from '../widgets/embedder_card.js';
import { isUnfinished, jobList } from '../widgets/job_list.js';
import { drawRuns } from './learned_runs.js';
import { modelCard } from './model_card.js';

/** @typedef {import('./browser_context.js').BrowserContext} BrowserContext */
/** @typedef {import('../base/types.js').Job} Job */
/** @typedef {import('../base/types.js').UsageLedger} UsageLedger */

const BUSY_PAUSE = 1000; // ms between looks while a job is unfinished
const IDLE_PAUSE = 10_000; // ms

/** Changes when something new may have been learned. @param {readonly Job[]} jobs @param {UsageLedger} ledger */
function learnedKey(jobs, ledger) {
    const ended = jobs.filter(job => !isUnfinished(job)).map(job => job.job);
    const written = Object.values(ledger.totals).map(usage => usage.memories);
    return JSON.stringify([ended, written]);
}

/** Draws only what has changed, so that nothing moves while the user presses a button.
 * @param {BrowserContext} context @param {HTMLElement} page */
export async function workPage(context, page) {
    const { memoryApi, soul } = context;
    const jobsPlace = el('div', {});
    const runsPlace = el('div', { id: 'soulmem_learned' });
    const card = modelCard(context, refresh);
    page.append(card.element, embedderCard(context), jobsPlace, runsPlace);
    let drawnJobs = ''; // as JSON
    let drawnRuns = ''; // their key
    let isNew = true; // the key changed at the last look; a memory may be written after it was counted, so one more follows
    let timer = /** @type {ReturnType<typeof setTimeout> | undefined} */ (undefined);

    async function refresh() {
        const [jobs, ledger] = await Promise.all([memoryApi.jobs(soul), memoryApi.ledger(soul)]);
        card.draw(ledger, jobs);
        const json = JSON.stringify(jobs);
        if (json !== drawnJobs) jobsPlace.replaceChildren(jobList(context, jobs, refresh));
        drawnJobs = json;
        const key = learnedKey(jobs, ledger);
        const wasNew = isNew;
        isNew = key !== drawnRuns;
        drawnRuns = key;
        if (isNew || wasNew) await drawRuns(context, runsPlace);
        schedule(jobs.some(isUnfinished) ? BUSY_PAUSE : IDLE_PAUSE);
    }

    /** @param {number} pause ms */
    function schedule(pause) {
        clearTimeout(timer);
        timer = setTimeout(() => void refreshLater(), pause);
    }

    /** Goes on while the page is shown, also after a failure. */
    async function refreshLater() {
        if (!page.isConnected) return;
        schedule(IDLE_PAUSE);
        if (document.hidden) return;
        await refresh().catch(error =>
            console.debug('[SoulMem] the background work cannot be seen:', error.message),
        );
    }

    await refresh();
}
