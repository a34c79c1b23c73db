// The small buttons of a row: icons that show on hover, on focus, and after a long press where there is no mouse.

import { el } from '../base/dom.js';

const LONG_PRESS = 450; // ms

/** A row with its tools. @param {HTMLElement} row @param {readonly (HTMLElement | null)[]} tools
 * @returns {HTMLElement} the row */
export function withTools(row, tools) {
    row.classList.add('soulmem_with_tools');
    row.append(el('div', { class: 'soulmem_tools' }, tools));
    let timer = /** @type {ReturnType<typeof setTimeout> | undefined} */ (undefined);
    let isLong = false;
    const end = () => clearTimeout(timer);
    row.addEventListener('pointerdown', ({ pointerType }) => {
        end();
        if (pointerType === 'mouse') return; // it has hover, and a long press of it selects words
        isLong = false;
        timer = setTimeout(() => {
            isLong = true;
            row.classList.add('soulmem_held_open');
        }, LONG_PRESS);
    });
    for (const event of ['pointerup', 'pointerleave', 'pointercancel']) row.addEventListener(event, end);
    // The long press itself opens nothing
    const swallow = (/** @type {Event} */ event) => {
        if (!isLong) return;
        isLong = false;
        event.stopPropagation();
        event.preventDefault();
    };
    row.addEventListener('click', swallow, { capture: true });
    row.addEventListener('contextmenu', event => {
        if (row.classList.contains('soulmem_held_open')) event.preventDefault();
    });
    return row;
}
