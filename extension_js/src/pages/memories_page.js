// The page of memories: a list with search and filters, one memory at a time, and new notes.

import { button, el } from '../base/dom.js';
import { KINDS, memoryRow } from '../widgets/memory_badges.js';
import { paged } from '../widgets/paging.js';
import { memoryView } from './memory_view.js';

/** @typedef {import('./browser_context.js').BrowserContext} BrowserContext */
/** @typedef {import('../base/strings.js').Key} Key */
/** @typedef {import('../base/strings.js').Say} Say */
/** @typedef {import('../link/memory_api.js').Filter} Filter */

const TYPING_PAUSE = 300; // ms without a key before a search begins

/** The search field and the two filters. @param {Say} say */
function createFilters(say) {
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
    /** @param {string} id @param {readonly [string, string][]} options value and text; the first is the label */
    const select = (id, options) =>
        /** @type {HTMLSelectElement} */ (
            el(
                'select',
                { id, class: 'text_pole margin0', 'aria-label': options[0][1] },
                options.map(([value, text]) => el('option', { value, text })),
            )
        );
    const kind = select('soulmem_kind', [
        ['', say('filter_kind')],
        ...KINDS.map(
            name =>
                /** @type {[string, string]} */ ([name, say(/** @type {Key} */ (`kind_${name}`))]),
        ),
    ]);
    const which = select('soulmem_which', [
        ['', say('filter_all')],
        ['permanent', say('filter_permanent')],
        ['stale', say('filter_stale')],
    ]);
    return {
        search,
        selects: [kind, which],
        /** @returns {Filter} */
        value: () => ({
            q: search.value.trim(),
            kind: kind.value,
            permanent: which.value === 'permanent' ? true : undefined,
            state: which.value === 'stale' ? 'stale' : 'active',
        }),
        isEmpty: () => !search.value.trim() && !kind.value && !which.value,
    };
}

/** @param {BrowserContext} context @param {HTMLElement} page @param {string} [memory] to show at once */
export async function memoriesPage(context, page, memory) {
    const { say, memoryApi } = context;
    const filters = createFilters(say);
    const place = el('div', {});
    const detail = el('div', { hidden: '' });
    const note = button('fa-plus', say('note_new'), writeNote, { id: 'soulmem_note' });
    const lists = el('div', {}, [
        el('div', { class: 'soulmem_filters' }, [filters.search, ...filters.selects, note]),
        place,
    ]);
    page.append(lists, detail);
    let searches = 0;

    async function list() {
        const own = ++searches;
        const filter = filters.value();
        const none = say(filters.isEmpty() ? 'none_yet' : 'none_found');
        const memories = await paged({
            fetch: async cursor => {
                const answer = await memoryApi.list(context.soul, filter, cursor);
                return { rows: answer.memories, cursor: answer.cursor };
            },
            draw: listed =>
                memoryRow(listed, say, {
                    leftOut: context.leftOut(),
                    press: () => context.attempt(() => open(listed.id)),
                }),
            more: say('more'),
            none,
            attempt: context.attempt,
        });
        if (own === searches) place.replaceChildren(memories); // a later search may have answered first
    }

    /** @param {string} id */
    async function open(id) {
        const scroller = lists.parentElement?.parentElement;
        const top = scroller?.scrollTop ?? 0;
        const view = await memoryView(context, id, changed => {
            detail.hidden = true;
            lists.hidden = false;
            detail.replaceChildren();
            if (changed) void context.attempt(list);
            else lists.parentElement?.parentElement?.scrollTo({ top });
        });
        detail.replaceChildren(view);
        lists.hidden = true;
        detail.hidden = false;
        detail.scrollIntoView({ block: 'nearest' });
    }

    async function writeNote() {
        const text = (await context.app.host.prompt(say('note_question')))?.trim();
        if (!text) return;
        await context.attempt(async () => {
            const added = await memoryApi.addNote(context.soul, text);
            await open(added.id);
        });
    }

    let timer = /** @type {ReturnType<typeof setTimeout> | undefined} */ (undefined);
    filters.search.addEventListener('input', () => {
        clearTimeout(timer);
        timer = setTimeout(() => void context.attempt(list), TYPING_PAUSE);
    });
    for (const select of filters.selects) {
        select.addEventListener('change', () => void context.attempt(list));
    }
    if (memory) await open(memory);
    await list();
}
