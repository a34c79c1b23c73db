// A job of the sidecar that is watched until it has ended, such as the import of one file.

/** @typedef {import('../base/types.js').Ask} Ask */
/** @typedef {{job: string, state: string, progress: {done: number, total: number}, result: any, error: string | null,
 *   error_phrase?: import('../base/strings.js').Phrase}} SidecarJob */

const POLL = 300; // ms between two looks at a job
const SEND_TIMEOUT = 300_000; // ms that a large file may take to arrive
const ENDED = ['done', 'failed', 'cancelled'];

/** @param {number} ms */
const sleep = ms => new Promise(resolve => setTimeout(resolve, ms));

/** @param {Ask} ask the sidecar @param {(ms: number) => Promise<unknown>} [wait] */
export function createSidecarJob(ask, wait = sleep) {
    /** Sends a request and waits until its job has ended. An abort cancels the job; what it did by then stays.
     * @param {object} body of the request @param {(job: SidecarJob) => void} seen called at each look
     * @param {AbortSignal} [signal] @param {string} [path] of the request
     * @returns {Promise<SidecarJob>} */
    return async function runJob(body, seen, signal, path = '/import') {
        signal?.throwIfAborted();
        const { job: id } = await ask('POST', path, body, { timeout: SEND_TIMEOUT });
        for (;;) {
            if (signal?.aborted) await ask('DELETE', `/jobs/${id}`);
            const job = /** @type {SidecarJob} */ (await ask('GET', `/jobs/${id}`));
            seen(job);
            if (ENDED.includes(job.state)) {
                if (job.state === 'cancelled') signal?.throwIfAborted();
                return { ...job, job: id };
            }
            await wait(POLL);
        }
    };
}
