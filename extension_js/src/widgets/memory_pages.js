// A long list of memories, read page by page as it is scrolled to; only what is near the screen is in the page.

import { el } from '../base/dom.js';
import { whenNear } from './near_view.js';
import { paged } from './paging.js';

/** Rows that leave the page while they are far from the screen. @param {HTMLElement[]} rows */
function block(rows) {
    const list = el('ol', { class: 'soulmem_list soulmem_block' }, rows);
    let isEmpty = false;
    whenNear(
        list,
        () => {
            if (!isEmpty) return;
            isEmpty = false;
            list.replaceChildren(...rows);
            list.style.height = '';
        },
        height => {
            if (isEmpty || list.contains(document.activeElement)) return;
            isEmpty = true;
            list.style.height = `${height}px`;
            list.replaceChildren();
        },
    );
    return list;
}

/** Pages of rows that are there already, for `fetch`. @template T @param {readonly T[]} rows
 * @param {number} size of a page */
export const pagesOf = (rows, size) => async (/** @type {string | null} */ cursor) => {
    const end = Number(cursor ?? 0) + size;
    return { rows: rows.slice(end - size, end), cursor: end < rows.length ? String(end) : null };
};

/** @template T @param {import('./paging.js').PagedList<T>} options
 * @returns {Promise<HTMLElement>} with the first page in it */
export const memoryPages = options =>
    paged({
        ...options,
        list: el('div', { class: 'soulmem_blocks' }),
        pageOf: rows => [block(rows)],
        onMore(next, addNext) {
            if ('IntersectionObserver' in globalThis) whenNear(next, () => void addNext());
        },
    });
