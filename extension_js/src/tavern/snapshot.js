// The messages of the open chat as the sidecar's contract has them.

import { isoDate, storyDate } from '../base/dates.js';
import { textHash, wellFormed } from '../base/hash.js';
import { slotOf, stampOf } from './slots.js';

/** @typedef {import('../base/types.js').StMessage} StMessage */
/** @typedef {import('../base/types.js').Entry} Entry */

/** Types of SillyTavern's own notices (help pages, /comment), which are no part of the story. */
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
    const isToolCall = Array.isArray(message.extra?.tool_invocations);
    if (isToolCall || (type && NOTICES.has(type))) return 'system';
    if (type === 'narrator') return 'narrator';
    return message.is_user ? 'user' : 'character';
}

/** Whether the user hid a message from the model ("/hide"). SillyTavern's notices do not count as hidden.
 * @param {StMessage} message @returns {boolean} */
export const isHidden = message => Boolean(message.is_system) && roleOf(message) !== 'system';

/** What is computed from a text. @typedef {{mes: string | undefined, text: string, hash: string, story: string | null}} Version */

/** By message object, so that an unchanged chat is not hashed again. */
const versions = /** @type {WeakMap<StMessage, Version>} */ (new WeakMap());

/** @param {StMessage} message @returns {Version} */
function versionOf(message) {
    const cached = versions.get(message);
    if (cached && cached.mes === message.mes) return cached;
    const text = wellFormed(message.mes);
    const version = { mes: message.mes, text, hash: textHash(text), story: storyDate(text) };
    versions.set(message, version);
    return version;
}

/** The souls that witnessed a message; null when all souls of the chat did.
 * @param {StMessage} message @param {readonly string[]} souls @param {readonly string[]} cast the founding members
 * @returns {string[] | null} */
export function presentAt(message, souls, cast) {
    if (stampOf(message).off) return []; // the user had it forgotten
    const witnesses = new Set(stampOf(message).present ?? cast);
    const present = souls.filter(soul => witnesses.has(soul));
    return present.length === souls.length ? null : present;
}

/** The messages of a chat. Messages without a slot are left out: mint slots first.
 * @param {readonly StMessage[]} chat
 * @param {{souls: readonly string[], cast: readonly string[]}} people
 * @param {(message: StMessage) => string | null} [shown] what the prompt shows of a message, if not its text
 * @returns {Entry[]} */
export function snapshot(chat, { souls, cast }, shown = () => null) {
    const entries = [];
    for (const message of chat) {
        const slot = slotOf(message);
        if (slot === null) continue;
        const { text, hash, story } = versionOf(message);
        const inPrompt = shown(message);
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
            ...(inPrompt !== null && { story: inPrompt }),
        });
    }
    return entries;
}
