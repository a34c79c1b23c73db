// Sends one chat to the sidecar: idempotent PUTs of what it holds now, relative to what was acknowledged last.

import { digestLine, digestOf } from '../base/hash.js';

/** @typedef {import('../base/types.js').Entry} Entry */
/** @typedef {import('../base/types.js').Target} Target */
/** @typedef {import('../base/types.js').Quarantine} Quarantine */
/** @typedef {import('../base/types.js').SyncAnswer} SyncAnswer */
/** `complete` is false when messages are left for a later send.
 * @typedef {{applied: boolean, complete: boolean, added: number, changed: number, removed: number, held: Quarantine | null}} UploadResult */
/** @typedef {(chat: string, body: object, signal?: AbortSignal) => Promise<SyncAnswer>} Put */
/** @typedef {{code: string, status: number, field?: string}} Refusal */
/** What one request lists. `withText`: entries sent with their text; `remaining`: entries left for later.
 * @typedef {{listed: Entry[], withText: Set<Entry>, remaining: number}} Round */

const BATCH_MESSAGES = 100;
const BATCH_CHARS = 400_000; // far below the contract's 32 MiB even with three bytes a character
const URGENT_TAIL = 20; // messages that a recall needs: the last exchanges
const MAX_REFUSALS = 4; // a conflict, an unknown parent, two smaller batches; more cannot be resolved

/** All that decides whether an entry has to be sent again. @param {Entry} entry */
const entryKey = entry =>
    digestLine(entry) +
    [entry.role, entry.speaker, entry.sent_at, entry.swipe, entry.present?.join(',') ?? '*'].join(
        '|',
    );

/** The wording of an entry: the sidecar keeps texts by it. @param {Entry} entry */
const versionKey = entry => `${entry.slot}:${entry.hash}`;

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
        chars += entry.text.length;
        if (chars > maxChars && count > 0) break;
        count++;
    }
    return entries.slice(0, count);
}

/** @param {Put} put sends one request for a chat */
export function createChatUpload(put) {
    let acknowledged = /** @type {string[]} */ ([]); // keys of the entries the sidecar has, in order
    let header = ''; // souls, title, persona and parent as acknowledged
    let probed = false; // the sidecar has said which texts it lacks
    let maxChars = BATCH_CHARS;
    let parentUnknown = false; // the sidecar refused the parent: send without it
    const stored = /** @type {Set<string>} */ (new Set()); // version keys whose text the sidecar has

    /** All entries whose text is stored, and a batch of the others: the oldest, so that the chat grows in
     * its own order; when a reply waits, the newest.
     * @param {Entry[]} entries @param {boolean} urgent @returns {Round} */
    function nextRound(entries, urgent) {
        const unsent = entries.filter(entry => !stored.has(versionKey(entry)));
        const first = urgent ? unsent.slice(-URGENT_TAIL).reverse() : unsent;
        const withText = new Set(firstBatch(first, maxChars));
        return {
            listed: entries.filter(entry => stored.has(versionKey(entry)) || withText.has(entry)),
            withText,
            remaining: unsent.length - withText.size,
        };
    }

    /** The first request: a short chat goes with its texts, a long one without, to learn which are lacking.
     * @param {Entry[]} entries @returns {Round} */
    function firstRound(entries) {
        const chars = entries.reduce((sum, entry) => sum + entry.text.length, 0);
        const isShort = entries.length <= BATCH_MESSAGES && chars <= maxChars;
        return { listed: entries, withText: new Set(isShort ? entries : []), remaining: 0 };
    }

    /** The request: the unchanged beginning as `base`, the rest in full.
     * @param {Target} target @param {Round} round @param {boolean} confirm */
    function bodyOf(target, { listed, withText }, confirm) {
        let same = 0;
        const isSame = () =>
            same < acknowledged.length &&
            same < listed.length &&
            acknowledged[same] === entryKey(listed[same]);
        while (isSame()) same++;
        return {
            souls: target.souls,
            title: target.title,
            persona: target.persona,
            parent: parentUnknown ? null : target.parent,
            base: same > 0 ? { count: same, digest: digestOf(listed.slice(0, same)) } : null,
            messages: listed.slice(same).map(entry => toWire(entry, withText.has(entry))),
            confirm_removal: confirm,
        };
    }

    /** Whether the sidecar has exactly this list already.
     * @param {readonly Entry[]} listed @param {string} nextHeader */
    const isAcknowledged = (listed, nextHeader) =>
        listed.length === acknowledged.length &&
        header === nextHeader &&
        listed.every((entry, index) => acknowledged[index] === entryKey(entry));

    /** Changes what the next request sends. @param {Refusal} refusal
     * @returns {boolean} false when there is nothing left to try */
    function adapt(refusal) {
        if (refusal.code === 'conflict') {
            const hopeless = acknowledged.length === 0;
            acknowledged = [];
            probed = false;
            stored.clear();
            return !hopeless;
        }
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

    /** @param {readonly Entry[]} entries of the chat @param {readonly string[]} slots whose texts are lacking */
    function noteLacking(entries, slots) {
        const lacking = new Set(slots);
        stored.clear();
        for (const entry of entries) if (!lacking.has(entry.slot)) stored.add(versionKey(entry));
        probed = true;
    }

    /** @param {readonly Entry[]} listed that were applied @param {string} nextHeader */
    function noteAcknowledged(listed, nextHeader) {
        probed = true;
        acknowledged = listed.map(entryKey);
        header = nextHeader;
        for (const entry of listed) stored.add(versionKey(entry));
    }

    /** Brings the sidecar up to date.
     * @param {Target} target
     * @param {object} [options]
     * @param {boolean} [options.urgent] a reply waits: send what it needs, leave the rest to a later call
     * @param {boolean} [options.confirm] the user confirmed the removal of quarantined messages
     * @param {AbortSignal} [options.signal]
     * @param {(done: number, total: number) => void} [options.progress] messages stored, of all
     * @param {() => boolean} [options.pause] whether to stop after the current batch
     * @returns {Promise<UploadResult>} */
    async function send(target, { urgent = false, confirm = false, signal, progress, pause } = {}) {
        const total = {
            applied: false,
            complete: false,
            added: 0,
            changed: 0,
            removed: 0,
            held: null,
        };
        const { entries } = target;
        const { souls, title, persona, parent } = target;
        const nextHeader = JSON.stringify([souls, title, persona, parent]);
        let refusals = 0;
        for (;;) {
            signal?.throwIfAborted();
            const round = probed ? nextRound(entries, urgent) : firstRound(entries);
            if (!confirm && isAcknowledged(round.listed, nextHeader)) {
                return { ...total, complete: round.remaining === 0 };
            }
            let answer;
            try {
                answer = await put(target.chat, bodyOf(target, round, confirm), signal);
            } catch (error) {
                if (refusals++ < MAX_REFUSALS && adapt(/** @type {Refusal} */ (error))) continue;
                throw error;
            }
            const lacking = answer.needs_text;
            if (lacking.length > 0) {
                if (refusals++ >= MAX_REFUSALS) {
                    throw new Error(
                        `the sidecar keeps asking for the same ${lacking.length} texts`,
                    );
                }
                noteLacking(entries, lacking);
                continue;
            }
            if (answer.held) return { ...total, held: answer.held };
            refusals = 0;
            confirm = false;
            noteAcknowledged(round.listed, nextHeader);
            total.applied ||= answer.applied;
            total.added += answer.added;
            total.changed += answer.changed;
            total.removed += answer.removed;
            progress?.(round.listed.length, entries.length);
            if (round.remaining === 0) return { ...total, complete: true };
            if (urgent || pause?.()) return total;
        }
    }

    return {
        send,
        /** @returns {string[]} slots of the messages that the sidecar has, in order */
        slots: () => acknowledged.map(key => key.slice(0, key.indexOf(':'))),
    };
}
