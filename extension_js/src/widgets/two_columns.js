// Two columns: a list and the chosen one beside it; on a phone the chosen one slides over the list.

import { button, el } from '../base/dom.js';

/** Whether what had the focus is gone: replaced, or with its list out of sight on a phone. */
export function isFocusLost() {
    const focused = document.activeElement;
    return !focused || focused === document.body || focused.getClientRects().length === 0;
}

/** @param {string} closeText label of the button that leads back to the list on a phone
 * @param {{closed?: () => void, mayClose?: () => Promise<boolean>}} [options] `mayClose`: asked before the user
 *   closes the chosen one */
export function twoColumns(closeText, { closed = () => {}, mayClose = async () => true } = {}) {
    const list = el('div', { class: 'soulmem_column_list' });
    const place = el('div', { class: 'soulmem_column_place' });
    const back = button('fa-arrow-left', closeText, leave, { class: 'soulmem_column_back' });
    const detail = el('div', { class: 'soulmem_column_detail', hidden: '', tabindex: '-1' }, [back, place]);
    const columns = el('div', { class: 'soulmem_columns' }, [list, detail]);
    let pressed = /** @type {HTMLElement | null} */ (null);

    /** Shows the chosen one; the list keeps its place. @param {Node} chosen
     * @param {HTMLElement | null} [from] element of the list that gets the focus back */
    function show(chosen, from = null) {
        pressed = from;
        place.replaceChildren(chosen);
        detail.hidden = false;
        columns.classList.add('soulmem_has_detail');
        detail.scrollTop = 0;
        // Else Escape would close the window
        if (isFocusLost()) detail.focus();
    }

    async function leave() {
        if (await mayClose()) close();
    }

    function close() {
        if (detail.hidden) return;
        detail.hidden = true;
        columns.classList.remove('soulmem_has_detail');
        place.replaceChildren();
        // A row that was drawn anew meanwhile is marked as open
        const open = /** @type {HTMLElement | null} */ (list.querySelector('.soulmem_open .soulmem_press'));
        (open ?? pressed)?.focus();
        pressed = null;
        closed();
    }

    columns.addEventListener('keydown', event => {
        if (event.key !== 'Escape' || detail.hidden) return;
        event.stopPropagation();
        event.preventDefault();
        void leave();
    });
    return { columns, list, show, close, isOpen: () => !detail.hidden };
}
