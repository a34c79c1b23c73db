// SillyTavern's page: popups, toasts, translations, templates.

const FOLDER = decodeURIComponent(
    new URL('../..', import.meta.url).pathname.split('/').slice(0, -2).at(-1) ?? 'SoulMem',
);

const DOWNLOAD_TIME = 60_000; // ms until the browser has surely taken a file

/** @param {string} text @returns {string} HTML that shows it */
export const escaped = text => text.replace(/[&<>"']/g, sign => `&#${sign.charCodeAt(0)};`);

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
                wide: !large,
                wider: large,
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
            const { Popup, POPUP_TYPE } = getContext();
            const options = yes ? { okButton: yes } : {};
            const content = `<h3>SoulMem</h3>${escaped(question)}`;
            const popup = new Popup(content, POPUP_TYPE.INPUT, '', options);
            popup.mainInput?.setAttribute('aria-label', question); // SillyTavern gives it no name
            const typed = await popup.show();
            return typeof typed === 'string' ? typed : null;
        },
        /** Saves a text as a file of the browser's downloads.
         * @param {string} name of the file @param {Blob} content */
        download(name, content) {
            const address = URL.createObjectURL(content);
            const link = document.createElement('a');
            Object.assign(link, { href: address, download: name });
            link.click();
            setTimeout(() => URL.revokeObjectURL(address), DOWNLOAD_TIME);
        },
        /** @param {'info' | 'success' | 'warning' | 'error'} kind @param {string} text
         * @param {{timeOut?: number, extendedTimeOut?: number, onclick?: () => unknown}} [options] of toastr */
        toast: (kind, text, options) =>
            /** @type {any} */ (globalThis).toastr?.[kind](text, 'SoulMem', {
                escapeHtml: true,
                ...options,
            }),
    };
}
