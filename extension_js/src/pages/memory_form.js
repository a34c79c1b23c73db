// The form of a concept or a pattern that the user makes.

import { button, el } from '../base/dom.js';
import { textField } from './habit_form.js';

/** @typedef {import('./browser_context.js').BrowserContext} BrowserContext */
/** @typedef {import('../base/strings.js').Key} Key */

const KINDS = /** @type {const} */ (['concept', 'abstract_episode']);

/** @param {BrowserContext} context @param {(id: string) => unknown} made called with the new memory */
export function memoryForm(context, made) {
    const { say, memoryApi, soul } = context;
    const options = KINDS.map(value => el('option', { value, text: say(`kind_${value}`) }));
    const about = { id: 'soulmem_make_kind', class: 'text_pole margin0' };
    const kind = /** @type {HTMLSelectElement} */ (el('select', about, options));
    const text = textField('soulmem_make_text', say('make_text'));
    const hint = el('small', { class: 'soulmem_hint' });
    const showHint = () => {
        hint.textContent = say(/** @type {Key} */ (`make_hint_${kind.value}`));
    };

    const save = () =>
        context.attempt(async () => {
            const words = text.value.trim();
            if (!words) return text.focus();
            const memory = await memoryApi.create({ soul, kind: kind.value, text: words });
            await made(memory.id);
        });
    kind.addEventListener('change', showHint);
    kind.value = KINDS[0];
    showHint();
    return el('div', { class: 'soulmem_memory' }, [
        el('h4', { text: say('make_new') }),
        el('label', { class: 'soulmem_labelled' }, [el('span', { text: say('make_kind') }), kind]),
        el('label', { class: 'soulmem_labelled' }, [el('span', { text: say('make_text') }), text]),
        hint,
        el('div', { class: 'soulmem_row' }, [
            button('fa-check', say('save'), save, { id: 'soulmem_make_save' }),
        ]),
    ]);
}
