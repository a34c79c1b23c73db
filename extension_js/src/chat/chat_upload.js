// Sends one chat to the sidecar: idempotent PUTs of what it holds now, relative to what was acknowledged last.

import { createAcknowledged } from './acknowledged.js';

/** @typedef {import('../base/types.js').Entry} Entry */
/** @typedef {import('../base/types.js').Target} Target */
/** @typedef {import('../base/types.js').Quarantine} Quarantine */
/** @typedef {import('../base/types.js').SyncAnswer} SyncAnswer */
/** @typedef {Pick<SyncAnswer, 'applied' | 'added' | 'changed' | 'removed' | 'held'>} Changes */
/** `complete` is false when messages are left for a later send.
 * @typedef {Changes & {complete: boolean}} UploadResult */
/** @typedef {{messages: {slot: string}[]}} SyncBody the body of a request, as far as others read it */
/** @typedef {(chat: string, body: SyncBody, signal?: AbortSignal) => Promise<SyncAnswer>} Put */
/** @typedef {{code: string, status: number, field?: string}} Refusal */
/** What one request lists. `withText`: entries sent with their text; `remaining`: entries left for later.
 * @typedef {{listed: Entry[], withText: Set<Entry>, remaining: number}} Round */

/** @typedef {object} UploadOptions
 * @property {boolean} [urgent] a reply waits: send what it needs, leave the rest to a later call
 * @property {boolean} [confirm] the user confirmed the removal of quarantined messages
 * @property {AbortSignal} [signal]
 * @property {(done: number, total: number) => void} [progress] messages stored, of all
 * @property {() => boolean} [pause] whether to stop after the current batch
 * @property {Put} [put] sends the requests of this call
 */

const BATCH_MESSAGES = 100;
const BATCH_CHARS = 400_000; // far below the contract's 32 MiB even with three bytes a character
const URGENT_TAIL = 20; // messages that a recall needs: the last exchanges
const MAX_REFUSALS = 4; // a conflict, an unknown parent, two smaller batches; more cannot be resolved

/** An entry as the contract has it. @param {Entry} entry @param {boolean} withText */
function toWire(entry, withText) {
    const { text, sent_at, ...rest } = entry;
    return { ...rest, ...(sent_at && { sent_at }), ...(withText && { text }) };
}

/** The longest run from the front that fits one batch, at least one entry.
 * @param {readonly Entry[]} entries @param {number} maxChars @returns {Entry[]} */
function firstBatch(entries, maxChars) {
    let chars = 0;
    let count = 0;
    for (const entry of entries.slice(0, BATCH_MESSAGES)) {
        chars += entry.text.length + (entry.story?.length ?? 0);
        if (chars > maxChars && count > 0) break;
        count++;
    }
    return entries.slice(0, count);
}

/** The first request: a short chat goes with its texts, a long one without, to learn which are lacking.
 * @param {Entry[]} entries @param {number} maxChars @returns {Round} */
function firstRound(entries, maxChars) {
    const chars = entries.reduce((sum, entry) => sum + entry.text.length + (entry.story?.length ?? 0), 0);
    const isShort = entries.length <= BATCH_MESSAGES && chars <= maxChars;
    return { listed: entries, withText: new Set(isShort ? entries : []), remaining: 0 };
}

/** Adds what a request changed. @param {Changes} total is changed @param {SyncAnswer} answer */
function addChanges(total, answer) {
    total.applied ||= answer.applied;
    total.added += answer.added;
    total.changed += answer.changed;
    total.removed += answer.removed;
}

/** @returns {Changes} */
const noChanges = () => ({ applied: false, added: 0, changed: 0, removed: 0, held: null });

/** @param {Put} put sends one request for a chat */
export function createChatUpload(put) {
    const acknowledged = createAcknowledged();
    let maxChars = BATCH_CHARS;
    let parentUnknown = false; // the sidecar refused the parent: send without it

    /** All entries whose text is stored, and a batch of the others: the oldest, so that the chat grows in
     * its own order; when a reply waits, the newest.
     * @param {Entry[]} entries @param {boolean} urgent @returns {Round} */
    function nextRound(entries, urgent) {
        if (!acknowledged.isProbed()) return firstRound(entries, maxChars);
        const unsent = entries.filter(entry => !acknowledged.hasText(entry));
        const first = urgent ? unsent.slice(-URGENT_TAIL).reverse() : unsent;
        const withText = new Set(firstBatch(first, maxChars));
        return {
            listed: entries.filter(entry => acknowledged.hasText(entry) || withText.has(entry)),
            withText,
            remaining: unsent.length - withText.size,
        };
    }

    /** The request: the unchanged beginning as `base`, the rest in full.
     * @param {Target} target @param {Round} round @param {boolean} confirm */
    function bodyOf({ souls, title, persona, parent }, { listed, withText }, confirm) {
        const base = acknowledged.baseOf(listed);
        const changed = listed.slice(base?.count ?? 0);
        return {
            souls,
            title,
            persona,
            parent: parentUnknown ? null : parent,
            base,
            messages: changed.map(entry => toWire(entry, withText.has(entry))),
            confirm_removal: confirm,
        };
    }

    /** Changes what the next request sends. @param {Refusal} refusal
     * @returns {boolean} false when there is nothing left to try */
    function adapt(refusal) {
        if (refusal.code === 'conflict') return acknowledged.clear();
        if (refusal.code === 'too_large' && maxChars > 1000) {
            maxChars = Math.floor(maxChars / 4);
            return true;
        }
        if (refusal.field?.startsWith('parent') && !parentUnknown) {
            parentUnknown = true;
            return true;
        }
        return false;
    }

    /** Sends one round until it is neither refused nor short of texts.
     * @param {Target} target @param {string} header @param {UploadOptions} options
     * @returns {Promise<{round: Round, answer: SyncAnswer | null}>} no answer when there was nothing to send */
    async function sendRound(target, header, options) {
        const { urgent = false, confirm = false, signal, put: send = put } = options;
        for (let refusals = 0; ; refusals++) {
            signal?.throwIfAborted();
            const round = nextRound(target.entries, urgent);
            if (!confirm && acknowledged.isList(round.listed, header))
                return { round, answer: null };
            let answer;
            try {
                answer = await send(target.chat, bodyOf(target, round, confirm), signal);
            } catch (error) {
                if (refusals < MAX_REFUSALS && adapt(/** @type {Refusal} */ (error))) continue;
                throw error;
            }
            const lacking = answer.needs_text;
            if (lacking.length === 0) return { round, answer };
            if (refusals >= MAX_REFUSALS) {
                throw new Error(`the sidecar keeps asking for the same ${lacking.length} texts`);
            }
            acknowledged.noteLacking(target.entries, lacking);
        }
    }

    /** Brings the sidecar up to date.
     * @param {Target} target @param {UploadOptions} [options] @returns {Promise<UploadResult>} */
    async function send(target, options = {}) {
        const { urgent = false, progress, pause } = options;
        let { confirm = false } = options;
        const total = noChanges();
        const { souls, title, persona, parent, entries } = target;
        const header = JSON.stringify([souls, title, persona, parent]);
        for (;;) {
            const { round, answer } = await sendRound(target, header, { ...options, confirm });
            const complete = round.remaining === 0;
            if (!answer) return { ...total, complete };
            if (answer.held) return { ...total, held: answer.held, complete: false };
            confirm = false;
            acknowledged.noteList(round.listed, header);
            addChanges(total, answer);
            progress?.(round.listed.length, entries.length);
            if (complete || urgent || pause?.()) return { ...total, complete };
        }
    }

    return { send, slots: acknowledged.slots };
}
