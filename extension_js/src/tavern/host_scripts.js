// What scripts and other parts of SillyTavern can use of us: macros, slash commands, function tools, quick replies,
// a source of the data bank, an entry of the debug menu.

import { escaped } from './host_page.js';

/** A value that an argument may have, with what it means. @typedef {{value: string, help?: string}} Choice */
/** An argument of a command. `choices` are all that it may be; `offered` are proposals, made when asked for.
 * @typedef {object} Argument
 * @property {string} help
 * @property {'string' | 'number' | 'bool'} [type] a string unless said otherwise
 * @property {boolean} [required]
 * @property {string} [fallback] its value when it is not given
 * @property {readonly Choice[]} [choices]
 * @property {() => Choice[]} [offered]
 */
/** A slash command. `run` gets the text after it, whether the user has stopped it, and the named arguments.
 * @typedef {object} Command
 * @property {string} name
 * @property {string} help
 * @property {string} returns what goes into the pipe, in words
 * @property {readonly string[]} examples whole lines
 * @property {Argument} [argument]
 * @property {Record<string, Argument>} [named]
 * @property {(text: string, isStopped: () => boolean, named: Record<string, string>) => Promise<string>} run
 */
/** A macro of our category. `sections` are what it may be asked for.
 * @typedef {object} Macro
 * @property {string} name
 * @property {string} help
 * @property {string} argumentHelp
 * @property {readonly string[]} sections
 * @property {(section: string) => string} text an empty section is all
 */
/** A button of a quick reply set. @typedef {{label: string, icon: string, title: string, message: string}} QuickReply */

const CATEGORY = 'SoulMem'; // of our macros, in SillyTavern's list of macros

/** @param {Command} command @returns {string} HTML for the list of commands */
function helpOf({ help, examples }) {
    const lines = examples.map(
        example =>
            `<li><pre><code class="language-stscript">${escaped(example)}</code></pre></li>`,
    );
    return `<div>${escaped(help)}</div><ul>${lines.join('')}</ul>`;
}

/** The named values of a call as texts. @param {any} values @returns {Record<string, string>} */
function textsOf(values) {
    const named = Object.entries(values ?? {}).filter(
        ([key, value]) => !key.startsWith('_') && ['string', 'number', 'boolean'].includes(typeof value),
    );
    return Object.fromEntries(named.map(([key, value]) => [key, String(value)]));
}

/** @param {() => any} getContext SillyTavern.getContext */
export function createScriptAccess(getContext) {
    /** @param {Choice} choice */
    function enumValue({ value, help }) {
        const { SlashCommandEnumValue } = getContext();
        return SlashCommandEnumValue ? new SlashCommandEnumValue(value, help ?? null) : value;
    }

    /** What SillyTavern wants to know of an argument. @param {Argument} argument */
    function propsOf({ help, type = 'string', required = false, fallback, choices, offered }) {
        const { ARGUMENT_TYPE } = getContext();
        const types = {
            string: ARGUMENT_TYPE.STRING,
            number: ARGUMENT_TYPE.NUMBER,
            bool: ARGUMENT_TYPE.BOOLEAN,
        };
        return {
            description: help,
            typeList: [types[type]],
            isRequired: required,
            defaultValue: fallback ?? null,
            enumList: (choices ?? []).map(enumValue),
            enumProvider: offered ? () => offered().map(enumValue) : null,
            forceEnum: Boolean(choices),
        };
    }

    return {
        /** @param {Macro} macro */
        registerMacro({ name, help, argumentHelp, sections, text }) {
            const { macros, registerMacro } = getContext();
            if (macros?.register) {
                macros.register(name, {
                    category: CATEGORY,
                    description: help,
                    unnamedArgs: [
                        { name: 'section', optional: true, defaultValue: '', description: argumentHelp },
                    ],
                    exampleUsage: [`{{${name}}}`, ...sections.map(part => `{{${name}::${part}}}`)],
                    handler: (/** @type {any} */ call) => text(call?.unnamedArgs?.[0] ?? ''),
                });
                return;
            }
            registerMacro?.(name, () => text(''), help);
            for (const part of sections) {
                registerMacro?.(`${name}::${part}`, () => text(part), help);
            }
        },
        /** @param {Command} command */
        registerCommand(command) {
            const { name, returns, argument, named = {}, run } = command;
            const {
                SlashCommandParser,
                SlashCommand,
                SlashCommandArgument,
                SlashCommandNamedArgument,
            } = getContext();
            const namedList = Object.entries(named).map(([key, about]) =>
                SlashCommandNamedArgument.fromProps({ name: key, ...propsOf(about) }),
            );
            const unnamedList = argument ? [SlashCommandArgument.fromProps(propsOf(argument))] : [];
            const callback = (/** @type {any} */ values, /** @type {unknown} */ text) =>
                run(
                    String(text ?? ''),
                    () => Boolean(values?._abortController?.signal?.aborted),
                    textsOf(values),
                );
            SlashCommandParser.addCommandObject(
                SlashCommand.fromProps({
                    name,
                    callback,
                    returns,
                    helpString: helpOf(command),
                    unnamedArgumentList: unnamedList,
                    namedArgumentList: namedList,
                }),
            );
        },
        /** @param {{name: string, displayName: string, description: string, parameters: Record<string, unknown>,
         *   action: (given: any) => Promise<string>, shouldRegister: () => boolean,
         *   formatMessage: () => string}} tool
         * @returns {boolean} whether this SillyTavern has function tools */
        registerTool(tool) {
            const { registerFunctionTool } = getContext();
            registerFunctionTool?.(tool);
            return Boolean(registerFunctionTool);
        },
        /** @param {string} name */
        unregisterTool: name => getContext().unregisterFunctionTool?.(name),
        /** A source of files for SillyTavern's data bank.
         * @param {{id: string, name: string, description: string, iconClass: string,
         *   isAvailable: () => Promise<boolean>, scrape: () => Promise<File[]>}} source */
        registerDataBankSource: source =>
            getContext().registerDataBankScraper?.({ ...source, iconAvailable: true }),
        /** An entry of SillyTavern's debug menu.
         * @param {string} id @param {string} name @param {string} description @param {() => unknown} run */
        registerDebugEntry: (id, name, description, run) =>
            getContext().registerDebugFunction?.(id, name, description, run),
        /** Makes a set of quick replies, in place of one of that name, and shows it.
         * @param {string} name @param {readonly QuickReply[]} replies
         * @returns {Promise<boolean>} false where the quick replies of SillyTavern are switched off */
        async installQuickReplies(name, replies) {
            const api = /** @type {any} */ (globalThis).quickReplyApi;
            if (!api) return false;
            await api.createSet(name, {});
            for (const { label, ...about } of replies) {
                api.createQuickReply(name, label, { ...about, showLabel: true });
            }
            if (!api.listGlobalSets().includes(name)) api.addGlobalSet(name, true);
            const box = api.settingsUi?.isEnabled; // SillyTavern shows no set before it is ticked
            if (box && !box.checked) box.click();
            return true;
        },
    };
}
