// The jobs of the sidecar: which are shown, their progress and result, and a button that stops them.

import { button, el } from '../base/dom.js';
import { jobError } from './error_text.js';

/** @typedef {import('../pages/browser_context.js').BrowserContext} BrowserContext */
/** @typedef {import('../base/types.js').Job} Job */
/** @typedef {import('../base/strings.js').Say} Say */
/** @typedef {import('../base/strings.js').Key} Key */

/** Kinds that have a name of their own. */
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
export const isUnfinished = job => job.state === 'queued' || job.state === 'running';

/** All unfinished jobs and the last ended ones. Tests of the model show their own result, dry runs have none.
 * @param {readonly Job[]} jobs the newest first @returns {Job[]} */
export function shownJobs(jobs) {
    const lasting = jobs.filter(job => job.kind !== 'model_test' && !job.result?.dry_run);
    return lasting.filter((job, index) => isUnfinished(job) || index < SHOWN);
}

/** @param {Job} job @param {Say} say @returns {string} */
export const jobName = (job, say) =>
    KINDS.has(job.kind) ? say(/** @type {Key} */ (`job_${job.kind}`)) : job.kind;

/** @param {Job} job @param {Say} say @returns {string} its state, and its result when it is done */
export function outcomeText(job, say) {
    if (job.state === 'failed') return say('stand_failed', { reason: jobError(job, say) });
    if (job.state !== 'done') return say(/** @type {Key} */ (`stand_${job.state}`));
    if (job.kind === 'deep') {
        const { answer, calls } = job.result ?? {};
        return say('deep_result', { n: answer?.memories.length ?? 0, calls: calls ?? 0 });
    }
    const { calls, memories, written, parked } = job.result ?? {};
    if (typeof calls !== 'number') return say('stand_done');
    const learned = say('learned_result', { calls, memories: memories ?? written ?? 0 });
    const deferred = parked?.length ? say('learned_parked', { n: parked.length }) : '';
    return [learned, deferred].filter(Boolean).join(' ');
}

/** @param {Job} job @param {Say} say @returns {string} empty while it is not known */
function progressText({ progress: { done, total, unit } }, say) {
    if (!total) return '';
    return unit === 'calls' ? say('stand_calls', { done, total }) : `${done} / ${total}`;
}

/** Progress bar and stop button of an unfinished job.
 * @param {BrowserContext} context @param {Job} job @param {() => unknown} changed called after a stop
 * @returns {HTMLElement[]} */
function controls({ say, memoryApi, attempt }, job, changed) {
    const { job: id, progress } = job;
    const label = jobName(job, say);
    const values = progress.total ? { max: progress.total, value: progress.done } : {};
    const stop = () =>
        attempt(async () => {
            await memoryApi.cancelJob(id);
            await changed();
        });
    return [
        el('progress', { class: 'soulmem_job_bar', 'aria-label': label, ...values }),
        el('div', { class: 'soulmem_row' }, [
            button('fa-stop', say('read_cancel'), stop, { class: 'soulmem_job_cancel' }),
        ]),
    ];
}

/** @param {BrowserContext} context @param {readonly Job[]} jobs @param {() => unknown} changed called after a stop
 * @returns {HTMLElement} */
export function jobList(context, jobs, changed) {
    const { say } = context;

    /** @param {Job} job */
    function line(job) {
        const unfinished = isUnfinished(job);
        const progress = unfinished ? progressText(job, say) : '';
        const text = [outcomeText(job, say), progress].filter(Boolean).join(': ');
        const data = { job: job.job, kind: job.kind, state: job.state };
        return el('li', { class: 'soulmem_entry soulmem_job', data }, [
            el('div', { class: 'soulmem_recalled_head' }, [
                el('b', { text: jobName(job, say) }),
                el('small', { class: 'soulmem_recalled_facts', text: context.localTime(job.at) }),
            ]),
            el('div', { class: 'soulmem_hint', text }),
            ...(unfinished ? controls(context, job, changed) : []),
        ]);
    }

    const shown = shownJobs(jobs);
    const list = el('ol', { class: 'soulmem_list' }, shown.map(line));
    const title = el('h4', { text: say('jobs_title') });
    return el('div', { id: 'soulmem_jobs' }, shown.length ? [title, list] : []);
}
