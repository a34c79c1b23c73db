// Which messages vanished all at once, and what does the user say to it?

import { button, el } from '../base/dom.js';
import { createMemories } from '../link/memory_api.js';
import { slotOf } from '../tavern/slots.js';
import { troubleOf } from '../widgets/error_text.js';

/** @typedef {import('../app.js').App} App */
/** @typedef {import('../base/strings.js').Say} Say */

const SHOWN = 200;

/** What the sidecar keeps and the open chat has no more.
 * @template {{slot: string}} T @param {readonly T[]} stored @param {Iterable<string | null>} present @returns {T[]} */
export function vanished(stored, present) {
    const there = new Set(present);
    return stored.filter(message => !there.has(message.slot));
}

/** The messages, once asked for, and the buttons. @param {App} app @param {Say} say @param {number} count @param {() => unknown} decided */
export function vanishedView(app, say, count, decided) {
    const list = el('div', { class: 'soulmem_vanished' });
    const look = async () => {
        const chat = app.keeper.state.chat;
        if (!chat) return;
        try {
            const gone = vanished(
                await createMemories(app.link.ask).stored(chat),
                app.host.chat().map(slotOf),
            );
            list.replaceChildren(
                el(
                    'ol',
                    {},
                    gone
                        .slice(0, SHOWN)
                        .map(message =>
                            el('li', {}, [el('b', { text: `${message.speaker}: ` }), message.text]),
                        ),
                ),
                el('small', {
                    text:
                        gone.length > SHOWN ? say('sources_more', { n: gone.length - SHOWN }) : '',
                }),
                el('small', { class: 'soulmem_hint', text: say('held_remedy') }),
            );
        } catch (error) {
            app.host.toast('error', troubleOf(app, error, say));
        }
    };
    return el('div', {}, [
        el('div', { class: 'soulmem_row' }, [
            button('fa-list', say('held_review'), look, { class: 'soulmem_held_review' }),
            button(
                'fa-trash-can',
                say('held_confirm'),
                () => confirmRemoval(app, say, count).then(decided),
                { class: 'soulmem_held_yes redWarningBG' },
            ),
        ]),
        list,
    ]);
}

/** Asks, and forgets what vanished. @param {App} app @param {Say} say @param {number} [count] messages */
export async function confirmRemoval(app, say, count = app.keeper.state.held?.count ?? 0) {
    if (!(await app.host.confirm(say('held_question', { count })))) return;
    await app.keeper.confirmRemoval().then(
        () => app.host.toast('success', say('held_done', { count })),
        error => app.host.toast('error', troubleOf(app, error, say)),
    );
}
