// Which memories are there? The list with search and filters, and a note of the user's own.

import { button, el } from '../base/dom.js';
import { KINDS, row } from '../widgets/memory_badges.js';
import { memoryView } from './memory_view.js';
import { paged } from '../widgets/paging.js';

/** @typedef {import('./browser_context.js').Desk} Desk */
/** @typedef {import('../base/strings.js').Key} Key */

const PAUSE = 300; // ms without a key before a search begins

/** @param {Desk} desk @param {HTMLElement} page @param {string} [memory] to show at once */
export async function memoriesPage(desk, page, memory) {
    const { say, memories } = desk;
    const search = /** @type {HTMLInputElement} */ (
        el('input', {
            id: 'soulmem_search',
            class: 'text_pole margin0',
            type: 'search',
            maxlength: '200',
            placeholder: say('search'),
            'aria-label': say('search'),
        })
    );
    const kind = /** @type {HTMLSelectElement} */ (
        el(
            'select',
            { id: 'soulmem_kind', class: 'text_pole margin0', 'aria-label': say('filter_kind') },
            [
                el('option', { value: '', text: say('filter_kind') }),
                ...KINDS.map(name =>
                    el('option', { value: name, text: say(/** @type {Key} */ (`kind_${name}`)) }),
                ),
            ],
        )
    );
    const which = /** @type {HTMLSelectElement} */ (
        el(
            'select',
            { id: 'soulmem_which', class: 'text_pole margin0', 'aria-label': say('filter_all') },
            [
                el('option', { value: '', text: say('filter_all') }),
                el('option', { value: 'permanent', text: say('filter_permanent') }),
                el('option', { value: 'stale', text: say('filter_stale') }),
            ],
        )
    );
    const place = el('div', {});
    const one = el('div', { hidden: '' });
    const lists = el('div', {}, [
        el('div', { class: 'soulmem_filters' }, [
            search,
            kind,
            which,
            button('fa-plus', say('note_new'), writeNote, { id: 'soulmem_note' }),
        ]),
        place,
    ]);
    page.append(lists, one);
    let asked = 0;

    async function list() {
        const mine = ++asked;
        const filter = {
            q: search.value.trim(),
            kind: kind.value,
            permanent: which.value === 'permanent' ? true : undefined,
            state:
                which.value === 'stale'
                    ? /** @type {const} */ ('stale')
                    : /** @type {const} */ ('active'),
        };
        const searching = Boolean(filter.q || filter.kind || which.value);
        const found = await paged({
            fetch: cursor =>
                memories
                    .list(desk.soul, filter, cursor)
                    .then(answer => ({ rows: answer.memories, cursor: answer.cursor })),
            draw: listed =>
                row(listed, say, {
                    leftOut: desk.leftOut(),
                    press: () => desk.attempt(() => open(listed.id)),
                }),
            more: say('more'),
            none: say(searching ? 'none_found' : 'none_yet'),
            attempt: desk.attempt,
        });
        if (mine === asked) place.replaceChildren(found); // a later search may have answered first
    }

    /** @param {string} id */
    async function open(id) {
        const top = lists.parentElement?.parentElement?.scrollTop ?? 0;
        const view = await memoryView(desk, id, changed => {
            one.hidden = true;
            lists.hidden = false;
            one.replaceChildren();
            if (changed) void desk.attempt(list);
            else lists.parentElement?.parentElement?.scrollTo({ top });
        });
        one.replaceChildren(view);
        lists.hidden = true;
        one.hidden = false;
        one.scrollIntoView({ block: 'nearest' });
    }

    async function writeNote() {
        const text = (await desk.app.host.prompt(say('note_question')))?.trim();
        if (text) await desk.attempt(async () => open((await memories.note(desk.soul, text)).id));
    }

    let timer = /** @type {ReturnType<typeof setTimeout> | undefined} */ (undefined);
    search.addEventListener('input', () => {
        clearTimeout(timer);
        timer = setTimeout(() => void desk.attempt(list), PAUSE);
    });
    for (const select of [kind, which])
        select.addEventListener('change', () => void desk.attempt(list));
    if (memory) await open(memory);
    await list();
}
