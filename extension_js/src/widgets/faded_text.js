// How a memory reads now: faded words in a fainter colour, and in words how clear it still is.

import { el } from '../base/dom.js';
import { markedNodes } from './marked_text.js';

/** @typedef {import('../base/strings.js').Say} Say */
/** @typedef {import('../base/types.js').Unit} Unit */
/** @typedef {import('../base/types.js').Clarity} Clarity */

/** A mask with its gist, as the sidecar writes it into a text. */
const MASK = /xxx(?:\(([^()]*)\)|（([^（）]*)）)?/g;
/** Visibility from which words are told, and from which their gist is: as the sidecar has it. */
const CLEAR = 0.6;
export const GIST = 0.25;
/** Visibility from which words look like new. */
const FRESH = 0.95;
/** How words look that have blurred: still legible in all themes. */
const FAINT = 0.5;

/** What matters most first: few would miss the rest. @param {readonly import('../base/types.js').FadingMemory[]} fading */
export const dearest = fading => [...fading].sort((one, other) => other.importance - one.importance);

/** Stretches of one visibility, in the order of the text. @param {string} original
 * @param {readonly Unit[]} units @returns {{words: string, visibility: number}[]} */
function stretches(original, units) {
    const signs = Array.from(original); // units count in code points
    const visibility = signs.map(() => 1);
    for (const unit of units) {
        for (let i = unit.start; i < Math.min(unit.end, signs.length); i++)
            visibility[i] = Math.min(visibility[i], unit.visibility);
    }
    const out = /** @type {{words: string, visibility: number}[]} */ ([]);
    signs.forEach((sign, i) => {
        const last = out.at(-1);
        if (last?.visibility === visibility[i]) last.words += sign;
        else out.push({ words: sign, visibility: visibility[i] });
    });
    return out;
}

/** Words that are told, and that fade. @param {string} words @param {number} visibility */
const fading = (words, visibility) =>
    el('span', {
        class: 'soulmem_fading',
        text: words,
        // the colour goes from the theme's own to one that can still be read
        style: `--soulmem_seen: ${Math.round(100 * visibility)}%`,
    });

/** Words that have blurred, as they were. @param {(Node | string)[]} words @returns {Node[]} */
export const fadedWords = words => [
    el('span', { class: 'soulmem_fading', style: `--soulmem_seen: ${Math.round(100 * FAINT)}%` }, words),
];

/** @param {string} words between two masks @param {{words: string, visibility: number}[]} parts
 *   of the original that may stand there; those that do are taken out
 * @returns {(Node | string)[]} */
function toldWords(words, parts) {
    const out = /** @type {(Node | string)[]} */ ([]);
    let rest = words;
    while (rest && parts.length) {
        const place = rest.indexOf(parts[0].words);
        if (place < 0) {
            if (parts[0].visibility >= CLEAR) break; // it stands behind a later mask
            parts.shift();
            continue;
        }
        const { words: found, visibility } = /** @type {typeof parts[0]} */ (parts.shift());
        if (place) out.push(rest.slice(0, place));
        out.push(visibility < FRESH ? fading(found, visibility) : found);
        rest = rest.slice(place + found.length);
    }
    if (rest) out.push(rest);
    return out;
}

/** A text as it is told, masks and fading words in fainter colours.
 * @param {string} reads as it is told now @param {Say} say
 * @param {string} [original] @param {readonly Unit[]} [units] of the original
 * @returns {(Node | string)[]} */
export function readingNodes(reads, say, original = '', units = []) {
    const parts = stretches(original, units);
    const out = /** @type {(Node | string)[]} */ ([]);
    let end = 0;
    for (const match of reads.matchAll(MASK)) {
        out.push(...toldWords(reads.slice(end, match.index), parts));
        const gist = match[1] ?? match[2];
        const title = say(gist ? 'mask_gist' : 'mask_gone');
        out.push(
            el('span', { class: gist ? 'soulmem_gist' : 'soulmem_gone', title, text: match[0] }),
        );
        end = match.index + match[0].length;
    }
    out.push(...toldWords(reads.slice(end), parts));
    return markedNodes(out);
}

/** Who speaks, before what is told. */
const SPEAKER = /^[^:：\n]{1,60}[:：]/;

/** A text as a later prompt has it, or a hint where nothing clear is left: such a text is in no prompt.
 * @param {string} reads @param {Say} say @returns {(Node | string)[]} */
export function laterNodes(reads, say) {
    const told = reads.replace(SPEAKER, '').replace(MASK, (_, ...gist) => gist[0] ?? gist[1] ?? '');
    if (/[\p{L}\p{N}]/u.test(told)) return readingNodes(reads, say);
    return [el('span', { class: 'soulmem_leaves', text: say('fading_nothing') })];
}

/** How clear a memory is, in a word; one of which any words are hidden is not clear.
 * @param {{visibility: number}} memory @param {string} [reads] as it is told now
 * @returns {'clear' | 'blurred' | 'almost_gone'} */
export function clarityOf({ visibility }, reads = '') {
    if (visibility < GIST) return 'almost_gone';
    return visibility < CLEAR || reads.search(MASK) >= 0 ? 'blurred' : 'clear';
}

/** Turns as people say them: "about 300". @param {number} turns @returns {number} */
export function roundTurns(turns) {
    const step = turns < 20 ? 1 : turns < 200 ? 10 : turns < 2000 ? 100 : 1000;
    return Math.max(1, Math.round(turns / step) * step);
}

/** When the last of a memory is gone, in words. @param {Clarity} memory @param {Say} say @returns {string} */
function endOf({ fades, gone_in: goneIn, permanent, locked }, say) {
    if (permanent || locked) return say('fades_never');
    if (!fades) return say('fades_not');
    if (goneIn === null || goneIn === undefined) return say('fades_partly');
    return say('gone_in', { n: roundTurns(goneIn) });
}

/** A bar with words: clear, blurred or almost gone, and when it is gone.
 * @param {Clarity} memory @param {Say} say @param {string} [reads] as it is told now */
export function clarityBar(memory, say, reads) {
    const state = clarityOf(memory, reads);
    const share = Math.round(100 * memory.visibility);
    const text = [say(`clarity_${state}`), endOf(memory, say)].join(' · ');
    const fill = el('div', { style: `width: ${share}%` });
    const bar = el('div', { class: 'soulmem_bar soulmem_clarity_bar', 'aria-hidden': true }, [fill]);
    return el('div', { class: 'soulmem_clarity', data: { state } }, [
        bar,
        el('small', { text, title: say('clarity_share', { n: share }) }),
    ]);
}
