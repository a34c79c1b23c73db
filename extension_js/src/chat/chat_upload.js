// How does a chat get to the sidecar? By idempotent puts of what it holds now, against what was last acknowledged.

import { digestLine, digestOf } from '../base/hash.js';

/** @typedef {import('../base/types.js').Entry} Entry */
/** @typedef {import('../base/types.js').Target} Target */
/** @typedef {import('../base/types.js').Held} Held */
/** @typedef {import('../base/types.js').SyncAnswer} SyncAnswer */
/** @typedef {{applied: boolean, complete: boolean, added: number, changed: number, removed: number, held: Held | null}} SyncResult */
/** @typedef {(chat: string, body: object, signal?: AbortSignal) => Promise<SyncAnswer>} Put */
/** @typedef {{code: string, status: number, field?: string}} Refusal */

const BATCH_MESSAGES = 100;
const BATCH_CHARS = 400_000; // well under the contract's 32 MiB even if every character takes three bytes
const URGENT_TAIL = 20; // what a recall needs: the last exchanges
const MAX_REFUSALS = 4; // a conflict, a lost parent, a halved batch or two; more means the two sides cannot agree

/** What the digest does not cover; when it changes the message has to be sent again. @param {Entry} entry */
const keyOf = entry =>
    digestLine(entry) +
    [entry.role, entry.speaker, entry.sent_at, entry.swipe, entry.present?.join(',') ?? '*'].join(
        '|',
    );

/** @param {Entry} entry @param {boolean} withText */
function wire(entry, withText) {
    const { text, sent_at, ...rest } = entry;
    return { ...rest, ...(sent_at && { sent_at }), ...(withText && { text }) };
}

/** The longest run of `unread` from the front that fits one batch, at least one.
 * @param {readonly Entry[]} unread @param {number} chars @returns {Entry[]} */
function batch(unread, chars) {
    let size = 0;
    const fits = unread
        .slice(0, BATCH_MESSAGES)
        .findIndex((entry, index) => (size += entry.text.length) > chars && index > 0);
    return unread.slice(0, fits < 0 ? BATCH_MESSAGES : fits);
}

/** Keeps one chat in step with the sidecar.
 * @param {Put} put */
export function createChatSync(put) {
    let applied = /** @type {string[]} */ ([]); // keys of what was last acknowledged, in order
    let header = '';
    let probed = false; // has the sidecar told us which texts it lacks?
    let chars = BATCH_CHARS;
    let orphan = false; // the sidecar does not know the parent: go on without it
    const known = /** @type {Set<string>} */ (new Set()); // slot:hash whose text the sidecar has

    /** @param {Entry} entry */
    const versionKey = entry => `${entry.slot}:${entry.hash}`;

    /** What this round lists: all it knows, and as much of the rest as one batch takes. Oldest first, so that a chat grows
     * as it was lived; when a reply waits only its last exchanges count.
     * @param {Entry[]} entries @param {boolean} urgent */
    function choose(entries, urgent) {
        const unread = entries.filter(entry => !known.has(versionKey(entry)));
        const chosen = new Set(
            urgent ? batch(unread.slice(-URGENT_TAIL).reverse(), chars) : batch(unread, chars),
        );
        return {
            listed: entries.filter(entry => known.has(versionKey(entry)) || chosen.has(entry)),
            chosen,
            left: unread.length - chosen.size,
        };
    }

    /** One body: the unchanged beginning as `base`, the rest in full.
     * @param {Target} target @param {readonly Entry[]} listed @param {ReadonlySet<Entry>} withText @param {boolean} confirm */
    function body(target, listed, withText, confirm) {
        let same = 0;
        while (
            same < applied.length &&
            same < listed.length &&
            applied[same] === keyOf(listed[same])
        )
            same++;
        return {
            souls: target.souls,
            title: target.title,
            persona: target.persona,
            parent: orphan ? null : target.parent,
            base: same > 0 ? { count: same, digest: digestOf(listed.slice(0, same)) } : null,
            messages: listed.slice(same).map(entry => wire(entry, withText.has(entry))),
            confirm_removal: confirm,
        };
    }

    /** Learns from a refusal; false when there is nothing left to try. @param {Refusal} refusal */
    function learn(refusal) {
        if (refusal.code === 'conflict') {
            const hopeless = applied.length === 0;
            applied = [];
            probed = false;
            known.clear();
            return !hopeless;
        }
        if (refusal.code === 'too_large' && chars > 1000) {
            chars = Math.floor(chars / 4);
            return true;
        }
        if (refusal.field?.startsWith('parent') && !orphan) {
            orphan = true;
            return true;
        }
        return false;
    }

    /** Brings the sidecar up to date.
     * @param {Target} target
     * @param {object} [options]
     * @param {boolean} [options.urgent] a reply waits: send what it needs and leave the rest to a later call
     * @param {boolean} [options.confirm] the user confirmed a held removal
     * @param {AbortSignal} [options.signal]
     * @param {(done: number, total: number) => void} [options.progress] messages the sidecar holds, of all
     * @param {() => boolean} [options.pause] true: stop after this batch, because something urgent waits
     * @returns {Promise<SyncResult>} `complete` false when messages are left for later */
    async function sync(target, { urgent = false, confirm = false, signal, progress, pause } = {}) {
        const total = {
            applied: false,
            complete: false,
            added: 0,
            changed: 0,
            removed: 0,
            held: /** @type {Held | null} */ (null),
        };
        const entries = target.entries;
        const nextHeader = JSON.stringify([
            target.souls,
            target.title,
            target.persona,
            target.parent,
        ]);
        let refusals = 0;
        for (;;) {
            signal?.throwIfAborted();
            const { listed, chosen, left } = probed ? choose(entries, urgent) : probe(entries);
            if (
                listed.length === applied.length &&
                header === nextHeader &&
                !confirm &&
                listed.every((entry, i) => applied[i] === keyOf(entry))
            ) {
                return { ...total, complete: left === 0 };
            }
            let answer;
            try {
                answer = await put(target.chat, body(target, listed, chosen, confirm), signal);
            } catch (error) {
                if (refusals++ < MAX_REFUSALS && learn(/** @type {Refusal} */ (error))) continue;
                throw error;
            }
            if (answer.needs_text.length > 0) {
                if (refusals++ >= MAX_REFUSALS)
                    throw new Error(
                        `the sidecar asks again and again for the same ${answer.needs_text.length} texts`,
                    );
                const lacking = new Set(answer.needs_text);
                known.clear();
                for (const entry of entries)
                    if (!lacking.has(entry.slot)) known.add(versionKey(entry));
                probed = true;
                continue;
            }
            if (answer.held) return { ...total, held: answer.held };
            refusals = 0;
            confirm = false;
            probed = true;
            applied = listed.map(keyOf);
            header = nextHeader;
            for (const entry of listed) known.add(versionKey(entry));
            total.applied ||= answer.applied;
            total.added += answer.added;
            total.changed += answer.changed;
            total.removed += answer.removed;
            progress?.(listed.length, entries.length);
            if (left === 0) return { ...total, complete: true };
            if (urgent || pause?.()) return total;
        }
    }

    /** The first round of all: a short chat goes with its texts, a long one by hashes alone to learn what is lacking.
     * @param {Entry[]} entries */
    function probe(entries) {
        const short =
            entries.length <= BATCH_MESSAGES &&
            entries.reduce((size, entry) => size + entry.text.length, 0) <= chars;
        return { listed: entries, chosen: new Set(short ? entries : []), left: 0 };
    }

    return { sync, slots: () => applied.map(key => key.slice(0, key.indexOf(':'))) };
}
