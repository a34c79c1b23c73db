// How are memories, what was done to them and what waits for the user asked for and changed? The contract's doors, nothing else.

/** @typedef {import('../chat/people.js').Ask} Ask */
/** @typedef {import('../base/types.js').Listed} Listed */
/** @typedef {import('../base/types.js').Whole} Whole */
/** @typedef {import('../base/types.js').AuditEntry} AuditEntry */
/** @typedef {import('../base/types.js').Deletion} Deletion */
/** @typedef {import('../base/types.js').ChatHead} ChatHead */
/** @typedef {import('../base/types.js').Undone} Undone */
/** @typedef {import('../base/types.js').Job} Job */
/** @typedef {import('../base/types.js').Ledger} Ledger */
/** What a list holds; what is empty does not matter.
 * @typedef {{kind?: string, q?: string, permanent?: boolean, state?: 'active' | 'bin' | 'stale'}} Filter */
/** @typedef {{since: string} | {change: string} | {job: string}} What */

const PAGE = 30;
const PATIENCE = 20_000; // ms

/** @param {Record<string, string | number | boolean | null | undefined>} values @returns {string} the query of an address; what is empty is left out */
export function queryOf(values) {
    const told = Object.entries(values).filter(
        ([, value]) => value !== undefined && value !== null && value !== '',
    );
    return told.length
        ? `?${new URLSearchParams(told.map(([name, value]) => [name, String(value)]))}`
        : '';
}

/** @param {Ask} ask */
export function createMemories(ask) {
    /** @param {string} method @param {string} path @param {unknown} [body] */
    const call = (method, path, body) => ask(method, path, body, { timeout: PATIENCE });

    return {
        /** @param {string} soul @param {Filter} filter @param {string | null} cursor
         * @returns {Promise<{memories: Listed[], cursor: string | null}>} */
        list: (soul, filter, cursor) =>
            call(
                'GET',
                `/memories${queryOf({ soul, ...filter, match: filter.q ? 'meaning' : '', limit: PAGE, cursor })}`,
            ),
        /** @param {string} id @returns {Promise<Whole>} */
        whole: id => call('GET', `/memories/${id}`),
        /** @param {string} soul @param {string} text @returns {Promise<Whole>} */
        note: (soul, text) => call('POST', '/memories', { soul, kind: 'note', text }),
        /** @param {Whole} memory as it was read @param {Record<string, unknown>} changes @returns {Promise<Whole>} raises `conflict` when it changed since */
        change: (memory, changes) =>
            call('PATCH', `/memories/${memory.id}`, { ...changes, revision: memory.revision }),
        /** To the bin. @param {Pick<Listed, 'id' | 'permanent'>} memory a permanent one only after the user typed so @returns {Promise<unknown>} */
        bin: memory =>
            call(
                'DELETE',
                `/memories/${memory.id}${queryOf({ confirm: memory.permanent ? 'permanent' : '' })}`,
            ),
        /** Out of the bin for good, words and history. @param {string} id @returns {Promise<unknown>} raises `conflict` while a chat or the card tells it */
        purge: id => call('DELETE', `/memories/${id}${queryOf({ confirm: 'purge' })}`),
        /** @param {string} id @returns {Promise<Whole>} */
        restore: id => call('POST', `/memories/${id}/restore`, {}),
        /** @param {string} id @param {string | null} cursor @returns {Promise<{audit: AuditEntry[], cursor: string | null}>} */
        history: (id, cursor) =>
            call('GET', `/memories/${id}/history${queryOf({ limit: PAGE, cursor })}`),
        /** @param {string} soul @param {string | null} cursor @param {string} [since] @param {number} [limit]
         * @returns {Promise<{audit: AuditEntry[], cursor: string | null}>} the newest first */
        audit: (soul, cursor, since, limit = PAGE) =>
            call('GET', `/audit${queryOf({ soul, since, limit, cursor })}`),
        /** @param {string} trace of the recall @param {string} memory @param {string} verdict @returns {Promise<{change: string}>} by which it is undone */
        judge: (trace, memory, verdict) => call('POST', '/feedback', { trace, memory, verdict }),
        /** @param {string} soul @param {What} what @returns {Promise<Undone>} */
        undo: (soul, what) => call('POST', '/undo', { soul, ...what }),
        /** @param {string} soul @returns {Promise<Job[]>} the newest first */
        jobs: soul => call('GET', `/jobs${queryOf({ soul })}`).then(answer => answer.jobs),
        /** @param {string} soul @param {string} kind @param {Record<string, unknown>} [given] @returns {Promise<string>} its id */
        startJob: (soul, kind, given = {}) =>
            call('POST', '/jobs', { kind, soul, arguments: given }).then(answer => answer.job),
        /** @param {string} job @returns {Promise<Job>} */
        job: job => call('GET', `/jobs/${job}`),
        /** @param {string} job @returns {Promise<Job>} what it has done so far stays */
        cancelJob: job => call('DELETE', `/jobs/${job}`),
        /** What the work of a language model cost, and what it would cost to do what is due. @param {string} soul @returns {Promise<Ledger>} */
        ledger: soul => call('GET', `/ledger${queryOf({ soul })}`),
        /** @param {string} soul @returns {Promise<Deletion[]>} what still waits for the user's word */
        deletions: soul =>
            call('GET', `/deletions${queryOf({ soul })}`).then(answer =>
                answer.deletions.filter(
                    (/** @type {Deletion} */ one) => one.state === 'awaiting_confirmation',
                ),
            ),
        /** @param {string} request @param {'confirm' | 'reject'} decision @returns {Promise<unknown>} */
        decide: (request, decision) => call('POST', `/deletions/${request}`, { decision }),
        /** @param {string} soul @returns {Promise<ChatHead[]>} */
        chats: soul => call('GET', `/chats${queryOf({ soul })}`).then(answer => answer.chats),
        /** @param {string} chat @returns {Promise<{slot: string, speaker: string, text: string}[]>} as the sidecar keeps it */
        stored: chat => call('GET', `/chats/${chat}`).then(answer => answer.messages),
        /** @returns {Promise<{id: string, name: string}[]>} */
        souls: () => call('GET', '/souls').then(answer => answer.souls),
    };
}

/** @typedef {ReturnType<typeof createMemories>} Memories */
