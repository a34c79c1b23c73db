// Looks for memories that other extensions keep for a character: in its chats, its data bank, its worlds.

/** @typedef {import('../tavern/host.js').Host} Host */
/** @typedef {import('../tavern/tavern_files.js').TavernFiles} TavernFiles */
/** A file that holds memories of another extension. @typedef {{name: string, text: string}} Store */

/** What only such a file has: a mark of MemoryBooks, a summary of MessageSummarize, a block of CharMemory. */
const MARKS = [/"stmemorybooks"\s*:\s*true/, /"STMB_start"/, /"qvink_memory"/, /<memory\b[^>]*>/i, /^## Memory \d+/m];

/** @param {string} text */
const isStore = text => MARKS.some(mark => mark.test(text));

/** @param {Pick<Host, 'lorebookOfChat' | 'dataBank'>} host @param {TavernFiles} files */
export function createStoreFinder(host, files) {
    /** The files to look into, each with how it is read.
     * @param {string} avatar @param {AbortSignal} signal
     * @returns {Promise<{name: string, read: () => Promise<string>}[]>} */
    async function candidates(avatar, signal) {
        const [chats, linked] = await Promise.all([files.chats(avatar), files.worlds(avatar)]);
        const worlds = new Set([...linked, host.lorebookOfChat()].filter(Boolean));
        return [
            ...[...worlds].map(name => ({
                name: `${name}.json`,
                read: () => files.world(String(name), signal),
            })),
            ...host.dataBank(avatar).map(({ name, url }) => ({
                name,
                read: () => files.attachment(url, signal),
            })),
            ...chats.map(name => ({
                name: `${name}.jsonl`,
                read: () => files.chat(avatar, name, signal),
            })),
        ];
    }

    /** The stores of a character. A file that cannot be read is left out.
     * @param {string} avatar @param {AbortSignal} signal
     * @param {(done: number, total: number) => void} progress @returns {Promise<Store[]>} */
    return async function find(avatar, signal, progress) {
        const all = await candidates(avatar, signal);
        const stores = /** @type {Store[]} */ ([]);
        for (const [index, { name, read }] of all.entries()) {
            signal.throwIfAborted();
            progress(index, all.length);
            const text = await read().catch(() => '');
            if (isStore(text)) stores.push({ name, text });
        }
        return stores;
    };
}
