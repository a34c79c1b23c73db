// The user's verdicts on a recalled memory, and how to take one back.

import { button, el } from '../base/dom.js';
import { createMemoryApi } from '../link/memory_api.js';
import { errorTextOf } from '../widgets/error_text.js';

/** @typedef {import('../app.js').App} App */
/** @typedef {import('../base/strings.js').Say} Say */
/** @typedef {import('../base/strings.js').Key} Key */

const ICONS = /** @type {const} */ ({
    stronger: 'fa-arrow-up',
    not_now: 'fa-clock',
    never_here: 'fa-ban',
    wrong: 'fa-xmark',
});

/** The buttons; after a press, what it means and a button that takes it back.
 * @param {App} app @param {Say} say
 * @param {{trace: string | (() => Promise<string>), soul: string}} recall `trace`: or how to get one, asked for with
 *   the first verdict @param {string} memory id */
export function verdictButtons(app, say, recall, memory) {
    const memoryApi = createMemoryApi(app.link.ask);
    const place = el('div', { class: 'soulmem_row soulmem_verdicts' });

    /** @param {() => Promise<unknown>} work */
    const attempt = work =>
        work().catch(error => app.host.toast('warning', errorTextOf(app, error, say)));
    /** @param {string} verdict */
    const helpOf = verdict => say(/** @type {Key} */ (`verdict_help_${verdict}`));

    /** @param {string} verdict @param {string} icon */
    function verdictButton(verdict, icon) {
        const label = say(/** @type {Key} */ (`verdict_${verdict}`));
        const judge = async () => {
            const trace = typeof recall.trace === 'string' ? recall.trace : await recall.trace();
            const { change } = await memoryApi.judge(trace, memory, verdict);
            showVerdict(verdict, change);
        };
        const about = { class: `soulmem_verdict_${verdict}`, title: helpOf(verdict) };
        return button(icon, label, () => attempt(judge), about);
    }

    function showButtons() {
        const buttons = Object.entries(ICONS).map(([verdict, icon]) =>
            verdictButton(verdict, icon),
        );
        place.replaceChildren(...buttons);
    }

    /** @param {string} verdict @param {string} change id of the change that is undone to take it back */
    function showVerdict(verdict, change) {
        const undo = async () => {
            await memoryApi.undo(recall.soul, { change });
            showButtons();
        };
        place.replaceChildren(
            el('small', { class: 'soulmem_said' }, [
                el('i', { class: 'fa-solid fa-circle-check' }),
                helpOf(verdict),
            ]),
            button('fa-rotate-left', say('undo'), () => attempt(undo), {
                class: 'soulmem_verdict_undo',
            }),
        );
    }

    showButtons();
    return place;
}
