// A long list, shown page by page with a button for the next page.

import { button, el } from '../base/dom.js';

/** @template T
 * @typedef {object} PagedList
 * @property {(cursor: string | null) => Promise<{rows: T[], cursor: string | null}>} fetch the page at a cursor
 * @property {(row: T) => HTMLElement | HTMLElement[] | null} draw null for a row that is not shown
 * @property {string} more label of the button
 * @property {string} none text of an empty list
 * @property {(work: () => Promise<unknown>) => Promise<boolean>} attempt runs work and shows its failure
 * @property {HTMLElement} [list] that the pages are added to
 * @property {(items: HTMLElement[]) => HTMLElement[]} [pageOf] what is added for the items of a page
 * @property {(next: HTMLElement, addNext: () => Promise<void>) => void} [onMore] called with each new button
 */

/** @template T @param {PagedList<T>} options @returns {Promise<HTMLElement>} with the first page in it */
export async function paged({
    fetch,
    draw,
    more,
    none,
    attempt,
    list = el('ol', { class: 'soulmem_list' }),
    pageOf = items => items,
    onMore = () => {},
}) {
    const foot = el('div', { class: 'soulmem_foot' });
    let isBusy = false;

    /** Adds the page at a cursor, and the pages after it until one of them shows anything.
     * @param {string | null} cursor */
    async function addPage(cursor) {
        let items = /** @type {HTMLElement[]} */ ([]);
        do {
            const page = await fetch(cursor);
            items = page.rows.flatMap(row => draw(row)).filter(item => item !== null);
            cursor = page.cursor;
        } while (cursor !== null && items.length === 0);
        if (items.length) list.append(...pageOf(items));
        drawFoot(cursor);
    }

    /** @param {string | null} cursor of the next page */
    function drawFoot(cursor) {
        if (cursor === null) {
            const isEmpty = list.children.length === 0;
            foot.replaceChildren(...(isEmpty ? [el('p', { class: 'soulmem_hint', text: none })] : []));
            return;
        }
        async function addNext() {
            if (isBusy) return;
            isBusy = true;
            await attempt(() => addPage(cursor));
            isBusy = false;
        }
        const next = button('fa-angles-down', more, addNext, { class: 'soulmem_more' });
        foot.replaceChildren(next);
        onMore(next, addNext);
    }

    await addPage(null);
    return el('div', {}, [list, foot]);
}
