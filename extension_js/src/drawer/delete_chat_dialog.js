// A chat or a character was deleted: should what was remembered of it be forgotten as well? The user says.

import { troubleOf } from '../widgets/error_text.js';

/** @typedef {import('../app.js').App} App */
/** @typedef {import('../base/strings.js').Say} Say */
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
        const lists = await Promise.all(
            [...souls].map(soul =>
                app.link.ask('GET', `/chats?soul=${soul}`).catch(() => ({ chats: [] })),
            ),
        );
        const heads = /** @type {ChatHead[]} */ (lists.flatMap(list => list.chats));
        return [
            ...new Map(
                heads.filter(head => names.has(head.title)).map(head => [head.id, head]),
            ).values(),
        ];
    }

    /** A question that stays for a while. @param {string} offered @param {string} question @param {() => Promise<unknown>} forget @param {string} forgotten */
    function ask(offered, question, forget, forgotten) {
        app.host.toast('info', offered, {
            timeOut: OFFER,
            extendedTimeOut: OFFER,
            onclick: async () => {
                if (!(await app.host.confirm(question))) return;
                await forget().then(
                    () => app.host.toast('success', forgotten),
                    error => app.host.toast('error', troubleOf(app, error, say)),
                );
            },
        });
    }

    async function offerChats() {
        const chats = await remembered();
        names.clear();
        souls.clear();
        if (chats.length === 0) return;
        const about = { names: chats.map(chat => chat.title).join(', ') };
        const forget = () =>
            Promise.all(chats.map(chat => app.link.ask('DELETE', `/chats/${chat.id}`)));
        ask(
            say('chat_deleted', about),
            say('chat_forget_question', about),
            forget,
            say('chat_forgotten', about),
        );
    }

    /** @param {string} id of a soul that no card has any more */
    async function offerSoul(id) {
        const { souls: known } = await app.link.ask('GET', '/souls').catch(() => ({ souls: [] }));
        const soul = known.find((/** @type {{id: string, name: string}} */ one) => one.id === id);
        if (!soul) return;
        const about = { name: soul.name };
        ask(
            say('character_deleted', about),
            say('character_forget_question', about),
            () => app.people.forget(soul),
            say('character_forgotten', about),
        );
    }

    const listens = () => app.settings().enabled && Boolean(app.link.state().via);

    const deleted = (/** @type {string} */ name) => {
        if (!listens()) return;
        names.add(String(name));
        for (const member of app.host.members()) {
            const soul = app.settings().souls[member.avatar];
            if (soul) souls.add(soul);
        }
        clearTimeout(timer);
        timer = setTimeout(() => void offerChats(), GATHER);
    };
    app.host.on('CHAT_DELETED', deleted);
    app.host.on('GROUP_CHAT_DELETED', deleted);
    // SillyTavern closes the chat of a character before it deletes both: nobody is in it when its chats are said to be gone.
    app.host.on('CHARACTER_DELETED', ({ character }) => {
        const avatar = String(character?.avatar);
        const all = app.settings().souls;
        const shared = Object.entries(all).some(
            ([other, soul]) => other !== avatar && soul === all[avatar],
        );
        if (listens() && all[avatar] && !shared) void offerSoul(all[avatar]);
    });
}
