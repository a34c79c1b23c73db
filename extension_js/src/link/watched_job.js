// A job of the sidecar that is watched until it has ended.

/** @typedef {import('./memory_api.js').MemoryApi} MemoryApi */
/** @typedef {import('../base/types.js').Job} Job */
/** `shown` gets the job at each look; once `isUnwanted` says so, the job is stopped.
 * @typedef {{shown?: (job: Job) => unknown, isUnwanted?: () => boolean}} Watcher */

const PAUSE = 400; // ms between two looks
const FAILED_LOOKS = 5; // in a row, after which the job is given up

const pause = () => new Promise(resolve => setTimeout(resolve, PAUSE));

/** Waits for the end of a job. Fails when the sidecar cannot be reached.
 * @param {MemoryApi} memoryApi @param {string} id @param {Watcher} [watcher]
 * @returns {Promise<Job>} the job that has ended: done, failed or cancelled */
export async function watchedJob(memoryApi, id, watcher = {}) {
    const { shown = () => {}, isUnwanted = () => false } = watcher;
    let isStopped = false;
    let failedLooks = 0;
    for (;;) {
        try {
            if (!isStopped && isUnwanted()) {
                await memoryApi.cancelJob(id);
                isStopped = true;
            }
            const job = await memoryApi.job(id);
            failedLooks = 0;
            shown(job);
            if (job.state !== 'queued' && job.state !== 'running') return job;
        } catch (error) {
            failedLooks += 1;
            if (failedLooks === FAILED_LOOKS) throw error;
        }
        await pause();
    }
}
