// SillyTavern's files of a character: past chats, the card, its worlds.

/** @typedef {import('./host.js').Host} Host */

/** @param {Pick<Host, 'headers' | 'worldsOf'>} host @param {typeof fetch} [doFetch] */
export function createTavernFiles(host, doFetch = (...args) => globalThis.fetch(...args)) {
    /** @param {string} path @param {object} body @param {AbortSignal} [signal] @returns {Promise<Response>} */
    async function post(path, body, signal) {
        const response = await doFetch(path, {
            method: 'POST',
            headers: host.headers(),
            body: JSON.stringify(body),
            cache: 'no-cache',
            signal,
        });
        if (!response.ok) throw new Error(`SillyTavern: ${path} ${response.status}`);
        return response;
    }

    return {
        /** Names of a character's chats, without ending. @param {string} avatar @returns {Promise<string[]>} */
        async chats(avatar) {
            const body = { avatar_url: avatar, simple: true };
            const files = await (await post('/api/characters/chats', body)).json();
            if (!Array.isArray(files)) return [];
            const names = files.map(file => String(file.file_name ?? '').replace(/\.jsonl$/, ''));
            return names.filter(Boolean);
        },
        /** A chat file. @param {string} avatar @param {string} name @param {AbortSignal} [signal]
         * @returns {Promise<string>} JSON lines */
        async chat(avatar, name, signal) {
            const file = `${name}.jsonl`;
            const body = {
                avatar_url: avatar,
                is_group: false,
                file,
                exportfilename: file,
                format: 'jsonl',
            };
            const answer = await (await post('/api/chats/export', body, signal)).json();
            return String(answer.result ?? '');
        },
        /** A card. @param {string} avatar @param {AbortSignal} [signal] @returns {Promise<string>} JSON */
        async card(avatar, signal) {
            const body = { avatar_url: avatar, format: 'json' };
            return (await post('/api/characters/export', body, signal)).text();
        },
        /** Names of the worlds linked to a character. @param {string} avatar @returns {Promise<string[]>} */
        worlds: avatar => host.worldsOf(avatar),
        /** A world. @param {string} name @param {AbortSignal} [signal] @returns {Promise<string>} JSON */
        world: async (name, signal) => (await post('/api/worldinfo/get', { name }, signal)).text(),
        /** A file of the data bank. @param {string} url of SillyTavern's own server @param {AbortSignal} [signal]
         * @returns {Promise<string>} */
        async attachment(url, signal) {
            const response = await doFetch(url, { cache: 'no-cache', signal });
            if (!response.ok) throw new Error(`SillyTavern: ${url} ${response.status}`);
            return response.text();
        },
    };
}

/** @typedef {ReturnType<typeof createTavernFiles>} TavernFiles */
