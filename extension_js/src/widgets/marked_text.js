// Texts as they are written in a chat: emphasis between asterisks, and who speaks at the beginning of a line.

import { el } from '../base/dom.js';

/** @typedef {(Node | string)[]} Nodes */

const MARKS = /(\*\*|\*)/;
/** A name, a colon and a space at the beginning of a line, as the sidecar writes who speaks. Where a script has
 * capitals, no word of a name but a short one ("de", "the") begins with a small letter: "She looked up and said:"
 * is none. */
const NAME_WORD = String.raw`[\p{Lu}\p{Lt}\p{Lo}\p{N}][^\s:：,;!?，。；！？*"“「]*`;
const SPEAKER = new RegExp(
    String.raw`(^|\n)((?=\p{L})${NAME_WORD}(?: (?:${NAME_WORD}|\p{Ll}{1,3}))*:)(?= )`,
    'u',
);
const TAGS = /** @type {Record<string, string>} */ ({ '*': 'em', '**': 'strong' });

/** Words and marks in turn; a mark without a partner is a word.
 * @param {readonly (Node | string)[]} nodes @returns {{mark: string, part: Node | string}[]} */
function partsOf(nodes) {
    const parts = nodes.flatMap(node => {
        const split = typeof node === 'string' ? node.split(MARKS).filter(Boolean) : [node];
        return /** @type {Nodes} */ (split);
    });
    const out = parts.map(part => ({ mark: '', part }));
    const open = /** @type {Record<string, number>} */ ({});
    out.forEach(({ part }, i) => {
        if (typeof part !== 'string' || !(part in TAGS)) return;
        const begin = open[part];
        if (begin === undefined) open[part] = i;
        else {
            out[begin].mark = out[i].mark = part;
            delete open[part];
        }
    });
    return out;
}

/** The nodes with emphasis in place of its marks. @param {readonly (Node | string)[]} nodes @returns {Nodes} */
function withMarks(nodes) {
    const out = /** @type {Nodes} */ ([]);
    const open = /** @type {{mark: string, element: HTMLElement}[]} */ ([]);
    for (const { mark, part } of partsOf(nodes)) {
        const last = open.at(-1);
        if (mark && last?.mark === mark) open.pop();
        else if (mark && !open.some(other => other.mark === mark)) {
            const element = el(TAGS[mark]);
            (last?.element ?? { append: (/** @type {Node} */ node) => out.push(node) }).append(element);
            open.push({ mark, element });
        } else if (!mark) {
            if (last) last.element.append(part);
            else out.push(part);
        }
    }
    return out;
}

/** The nodes with the names of who speaks, at the beginning of lines, set apart.
 * @param {readonly (Node | string)[]} nodes @returns {Nodes} */
function withSpeakers(nodes) {
    return nodes.flatMap((node, i) => {
        if (typeof node !== 'string') return /** @type {Nodes} */ ([node]);
        const split = node.split(SPEAKER);
        const isWithinLine = i > 0 && split[1] === ''; // a text after another node begins no line
        const words = split.map((part, place) => {
            const isSpeaker = place % 3 === 2 && !(isWithinLine && place === 2);
            return isSpeaker ? el('span', { class: 'soulmem_speaker', text: part }) : part;
        });
        return /** @type {Nodes} */ (words);
    });
}

/** The nodes of a text with emphasis, and with the names of who speaks set apart.
 * @param {readonly (Node | string)[]} nodes @returns {Nodes} */
export const markedNodes = nodes => withMarks(withSpeakers(nodes)).filter(node => node !== '');
