// Texts in the prompt beside the chat: as many as the contract takes, and which memories repeat them. The sidecar
// leaves out what repeats the texts it is sent; lore that is activated later is compared here.

const MAX_TEXTS = 64; // the contract's limit
const MAX_CHARACTERS = 200_000; // of all texts together; the contract's limit
/** A sentence of at least so many words, or so many characters of scripts without spaces, counts as repeated on
 * its own. The sidecar counts in the same way. */
const MIN_WORDS = 8;
const MIN_CHARACTERS = 12;
const UNIT =
    /\p{Script=Han}|\p{Script=Hiragana}|\p{Script=Katakana}|\p{Script=Hangul}|[^\p{Script=Han}\p{Script=Hiragana}\p{Script=Katakana}\p{Script=Hangul}\P{L}]+|\p{N}+/gu;
const CHARACTER_UNIT = /\p{Script=Han}|\p{Script=Hiragana}|\p{Script=Katakana}|\p{Script=Hangul}/u;
const SENTENCE_END =
    /[.!?\u2026]+(?=[^\p{L}\p{N}]*(?:\s|$))|\*+(?=\s)|[\u3002\uff01\uff1f\n]|^[^:\uff1a\n]{1,60}[:\uff1a]/u;

/** As many of the texts as the contract takes, each only once. @param {readonly unknown[]} texts the most
 *   important first @returns {string[]} */
export function bounded(texts) {
    const out = /** @type {string[]} */ ([]);
    let room = MAX_CHARACTERS;
    for (const text of new Set(texts)) {
        if (out.length === MAX_TEXTS || room <= 0) break;
        if (typeof text !== 'string' || !text.trim()) continue;
        out.push(text.slice(0, room));
        room -= text.length;
    }
    return out;
}

/** @param {string} text @returns {string[]} words, and single characters of scripts without spaces, without
 *   case, punctuation and markup */
function unitsOf(text) {
    const folded = text.normalize('NFKC').toLowerCase();
    return folded.replace(/['\u2019\u02bc]/g, '').match(UNIT) ?? [];
}

/** Whether the units are enough to be compared on their own. @param {readonly string[]} units */
function isLongEnough(units) {
    const characters = units.filter(unit => CHARACTER_UNIT.test(unit)).length;
    return (units.length - characters) / MIN_WORDS + characters / MIN_CHARACTERS >= 1;
}

/** @param {readonly string[]} texts in the prompt
 * @returns {(text: string, whole?: boolean) => boolean} whether the texts hold a text or, unless it is compared
 *   as a `whole`, a long enough sentence of it */
export function repeating(texts) {
    const folded = texts.map(text => ` ${unitsOf(text).join(' ')} `);
    const holds = (/** @type {readonly string[]} */ units) =>
        units.length > 0 && folded.some(text => text.includes(` ${units.join(' ')} `));
    return (text, whole = false) => {
        if (holds(unitsOf(text))) return true;
        const sentences = whole ? [] : text.split(SENTENCE_END).map(unitsOf);
        return sentences.some(units => isLongEnough(units) && holds(units));
    };
}
