// How does a text reach a language model through SillyTavern as it is? SillyTavern runs macros in what it sends: marks are set where it would
// see one, and taken away behind it.

/** Invisible signs in an order that no text has. */
const MARK = '\u2063\u2062\u2063';
const MACROS = /\{(?=\\*\{)|\\(?=[{}])|<(?=%|(?:user|bot|char|group|charifnotgroup)>)/gi;

/** @param {string} text @returns {string} without anything that SillyTavern would run or change */
export const shielded = text => text.replace(MACROS, `$&${MARK}`);

/** @param {string} text @returns {string} what was shielded */
export const unshielded = text => text.replaceAll(MARK, '');

/** Takes the marks out of a prompt that is ready to be sent: of SillyTavern's events `CHAT_COMPLETION_PROMPT_READY` and
 * `GENERATE_AFTER_COMBINE_PROMPTS`, which come behind its macros. @param {{chat?: {content?: unknown}[], prompt?: unknown}} ready */
export function unshieldPrompt(ready) {
    for (const message of Array.isArray(ready.chat) ? ready.chat : []) {
        if (typeof message.content === 'string') message.content = unshielded(message.content);
    }
    if (typeof ready.prompt === 'string') ready.prompt = unshielded(ready.prompt);
}
