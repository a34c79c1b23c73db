// Which files does SillyTavern keep of a character: past chats, the card, its worlds?

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
        /** Names of the character's chats, without ending. @param {string} avatar @returns {Promise<string[]>} */
        async chats(avatar) {
            const files = await (
                await post('/api/characters/chats', { avatar_url: avatar, simple: true })
            ).json();
            return Array.isArray(files)
                ? files
                      .map(file => String(file.file_name ?? '').replace(/\.jsonl$/, ''))
                      .filter(Boolean)
                : [];
        },
        /** A chat file as it is. @param {string} avatar @param {string} name @param {AbortSignal} [signal] @returns {Promise<string>} */
        async chat(avatar, name, signal) {
            const about = {
                avatar_url: avatar,
                is_group: false,
                file: `${name}.jsonl`,
                exportfilename: `${name}.jsonl`,
                format: 'jsonl',
            };
            return String(
                (await (await post('/api/chats/export', about, signal)).json()).result ?? '',
            );
        },
        /** The card as JSON. @param {string} avatar @param {AbortSignal} [signal] @returns {Promise<string>} */
        card: async (avatar, signal) =>
            (
                await post('/api/characters/export', { avatar_url: avatar, format: 'json' }, signal)
            ).text(),
        /** Names of the worlds linked to the character. @param {string} avatar @returns {Promise<string[]>} */
        worlds: avatar => host.worldsOf(avatar),
        /** A world as JSON. @param {string} name @param {AbortSignal} [signal] @returns {Promise<string>} */
        world: async (name, signal) => (await post('/api/worldinfo/get', { name }, signal)).text(),
    };
}

/** @typedef {ReturnType<typeof createTavernFiles>} TavernFiles */
