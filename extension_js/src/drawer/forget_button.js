// "Forget this chat", and remember it again.

import { byId, onPress } from '../base/dom.js';
import { troubleOf } from '../widgets/error_text.js';

/** @typedef {import('../app.js').App} App */
/** @typedef {import('../base/strings.js').Say} Say */

/** @param {App} app @param {Say} say */
export function bindForgetting(app, say) {
    const forget = byId('soulmem_forget_chat');
    const remember = byId('soulmem_remember_chat');

    onPress(forget, async () => {
        if (!app.host.chatName()) return app.host.toast('info', say('no_chat'));
        if (!(await app.host.confirm(say('forget_question')))) return;
        await app.keeper.forgetChat().then(
            () => app.host.toast('success', say('forget_done')),
            error => app.host.toast('error', troubleOf(app, error, say)),
        );
        app.link.update();
    });
    onPress(remember, async () => {
        await app.keeper.rememberChat().then(
            () =>
                app.host.toast(
                    'success',
                    say(app.settings().read_only ? 'step_read_only' : 'remember_done'),
                ),
            error => app.host.toast('error', troubleOf(app, error, say)),
        );
        app.link.update();
    });

    return {
        draw() {
            const off = Boolean(app.host.record()?.off);
            forget.hidden = off;
            remember.hidden = !off;
            byId('soulmem_chat_off').textContent = off ? say('step_chat_off') : '';
        },
    };
}
