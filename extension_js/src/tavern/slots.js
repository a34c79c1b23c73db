// The slot of a message: its id, kept in `extra.soulmem.id` and minted when it has none.

import { sha256 } from '../base/hash.js';
import { isId } from '../base/ids.js';

/** @typedef {import('../base/types.js').StMessage} StMessage */
/** @typedef {import('../base/types.js').Stamp} Stamp */

/** @param {StMessage} message @returns {Stamp} what the extension wrote on it; empty when nothing */
export const stampOf = message => message.extra?.soulmem ?? {};

/** @param {StMessage | undefined} message @returns {string | null} its slot; null when it has none yet */
export function slotOf(message) {
    const id = message && stampOf(message).id;
    return isId(id) ? id : null;
}

/** Writes a stamp on a message, and on the swipe it shows: SillyTavern restores `extra` from there.
 * @param {StMessage} message @param {Partial<Stamp>} stamp undefined values are removed */
export function writeStamp(message, stamp) {
    const next = { ...stampOf(message), ...stamp };
    for (const key of /** @type {(keyof Stamp)[]} */ (Object.keys(next))) {
        if (next[key] === undefined) delete next[key];
    }
    message.extra = typeof message.extra === 'object' && message.extra ? message.extra : {};
    message.extra.soulmem = next;
    const shown = message.swipe_info?.[message.swipe_id ?? 0];
    if (shown && typeof shown === 'object') {
        shown.extra = { ...shown.extra, soulmem: { ...next } };
    }
}

/** @param {StMessage} message @returns {string | null} the slot on any of its swipes */
function slotOfSwipes(message) {
    for (const swipe of message.swipe_info ?? []) {
        const id = swipe?.extra?.soulmem?.id;
        if (isId(id)) return id;
    }
    return null;
}

/** Writes a stamp on a message and on each of its swipes.
 * @param {StMessage} message @param {Partial<Stamp>} stamp undefined values are removed */
export function stampAllSwipes(message, stamp) {
    writeStamp(message, stamp);
    for (const swipe of message.swipe_info ?? []) {
        if (swipe && typeof swipe === 'object') {
            const next = { ...swipe.extra?.soulmem, ...stamp };
            swipe.extra = { ...swipe.extra, soulmem: JSON.parse(JSON.stringify(next)) };
        }
    }
}

/** Gives every message of a chat a slot of its own.
 *
 * A minted slot depends only on speaker and time, so a chat whose ids were never saved gets the same ones again.
 * Of two messages with the same slot (a duplicated message) the first keeps it.
 * @param {readonly StMessage[]} chat
 * @param {(message: StMessage) => Partial<Stamp>} [more] what else to write on a message that had no slot
 * @returns {number} how many were minted */
export function mintSlots(chat, more = () => ({})) {
    const taken = new Set();
    const unassigned = [];
    for (const message of chat) {
        const slot = slotOf(message) ?? slotOfSwipes(message);
        if (slot === null || taken.has(slot)) {
            unassigned.push(message);
        } else {
            taken.add(slot);
            if (slotOf(message) === null) stampAllSwipes(message, { id: slot });
        }
    }
    // Of many messages without a date each would go through the rounds of all before it.
    const rounds = /** @type {Map<string, number>} */ (new Map());
    for (const message of unassigned) {
        const { is_user, name, send_date } = message;
        const seed = `${is_user ? 'u' : 'c'}\n${name ?? ''}\n${String(send_date ?? '')}`;
        let round = rounds.get(seed) ?? 0;
        let slot = '';
        do slot = 'm' + sha256(`${seed}\n${round++}`).slice(0, 20);
        while (taken.has(slot));
        taken.add(slot);
        rounds.set(seed, round);
        const isDuplicate = slotOf(message) !== null;
        stampAllSwipes(message, { id: slot });
        writeStamp(message, isDuplicate ? { trace: undefined, n: undefined } : more(message));
    }
    return unassigned.length;
}

/** @param {readonly StMessage[]} chat @returns {string | null} slot of the last message that has one; in a new
 *   branch, that is the last message shared with the parent */
export function lastSlot(chat) {
    for (let i = chat.length - 1; i >= 0; i--) {
        const slot = slotOf(chat[i]);
        if (slot !== null) return slot;
    }
    return null;
}
