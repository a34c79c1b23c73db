// What the user makes by hand: a concept or a pattern, and links between memories.

import { button, el } from '../base/dom.js';
import { memoryRow } from '../widgets/memory_badges.js';
import { textField } from './habit_form.js';

/** @typedef {import('./browser_context.js').BrowserContext} BrowserContext */
/** @typedef {import('../base/types.js').ListedMemory} ListedMemory */
/** @typedef {import('../base/types.js').WholeMemory} WholeMemory */
/** @typedef {import('../base/strings.js').Key} Key */
/** @typedef {{kind: string, to?: string, from?: string}} Link */

const MOST = 8; // memories that are offered
const NAMES_THINGS = ['episode', 'abstract_episode', 'note'];

/** The link of two memories that their kinds allow and that says most.
 * @param {{id: string, kind: string}} memory that is changed @param {{id: string, kind: string}} other
 * @returns {Link} */
export function linkOf({ kind }, { id, kind: other }) {
    if (NAMES_THINGS.includes(kind) && other === 'concept') return { kind: 'mentions', to: id };
    if (kind === 'concept' && NAMES_THINGS.includes(other)) return { kind: 'mentions', from: id };
    if (kind === 'episode' && other === 'abstract_episode') return { kind: 'instance_of', to: id };
    if (kind === 'abstract_episode' && other === 'episode') return { kind: 'instance_of', from: id };
    return { kind: 'associates', to: id };
}

/** A search whose rows link the memory with what they show.
 * @param {BrowserContext} context @param {WholeMemory} memory
 * @param {(changes: Record<string, unknown>) => Promise<void>} change of the memory */
export function memoryLinks(context, memory, change) {
    const { say, memoryApi } = context;
    const field = textField('soulmem_link_search', say('link_search'));
    const rows = el('ul', { class: 'soulmem_list', id: 'soulmem_link_rows', 'aria-live': 'polite' });

    /** In its own words, as these were looked for. @param {ListedMemory} other */
    const row = other =>
        memoryRow(other, say, {
            press: () => change({ edges: [linkOf(memory, other)] }),
            inOwnWords: true,
        });

    const look = () =>
        context.attempt(async () => {
            const q = field.value.trim();
            if (!q) return;
            const { memories } = await memoryApi.list(context.soul, { q }, null);
            const others = memories.filter(({ id, kind }) => id !== memory.id && kind !== 'fact');
            rows.replaceChildren(
                ...(others.length
                    ? others.slice(0, MOST).map(row)
                    : [el('li', { class: 'soulmem_hint', text: say('none_found') })]),
            );
        });
    field.addEventListener('keydown', event => {
        if (event.key !== 'Enter' || event.isComposing) return;
        event.preventDefault();
        void look();
    });
    return el('details', { class: 'soulmem_links' }, [
        el('summary', { text: say('link_title') }),
        el('small', { class: 'soulmem_hint', text: say('link_hint') }),
        el('div', { class: 'soulmem_try' }, [
            field,
            button('fa-magnifying-glass', say('search'), look, { id: 'soulmem_link_go' }),
        ]),
        rows,
    ]);
}

const KINDS = /** @type {const} */ (['concept', 'abstract_episode']);

/** The form of a concept or a pattern.
 * @param {BrowserContext} context @param {(id: string) => unknown} made called with the new memory */
export function memoryForm(context, made) {
    const { say, memoryApi, soul } = context;
    const options = KINDS.map(value => el('option', { value, text: say(`kind_${value}`) }));
    const about = { id: 'soulmem_make_kind', class: 'text_pole margin0' };
    const kind = /** @type {HTMLSelectElement} */ (el('select', about, options));
    const text = textField('soulmem_make_text', say('make_text'));
    const hint = el('small', { class: 'soulmem_hint' });
    const showHint = () => {
        hint.textContent = say(/** @type {Key} */ (`make_hint_${kind.value}`));
    };

    const save = () =>
        context.attempt(async () => {
            const words = text.value.trim();
            if (!words) return text.focus();
            const memory = await memoryApi.create({ soul, kind: kind.value, text: words });
            await made(memory.id);
        });
    kind.addEventListener('change', showHint);
    kind.value = KINDS[0];
    showHint();
    return el('div', { class: 'soulmem_memory' }, [
        el('h4', { text: say('make_new') }),
        el('label', { class: 'soulmem_labelled' }, [el('span', { text: say('make_kind') }), kind]),
        el('label', { class: 'soulmem_labelled' }, [el('span', { text: say('make_text') }), text]),
        hint,
        el('div', { class: 'soulmem_row' }, [
            button('fa-check', say('save'), save, { id: 'soulmem_make_save' }),
        ]),
    ]);
}
