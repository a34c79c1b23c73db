// After a correction: other memories that still say what was corrected.

import { el } from '../base/dom.js';
import { textDifference } from './audit_text.js';
import { pressRow } from './press_row.js';

/** @typedef {import('../pages/browser_context.js').BrowserContext} BrowserContext */
/** @typedef {import('../base/types.js').ListedMemory} ListedMemory */

const EDGES = /^[\s\p{P}]+|[\s\p{P}]+$/gu;
const LONGEST = 40; // characters of what was taken out; more is another text
const LEAST = 2; // letters
const SHOWN = 3;
const MOST = 10; // words that more memories have are no sign that they say the same
const QUERY = 200; // characters

/** The words that a correction took out, as they stood; empty where it took out none, or most of a text.
 * @param {string} before @param {string} after */
export function removedWords(before, after) {
    const words = textDifference(before, after).removed.replace(EDGES, '');
    const letters = words.match(/[\p{L}\p{N}]/gu)?.length ?? 0;
    return letters < LEAST || words.length > LONGEST ? '' : words;
}

/** Memories that say the same words in the same sense, each opens at a press.
 * @param {BrowserContext} context @param {ListedMemory} before as it was @param {string} after its new text
 * @returns {Promise<HTMLElement | null>} null where there are none */
export async function sameWordsView({ say, soul, memoryApi, show }, before, after) {
    const words = removedWords(before.text, after);
    if (!words) return null;
    // Ranked by the whole text: those that say it of the same come first
    const found = await memoryApi.list(soul, { q: before.text.slice(0, QUERY) }, null);
    const others = found.memories.filter(
        ({ id, text }) => id !== before.id && text.toLowerCase().includes(words.toLowerCase()),
    );
    if (!others.length || others.length > MOST) return null;
    const rows = others.slice(0, SHOWN).map(({ id, text }) => pressRow({}, [text], () => show('memories', id)));
    return el('div', { id: 'soulmem_same_words', role: 'status' }, [
        el('small', { class: 'soulmem_hint', text: say('same_words', { words, n: others.length }) }),
        el('ul', { class: 'soulmem_facts' }, rows),
    ]);
}
