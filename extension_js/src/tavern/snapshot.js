// What does the chat say right now, in the sidecar's words?

import { isoDate, storyDate } from '../base/dates.js';
import { textHash, wellFormed } from '../base/hash.js';
import { slotOf, stampOf } from './slots.js';

/** @typedef {import('../base/types.js').StMessage} StMessage */
/** @typedef {import('../base/types.js').Entry} Entry */

/** SillyTavern's own notices (help pages, /comment, tool calls) flag themselves as system messages by type. */
const NOTICES = new Set([
    'help',
    'welcome',
    'empty',
    'generic',
    'comment',
    'slash_commands',
    'formatting',
    'hotkeys',
    'macros',
    'welcome_prompt',
    'assistant_note',
]);

/** @param {StMessage} message @returns {Entry['role']} */
export function roleOf(message) {
    const type = message.extra?.type;
    if (Array.isArray(message.extra?.tool_invocations) || (type && NOTICES.has(type)))
        return 'system';
    if (type === 'narrator') return 'narrator';
    return message.is_user ? 'user' : 'character';
}

/** Hidden from the model by the user ("/hide"), as opposed to a notice of SillyTavern.
 * @param {StMessage} message @returns {boolean} */
export const isHidden = message => Boolean(message.is_system) && roleOf(message) !== 'system';

/** Hashes by message object, so that an unchanged chat of thousands costs nothing. */
const hashes =
    /** @type {WeakMap<StMessage, {mes: string | undefined, text: string, hash: string, story: string | null}>} */ (
        new WeakMap()
    );

/** @param {StMessage} message */
function versionOf(message) {
    const known = hashes.get(message);
    if (known && known.mes === message.mes) return known;
    const text = wellFormed(message.mes);
    const version = { mes: message.mes, text, hash: textHash(text), story: storyDate(text) };
    hashes.set(message, version);
    return version;
}

/** Who witnessed a message, as the contract wants it: null when all souls of the chat did.
 * @param {StMessage} message @param {readonly string[]} souls @param {readonly string[]} cast the founding members
 * @returns {string[] | null} */
export function presentAt(message, souls, cast) {
    const there = new Set(stampOf(message).present ?? cast);
    const present = souls.filter(soul => there.has(soul));
    return present.length === souls.length ? null : present;
}

/** The messages of a chat; those without a slot are left out, so mint first.
 * @param {readonly StMessage[]} chat
 * @param {{souls: readonly string[], cast: readonly string[]}} people
 * @returns {Entry[]} */
export function snapshot(chat, { souls, cast }) {
    const entries = [];
    for (const message of chat) {
        const slot = slotOf(message);
        if (slot === null) continue;
        const { text, hash, story } = versionOf(message);
        entries.push({
            slot,
            hash,
            role: roleOf(message),
            speaker: wellFormed(message.name),
            sent_at: isoDate(message.send_date) ?? '',
            ...(story && { story_at: story }),
            hidden: isHidden(message),
            swipe: message.swipe_id ?? 0,
            present: presentAt(message, souls, cast),
            text,
        });
    }
    return entries;
}
