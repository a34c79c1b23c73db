// The parts of a memory that fade, and the words that are kept: seen and changed by hand.

import { button, el } from '../base/dom.js';
import { clarityOf } from '../widgets/faded_text.js';

/** @typedef {import('./browser_context.js').BrowserContext} BrowserContext */
/** @typedef {import('../base/types.js').WholeMemory} WholeMemory */
/** @typedef {import('../base/types.js').Unit} Unit */
/** @typedef {import('../base/types.js').Anchor} Anchor */
/** @typedef {import('../base/strings.js').Say} Say */
/** @typedef {(changes: Record<string, unknown>) => Promise<void>} Change */

const LONGEST_GIST = '60'; // characters

/** @param {readonly Anchor[]} anchors @returns {{text: string, kind: string}[]} as they are sent */
const sent = anchors => anchors.map(({ text, kind }) => ({ text, kind }));

/** Words that the user has selected in the field of the original text.
 * @param {HTMLTextAreaElement} field @returns {string} */
const selectedWords = field => field.value.slice(field.selectionStart, field.selectionEnd).trim();

/** The words that are kept, each with a button that lets it go, and buttons that keep the selected ones.
 * @param {BrowserContext} context @param {WholeMemory} memory @param {HTMLTextAreaElement} field with the original
 * @param {Change} change @param {() => void} showField @returns {HTMLElement} */
function anchorsView({ say, showStatus }, memory, field, change, showField) {
    const anchors = memory.anchors ?? [];

    /** @param {'spontaneous' | 'forced'} kind */
    async function keep(kind) {
        const words = selectedWords(field);
        if (!words || !(memory.reworded ?? memory.text).includes(words)) {
            showField();
            showStatus(say('anchor_select'), false);
            return;
        }
        const others = anchors.filter(anchor => anchor.text !== words);
        await change({ anchors: [...sent(others), { text: words, kind }] });
    }

    const rows = anchors.map(anchor => {
        const letGo = () => change({ anchors: sent(anchors.filter(other => other !== anchor)) });
        const kind = say(anchor.kind === 'forced' ? 'anchor_forced' : 'anchor_spontaneous');
        return el('li', { class: 'soulmem_anchor', data: { kind: anchor.kind } }, [
            el('span', {}, [
                el('i', { class: 'fa-solid fa-anchor fa-fw' }),
                el('q', { text: anchor.text }),
                el('small', { text: ` ${kind} · ${say(`clarity_${clarityOf(anchor)}`)}` }),
            ]),
            button('fa-xmark', say('anchor_drop'), letGo, { class: 'soulmem_anchor_drop' }),
        ]);
    });
    return el('div', {}, [
        el('h4', { text: say('anchors') }),
        el('small', { class: 'soulmem_hint', text: say('anchors_hint') }),
        el('ul', { class: 'soulmem_sources' }, rows),
        el('div', { class: 'soulmem_row' }, [
            button('fa-anchor', say('anchor_keep'), () => keep('spontaneous'), {
                id: 'soulmem_anchor_spontaneous',
                title: say('anchor_keep_hint'),
            }),
            button('fa-bolt', say('anchor_force'), () => keep('forced'), {
                id: 'soulmem_anchor_forced',
                title: say('anchor_force_hint'),
            }),
        ]),
    ]);
}

/** The parts, each with what is told instead once it has blurred.
 * @param {BrowserContext} context @param {WholeMemory} memory @param {Change} change @returns {HTMLElement | null} */
function gistsView({ say }, memory, change) {
    const units = memory.units ?? [];
    if (!units.length) return null;

    /** @param {Unit} unit @param {string} gist */
    function save(unit, gist) {
        const sentUnits = units.map(other => ({
            text: other.text,
            gist: other === unit ? gist : other.gist,
            start: other.start,
            end: other.end,
        }));
        return change({ units: sentUnits });
    }

    const rows = units.map(unit => {
        const gist = /** @type {HTMLInputElement} */ (
            el('input', {
                class: 'text_pole margin0 soulmem_gist_field',
                type: 'text',
                maxlength: LONGEST_GIST,
                placeholder: say('gist_none'),
                'aria-label': say('gist_of', { words: unit.text }),
            })
        );
        gist.value = unit.gist;
        gist.addEventListener('change', () => void save(unit, gist.value.trim()));
        const state = clarityOf(unit);
        return el('li', { class: 'soulmem_unit', data: { state } }, [
            el('span', { class: 'soulmem_quote_text' }, [
                unit.text,
                el('small', { text: ` · ${say(`clarity_${state}`)}` }),
            ]),
            gist,
        ]);
    });
    return el('details', { class: 'soulmem_gists' }, [
        el('summary', { text: say('gists') }),
        el('small', { class: 'soulmem_hint', text: say('gists_hint') }),
        el('ul', { class: 'soulmem_sources' }, rows),
    ]);
}

/** What fades of a memory and what is kept of it; nothing where neither can be.
 * @param {BrowserContext} context @param {WholeMemory} memory @param {HTMLTextAreaElement} field with the original
 * @param {Change} change @param {() => void} showField shows that field @returns {HTMLElement[]} */
export function memoryParts(context, memory, field, change, showField) {
    if (memory.reads_now === undefined || memory.permanent || memory.locked) return [];
    const gists = gistsView(context, memory, change);
    return [anchorsView(context, memory, field, change, showField), ...(gists ? [gists] : [])];
}
