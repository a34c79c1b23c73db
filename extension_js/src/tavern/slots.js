// Which message is this? Every message carries a slot id in `extra.soulmem.id`, minted when it has none.

import { sha256 } from '../base/hash.js';
import { isId } from '../base/ids.js';

/** @typedef {import('../base/types.js').StMessage} StMessage */
/** @typedef {import('../base/types.js').Stamp} Stamp */

/** @param {StMessage} message @returns {Stamp} what we wrote on it, or an empty stamp */
export const stampOf = message => message.extra?.soulmem ?? {};

/** The slot of a message, or null when it has none yet. @param {StMessage | undefined} message @returns {string | null} */
export function slotOf(message) {
    const id = message && stampOf(message).id;
    return isId(id) ? id : null;
}

/** Writes our stamp on a message and on the swipe it shows, for SillyTavern restores `extra` from there.
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

/** The slot that another swipe of this message already carries. @param {StMessage} message @returns {string | null} */
function slotOfSwipes(message) {
    for (const swipe of message.swipe_info ?? []) {
        const id = swipe?.extra?.soulmem?.id;
        if (isId(id)) return id;
    }
    return null;
}

/** @param {StMessage} message @param {string} slot */
function stampAllSwipes(message, slot) {
    writeStamp(message, { id: slot });
    for (const swipe of message.swipe_info ?? []) {
        if (swipe && typeof swipe === 'object') {
            swipe.extra = { ...swipe.extra, soulmem: { ...swipe.extra?.soulmem, id: slot } };
        }
    }
}

/** Gives every message of a chat a slot of its own and returns how many were minted.
 *
 * A minted slot follows from who spoke and when, so a chat whose ids were never saved gets the same ones again.
 * Of two messages with the same slot (a duplicated message) the first keeps it.
 * @param {readonly StMessage[]} chat
 * @param {(message: StMessage) => Partial<Stamp>} [more] what else to write on a message that had no slot
 * @returns {number} */
export function mintSlots(chat, more = () => ({})) {
    const taken = new Set();
    const homeless = [];
    for (const message of chat) {
        const slot = slotOf(message) ?? slotOfSwipes(message);
        if (slot === null || taken.has(slot)) {
            homeless.push(message);
        } else {
            taken.add(slot);
            if (slotOf(message) === null) stampAllSwipes(message, slot);
        }
    }
    for (const message of homeless) {
        const seed = `${message.is_user ? 'u' : 'c'}\n${message.name ?? ''}\n${String(message.send_date ?? '')}`;
        let round = 0;
        let slot = '';
        do slot = 'm' + sha256(`${seed}\n${round++}`).slice(0, 20);
        while (taken.has(slot));
        taken.add(slot);
        const repeated = slotOf(message) !== null;
        stampAllSwipes(message, slot);
        writeStamp(message, repeated ? { trace: undefined, n: undefined } : more(message));
    }
    return homeless.length;
}

/** The last message that already has a slot: in a fresh branch, the last one shared with the parent.
 * @param {readonly StMessage[]} chat @returns {string | null} */
export function lastSlot(chat) {
    for (let i = chat.length - 1; i >= 0; i--) {
        const slot = slotOf(chat[i]);
        if (slot !== null) return slot;
    }
    return null;
}
