// A chat that is synced with a fake sidecar.

import { createChatSync } from '../../../extension_js/src/chat/chat_sync.js';
import { createPeople } from '../../../extension_js/src/chat/people.js';
import { fakeSidecar, refusal } from '../fakes.mjs';
import { fakeTavern } from '../tavern.mjs';

/** The characters of a group. */
export const TRIO = { 'a.png': { name: 'A' }, 'b.png': { name: 'B' }, 'c.png': { name: 'C' } };

/** An open chat with a sidecar that keeps the contract's rules.
 * @param {Parameters<typeof fakeTavern>[0]} [about] @param {{names?: string[], imported?: {id: string, title: string, parent: object | null}[]}} [more] */
export function scene(about, { names = [], imported = [] } = {}) {
    const { tavern, host } = fakeTavern(about);
    const sidecar = fakeSidecar();
    const pushed = /** @type {string[]} */ ([]);
    const asked = /** @type {string[]} */ ([]);
    const bin = /** @type {{id: string, name: string}[]} */ ([]);
    const gate = {
        open: Promise.resolve(),
        failing: /** @type {Error | null} */ (null),
        listing: /** @type {Error | null} */ (null),
    };
    const ask = async (
        /** @type {string} */ method,
        /** @type {string} */ path,
        /** @type {any} */ body,
        /** @type {any} */ options,
    ) => {
        if (method === 'GET' && path === '/chats') {
            if (gate.listing) throw gate.listing;
            return { chats: imported };
        }
        if (path === '/souls?state=bin') return { souls: bin };
        await gate.open;
        if (gate.failing) throw gate.failing;
        if (method === 'PUT' && path.startsWith('/chats/'))
            return sidecar.put(path.slice(7), body, options?.signal);
        if (method === 'PUT') pushed.push(path.slice(7));
        if (method === 'GET' && path.startsWith('/chats/')) {
            const messages = sidecar.chats.get(path.slice(7));
            if (!messages) throw refusal('not_found', 404);
            asked.push(path.slice(7));
            return { souls: sidecar.bodies.at(-1)?.souls, messages };
        }
    };
    const people = createPeople(host, () => tavern.settings, ask);
    const chatSync = createChatSync({
        host,
        people,
        ask,
        chatNames: async () => names,
        changed: () => {},
    });
    const id = () => String(chatSync.state.chat);
    return {
        tavern,
        host,
        sidecar,
        people,
        chatSync,
        gate,
        id,
        pushed,
        asked,
        bin,
        signal: new AbortController().signal,
    };
}
export const words = (
    /** @type {import('../../../extension_js/src/base/types.js').StMessage[]} */ chat,
) => chat.map(message => message.mes);
