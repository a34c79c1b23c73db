// A deep search: a job of the sidecar that is watched until it has ended.

import { watchedJob } from '../link/watched_job.js';

/** @typedef {import('../link/memory_api.js').MemoryApi} MemoryApi */
/** @typedef {import('../link/watched_job.js').Watcher} Watcher */
/** @typedef {import('../base/types.js').Job} Job */
/** What is searched for, in whose memory, and what that chat may know; an empty `chat` is no limit. `language`: of
 * the reasons.
 * @typedef {{soul: string, chat: string, query: string, language: 'en' | 'zh'}} DeepQuestion */

/** Starts the job and waits for its end. Fails when the sidecar refuses it or cannot be reached.
 * @param {MemoryApi} memoryApi @param {DeepQuestion} question @param {Watcher} [watcher]
 * @returns {Promise<Job>} the job that has ended: done, failed or cancelled */
export async function deepSearch(memoryApi, { soul, chat, query, language }, watcher = {}) {
    const question = { query, language, ...(chat && { chat }) };
    const id = await memoryApi.startJob(soul, 'deep', question);
    return watchedJob(memoryApi, id, watcher);
}
