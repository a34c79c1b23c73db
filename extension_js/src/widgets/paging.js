// How is a long list shown: a page, and a button for the next?

import { button, el } from '../base/dom.js';

/** @template T
 * @typedef {object} Paged
 * @property {(cursor: string | null) => Promise<{rows: T[], cursor: string | null}>} fetch
 * @property {(one: T) => HTMLElement | null} draw null for what is not shown
 * @property {string} more words of the button
 * @property {string} none words when there is nothing
 * @property {(work: () => Promise<unknown>) => Promise<boolean>} attempt tells of failures
 */

/** @template T @param {Paged<T>} about @returns {Promise<HTMLElement>} with the first page in it */
export async function paged({ fetch, draw, more, none, attempt }) {
    const list = el('ol', { class: 'soulmem_list' });
    const foot = el('div', { class: 'soulmem_foot' });

    /** A page on which nothing is shown is followed by the next. @param {string | null} cursor */
    async function next(cursor) {
        let shown = 0;
        do {
            const page = await fetch(cursor);
            const items = page.rows.map(draw).filter(item => item !== null);
            list.append(...items);
            shown += items.length;
            cursor = page.cursor;
        } while (cursor !== null && shown === 0);
        const at = cursor;
        if (at !== null)
            foot.replaceChildren(
                button('fa-angles-down', more, () => attempt(() => next(at)), {
                    class: 'soulmem_more',
                }),
            );
        else
            foot.replaceChildren(
                ...(list.children.length ? [] : [el('p', { class: 'soulmem_hint', text: none })]),
            );
    }

    await next(null);
    return el('div', {}, [list, foot]);
}
