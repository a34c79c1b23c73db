// A memory in a list: its kind, its badges, its row.

import { el, onPress } from '../base/dom.js';
import { clarityOf, fadedWords, readingNodes } from './faded_text.js';
import { markedNodes } from './marked_text.js';

/** @typedef {import('../base/strings.js').Say} Say */
/** @typedef {import('../base/strings.js').Key} Key */
/** @typedef {import('../base/types.js').ListedMemory} ListedMemory */

const KIND_ICONS = {
    episode: 'fa-clapperboard',
    abstract_episode: 'fa-layer-group',
    concept: 'fa-tag',
    fact: 'fa-link',
    action: 'fa-person-running',
    trigger: 'fa-bolt',
    summary: 'fa-align-left',
    digest: 'fa-calendar-days',
    note: 'fa-note-sticky',
};

/** The kinds by which lists are filtered. */
export const KINDS = /** @type {const} */ ([
    'episode',
    'abstract_episode',
    'summary',
    'digest',
    'concept',
    'action',
    'trigger',
    'note',
]);

/** Icon and word of a kind. @param {string} kind an unknown one is shown as a note @param {Say} say */
export function kindLabel(kind, say) {
    const shown = /** @type {keyof typeof KIND_ICONS} */ (kind in KIND_ICONS ? kind : 'note');
    return el('span', { class: 'soulmem_kind' }, [
        el('i', { class: `fa-solid fa-fw ${KIND_ICONS[shown]}` }),
        say(/** @type {Key} */ (`kind_${shown}`)),
    ]);
}

/** @param {string} icon @param {string} text */
const badge = (icon, text) =>
    el('span', { class: 'soulmem_badge' }, [el('i', { class: `fa-solid ${icon}` }), text]);

/** @param {Pick<ListedMemory, 'id' | 'permanent' | 'locked' | 'state' | 'visibility' | 'reads_now'> & {in_doubt?: boolean, told?: number}} memory
 * @param {Say} say @param {ReadonlySet<string>} [leftOut] ids of permanent memories that the last prompt had no
 *   room for @returns {HTMLElement[]} */
export function memoryBadges(memory, say, leftOut) {
    const badges = [];
    if (leftOut?.has(memory.id))
        badges.push(badge('fa-triangle-exclamation', say('item_left_out')));
    if (memory.in_doubt) badges.push(badge('fa-circle-question', say('item_doubt')));
    if (memory.permanent) badges.push(badge('fa-thumbtack', say('item_permanent')));
    if (memory.locked) badges.push(badge('fa-lock', say('item_locked')));
    const { visibility } = memory;
    if (visibility !== undefined) {
        const clarity = clarityOf({ visibility }, memory.reads_now);
        if (clarity !== 'clear') badges.push(badge('fa-cloud', say(`clarity_${clarity}`)));
    }
    if (memory.told && memory.told > 1)
        badges.push(badge('fa-comments', say('item_retold', { n: memory.told })));
    if (memory.state === 'stale') badges.push(badge('fa-hourglass-half', say('item_stale')));
    return badges;
}

/** @param {string} iso @param {string} locale @returns {string} date and time as the reader writes them */
export function localTime(iso, locale) {
    const date = new Date(iso);
    if (Number.isNaN(date.getTime())) return iso;
    return date.toLocaleString(locale, { dateStyle: 'medium', timeStyle: 'short' });
}

/** One memory in a list. `facts`: a line about it; `press` opens it; `actions`: its buttons;
 * `inOwnWords`: whether words that have blurred stand there, too, in a fainter colour.
 * @param {ListedMemory} memory @param {Say} say
 * @param {{facts?: string, press?: () => unknown, actions?: HTMLElement[], leftOut?: ReadonlySet<string>,
 *   inOwnWords?: boolean}} [options] */
export function memoryRow(
    memory,
    say,
    { facts = '', press, actions = [], leftOut, inOwnWords = false } = {},
) {
    const { text, reads_now: reads = text } = memory;
    const shown =
        inOwnWords && reads !== text ? fadedWords(markedNodes([text])) : readingNodes(reads, say);
    const pressable = press ? { class: 'soulmem_press', tabindex: '0', role: 'button' } : {};
    const body = el('div', pressable, [
        el('div', { class: 'soulmem_recalled_head' }, [
            el('span', { class: 'soulmem_row' }, [
                kindLabel(memory.kind, say),
                ...memoryBadges(memory, say, leftOut),
            ]),
            facts ? el('small', { class: 'soulmem_recalled_facts', text: facts }) : null,
        ]),
        el('div', { class: 'soulmem_item_text' }, shown),
    ]);
    if (press) onPress(body, press);
    const buttons = actions.length ? el('div', { class: 'soulmem_row' }, actions) : null;
    const data = { memory: memory.id, kind: memory.kind };
    return el('li', { class: 'soulmem_item', data }, [body, buttons]);
}
