// What is not told to members whose "Remembers" is off? All that the sidecar does not know of them already; it is told when they remember again.

/** @typedef {import('./people.js').Ask} Ask */
/** @typedef {import('../base/types.js').Target} Target */
/** What each of them has heard: soul to slots.
 * @typedef {Map<string, Set<string>>} Heard */

/** @param {Ask} ask the sidecar */
export function createUnheard(ask) {
    const asked = /** @type {Map<string, {off: string, heard: Heard}>} */ (new Map()); // by chat

    /** What the sidecar has told them of the chat; asked once, as nothing is added to it while they are off.
     * @param {string} chat @param {readonly string[]} off @param {AbortSignal} [signal] @returns {Promise<Heard>} */
    async function heardOf(chat, off, signal) {
        const key = off.join(' ');
        const known = asked.get(chat);
        if (known?.off === key) return known.heard;
        const stored = await ask('GET', `/chats/${chat}`, undefined, { signal }).catch(error => {
            if (error.code === 'not_found') return null;
            throw error;
        });
        const heard = /** @type {Heard} */ (new Map());
        for (const { slot, present } of stored?.messages ?? []) {
            for (const soul of present ?? stored.souls) {
                if (off.includes(soul)) heard.set(soul, (heard.get(soul) ?? new Set()).add(slot));
            }
        }
        asked.set(chat, { off: key, heard });
        return heard;
    }

    /** The chat as it is to be told. Who heard nothing of it so far is not in it at all.
     * @param {Target} target @param {readonly string[]} off souls @param {AbortSignal} [signal] @returns {Promise<Target>} */
    async function withhold(target, off, signal) {
        if (off.length === 0) {
            asked.delete(target.chat);
            return target;
        }
        const heard = await heardOf(target.chat, off, signal);
        const souls = target.souls.filter(soul => !off.includes(soul) || heard.has(soul));
        const entries = target.entries.map(entry => {
            const present = (entry.present ?? target.souls).filter(soul =>
                off.includes(soul) ? heard.get(soul)?.has(entry.slot) : souls.includes(soul),
            );
            return { ...entry, present: present.length === souls.length ? null : present };
        });
        return { ...target, souls, entries };
    }

    return { withhold, forget: () => asked.clear() };
}
