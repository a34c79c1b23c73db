// The form of a habit: when .. the character .., or ..

import { button, el } from '../base/dom.js';
import { OFTEN } from './habit_graph.js';

/** @typedef {import('../base/strings.js').Say} Say */
/** @typedef {import('../base/strings.js').Key} Key */
/** @typedef {import('./habit_graph.js').Deed} Deed */
/** @typedef {import('./habit_graph.js').Often} Often */

/** @param {string} word @param {Say} say */
export const oftenText = (word, say) => say(/** @type {Key} */ (`often_${word}`));

/** A field of text. @param {string} id @param {string} label @param {string} [value] @returns {HTMLInputElement} */
export function textField(id, label, value = '') {
    const input = /** @type {HTMLInputElement} */ (
        el('input', {
            id,
            class: 'text_pole margin0',
            type: 'text',
            maxlength: '500',
            placeholder: label,
            'aria-label': label,
        })
    );
    input.value = value;
    return input;
}

/** How often, as a list of words. @param {Say} say @param {Often} value @param {string} [id]
 * @returns {HTMLSelectElement} */
function oftenSelect(say, value, id) {
    const options = Object.keys(OFTEN).map(word =>
        el('option', { value: word, text: oftenText(word, say) }),
    );
    const about = { id, class: 'text_pole margin0', 'aria-label': say('habit_how_often') };
    const element = /** @type {HTMLSelectElement} */ (el('select', about, options));
    element.value = value;
    return element;
}

/** @param {Say} say
 * @param {{when: string, deeds: readonly Deed[], isNew: boolean}} shown
 * @param {(when: string, deeds: Deed[]) => unknown} save called when both parts are there
 * @param {() => unknown} missing called when one is not */
export function habitForm(say, shown, save, missing) {
    const when = textField('soulmem_habit_when', say('habit_when'), shown.when);
    when.disabled = !shown.isNew && !shown.when;
    const rows = el('div', { class: 'soulmem_deeds' });
    const deeds = /** @type {{deed: Deed, does: HTMLInputElement, often: HTMLSelectElement}[]} */ ([]);

    /** @param {Deed} deed */
    function addDeed(deed) {
        const isFirst = deeds.length === 0;
        const does = textField(isFirst ? 'soulmem_habit_does' : '', say('habit_does'), deed.does);
        const often = oftenSelect(say, deed.often, isFirst ? 'soulmem_habit_often' : undefined);
        deeds.push({ deed, does, often });
        rows.append(
            el('div', { class: 'soulmem_deed' }, [
                el('small', { text: say(isFirst ? 'habit_she' : 'habit_or') }),
                does,
                often,
            ]),
        );
    }
    const first = { action: null, does: '', often: /** @type {const} */ ('often') };
    for (const deed of shown.deeds.length ? shown.deeds : [first]) addDeed(deed);

    function press() {
        const entered = deeds.map(({ deed, does, often }) => ({
            ...deed,
            does: does.value.trim(),
            often: /** @type {Often} */ (often.value),
        }));
        // An empty row that was added counts for nothing; a stored action cannot lose its text
        const wanted = entered.filter(({ does, action }) => does || action);
        const isWhole = wanted.length > 0 && wanted.every(({ does }) => does);
        return isWhole && (when.disabled || when.value.trim()) ? save(when.value.trim(), wanted) : missing();
    }
    return el('div', { class: 'soulmem_memory' }, [
        el('h4', { text: say(shown.isNew ? 'habit_new' : 'habit_change') }),
        el('label', { class: 'soulmem_labelled' }, [el('span', { text: say('habit_when_label') }), when]),
        rows,
        el('div', { class: 'soulmem_row' }, [
            button('fa-plus', say('habit_or_add'), () => addDeed({ ...first, often: 'sometimes' }), {
                id: 'soulmem_habit_or',
            }),
            button('fa-check', say('save'), press, { id: 'soulmem_habit_save' }),
        ]),
        el('small', { class: 'soulmem_hint', text: say('habit_self_knowledge') }),
    ]);
}
