// What SillyTavern's extension manager calls: names of these functions stand in manifest.json.

import { stepFacts } from './widgets/error_text.js';

/** @typedef {import('./app.js').App} App */
/** @typedef {import('./base/strings.js').Say} Say */
/** @typedef {ReturnType<typeof createHooks>} Hooks */

/** Each tells the user what has happened, and what is left to do. @param {App} app @param {Say} say */
export function createHooks(app, say) {
    const { host, llmCalls, recaller } = app;

    /** Ends what is under way: SillyTavern reloads the page next. */
    function stop() {
        recaller.stop();
        recaller.clear();
        llmCalls.giveBack();
    }

    return {
        /** Completes the stored settings, which other extensions may read. */
        activate: () => void app.settings(),
        install() {
            const { folder } = stepFacts(app);
            host.toast('success', say('hook_installed', { folder }), { timeOut: 15_000 });
        },
        update: () => void host.toast('info', say('hook_updated'), { timeOut: 15_000 }),
        enable: () => void host.toast('info', say('hook_enabled')),
        disable() {
            stop();
            host.toast('info', say('hook_disabled'));
        },
        delete() {
            stop();
            host.toast('info', say('hook_deleted'), { timeOut: 15_000 });
        },
        /** Leaves no trace in SillyTavern's settings and in this browser. */
        clean() {
            stop();
            app.token.set('');
            host.dropStored();
            host.saveSettings();
            host.toast('info', say('hook_cleaned'));
        },
    };
}
