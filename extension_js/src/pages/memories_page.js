// The page "Story": memories by day, or by what the user asks for, one of them beside the list, and new notes.

import { button, el } from '../base/dom.js';
import { memoryRow } from '../widgets/memory_badges.js';
import { memoryPages } from '../widgets/memory_pages.js';
import { withArrowRows } from '../widgets/press_row.js';
import { twoColumns } from '../widgets/two_columns.js';
import { createSelection } from './memory_selection.js';
import { loadHabits } from './habit_graph.js';
import { memoryForm } from './hand_made.js';
import { memoryView } from './memory_view.js';
import { dayTitle, storyDays } from './story_days.js';
import { densityBar } from '../widgets/story_density.js';
import { createStoryFilters } from './story_filters.js';
import { createStoryJumps } from './story_jumps.js';

/** @typedef {import('./browser_context.js').BrowserContext} BrowserContext */
/** @typedef {import('./browser_context.js').Origin} Origin */
/** @typedef {import('../widgets/story_density.js').Density} Density */
/** @typedef {import('../widgets/story_density.js').Period} Period */
/** @typedef {import('../link/memory_api.js').Filter} Filter */
/** @typedef {import('../base/types.js').ListedMemory} ListedMemory */

const TYPING_PAUSE = 300; // ms without a key before a search begins

/** Heads of days above the first memory of each. @param {BrowserContext} context
 * @returns {(memory: ListedMemory) => HTMLElement | null} */
function dayHeads({ app }) {
    let last = '';
    return ({ happened }) => {
        const date = happened ? new Date(happened) : null;
        if (!date || Number.isNaN(date.getTime())) return null;
        const day = dayTitle(date, app.host.locale());
        if (day === last) return null;
        last = day;
        return el('li', { class: 'soulmem_day' }, [
            el('h4', { class: 'margin0', text: day }),
        ]);
    };
}

/** @param {BrowserContext} context @param {HTMLElement} page @param {string} [memory] to show at once
 * @param {Origin | null} [from] where it was opened, and where one gets back to */
export async function memoriesPage(context, page, memory, from = null) {
    const { say, memoryApi } = context;
    let origin = /** @type {Origin | null} */ (null);
    const filters = createStoryFilters(context);
    const jumps = createStoryJumps(context);
    const columns = twoColumns(say('back'), {
        mayClose: () => context.mayLeave(),
        closed: () => {
            context.mayLeave = async () => true;
            if (origin) void context.show(origin.page, origin.chosen);
        },
    });
    columns.columns.classList.add('soulmem_story_columns');
    const place = el('div', { class: 'soulmem_story_place' });
    const density = el('div', { class: 'soulmem_density_place' });
    const note = button('fa-plus', say('note_new'), writeNote, { id: 'soulmem_note' });
    const make = button('fa-shapes', say('make_new'), makeNew, { id: 'soulmem_make' });
    const chosen = createSelection(context, () => context.attempt(list));
    const tools = el('span', { class: 'soulmem_row soulmem_story_tools' });
    const more = el('details', { class: 'soulmem_more_filters' }, [
        el('summary', { id: 'soulmem_filters_open', text: say('filters') }),
        el('div', { class: 'soulmem_filters' }, [...filters.first, ...filters.others]),
        el('div', { class: 'soulmem_row soulmem_story_bar' }, [make, tools]),
    ]);
    columns.list.append(
        el('div', { class: 'soulmem_filters' }, [filters.search, note]),
        chosen.bar,
        more,
        density,
        place,
    );
    withArrowRows(place);
    page.append(columns.columns);
    let searches = 0;

    /** @param {Filter} filter @param {Period} [span] */
    const reader = (filter, span) => async (/** @type {string | null} */ cursor) => {
        const within = span ? { ...filter, from: span.from, to: span.to } : filter;
        const answer = await memoryApi.list(context.soul, within, cursor);
        return { rows: answer.memories, cursor: answer.cursor };
    };

    /** @param {string} iso @returns {string} the time of day, as the head tells the day */
    const clockTime = iso =>
        new Date(iso).toLocaleTimeString(context.app.host.locale(), { timeStyle: 'short' });

    /** The line beside a memory: the value by which the list is ordered. @param {ListedMemory} listed */
    function factOf({ kind, importance, strength, last_used: used, happened }) {
        if (kind === 'digest') return '';
        if (filters.isByTime()) return happened ? clockTime(happened) : '';
        const percent = (/** @type {number} */ share) => Math.round(100 * share);
        if (filters.order() === 'importance') return say('fact_importance', { n: percent(importance) });
        if (filters.order() === 'strength' && strength !== undefined)
            return say('fact_strength', { n: percent(strength) });
        if (filters.order() !== 'recalled') return '';
        if (!used) return say('fact_never_used');
        return say('story_recalled', { when: context.localTime(used) });
    }

    let setOff = /** @type {Promise<Map<string, string>> | null} */ (null); // deeds, by what they follow

    /** What the character does then stands beside a pattern. @param {ListedMemory} listed @param {HTMLElement} row */
    async function addDeeds({ id }, row) {
        setOff ??= loadHabits(context).then(
            habits =>
                new Map(
                    habits.flatMap(({ whens, deeds }) =>
                        whens.map(when => [when.id, deeds.map(({ does }) => does).join(' / ')]),
                    ),
                ),
        );
        const deeds = (await setOff).get(id);
        if (deeds) row.querySelector('.soulmem_item_text')?.append(` → ${deeds}`);
    }

    /** @param {ListedMemory} listed */
    function rowOf(listed) {
        const row = memoryRow(listed, say, {
            facts: factOf(listed),
            leftOut: context.leftOut(),
            inOwnWords: filters.search.value.trim() !== '', // they were looked for
            press: () => chosen.press(listed, row, () => open(listed.id, row)),
        });
        // A nicety: without it the pattern stands alone
        if (listed.kind === 'abstract_episode') void addDeeds(listed, row).catch(() => undefined);
        const jump = jumps.button(listed);
        if (jump) row.append(jump);
        return row;
    }

    /** @param {Filter} filter @returns {Promise<{days: Density, groups: Density} | null>} how they lie in time */
    async function outline(filter) {
        if (!filters.isByTime() || filter.state === 'stale') return null;
        const by = filters.group();
        const [days, groups] = await Promise.all([
            memoryApi.density(context.soul, filter, 'day'),
            by === 'day' ? null : memoryApi.density(context.soul, filter, by),
        ]);
        return { days, groups: groups ?? days };
    }

    /** @param {Filter} filter @param {{days: Density, groups: Density}} shape */
    function story(filter, { days, groups }) {
        const ordered = (/** @type {Period[]} */ periods) =>
            filters.order() === 'oldest' ? periods : [...periods].reverse();
        const sections = storyDays(context, {
            days: ordered(days.periods),
            periods: ordered(groups.periods),
            group: filters.group(),
            read: (span, cursor) => reader(filter, span)(cursor),
            digests: async (span, period) =>
                filter.kind || filter.about || filter.permanent
                    ? []
                    : (await memoryApi.digests(context.soul, { ...span, period, chat: filter.chat }))
                          .memories,
            row: rowOf,
            forget: chosen.forgetAll,
            seen: (from, to) => bar.light(from, to),
        });
        const bar = densityBar(context, days, sections.go);
        density.replaceChildren(bar.element);
        tools.replaceChildren(sections.fold);
        return sections.element;
    }

    /** @param {Filter} filter */
    function flat(filter) {
        density.replaceChildren();
        tools.replaceChildren();
        const heads = filters.isByTime() ? dayHeads(context) : null;
        return memoryPages({
            fetch: reader(filter),
            draw: listed => [heads?.(listed), rowOf(listed)].flatMap(part => part ?? []),
            more: say('more'),
            none: say(filters.isPlain() ? 'none_yet' : 'none_found'),
            attempt: context.attempt,
        });
    }

    async function list() {
        const own = ++searches;
        setOff = null;
        const shape = await outline(filters.value());
        if (own !== searches) return; // a later search has begun
        const filter = filters.value();
        const isStory = shape !== null && shape.days.periods.length > 0;
        const drawn = isStory ? story(filter, shape) : await flat(filter);
        if (own !== searches) return; // a later search may have answered first
        chosen.forget(); // only now: until here rows of the former list can be pressed
        place.replaceChildren(drawn);
    }

    /** Another list is seen from its beginning. */
    async function listFromTop() {
        await list();
        columns.columns.scrollIntoView({ block: 'start' });
    }

    /** Draws the row of a memory anew after it was changed beside the list. @param {ListedMemory} memory */
    function redrawRow(memory) {
        const rows = /** @type {HTMLElement[]} */ ([...place.querySelectorAll('.soulmem_item')]);
        const row = rows.find(({ dataset }) => dataset.memory === memory.id);
        if (!row) return;
        const fresh = rowOf(memory);
        fresh.classList.add('soulmem_open');
        row.replaceWith(fresh);
    }

    /** @param {string} id @param {HTMLElement | null} [row] that gets the focus back */
    async function open(id, row = null) {
        if (!(await context.mayLeave())) return;
        origin = null;
        const left = (/** @type {boolean} */ changed) => {
            columns.close();
            if (changed && !origin) void context.attempt(list);
        };
        const view = await memoryView(context, id, left, redrawRow);
        const press = /** @type {HTMLElement | null} */ (row?.querySelector('.soulmem_press') ?? null);
        for (const other of place.querySelectorAll('.soulmem_open')) other.classList.remove('soulmem_open');
        row?.classList.add('soulmem_open');
        columns.show(view, press);
    }

    function makeNew() {
        origin = null;
        columns.show(memoryForm(context, shownNew));
    }

    /** @param {string} id of a memory that the user has made */
    async function shownNew(id) {
        await open(id);
        await list();
    }

    async function writeNote() {
        const text = (await context.app.host.prompt(say('note_question')))?.trim();
        if (!text) return;
        await context.attempt(async () => {
            const added = await memoryApi.addNote(context.soul, text);
            await shownNew(added.id);
        });
    }

    let timer = /** @type {ReturnType<typeof setTimeout> | undefined} */ (undefined);
    filters.search.addEventListener('input', () => {
        clearTimeout(timer);
        timer = setTimeout(() => void context.attempt(listFromTop), TYPING_PAUSE);
    });
    for (const select of filters.all) {
        select.addEventListener('change', () => void context.attempt(listFromTop));
    }
    if (memory) {
        await open(memory);
        origin = from;
    }
    await list();
    void filters.offer().catch(() => undefined);
}
