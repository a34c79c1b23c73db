// Messages that vanished at once: shows them and lets the user confirm their removal.

import { button, el } from '../base/dom.js';
import { createMemoryApi } from '../link/memory_api.js';
import { slotOf } from '../tavern/slots.js';
import { errorTextOf } from '../widgets/error_text.js';

/** @typedef {import('../app.js').App} App */
/** @typedef {import('../base/strings.js').Say} Say */

const SHOWN = 200;

/** The messages that the sidecar has and the open chat has not.
 * @template {{slot: string}} T @param {readonly T[]} stored @param {Iterable<string | null>} present slots
 * @returns {T[]} */
export function vanishedMessages(stored, present) {
    const slots = new Set(present);
    return stored.filter(message => !slots.has(message.slot));
}

/** Buttons, and the list of vanished messages after a press.
 * @param {App} app @param {Say} say @param {number} count messages @param {() => unknown} decided */
export function quarantineView(app, say, count, decided) {
    const list = el('div', { class: 'soulmem_vanished' });

    /** @param {string} chat id of the open chat */
    async function showMessages(chat) {
        const stored = await createMemoryApi(app.link.ask).storedMessages(chat);
        const vanished = vanishedMessages(stored, app.host.chat().map(slotOf));
        const items = vanished
            .slice(0, SHOWN)
            .map(({ speaker, text }) => el('li', {}, [el('b', { text: `${speaker}: ` }), text]));
        const more = vanished.length - SHOWN;
        list.replaceChildren(
            el('ol', {}, items),
            el('small', { text: more > 0 ? say('sources_more', { n: more }) : '' }),
            el('small', { class: 'soulmem_hint', text: say('held_remedy') }),
        );
    }

    async function review() {
        const { chat } = app.chatSync.state;
        if (!chat) return;
        await showMessages(chat).catch(error =>
            app.host.toast('error', errorTextOf(app, error, say)),
        );
    }

    const confirm = () => confirmRemoval(app, say, count).then(decided);
    return el('div', {}, [
        el('div', { class: 'soulmem_row' }, [
            button('fa-list', say('held_review'), review, { class: 'soulmem_held_review' }),
            button('fa-trash-can', say('held_confirm'), confirm, {
                class: 'soulmem_held_yes redWarningBG',
            }),
        ]),
        list,
    ]);
}

/** Asks the user, and removes the vanished messages from memory.
 * @param {App} app @param {Say} say @param {number} [count] messages */
export async function confirmRemoval(app, say, count = app.chatSync.state.quarantine?.count ?? 0) {
    if (!(await app.host.confirm(say('held_question', { count })))) return;
    await app.chatSync.confirmRemoval().then(
        () => app.host.toast('success', say('held_done', { count })),
        error => app.host.toast('error', errorTextOf(app, error, say)),
    );
}
