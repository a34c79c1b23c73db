// What widgets need of the memory window.

import { newPage } from '../dom.mjs';
import { say } from '../texts.mjs';

/** @param {object} [about] what differs */
export function widgetContext(about = {}) {
    newPage();
    const shown = {
        statuses: /** @type {[string, boolean][]} */ ([]),
        jumps: /** @type {any[]} */ ([]),
        undone: /** @type {any[]} */ ([]),
    };
    const context = {
        say,
        soul: 's1',
        localTime: (/** @type {string} */ iso) => iso.slice(0, 10),
        attempt: async (/** @type {() => unknown} */ work) => (await work(), true),
        showStatus: (/** @type {string} */ text, isDone = true) =>
            shown.statuses.push([text, isDone]),
        chats: async () => [{ id: 'c2', title: 'Mira - then' }],
        indexOf: (/** @type {{slot: string}} */ { slot }) => (slot === 'here' ? 0 : -1),
        isOpenCharacter: () => true,
        jump: async (/** @type {any[]} */ ...where) => shown.jumps.push(where),
        memoryApi: {
            undo: async (/** @type {any[]} */ ...what) => {
                shown.undone.push(what);
                return { changes: ['c1'], skipped: [] };
            },
        },
        app: {
            host: {
                chat: () => [{ name: 'Mira', mes: 'Hello.' }],
                chatName: () => 'Mira - now',
                confirm: async () => true,
            },
        },
        ...about,
    };
    return { context: /** @type {any} */ (context), shown };
}

/** @param {any} element @param {string} selectors @returns {string[]} */
export const textsIn = (element, selectors) =>
    element
        .querySelectorAll(selectors)
        .map((/** @type {{textContent: string}} */ inner) => inner.textContent);
