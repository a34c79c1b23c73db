// A row of a list that opens by a press: a list item with a button in it, as screen readers expect.

import { el, onPress } from '../base/dom.js';

/** Arrow keys, Home and End move the focus among the rows of a list, which may grow. @param {HTMLElement} list */
export function withArrowRows(list) {
    list.addEventListener('keydown', event => {
        const { key, target } = /** @type {KeyboardEvent} */ (event);
        if (!['ArrowDown', 'ArrowUp', 'Home', 'End'].includes(key)) return;
        const rows = /** @type {HTMLElement[]} */ ([
            ...list.querySelectorAll('.soulmem_press, .soulmem_day[role="button"]'),
        ]).filter(row => row.offsetParent !== null);
        const from = rows.indexOf(/** @type {HTMLElement} */ (target));
        if (from < 0) return;
        const to = { ArrowDown: from + 1, ArrowUp: from - 1, Home: 0, End: rows.length - 1 }[key];
        const row = rows[to ?? -1];
        if (!row) return;
        event.preventDefault();
        row.focus();
        row.scrollIntoView({ block: 'nearest' });
    });
}

/** @param {import('../base/dom.js').Attributes} about of the item @param {readonly (Node | string | null)[]} children
 * @param {(button: HTMLElement) => unknown} run @returns {HTMLElement} the item */
export function pressRow(about, children, run) {
    const press = el('div', { class: 'soulmem_press', tabindex: '0', role: 'button' }, children);
    onPress(press, () => run(press));
    return el('li', about, [press]);
}
