// Texts for the user by key: i18n/en.json holds the English ones, i18n/zh-cn.json the same keys in Chinese, which
// SillyTavern lays over them.

/** @template Name @typedef {Name extends `soulmem.${infer Rest}` ? Rest : never} Bare */
/** @typedef {Bare<keyof typeof import('../../i18n/en.json')>} Key */
/** Texts by their keys in SillyTavern's locale table. @typedef {Readonly<Record<string, string>>} Texts */

/** The key of a text in SillyTavern's locale table. @param {string} key */
export const localeKey = key => `soulmem.${key}`;

const ENGLISH = new URL('../../i18n/en.json', import.meta.url);

/** @returns {Promise<Texts>} in English @throws {Error} when the file does not come */
export async function loadEnglish() {
    const response = await fetch(ENGLISH);
    if (!response.ok) throw new Error(`i18n/en.json: HTTP ${response.status}`);
    return response.json();
}

/** @typedef {Record<string, string | number>} Values */

/** A text with its places filled: `{name}` by a value, `{n|turn|turns}` by the word for one or for many.
 * @param {string} text @param {Values} values @returns {string} unknown places stay */
function filled(text, values) {
    const worded = text.replace(/\{(\w+)\|([^{}|]*)\|([^{}|]*)\}/g, (_, name, single, many) =>
        String(values[name]) === '1' ? single : many,
    );
    return worded.replace(/\{(\w+)\}/g, (place, name) =>
        name in values ? String(values[name]) : place,
    );
}

/** A text of the sidecar by its code, and as it is in English; a value may be such a text in turn.
 * @typedef {{code: string, text: string, values: Record<string, string | number | Phrase>}} Phrase */

/** Says texts in the user's language with their places filled.
 * @typedef {object} Wordings
 * @property {(text: string | null | undefined, phrase?: Phrase | null) => string} phrase a text of the sidecar; as
 *   it is where it has no phrase, or a newer sidecar one that is not known here */
/** @typedef {((key: Key, values?: Values) => string) & Wordings} Say */

/** @param {Texts} english @param {(english: string, key: string) => string} translate @returns {Say} */
export function createSay(english, translate) {
    /** @param {string} key in the locale table @param {Values} values */
    const textOf = (key, values) => filled(translate(english[key], key), values);

    /** @type {Wordings['phrase']} */
    function phrase(text, known) {
        const key = localeKey(`phrase_${known?.code}`);
        if (!known || !(key in english)) return text ?? '';
        const values = Object.entries(known.values).map(([name, value]) => [
            name,
            typeof value === 'object' ? phrase(value.text, value) : value,
        ]);
        return textOf(key, Object.fromEntries(values));
    }

    /** @param {Key} key @param {Values} [values] */
    const say = (key, values = {}) => textOf(localeKey(key), values);
    return Object.assign(say, { phrase });
}
