// What the sidecar has of one chat, by its own answers.

import { digestLine, digestOf, textHash } from '../base/hash.js';

/** @typedef {import('../base/types.js').Entry} Entry */

/** All that decides whether an entry has to be sent again. @param {Entry} entry */
function entryKey(entry) {
    const { role, speaker, sent_at, swipe, present, story } = entry;
    const fields = [role, speaker, sent_at, swipe, present?.join(',') ?? '*'];
    if (story !== undefined) fields.push(textHash(story));
    return digestLine(entry) + fields.join('|');
}

/** The wording of an entry: the sidecar keeps texts by it. @param {Entry} entry */
const versionKey = entry => `${entry.slot}:${entry.hash}`;

export function createAcknowledged() {
    let keys = /** @type {string[]} */ ([]); // of the entries it has, in order
    let header = ''; // souls, title, persona and parent
    let probed = false; // it has said which texts it lacks
    const texts = /** @type {Set<string>} */ (new Set()); // version keys whose text it has

    /** @param {Entry} entry @param {number} index */
    const isSame = (entry, index) => keys[index] === entryKey(entry);

    return {
        /** Whether it has said which texts it lacks. */
        isProbed: () => probed,
        /** @param {Entry} entry */
        hasText: entry => texts.has(versionKey(entry)),
        /** Whether it has exactly this list. @param {readonly Entry[]} listed @param {string} nextHeader */
        isList: (listed, nextHeader) =>
            listed.length === keys.length && header === nextHeader && listed.every(isSame),
        /** The beginning of a list that it has already.
         * @param {readonly Entry[]} listed @returns {{count: number, digest: string} | null} */
        baseOf(listed) {
            const changed = listed.findIndex((entry, index) => !isSame(entry, index));
            const count = changed < 0 ? listed.length : changed;
            return count > 0 ? { count, digest: digestOf(listed.slice(0, count)) } : null;
        },
        /** @returns {string[]} slots of the messages it has, in order */
        slots: () => keys.map(key => key.slice(0, key.indexOf(':'))),
        /** It lacks these texts, and no others. @param {readonly Entry[]} entries of the chat @param {readonly string[]} slots */
        noteLacking(entries, slots) {
            const lacking = new Set(slots);
            texts.clear();
            for (const entry of entries) if (!lacking.has(entry.slot)) texts.add(versionKey(entry));
            probed = true;
        },
        /** It applied a list. @param {readonly Entry[]} listed @param {string} nextHeader */
        noteList(listed, nextHeader) {
            probed = true;
            keys = listed.map(entryKey);
            header = nextHeader;
            for (const entry of listed) texts.add(versionKey(entry));
        },
        /** Nothing is known any more. @returns {boolean} whether anything was known */
        clear() {
            const wasKnown = keys.length > 0;
            keys = [];
            probed = false;
            texts.clear();
            return wasKnown;
        },
    };
}
