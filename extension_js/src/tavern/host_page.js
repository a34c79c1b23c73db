// SillyTavern's page: popups, toasts, translations, templates, macros and slash commands.

const FOLDER = decodeURIComponent(
    new URL('../..', import.meta.url).pathname.split('/').slice(0, -2).at(-1) ?? 'SoulMem',
);

/** @param {string} text @returns {string} HTML that shows it */
const escaped = text => text.replace(/[&<>"']/g, sign => `&#${sign.charCodeAt(0)};`);

/** @param {() => any} getContext SillyTavern.getContext */
export function createPageAccess(getContext) {
    return {
        /** Name of this extension's folder. */
        folder: FOLDER,
        page: () => ({
            loopback: ['127.0.0.1', 'localhost', '[::1]'].includes(location.hostname),
            secure: window.isSecureContext,
            origin: location.origin,
        }),

        /** @param {string} english @param {string} key @returns {string} in the user's language */
        translate: (english, key) => getContext().translate(english, key),
        /** @returns {string} the language of the page, for dates */
        locale() {
            const locale = getContext().getCurrentLocale?.();
            const isKnown =
                typeof locale === 'string' &&
                Intl.DateTimeFormat.supportedLocalesOf([locale]).length > 0;
            return isKnown ? locale : navigator.language;
        },
        /** @param {string} name of a template in extension_js @returns {Promise<string>} its translated HTML */
        template: name =>
            getContext().renderExtensionTemplateAsync(
                `third-party/${FOLDER}`,
                `extension_js/${name}`,
            ),

        /** @param {Element} content @param {string} closeLabel
         * @param {{large?: boolean, mayClose?: () => Promise<boolean>}} [options]
         * @returns {{closed: Promise<unknown>, close: () => unknown}} */
        popup(content, closeLabel, { large = false, mayClose } = {}) {
            const { Popup, POPUP_TYPE } = getContext();
            const popup = new Popup(content, POPUP_TYPE.TEXT, '', {
                okButton: closeLabel,
                wide: true,
                large,
                allowVerticalScrolling: true,
                leftAlign: true,
                onClosing: mayClose ?? null,
            });
            return { closed: popup.show(), close: () => popup.completeCancelled() };
        },
        /** @param {Element} content @param {string} yes @param {string} no labels of the buttons
         * @returns {Promise<boolean>} */
        async ask(content, yes, no) {
            const { Popup, POPUP_TYPE, POPUP_RESULT } = getContext();
            const options = { okButton: yes, cancelButton: no, leftAlign: true };
            const popup = new Popup(content, POPUP_TYPE.CONFIRM, '', options);
            return (await popup.show()) === POPUP_RESULT.AFFIRMATIVE;
        },
        /** @param {string} question plain text @returns {Promise<boolean>} */
        async confirm(question) {
            const { Popup, POPUP_RESULT } = getContext();
            const answer = await Popup.show.confirm('SoulMem', escaped(question));
            return answer === POPUP_RESULT.AFFIRMATIVE;
        },
        /** @param {string} question plain text @param {string} [yes] label of the button
         * @returns {Promise<string | null>} the typed text; null when cancelled */
        async prompt(question, yes) {
            const { Popup } = getContext();
            const options = yes ? { okButton: yes } : {};
            return (await Popup.show.input('SoulMem', escaped(question), '', options)) ?? null;
        },
        /** @param {'info' | 'success' | 'warning' | 'error'} kind @param {string} text
         * @param {{timeOut?: number, extendedTimeOut?: number, onclick?: () => unknown}} [options] of toastr */
        toast: (kind, text, options) =>
            /** @type {any} */ (globalThis).toastr?.[kind](text, 'SoulMem', {
                escapeHtml: true,
                ...options,
            }),

        /** @param {string} name @param {() => string} handler @param {string} description */
        registerMacro(name, handler, description) {
            const { macros, registerMacro } = getContext();
            if (macros?.register) macros.register(name, { handler, description });
            else registerMacro?.(name, handler, description);
        },
        /** @param {string} name @param {(text: string) => Promise<string>} run
         * @param {string} help @param {string} argument what the argument means */
        registerCommand(name, run, help, argument) {
            const { SlashCommandParser, SlashCommand, SlashCommandArgument, ARGUMENT_TYPE } =
                getContext();
            const argumentList = [
                SlashCommandArgument.fromProps({
                    description: argument,
                    typeList: [ARGUMENT_TYPE.STRING],
                    isRequired: false,
                }),
            ];
            const command = SlashCommand.fromProps({
                name,
                callback: (/** @type {unknown} */ _named, /** @type {unknown} */ text) =>
                    run(String(text ?? '')),
                returns: 'text',
                helpString: help,
                unnamedArgumentList: argumentList,
            });
            SlashCommandParser.addCommandObject(command);
        },
    };
}
