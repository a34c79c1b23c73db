// An open chat whose messages are on the page, with all that scripts can use of the extension.

import { registerCommands } from '../../../extension_js/src/commands.js';
import { newPage } from '../dom.mjs';
import { fakeApp } from '../fake_app.mjs';
import { say } from '../texts.mjs';
import { newMessage } from '../fakes.mjs';

/** A memory as the sidecar has it. @param {object} about */
export const note = about => ({
    id: 'n1',
    kind: 'note',
    text: 'a note',
    permanent: false,
    state: 'active',
    revision: 1,
    ...about,
});

/** @param {Parameters<typeof fakeApp>[0]} [about] */
export async function openChat(about) {
    const page = newPage(`<div id="chat">
<div class="mes" mesid="0"><div class="mes_buttons"><div class="extraMesButtons"></div></div></div>
<div class="mes" mesid="1"><div class="mes_buttons"><div class="extraMesButtons"></div></div></div>
</div>`);
    let made = 0;
    const all = fakeApp({
        chat: [
            newMessage('Where is the key?', { is_user: true }),
            newMessage('Behind the clock, {{user}}.'),
            newMessage('Good night.', { is_user: true }),
        ],
        answers: {
            'POST /memories': (/** @type {any} */ { body }) => note({ ...body, id: `n${++made}` }),
        },
        ...about,
    });
    await all.app.link.check();
    registerCommands(all.app, say);
    /** A command with its text and named arguments. @param {string} name @param {string} [text]
     * @param {Record<string, string>} [named] */
    const run = (name, text = '', named = {}) =>
        all.shown.commands[`soulmem-${name}`](text, () => false, named);
    /** The texts of the toasts since the last look. */
    const toasts = () => all.shown.toasts.splice(0).map(([kind, text]) => [kind, text]);
    const [{ soul }] = await all.app.people.inChat();
    return { ...all, page, run, toasts, soul };
}
