// Messages withheld from group members whose "Remembers" is off. They get them when they remember again.

/** @typedef {import('../base/types.js').Ask} Ask */
/** @typedef {import('../base/types.js').Target} Target */
/** Slots of the messages that each soul has already. @typedef {Map<string, Set<string>>} Received */

/** @param {Ask} ask the sidecar */
export function createWithheldMessages(ask) {
    const byChat = /** @type {Map<string, {off: string, received: Received}>} */ (new Map());

    /** What the sidecar has stored of a chat for members that are off. Asked once, as it does not grow while they are off.
     * @param {string} chat id @param {readonly string[]} off souls @param {AbortSignal} [signal]
     * @returns {Promise<Received>} */
    async function receivedIn(chat, off, signal) {
        const key = off.join(' ');
        const cached = byChat.get(chat);
        if (cached?.off === key) return cached.received;
        const stored = await ask('GET', `/chats/${chat}`, undefined, { signal }).catch(error => {
            if (error.code === 'not_found') return null;
            throw error;
        });
        const received = /** @type {Received} */ (new Map());
        for (const { slot, present } of stored?.messages ?? []) {
            for (const soul of present ?? stored.souls) {
                if (off.includes(soul))
                    received.set(soul, (received.get(soul) ?? new Set()).add(slot));
            }
        }
        byChat.set(chat, { off: key, received });
        return received;
    }

    /** The chat without what must be withheld. A member that has none of it yet is left out altogether.
     * @param {Target} target @param {readonly string[]} off souls that are off @param {AbortSignal} [signal]
     * @returns {Promise<Target>} */
    async function withhold(target, off, signal) {
        if (off.length === 0) {
            byChat.delete(target.chat);
            return target;
        }
        const received = await receivedIn(target.chat, off, signal);
        const souls = target.souls.filter(soul => !off.includes(soul) || received.has(soul));
        const entries = target.entries.map(entry => {
            const present = (entry.present ?? target.souls).filter(soul =>
                off.includes(soul) ? received.get(soul)?.has(entry.slot) : souls.includes(soul),
            );
            return { ...entry, present: present.length === souls.length ? null : present };
        });
        return { ...target, souls, entries };
    }

    return { withhold, reset: () => byChat.clear() };
}
