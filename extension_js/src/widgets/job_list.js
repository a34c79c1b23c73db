// Which long work is under way or was done, how far is it, and how is it stopped?

import { button, el } from '../base/dom.js';

/** @typedef {import('../pages/browser_context.js').Desk} Desk */
/** @typedef {import('../base/types.js').Job} Job */
/** @typedef {import('../base/strings.js').Say} Say */
/** @typedef {import('../base/strings.js').Key} Key */

const KINDS = new Set([
    'consolidate',
    'import',
    'forget',
    'digest',
    'topics',
    'replay',
    'reembed',
    'backup',
    'quiz',
    'deep',
    'purge',
]);
const SHOWN = 8;

/** @param {Job} job */
export const isGoing = job => job.state === 'queued' || job.state === 'running';

/** The jobs worth a line: all that go on, and the last that ended; a test of the model tells its result itself.
 * @param {readonly Job[]} jobs the newest first @returns {Job[]} */
export function worthTelling(jobs) {
    const told = jobs.filter(job => job.kind !== 'model_test' && !job.result?.dry_run);
    return told.filter((job, place) => isGoing(job) || place < SHOWN);
}

/** @param {Job} job @param {Say} say @returns {string} */
export const jobName = (job, say) =>
    KINDS.has(job.kind) ? say(/** @type {Key} */ (`job_${job.kind}`)) : job.kind;

/** What came of it. @param {Job} job @param {Say} say @returns {string} */
export function outcome(job, say) {
    if (job.state === 'failed') return say('stand_failed', { reason: job.error ?? '' });
    if (job.state !== 'done') return say(/** @type {Key} */ (`stand_${job.state}`));
    const { calls, memories, written, parked } = job.result ?? {};
    if (typeof calls !== 'number') return say('stand_done');
    return [
        say('learned_result', { calls, memories: memories ?? written ?? 0 }),
        parked?.length ? say('learned_parked', { n: parked.length }) : '',
    ]
        .filter(Boolean)
        .join(' ');
}

/** @param {Desk} desk @param {readonly Job[]} jobs @param {() => unknown} changed @returns {HTMLElement} */
export function jobList(desk, jobs, changed) {
    const { say, memories } = desk;
    const told = worthTelling(jobs);

    /** @param {Job} job */
    function line(job) {
        const { done, total, unit } = job.progress;
        const going = isGoing(job);
        const bar = going
            ? /** @type {HTMLProgressElement} */ (
                  el('progress', {
                      class: 'soulmem_job_bar',
                      ...(total ? { max: total, value: done } : {}),
                  })
              )
            : null;
        const stop = () =>
            desk.attempt(async () => {
                await memories.cancelJob(job.job);
                await changed();
            });
        const far = total
            ? unit === 'calls'
                ? say('stand_calls', { done, total })
                : `${done} / ${total}`
            : '';
        return el(
            'li',
            {
                class: 'soulmem_entry soulmem_job',
                data: { job: job.job, kind: job.kind, state: job.state },
            },
            [
                el('div', { class: 'soulmem_recalled_head' }, [
                    el('b', { text: jobName(job, say) }),
                    el('small', { class: 'soulmem_recalled_facts', text: desk.when(job.at) }),
                ]),
                el('div', {
                    class: 'soulmem_hint',
                    text: going && far ? `${outcome(job, say)}: ${far}` : outcome(job, say),
                }),
                bar,
                going
                    ? el('div', { class: 'soulmem_row' }, [
                          button('fa-stop', say('read_cancel'), stop, {
                              class: 'soulmem_job_cancel',
                          }),
                      ])
                    : null,
            ],
        );
    }

    return el(
        'div',
        { id: 'soulmem_jobs' },
        told.length
            ? [
                  el('h4', { text: say('jobs_title') }),
                  el('ol', { class: 'soulmem_list' }, told.map(line)),
              ]
            : [],
    );
}
