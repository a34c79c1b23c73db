// The part of the chat that the model still sees, given by its oldest message. It need not be recalled.

import { isHidden, roleOf } from './snapshot.js';
import { slotOf } from './slots.js';

/** @typedef {import('../base/types.js').StMessage} StMessage */

/** So many hidden messages in a row were hidden so that memory takes over. */
const HIDDEN_STRETCH = 3;
/** An estimate without a tokenizer: one token for a CJK character, one for four other characters, six for
 * the message.
 * @param {string} text @returns {number} tokens */
export const roughTokens = text => {
    const cjk = text.match(/[\u3040-\u30ff\u3400-\u9fff\uac00-\ud7af\uf900-\ufaff]/g)?.length ?? 0;
    return cjk + (text.length - cjk) / 4 + 6;
};
const HISTORY_SHARE = 0.75; // of the context; the rest is for cards, lore and the reply

/** The oldest message in the context: goes back from the end while `takes` accepts visible messages. A stretch
 * of hidden messages ends it, as the contract has one border only and hidden messages must stay recallable.
 * @param {readonly StMessage[]} chat @param {number} end exclusive @param {(message: StMessage) => boolean} takes
 * @returns {string | null} slot */
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

/** The oldest message by the count of the last prompt. SillyTavern computes `lastInContextMessageId` as if
 * nothing were hidden, so its distance from the end is a count of visible messages.
 * @param {readonly StMessage[]} chat @param {number} lastInContext @param {number} promptLength messages in
 *   the chat when that prompt was made
 * @param {boolean} narratorsCount false for chat completion, which does not count narrators
 * @returns {string | null} slot */
export function contextFromCount(chat, lastInContext, promptLength, narratorsCount) {
    let remaining = promptLength - lastInContext;
    return oldest(chat, promptLength, message => {
        if (remaining <= 0) return false;
        if (narratorsCount || roleOf(message) !== 'narrator') remaining--;
        return true;
    });
}

/** The oldest message by size, for a chat that has made no prompt yet.
 * @param {readonly StMessage[]} chat @param {number} contextSize tokens @returns {string | null} slot */
export function contextFromSize(chat, contextSize) {
    let room = contextSize * HISTORY_SHARE;
    return oldest(chat, chat.length, message => {
        room -= roughTokens(message.mes ?? '');
        return room > 0;
    });
}

/** The depth at which an injection still reaches the model. SillyTavern fills the prompt from the newest message
 * upwards and silently leaves out an injection above what fits.
 * @param {readonly StMessage[]} chat @param {number} depth that the user wants, in messages from the end
 * @param {number} room tokens for the messages below it @returns {number} `depth`, or less */
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
