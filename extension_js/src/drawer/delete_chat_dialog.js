// After a chat or a character was deleted: asks whether what was remembered of it is to be forgotten as well.

import { errorTextOf } from '../widgets/error_text.js';

/** @typedef {import('../app.js').App} App */
/** @typedef {import('../base/strings.js').Say} Say */
/** @typedef {import('../base/types.js').ChatHead} ChatHead */

/** The texts of a dialog. @typedef {{offer: string, question: string, done: string}} DialogTexts */

const DELAY = 1000; // ms; SillyTavern deletes the chats of a character one after another
const OFFER_TIME = 20_000; // ms that the offer is shown

/** @param {App} app @param {Say} say */
export function offerToForget(app, say) {
    const deletedNames = /** @type {Set<string>} */ (new Set());
    const souls = /** @type {Set<string>} */ (new Set()); // of the open chat when it was deleted
    let timer = /** @type {ReturnType<typeof setTimeout> | undefined} */ (undefined);

    /** @returns {Promise<ChatHead[]>} the deleted chats that the sidecar remembers */
    async function rememberedChats() {
        const lists = await Promise.all(
            [...souls].map(soul =>
                app.link.ask('GET', `/chats?soul=${soul}`).catch(() => ({ chats: [] })),
            ),
        );
        const chats = /** @type {Map<string, ChatHead>} */ (new Map()); // by id
        for (const chat of /** @type {ChatHead[]} */ (lists.flatMap(list => list.chats))) {
            if (deletedNames.has(chat.title)) chats.set(chat.id, chat);
        }
        return [...chats.values()];
    }

    /** Shows an offer for a while; a press asks the question and forgets.
     * @param {DialogTexts} texts @param {() => Promise<unknown>} forget */
    function show({ offer, question, done }, forget) {
        const onclick = async () => {
            if (!(await app.host.confirm(question))) return;
            await forget().then(
                () => app.host.toast('success', done),
                error => app.host.toast('error', errorTextOf(app, error, say)),
            );
        };
        app.host.toast('info', offer, {
            timeOut: OFFER_TIME,
            extendedTimeOut: OFFER_TIME,
            onclick,
        });
    }

    async function offerChats() {
        const chats = await rememberedChats();
        deletedNames.clear();
        souls.clear();
        if (chats.length === 0) return;
        const values = { names: chats.map(chat => chat.title).join(', ') };
        const forget = () =>
            Promise.all(chats.map(chat => app.link.ask('DELETE', `/chats/${chat.id}`)));
        const texts = {
            offer: say('chat_deleted', values),
            question: say('chat_forget_question', values),
            done: say('chat_forgotten', values),
        };
        show(texts, forget);
    }

    /** @param {string} id of a soul that no card has any more */
    async function offerSoul(id) {
        const answer = await app.link.ask('GET', '/souls').catch(() => ({ souls: [] }));
        const remembered = /** @type {{id: string, name: string}[]} */ (answer.souls);
        const soul = remembered.find(other => other.id === id);
        if (!soul) return;
        const values = { name: soul.name };
        const texts = {
            offer: say('character_deleted', values),
            question: say('character_forget_question', values),
            done: say('character_forgotten', values),
        };
        show(texts, () => app.people.forget(soul));
    }

    const isActive = () => app.settings().enabled && Boolean(app.link.state().via);

    /** @param {string} name */
    function chatDeleted(name) {
        if (!isActive()) return;
        deletedNames.add(String(name));
        const registry = app.settings().souls;
        for (const member of app.host.members()) {
            if (registry[member.avatar]) souls.add(registry[member.avatar]);
        }
        clearTimeout(timer);
        timer = setTimeout(() => void offerChats(), DELAY);
    }

    app.host.on('CHAT_DELETED', chatDeleted);
    app.host.on('GROUP_CHAT_DELETED', chatDeleted);
    // SillyTavern closes the chat of a character before it deletes both: the chat has no members when its
    // deletion is reported, so only the character is asked about.
    app.host.on('CHARACTER_DELETED', ({ character }) => {
        const avatar = String(character?.avatar);
        const registry = app.settings().souls;
        const soul = registry[avatar];
        const isShared = Object.entries(registry).some(
            ([other, otherSoul]) => other !== avatar && otherSoul === soul,
        );
        if (isActive() && soul && !isShared) void offerSoul(soul);
    });
}
