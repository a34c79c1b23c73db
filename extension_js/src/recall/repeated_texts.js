// What stands in the prompt beside the chat, and what of a memory says the same? The sidecar leaves out what it is told of; lore that only
// this generation awakes is known when the sidecar has answered.

/** Of the contract: so many texts, and so many characters of them together. */
const MOST_TEXTS = 64;
const MOST_CHARACTERS = 200_000;
/** A sentence from so many words, or signs of scripts without spaces, on is somebody's own; the sidecar counts alike. */
const WORDS = 8;
const SIGNS = 12;
const UNIT =
    /\p{Script=Han}|\p{Script=Hiragana}|\p{Script=Katakana}|\p{Script=Hangul}|[^\p{Script=Han}\p{Script=Hiragana}\p{Script=Katakana}\p{Script=Hangul}\P{L}]+|\p{N}+/gu;
const SIGN = /\p{Script=Han}|\p{Script=Hiragana}|\p{Script=Katakana}|\p{Script=Hangul}/u;

/** As much of the texts as the contract takes, each once; what comes first matters most. @param {readonly unknown[]} texts @returns {string[]} */
export function bounded(texts) {
    const out = /** @type {string[]} */ ([]);
    let room = MOST_CHARACTERS;
    for (const text of new Set(texts)) {
        if (typeof text !== 'string' || !text.trim() || out.length === MOST_TEXTS || room <= 0)
            continue;
        out.push(text.slice(0, room));
        room -= text.length;
    }
    return out;
}

/** @param {string} text @returns {string[]} words and signs without case, punctuation and markup */
const unitsOf = text =>
    text
        .normalize('NFKC')
        .toLowerCase()
        .replace(/['\u2019\u02bc]/g, '')
        .match(UNIT) ?? [];

/** @param {readonly string[]} units */
const isSentence = units => {
    const signs = units.filter(unit => SIGN.test(unit)).length;
    return (units.length - signs) / WORDS + signs / SIGNS >= 1;
};

/** Which texts say what stands in others? @param {readonly string[]} standing
 * @returns {(text: string, whole?: boolean) => boolean} whether the text stands there, or a sentence of it unless it must be the `whole` */
export function repeating(standing) {
    const there = standing.map(text => ` ${unitsOf(text).join(' ')} `);
    const has = (/** @type {readonly string[]} */ units) =>
        units.length > 0 && there.some(text => text.includes(` ${units.join(' ')} `));
    return (text, whole = false) =>
        has(unitsOf(text)) ||
        (!whole &&
            text
                .split(
                    /[.!?\u2026]+(?=[^\p{L}\p{N}]*(?:\s|$))|\*+(?=\s)|[\u3002\uff01\uff1f\n]|^[^:\uff1a\n]{1,60}[:\uff1a]/u,
                )
                .map(unitsOf)
                .some(units => isSentence(units) && has(units)));
}
