// Which message is the oldest that the model still sees? What is at or after it need not be recalled.

import { isHidden, roleOf } from './snapshot.js';
import { slotOf } from './slots.js';

/** @typedef {import('../base/types.js').StMessage} StMessage */

/** So many hidden messages in a row mean that the user put a stretch away for memory to take over. */
const HIDDEN_STRETCH = 3;
/** Rough tokens of a text without asking a tokenizer: a CJK character is about one, four Latin letters are one.
 * @param {string} text @returns {number} */
export const roughTokens = text => {
    const cjk = text.match(/[\u3040-\u30ff\u3400-\u9fff\uac00-\ud7af\uf900-\ufaff]/g)?.length ?? 0;
    return cjk + (text.length - cjk) / 4 + 6;
};
/** Cards, lore and the reply need room too. */
const HISTORY_SHARE = 0.75;

/** Walks back from the end while `takes` accepts visible messages; a hidden stretch ends the walk, because the contract knows
 * only one border and what is hidden must stay recallable.
 * @param {readonly StMessage[]} chat @param {number} end exclusive @param {(message: StMessage) => boolean} takes
 * @returns {string | null} */
function oldest(chat, end, takes) {
    let slot = null;
    let hidden = 0;
    for (let i = Math.min(end, chat.length) - 1; i >= 0; i--) {
        const message = chat[i];
        if (roleOf(message) === 'system') continue;
        if (isHidden(message)) {
            if (++hidden >= HIDDEN_STRETCH) break;
            continue;
        }
        hidden = 0;
        if (!takes(message)) break;
        slot = slotOf(message) ?? slot;
    }
    return slot;
}

/** From how many messages the last prompt held. SillyTavern notes `lastInContextMessageId` as if nothing were hidden, so its
 * distance from the end is a count of visible messages.
 * @param {readonly StMessage[]} chat @param {number} lastInContext @param {number} promptLength messages when that prompt was made
 * @param {boolean} narratorsCount chat completion sends narrators as system messages and leaves them out of that count
 * @returns {string | null} */
export function contextFromCount(chat, lastInContext, promptLength, narratorsCount) {
    let left = promptLength - lastInContext;
    return oldest(
        chat,
        promptLength,
        message => (!narratorsCount && roleOf(message) === 'narrator' ? left : left--) > 0,
    );
}

/** By size, for a chat that has made no prompt yet. @param {readonly StMessage[]} chat @param {number} contextSize tokens
 * @returns {string | null} */
export function contextFromSize(chat, contextSize) {
    let left = contextSize * HISTORY_SHARE;
    return oldest(chat, chat.length, message => (left -= roughTokens(message.mes ?? '')) > 0);
}

/** How many messages from the end a text may stand so that it reaches the model: SillyTavern fills the prompt from the newest message
 * upwards and leaves out, without a word, an injection that stands above what fits.
 * @param {readonly StMessage[]} chat @param {number} depth as the user wants it @param {number} room tokens for the messages below it
 * @returns {number} `depth`, or less */
export function safeDepth(chat, depth, room) {
    let below = 0;
    for (let i = chat.length - 1; i >= 0 && below < depth; i--) {
        if (isHidden(chat[i]) || roleOf(chat[i]) === 'system') continue;
        room -= roughTokens(chat[i].mes ?? '');
        if (room < 0) return below;
        below++;
    }
    return depth;
}
