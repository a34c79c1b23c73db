// The page "Check": would the character know it if asked? Ten questions made of its own memories.

import { button, el } from '../base/dom.js';
import { failedJob } from '../widgets/error_text.js';
import { markedNodes } from '../widgets/marked_text.js';
import { watchedJob } from '../link/watched_job.js';
import { recallForLine } from './line_recall.js';

/** @typedef {import('./browser_context.js').BrowserContext} BrowserContext */
/** @typedef {import('../base/types.js').Job} Job */
/** A question of the quiz; `rank`: its place in the answer, null when it did not come; `told`: memories that came.
 * @typedef {{memory: string, question: string, answer: string, rank: number | null, told: number}} Asked */
/** A question about somebody unknown. @typedef {{question: string, told: number}} Never */

const SCORES = 12; // earlier results that are drawn

/** @param {BrowserContext} context @param {HTMLElement} page */
export async function checkPage(context, page) {
    const { say, memoryApi } = context;
    const results = el('div', { 'aria-live': 'polite' });
    const label = say('page_check');
    const progress = el('progress', { class: 'soulmem_job_bar', 'aria-label': label, hidden: '' });
    let isStopped = false;
    const stop = button('fa-stop', say('read_cancel'), () => (isStopped = true), {
        id: 'soulmem_check_stop',
    });
    const start = button('fa-list-check', say('check_start'), () => context.attempt(run), {
        id: 'soulmem_check_start',
    });
    page.append(
        el('p', { class: 'soulmem_hint', text: say('check_hint') }),
        el('div', { class: 'soulmem_row' }, [start, stop]),
        progress,
        results,
    );
    stop.hidden = true;
    const jobs = await memoryApi.jobs(context.soul);
    const ended = jobs.filter(job => job.kind === 'quiz' && job.state === 'done');
    if (ended[0]) show(ended[0], ended);

    async function run() {
        isStopped = false;
        stop.hidden = false;
        progress.hidden = false;
        try {
            const id = await memoryApi.startJob(context.soul, 'quiz');
            const job = await watchedJob(memoryApi, id, {
                shown: ({ progress: { done, total } }) => {
                    if (!total) return;
                    progress.setAttribute('max', String(total));
                    progress.setAttribute('value', String(done));
                },
                isUnwanted: () => isStopped || !page.isConnected,
            });
            if (job.state === 'failed') throw failedJob(job, say);
            if (job.state === 'done') {
                ended.unshift(job);
                show(job, ended);
            }
        } finally {
            stop.hidden = true;
            progress.hidden = true;
        }
    }

    /** @param {Job} job @param {readonly Job[]} all the newest first */
    function show(job, all) {
        const asked = /** @type {Asked[]} */ (job.result.asked);
        if (asked.length === 0) {
            results.replaceChildren(
                el('p', { class: 'soulmem_hint', text: say('check_nothing') }),
            );
            return;
        }
        const known = asked.filter(one => one.rank !== null).length;
        const silent = asked.filter(({ told }) => told === 0).length;
        const never = /** @type {Never[]} */ (job.result.never ?? []);
        const failedFirst = [...asked].sort((a, b) => Number(a.rank !== null) - Number(b.rank !== null));
        results.replaceChildren(
            el('p', {
                class: 'soulmem_check_score',
                text: say('check_score', { known, silent, wrong: asked.length - known - silent, n: asked.length }),
            }),
            ...never.map(stranger),
            scoresOverTime(all),
            el('ol', { class: 'soulmem_list' }, failedFirst.map(question)),
        );
    }

    /** @param {Never} never */
    function stranger({ question: text, told }) {
        const said = say(told ? 'check_never_told' : 'check_never_silent', { question: text, n: told });
        return el('p', { class: `soulmem_check_never ${told ? 'soulmem_no' : 'soulmem_yes'}` }, [
            el('i', { class: `fa-solid ${told ? 'fa-circle-xmark' : 'fa-circle-check'}` }),
            ` ${said}`,
        ]);
    }

    /** Bars of the last results, oldest first. @param {readonly Job[]} all */
    function scoresOverTime(all) {
        const last = all.slice(0, SCORES).reverse();
        const bars = last.map(job => {
            const percent = Math.round(100 * job.result.score);
            const title = say('check_bar', { percent, when: context.localTime(job.at) });
            return el('span', { role: 'img', 'aria-label': title, title }, [
                el('i', { style: `height: ${Math.max(percent, 3)}%` }),
            ]);
        });
        return el('div', { class: 'soulmem_scores' }, bars);
    }

    /** @param {Asked} asked */
    function question(asked) {
        const isKnown = asked.rank !== null;
        const verdict = isKnown
            ? say('check_known', { n: asked.rank ?? 0 })
            : say(asked.told ? 'check_wrong' : 'check_not_known', { n: asked.told });
        const open = () => context.show('memories', asked.memory);
        const pin = () =>
            context.attempt(async () => {
                await memoryApi.keepForEver(asked.memory);
                context.showStatus(say('try_forever_done'));
            });
        const why = () => context.show('recall', asked.question);
        const meant = () =>
            context.attempt(async () => {
                const line = /** @type {const} */ ({ query: asked.question, chat: null, type: 'quiet' });
                const { trace } = await recallForLine(context, line);
                await memoryApi.judge(trace, asked.memory, 'stronger');
                context.showStatus(say('try_brought'));
            });
        const data = { memory: asked.memory, known: String(isKnown) };
        return el('li', { class: 'soulmem_item', data }, [
            el('div', { class: 'soulmem_recalled_head' }, [
                el('b', {}, markedNodes([asked.question])),
                el('small', { class: isKnown ? 'soulmem_yes' : 'soulmem_no' }, [
                    el('i', { class: `fa-solid ${isKnown ? 'fa-circle-check' : 'fa-circle-xmark'}` }),
                    ` ${verdict}`,
                ]),
            ]),
            el('div', { class: 'soulmem_quote_text', text: asked.answer }),
            isKnown
                ? null
                : el('div', { class: 'soulmem_row' }, [
                      button('fa-arrow-up', say('check_meant'), meant, {
                          class: 'soulmem_check_meant',
                      }),
                      button('fa-pen', say('try_open'), open, { class: 'soulmem_check_open' }),
                      button('fa-wand-magic-sparkles', say('check_why'), why),
                      button('fa-thumbtack', say('try_forever'), pin, {
                          class: 'soulmem_check_pin',
                      }),
                  ]),
        ]);
    }
}
