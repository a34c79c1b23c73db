// Keeps SillyTavern from running macros in a text that it sends to a model: a mark is put where a macro would
// begin, and removed from the finished prompt.

/** Invisible characters in an order that no text has. */
const MARK = '\u2063\u2062\u2063';
const MACROS = /\{(?=\\*\{)|\\(?=[{}])|<(?=%|(?:user|bot|char|group|charifnotgroup)>)/gi;

/** @param {string} text @returns {string} the text with marks, in which SillyTavern runs nothing */
export const shielded = text => text.replace(MACROS, `$&${MARK}`);

/** @param {string} text @returns {string} the text without marks */
export const unshielded = text => text.replaceAll(MARK, '');

/** Removes the marks from a finished prompt: the handler of `CHAT_COMPLETION_PROMPT_READY` and
 * `GENERATE_AFTER_COMBINE_PROMPTS`, which SillyTavern fires after its macros.
 * @param {{chat?: {content?: unknown}[], prompt?: unknown}} ready */
export function unshieldPrompt(ready) {
    for (const message of Array.isArray(ready.chat) ? ready.chat : []) {
        if (typeof message.content === 'string') message.content = unshielded(message.content);
    }
    if (typeof ready.prompt === 'string') ready.prompt = unshielded(ready.prompt);
}
