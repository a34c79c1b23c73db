// The player's own regexes that change what the prompt shows of a message, run by SillyTavern's regex extension.

/** A regex of the player, as far as it is read here.
 * @typedef {{findRegex: string, replaceString?: string, promptOnly?: boolean, disabled?: boolean,
 *   placement?: number[], substituteRegex?: number}} PromptScript */
/** The regexes in use. `key` changes with them; `run` gives what the prompt shows of a message once it is old.
 * @typedef {{key: string, scripts: PromptScript[], run: (text: string, isUser: boolean) => string}} PromptRegexes */

const ENGINE = '/scripts/extensions/regex/engine.js';
const USER_INPUT = 1; // SillyTavern's numbers of where a regex applies
const AI_OUTPUT = 2;
const DEEP = 100_000; // messages behind it: a regex for the newest messages alone does not count

/** @param {PromptScript} script */
const isActive = script =>
    Boolean(script?.promptOnly && !script.disabled && script.findRegex) &&
    Boolean(script.placement?.some(place => place === USER_INPUT || place === AI_OUTPUT));

/** @param {any} context of SillyTavern @param {any} engine @returns {PromptScript[]} */
function scriptsOf(context, engine) {
    if (engine.getRegexScripts) return engine.getRegexScripts({ allowedOnly: true });
    const card = context.characters?.[context.characterId];
    return [
        ...(context.extensionSettings.regex ?? []),
        ...(card?.data?.extensions?.regex_scripts ?? []),
    ];
}

/** @param {() => any} getContext SillyTavern.getContext
 * @param {(path: string) => Promise<any>} [load] a module of SillyTavern */
export function createRegexAccess(getContext, load = path => import(path)) {
    let engine = /** @type {Promise<any> | null} */ (null);
    return {
        /** @returns {Promise<PromptRegexes | null>} null where no regex changes the prompt */
        async promptRegexes() {
            const context = getContext();
            if (context.extensionSettings.disabledExtensions?.includes('regex')) return null;
            engine ??= load(ENGINE).catch(() => null);
            const loaded = await engine;
            if (!loaded?.getRegexedString) return null;
            const scripts = scriptsOf(context, loaded).filter(isActive);
            if (!scripts.length) return null;
            const find = (/** @type {PromptScript} */ { findRegex, substituteRegex }) =>
                substituteRegex ? context.substituteParams(findRegex) : findRegex;
            return {
                key: JSON.stringify(scripts),
                scripts: scripts.map(script => ({ ...script, findRegex: find(script) })),
                run: (text, isUser) =>
                    loaded.getRegexedString(text, isUser ? USER_INPUT : AI_OUTPUT, {
                        isPrompt: true,
                        depth: DEEP,
                    }),
            };
        },
    };
}
