// What the last prompt of each chat held: how far back it reached, and which lore stood in it.

import { contextFromCount, contextFromSize } from '../tavern/context_window.js';
import { slotOf } from '../tavern/slots.js';
import { bounded } from './repeated_texts.js';

/** @typedef {import('../tavern/host.js').Host} Host */

/** @param {Host} host */
export function createLastPrompts(host) {
    const lengths = /** @type {Map<string, number>} */ (new Map()); // messages in the chat when the prompt was made
    const oldest = /** @type {Map<string, string>} */ (new Map()); // slot of the oldest message in the prompt
    const lore = /** @type {Map<string, string[]>} */ (new Map());

    /** The oldest message of the last prompt; by its size when that prompt is not known.
     * @param {string} chat id @param {number} contextSize tokens @returns {string | null} slot */
    function borderOf(chat, contextSize) {
        const messages = host.chat();
        const border = oldest.get(chat);
        if (border && messages.some(message => slotOf(message) === border)) return border;
        const noted = host.metadata().lastInContextMessageId;
        if (typeof noted === 'number' && noted < messages.length) {
            return contextFromCount(messages, noted, messages.length, host.narratorsCount());
        }
        return contextFromSize(messages, contextSize);
    }

    return {
        /** A prompt is being made. @param {string | null} chat id */
        begin(chat) {
            if (chat) lengths.set(chat, host.chat().length);
        },
        /** The prompt is made: notes the oldest message it holds. @param {string | null} chat id */
        end(chat) {
            const noted = host.metadata().lastInContextMessageId;
            const length = chat && lengths.get(chat);
            if (!chat || !length || typeof noted !== 'number') return;
            const border = contextFromCount(host.chat(), noted, length, host.narratorsCount());
            if (border) oldest.set(chat, border);
        },
        /** @param {string | null} chat id @param {string[]} texts of the lore in the prompt */
        noteLore(chat, texts) {
            if (chat) lore.set(chat, texts);
        },
        /** The oldest message in the context that the sidecar has. While a long chat is being read, that may
         * be a later one than the oldest in the context.
         * @param {string} chat id @param {number} contextSize tokens @param {ReadonlySet<string>} stored slots
         * @returns {string | null} slot */
        contextFrom(chat, contextSize, stored) {
            const border = borderOf(chat, contextSize);
            if (border === null) return null;
            if (stored.size === 0) return border; // not synced from this page; an unknown slot is ignored
            const slots = host.chat().map(slotOf);
            const inContext = slots.slice(slots.indexOf(border));
            return inContext.find(slot => slot !== null && stored.has(slot)) ?? null;
        },
        /** What the prompt holds beside the chat. The greeting only while it is in the context: after that
         * it is recalled like other messages.
         * @param {string} chat id @param {string | null} border slot @returns {string[]} */
        contextTexts(chat, border) {
            const first = host.chat()[0];
            const isGreeting =
                first && !first.is_user && (border === null || border === slotOf(first));
            const greeting = isGreeting ? [first.mes] : [];
            return bounded([...host.cardTexts(), ...greeting, ...(lore.get(chat) ?? [])]);
        },
    };
}

/** @typedef {ReturnType<typeof createLastPrompts>} LastPrompts */
