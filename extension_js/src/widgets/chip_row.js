// A row of words of which one is chosen.

import { el } from '../base/dom.js';

/** @param {object} about
 * @param {string} about.name of the data attribute that holds a word's value
 * @param {string} about.label for screen readers
 * @param {readonly (readonly [value: string, text: string])[]} about.words
 * @param {string | undefined} about.chosen value of the word that is chosen at first
 * @param {boolean} [about.isDisabled]
 * @param {(value: string) => unknown} choose called after the user chose a word
 * @returns {HTMLElement} */
export function chipRow({ name, label, words, chosen, isDisabled = false }, choose) {
    const chips = words.map(([value, text]) => {
        const chip = el('button', {
            type: 'button',
            class: 'soulmem_chip',
            'aria-pressed': String(value === chosen),
            text,
            data: { [name]: value },
            disabled: isDisabled ? '' : undefined,
        });
        chip.addEventListener('click', () => {
            for (const other of chips) other.setAttribute('aria-pressed', String(other === chip));
            void choose(value);
        });
        return chip;
    });
    return el('div', { class: 'soulmem_row', role: 'group', 'aria-label': label }, chips);
}
