// What the prompt shows of each message after the player's own regexes, read ahead of a send.

import { wellFormed } from '../base/hash.js';
import { createRegexGuard } from '../tavern/regex_guard.js';

/** @typedef {import('../base/types.js').StMessage} StMessage */
/** @typedef {import('../tavern/prompt_regexes.js').PromptRegexes} PromptRegexes */
/** @typedef {import('../tavern/regex_guard.js').RegexGuard} RegexGuard */

const BATCH = 50; // messages of a trial
const HANGS = 3; // messages on which the same regexes may hang; the rest is sent as it is

/** @param {object} parts
 * @param {{promptRegexes?: () => Promise<PromptRegexes | null>}} parts.host
 * @param {() => void} [parts.failed] called when regexes threw or hung; their messages are sent as they are
 * @param {RegexGuard} [parts.guard] */
export function createPromptStories({ host, failed = () => {}, guard = createRegexGuard() }) {
    /** By message: its text, the regexes, and what they leave of it; null where that is the text itself.
     * @type {WeakMap<StMessage, {mes: string, key: string, story: string | null}>} */
    const read = new WeakMap();
    let regexes = /** @type {PromptRegexes | null} */ (null);
    let failedKey = ''; // the regexes that failed
    let hangs = 0;

    /** @param {StMessage} message */
    const isRead = message => {
        const known = read.get(message);
        return Boolean(known && known.mes === String(message.mes ?? '') && known.key === regexes?.key);
    };

    /** @param {PromptRegexes} now */
    function noteFailure({ key }) {
        if (failedKey !== key) hangs = 0;
        failedKey = key;
        failed();
    }

    /** @param {StMessage} message @param {string} key @param {string | null} story */
    function keep(message, key, story) {
        const mes = String(message.mes ?? '');
        read.set(message, { mes, key, story: story === wellFormed(mes) ? null : story });
    }

    /** @param {readonly StMessage[]} messages @param {PromptRegexes} now */
    function run(messages, now) {
        for (const message of messages) {
            try {
                const story = now.run(String(message.mes ?? ''), Boolean(message.is_user));
                keep(message, now.key, wellFormed(story));
            } catch (error) {
                console.warn('[SoulMem] a prompt regex failed:', error);
                noteFailure(now);
                keep(message, now.key, null);
            }
        }
    }

    /** @param {readonly StMessage[]} messages @param {PromptRegexes} now */
    async function readAll(messages, now) {
        const texts = messages.map(message => String(message.mes ?? ''));
        if (failedKey === now.key && hangs >= HANGS) {
            for (const message of messages) keep(message, now.key, null);
        } else if (await guard.ends(now.scripts, texts)) {
            run(messages, now);
        } else if (messages.length > 1) {
            for (const message of messages) await readAll([message], now);
        } else {
            noteFailure(now);
            hangs++;
            keep(messages[0], now.key, null);
        }
    }

    return {
        /** Reads what is new. @param {readonly StMessage[]} chat */
        async prepare(chat) {
            regexes = (await host.promptRegexes?.()) ?? null;
            const now = regexes;
            if (!now) return;
            const unread = chat.filter(message => !isRead(message));
            for (let start = 0; start < unread.length; start += BATCH) {
                await readAll(unread.slice(start, start + BATCH), now);
            }
        },
        /** What the prompt shows of a message, where that differs from its text. @param {StMessage} message */
        of: message => (regexes && isRead(message) ? (read.get(message)?.story ?? null) : null),
        /** Whether the regexes in use threw or hung on a message. */
        hasFailed: () => regexes !== null && failedKey === regexes.key,
    };
}

/** @typedef {ReturnType<typeof createPromptStories>} PromptStories */
