// Remember, pin and forget in the menu of each message, and the sign of a message that was forgotten.

import { el } from '../base/dom.js';
import { createQueue } from '../base/queue.js';
import { stampOf } from '../tavern/slots.js';
import { errorTextOf } from '../widgets/error_text.js';
import { onShownMessages } from '../widgets/message_rows.js';
import { createKeptMessages, selectedWords } from './kept_messages.js';

/** @typedef {import('../app.js').App} App */
/** @typedef {import('../base/strings.js').Say} Say */
/** @typedef {import('../base/strings.js').Key} Key */
/** @typedef {import('./kept_messages.js').Done} Done */

const TOAST = { timeOut: 10_000, extendedTimeOut: 5_000 }; // ms: there is something to decide
/** @type {readonly {name: 'remember' | 'pin' | 'forget', icon: string, title: Key}[]} */
const ENTRIES = [
    { name: 'remember', icon: 'fa-bookmark', title: 'message_remember' },
    { name: 'pin', icon: 'fa-thumbtack', title: 'message_pin' },
    { name: 'forget', icon: 'fa-eraser', title: 'message_forget' },
];

/** @param {App} app @param {Say} say */
export function mountMessageMenu(app, say) {
    const { host } = app;
    const kept = createKeptMessages(app, say);

    /** @param {unknown} error */
    const tellFailure = error => void host.toast('warning', errorTextOf(app, error, say));

    /** Tells what was done; a click takes it back. @param {Done} done */
    function tell({ text, undo }) {
        const takeBack = () =>
            undo().then(() => host.toast('success', say('tool_undone')), tellFailure);
        const hint = `${text} ${say('click_to_undo')}`;
        host.toast('success', hint, { ...TOAST, onclick: () => void takeBack() });
    }

    /** @param {string} name of the entry @param {number} index of the message @param {string} words selected of it */
    function work(name, index, words) {
        if (name === 'forget') return kept.forget(index);
        return kept.keep(index, { permanent: name === 'pin', words });
    }

    const inTurn = createQueue();
    /** Presses that are at work or wait for others: a second press of the same entry does nothing. */
    const pressed = /** @type {Set<string>} */ (new Set());
    /** @param {string} name @param {HTMLElement} row of the message */
    async function press(name, row) {
        const index = Number(row.getAttribute('mesid'));
        const key = `${name} ${index}`;
        if (pressed.has(key)) return;
        pressed.add(key);
        const words = selectedWords(index);
        try {
            tell(await inTurn(() => work(name, index, words)));
        } catch (error) {
            tellFailure(error);
        } finally {
            pressed.delete(key);
            redraw();
        }
    }

    /** @param {HTMLElement} row of a message */
    function entriesOf(row) {
        return ENTRIES.map(({ name, icon, title }) => {
            const entry = el('div', {
                class: `mes_button soulmem_message_${name} fa-solid ${icon} interactable`,
                title: say(title),
                tabindex: '0',
                role: 'button',
            });
            // A press with the mouse must not drop the selection of the words that are meant
            entry.addEventListener('mousedown', event => event.preventDefault());
            entry.addEventListener('click', () => void press(name, row));
            return entry;
        });
    }

    /** Puts the entries into a message, and the sign on one that was forgotten.
     * @param {HTMLElement} row @param {import('../base/types.js').StMessage | undefined} message */
    function decorate(row, message) {
        const menu = row.querySelector('.extraMesButtons');
        if (menu && !menu.querySelector('.soulmem_message_remember')) {
            menu.append(...entriesOf(row));
        }
        row.classList.toggle('soulmem_message_off', Boolean(message && stampOf(message).off));
    }

    const redraw = onShownMessages(app, decorate);
}
