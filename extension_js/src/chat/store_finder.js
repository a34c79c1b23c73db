// Looks for memories that other extensions keep for a character: in its chats, its data bank, its worlds.

/** @typedef {import('../tavern/host.js').Host} Host */
/** @typedef {import('../tavern/tavern_files.js').TavernFiles} TavernFiles */
/** A file that holds memories of another extension. @typedef {{name: string, text: string}} Store */

/** What only such a file has: a mark of MemoryBooks, a summary of MessageSummarize, a block of CharMemory. */
const MARKS = [/"stmemorybooks"\s*:\s*true/, /"STMB_start"/, /"qvink_memory"/, /<memory\b[^>]*>/i, /^## Memory \d+/m];

/** @param {string} text */
const isStore = text => MARKS.some(mark => mark.test(text));

/** The world that is bound to a chat. @param {string} text of the chat's file @returns {string} empty without one */
function lorebookOf(text) {
    try {
        const { chat_metadata: metadata } = JSON.parse(text.split('\n', 1)[0]);
        return typeof metadata?.world_info === 'string' ? metadata.world_info : '';
    } catch {
        return ''; // a file without a header
    }
}

/** @param {Pick<Host, 'lorebookOfChat' | 'dataBank'>} host @param {TavernFiles} files */
export function createStoreFinder(host, files) {
    /** The stores of a character: files of its data bank, its chats, and the worlds that are linked to it or bound
     * to one of its chats. A file that cannot be read is left out.
     * @param {string} avatar @param {AbortSignal} signal
     * @param {(done: number, total: number) => void} progress @returns {Promise<Store[]>} */
    return async function find(avatar, signal, progress) {
        const [chats, linked] = await Promise.all([files.chats(avatar), files.worlds(avatar)]);
        const bank = host.dataBank(avatar);
        const worlds = new Set([...linked, host.lorebookOfChat()].filter(Boolean));
        const stores = /** @type {Store[]} */ ([]);
        let done = 0;

        /** @param {string} name of the file @param {Promise<string>} reading @returns {Promise<string>} its text */
        async function look(name, reading) {
            const text = await reading.catch(() => '');
            signal.throwIfAborted();
            progress(++done, chats.length + bank.length + worlds.size);
            if (isStore(text)) stores.push({ name, text });
            return text;
        }

        progress(done, chats.length + bank.length + worlds.size);
        for (const name of chats) {
            const text = await look(`${name}.jsonl`, files.chat(avatar, name, signal));
            const bound = lorebookOf(text);
            if (bound) worlds.add(bound);
        }
        for (const { name, url } of bank) await look(name, files.attachment(url, signal));
        for (const name of worlds) await look(`${name}.json`, files.world(name, signal));
        return stores;
    };
}
