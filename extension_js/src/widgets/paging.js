// A long list, shown page by page with a button for the next page.

import { button, el } from '../base/dom.js';

/** @template T
 * @typedef {object} PagedList
 * @property {(cursor: string | null) => Promise<{rows: T[], cursor: string | null}>} fetch the page at a cursor
 * @property {(row: T) => HTMLElement | null} draw null for a row that is not shown
 * @property {string} more label of the button
 * @property {string} none text of an empty list
 * @property {(work: () => Promise<unknown>) => Promise<boolean>} attempt runs work and shows its failure
 */

/** @template T @param {PagedList<T>} options @returns {Promise<HTMLElement>} with the first page in it */
export async function paged({ fetch, draw, more, none, attempt }) {
    const list = el('ol', { class: 'soulmem_list' });
    const foot = el('div', { class: 'soulmem_foot' });

    /** Adds the page at a cursor, and the pages after it until one of them shows anything.
     * @param {string | null} cursor */
    async function addPage(cursor) {
        let items = /** @type {HTMLElement[]} */ ([]);
        do {
            const page = await fetch(cursor);
            items = page.rows.map(draw).filter(item => item !== null);
            list.append(...items);
            cursor = page.cursor;
        } while (cursor !== null && items.length === 0);
        drawFoot(cursor);
    }

    /** @param {string | null} cursor of the next page */
    function drawFoot(cursor) {
        if (cursor !== null) {
            const addNext = () => attempt(() => addPage(cursor));
            foot.replaceChildren(
                button('fa-angles-down', more, addNext, { class: 'soulmem_more' }),
            );
        } else if (list.children.length) foot.replaceChildren();
        else foot.replaceChildren(el('p', { class: 'soulmem_hint', text: none }));
    }

    await addPage(null);
    return el('div', {}, [list, foot]);
}
