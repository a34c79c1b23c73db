// A chat was deleted: should what only it had told be forgotten as well? The user says.

import { troubleOf } from './trouble.js';

/** @typedef {import('./app.js').App} App */
/** @typedef {import('./strings.js').Say} Say */
/** @typedef {{id: string, title: string}} ChatHead */

const GATHER = 1000; // ms; deleting a character deletes its chats one by one
const OFFER = 20_000; // ms that the question stays

/** @param {App} app @param {Say} say */
export function offerFarewell(app, say) {
    const names = /** @type {Set<string>} */ (new Set());
    const souls = /** @type {Set<string>} */ (new Set());
    let timer = /** @type {ReturnType<typeof setTimeout> | undefined} */ (undefined);

    /** @returns {Promise<ChatHead[]>} the deleted chats that the sidecar remembers */
    async function remembered() {
        const lists = await Promise.all([...souls].map(soul => app.link.ask('GET', `/chats?soul=${soul}`).catch(() => ({ chats: [] }))));
        const heads = /** @type {ChatHead[]} */ (lists.flatMap(list => list.chats));
        return [...new Map(heads.filter(head => names.has(head.title)).map(head => [head.id, head])).values()];
    }

    async function offer() {
        const chats = await remembered();
        names.clear();
        souls.clear();
        if (chats.length === 0) return;
        const about = { names: chats.map(chat => chat.title).join(', ') };
        app.host.toast('info', say('chat_deleted', about), {
            timeOut: OFFER,
            extendedTimeOut: OFFER,
            onclick: async () => {
                if (!await app.host.confirm(say('chat_forget_question', about))) return;
                await Promise.all(chats.map(chat => app.link.ask('DELETE', `/chats/${chat.id}`))).then(
                    () => app.host.toast('success', say('chat_forgotten', about)),
                    error => app.host.toast('error', troubleOf(app, error, say)),
                );
            },
        });
    }

    const deleted = (/** @type {string} */ name) => {
        if (!app.settings().enabled || !app.link.state().via) return;
        names.add(String(name));
        for (const member of app.host.members()) {
            const soul = app.settings().souls[member.avatar];
            if (soul) souls.add(soul);
        }
        clearTimeout(timer);
        timer = setTimeout(() => void offer(), GATHER);
    };
    app.host.on('CHAT_DELETED', deleted);
    app.host.on('GROUP_CHAT_DELETED', deleted);
}
