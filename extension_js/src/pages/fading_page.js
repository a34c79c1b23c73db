// The page of forgetting: the dial with one of the soul's own memories, its switches, and what fades next.

import { el } from '../base/dom.js';
import { kindLabel } from '../widgets/memory_badges.js';
import { clarityOf, laterNodes, readingNodes } from '../widgets/faded_text.js';
import { paged } from '../widgets/paging.js';
import { pressRow } from '../widgets/press_row.js';
import { forgettingDial } from './forgetting_dial.js';

/** @typedef {import('./browser_context.js').BrowserContext} BrowserContext */
/** @typedef {import('../base/types.js').FadingMemory} FadingMemory */

const TURNS = [100, 500, 2000]; // how far ahead the list can look
const USUAL = 500;

/** @param {BrowserContext} context @param {FadingMemory} memory @returns {HTMLElement} a memory now and then */
export function fadingRow({ say, show, attempt }, memory) {
    const then = memory.leaves
        ? el('div', { class: 'soulmem_item_text soulmem_leaves', text: say('fading_leaves') })
        : el('div', { class: 'soulmem_item_text' }, [
              el('i', { class: 'fa-solid fa-arrow-right fa-fw' }),
              ...laterNodes(memory.reads_then, say),
          ]);
    const open = () => attempt(() => show('memories', memory.id));
    const from = say(`clarity_${clarityOf(memory, memory.text)}`);
    const later = { visibility: memory.visibility_then };
    const to = say(`clarity_${clarityOf(later, memory.reads_then)}`);
    const data = { memory: memory.id, kind: memory.kind ?? '' };
    const parts = [
        el('div', { class: 'soulmem_recalled_head' }, [
            memory.kind ? kindLabel(memory.kind, say) : null,
            el('small', { class: 'soulmem_recalled_facts', text: say('fading_from_to', { from, to }) }),
        ]),
        el('div', { class: 'soulmem_item_text' }, readingNodes(memory.text, say)),
        then,
    ];
    return pressRow({ class: 'soulmem_item soulmem_fades', data }, parts, open);
}

/** @param {BrowserContext} context @param {HTMLElement} page */
export async function fadingPage(context, page) {
    const { say, memoryApi } = context;
    const ahead = /** @type {HTMLSelectElement} */ (
        el(
            'select',
            { id: 'soulmem_ahead', class: 'text_pole margin0', 'aria-label': say('fading_ahead') },
            TURNS.map(n => el('option', { value: String(n), text: say('fading_turns', { n }) })),
        )
    );
    ahead.value = String(USUAL);
    const list = el('div', { id: 'soulmem_fades_next' });
    let lists = 0;

    async function drawList() {
        const own = ++lists;
        const turns = Number(ahead.value);
        const rows = await paged({
            fetch: async cursor => {
                const answer = await memoryApi.fading(context.soul, { turns }, cursor);
                return { rows: answer.memories, cursor: answer.cursor };
            },
            draw: memory => fadingRow(context, memory),
            more: say('more'),
            none: say('fading_none'),
            attempt: context.attempt,
        });
        if (own === lists) list.replaceChildren(rows);
    }

    const dial = await forgettingDial(context, () => context.attempt(drawList));
    page.append(
        dial,
        el('div', { class: 'soulmem_recalled_head' }, [
            el('h4', { text: say('fading_next') }),
            ahead,
        ]),
        el('small', { class: 'soulmem_hint', text: say('fading_hint') }),
        list,
    );
    ahead.addEventListener('change', () => void context.attempt(drawList));
    await drawList();
}
