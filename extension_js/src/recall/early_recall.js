// A recall that begins as soon as the user's message stands in the chat. SillyTavern tells of the message only when it
// has saved the whole chat, and asks for memories later still: by then they are there.

/** @typedef {import('../tavern/host.js').Host} Host */
/** @typedef {import('./exchange.js').Exchanged} Exchanged */

const LOOK_EVERY = 8; // ms; the chat is saved in 30 to 100
const LOOK_FOR = 3000; // ms; a message that comes later than that after Send is not this generation's

/** @param {object} parts
 * @param {Host} parts.host
 * @param {(signal: AbortSignal) => Promise<Exchanged | null>} parts.begin recalls for the reply to come */
export function createEarlyRecall({ host, begin }) {
    let timer = /** @type {ReturnType<typeof setTimeout> | undefined} */ (undefined);
    let own = /** @type {AbortController | null} */ (null);
    let result = /** @type {Promise<Exchanged | null> | null} */ (null);

    function drop() {
        clearTimeout(timer);
        own?.abort();
        own = null;
        result = null;
    }

    /** @param {number} length of the chat before @param {number} until ms since the epoch */
    function look(length, until) {
        const chat = host.chat();
        if (chat.length === length + 1 && chat.at(-1)?.is_user) {
            own = new AbortController();
            // Without it the recall is asked for in its own time
            result = begin(own.signal).catch(() => null);
        } else if (chat.length === length && Date.now() < until) {
            timer = setTimeout(look, LOOK_EVERY, length, until);
        }
    }

    return {
        /** A reply to a message is about to be made; the message may not be in the chat yet. */
        watch() {
            drop();
            look(host.chat().length, Date.now() + LOOK_FOR);
        },
        /** What was recalled ahead, and stops the look for it. @param {AbortSignal} signal of the one who waits
         * @returns {Promise<Exchanged | null>} null when nothing was */
        async take(signal) {
            clearTimeout(timer);
            const taken = result;
            const controller = own;
            result = own = null;
            signal.addEventListener('abort', () => controller?.abort(), { once: true });
            return taken;
        },
        drop,
    };
}
