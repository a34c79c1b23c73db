// The reply that is being generated: its slot, who is present and its recall, written on its message.

import { slotOf, stampOf, writeStamp } from '../tavern/slots.js';

/** @typedef {import('../tavern/host.js').Host} Host */

/** A reply before its message exists.
 * @typedef {object} PendingReply
 * @property {string} chat id of its chat
 * @property {number} index of its message in the chat
 * @property {string} slot
 * @property {number} swipe
 * @property {boolean} fresh false for a swipe or a continued message, which has its slot already
 * @property {string[]} [present] souls, when not all of the founding cast are
 * @property {string} [trace] of the recall
 * @property {number} [n] how many memories were sent
 */

/** @param {Pick<Host, 'chat'>} host */
export function createReplyStamp(host) {
    let pending = /** @type {PendingReply | null} */ (null);

    /** Writes the stamp of the expected reply. Does nothing while its message is not there.
     * @param {string} chat id of the open chat */
    function apply(chat) {
        if (!pending || pending.chat !== chat) return;
        const message = host.chat()[pending.index];
        if (!message || message.is_user) return;
        if (pending.fresh ? slotOf(message) !== null : slotOf(message) !== pending.slot) return;
        const { slot, present, trace, n } = pending;
        writeStamp(message, pending.fresh ? { id: slot, present, trace, n } : { trace, n });
        pending = null;
    }

    return {
        apply,
        /** @param {PendingReply | null} reply null when none is expected any more */
        expect(reply) {
            pending = reply;
        },
        /** A reply arrived: stamps it, or removes the recall that a new swipe copied from the one before.
         * @param {string | null} chat id of the open chat @param {number} index @param {string} type SillyTavern's word */
        arrived(chat, index, type) {
            const message = host.chat()[index];
            const expected = pending !== null && pending.chat === chat && pending.index === index;
            if (chat) apply(chat);
            if (message && type === 'swipe' && !expected && stampOf(message).trace) {
                writeStamp(message, { trace: undefined, n: undefined });
            }
        },
    };
}

/** @typedef {ReturnType<typeof createReplyStamp>} ReplyStamp */
