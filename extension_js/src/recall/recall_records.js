// The recalls of this page: the latest, and the last few hundred by trace.

/** @typedef {import('../base/types.js').RecallRecord} RecallRecord */

const MAX_RECORDS = 200;

/** @type {RecallRecord} */
const EMPTY = {
    trace: '',
    type: 'normal',
    slot: null,
    swipe: null,
    soul: '',
    speaker: '',
    chat: '',
    memories: [],
    blocks: [],
    sent: [],
    trimmed: [],
    item_tokens: {},
    tokens: 0,
    budget: 0,
    timed_out: false,
    took_ms: {},
    error: null,
};

/** @param {(record: RecallRecord) => void} added called with each recall that succeeded or was changed */
export function createRecallRecords(added) {
    const byTrace = /** @type {Map<string, RecallRecord>} */ (new Map());
    let last = /** @type {RecallRecord | null} */ (null);

    return {
        /** @param {RecallRecord} record replaces the record of the same trace */
        add(record) {
            last = record;
            if (record.trace) byTrace.set(record.trace, record);
            const surplus = Math.max(0, byTrace.size - MAX_RECORDS);
            for (const trace of [...byTrace.keys()].slice(0, surplus)) byTrace.delete(trace);
            added(record);
        },
        /** @param {string} type @param {import('../base/types.js').RecallFailure} error */
        addFailure(type, error) {
            last = { ...EMPTY, type, error };
        },
        /** @returns {RecallRecord | null} */
        last: () => last,
        /** @param {string} trace @returns {RecallRecord | null} */
        byTrace: trace => byTrace.get(trace) ?? null,
    };
}

/** @typedef {ReturnType<typeof createRecallRecords>} RecallRecords */
