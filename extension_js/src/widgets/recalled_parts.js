// What a row says of a recalled memory.

import { el } from '../base/dom.js';
import { readingNodes } from './faded_text.js';
import { kindLabel } from './memory_badges.js';

/** Its kind with facts beside it, its text, and why it came.
 * @param {import('../base/types.js').Memory} memory @param {readonly string[]} facts
 * @param {import('../base/strings.js').Say} say @returns {HTMLElement[]} */
export const recalledParts = (memory, facts, say) => [
    el('div', { class: 'soulmem_recalled_head' }, [
        kindLabel(memory.kind, say),
        el('small', { class: 'soulmem_recalled_facts', text: facts.join(' · ') }),
    ]),
    el('div', { class: 'soulmem_recalled_text' }, readingNodes(memory.text, say)),
    el('small', { class: 'soulmem_recalled_why', text: memory.why }),
];
