// The buttons "Forget this chat" and "Remember it again".

import { byId, onPress } from '../base/dom.js';
import { errorTextOf } from '../widgets/error_text.js';

/** @typedef {import('../app.js').App} App */
/** @typedef {import('../base/strings.js').Say} Say */

/** @param {App} app @param {Say} say */
export function bindForgetting(app, say) {
    const forget = byId('soulmem_forget_chat');
    const remember = byId('soulmem_remember_chat');

    /** Runs work, shows its result, and updates the state of the connection.
     * @param {() => Promise<unknown>} work @param {() => string} doneText */
    async function run(work, doneText) {
        await work().then(
            () => app.host.toast('success', doneText()),
            error => app.host.toast('error', errorTextOf(app, error, say)),
        );
        app.link.update();
    }

    onPress(forget, async () => {
        if (!app.host.chatName()) return app.host.toast('info', say('no_chat'));
        if (!(await app.host.confirm(say('forget_question')))) return;
        await run(app.chatSync.forgetChat, () => say('forget_done'));
    });
    onPress(remember, () =>
        run(app.chatSync.rememberChat, () =>
            say(app.settings().read_only ? 'step_read_only' : 'remember_done'),
        ),
    );

    return {
        draw() {
            const isOff = Boolean(app.host.record()?.off);
            forget.hidden = isOff;
            remember.hidden = !isOff;
            byId('soulmem_chat_off').textContent = isOff ? say('step_chat_off') : '';
        },
    };
}
