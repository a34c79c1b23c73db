// "Read this chat": how far is it, and can it be stopped and gone on with?

import { byId, onPress } from '../base/dom.js';

/** @typedef {import('../app.js').App} App */
/** @typedef {import('../base/strings.js').Say} Say */

/** "Read this chat": sends what is not read yet, then waits until it is searchable.
 * @param {App} app @param {Say} say */
export function bindReading(app, say) {
    const read = byId('soulmem_read_chat');
    const cancel = byId('soulmem_read_cancel');
    const bar = /** @type {HTMLProgressElement} */ (byId('soulmem_read_progress'));
    const text = byId('soulmem_read_text');
    let asked = false; // by the button, so its end is worth a word
    let words = '';
    let indexing = 0; // messages to make searchable when the wait began

    async function untilSearchable() {
        for (indexing = 0; asked;) {
            await app.link.look();
            const pending = app.link.state().health?.pending ?? 0;
            if (pending === 0) break;
            indexing = Math.max(indexing, pending);
            draw();
            await new Promise(resolve => setTimeout(resolve, 1000));
        }
        indexing = 0;
    }

    onPress(read, async () => {
        words = '';
        if (!app.host.chatName()) {
            app.host.toast('info', say('no_chat'));
            return;
        }
        if (!app.keeper.writes()) {
            app.host.toast(
                'info',
                say(app.host.record()?.off ? 'step_chat_off' : 'step_read_only'),
            );
            return;
        }
        if (!app.link.state().via) await app.link.look();
        asked = true;
        try {
            const result = await app.keeper.readAll();
            if (result?.complete) {
                await untilSearchable();
                if (asked) words = say('read_done', { n: app.host.chat().length });
            }
        } catch (error) {
            if (!app.keeper.state.paused)
                words = say('read_failed', { error: /** @type {Error} */ (error).message });
        }
        asked = false;
        draw();
    });
    onPress(cancel, () => {
        asked = false;
        app.keeper.cancelReading();
    });
    app.host.on('CHAT_CHANGED', () => {
        asked = false;
        words = '';
    });

    function draw() {
        const { reading, paused, syncing } = app.keeper.state;
        const pending = app.link.state().health?.pending ?? 0;
        const going = syncing && (reading !== null || asked);
        const waiting = asked && indexing > 0;
        read.hidden = going || waiting || Boolean(app.host.record()?.off);
        cancel.hidden = !going;
        byId('soulmem_read_label').textContent =
            paused && reading ? say('read_resume') : say('read_chat');
        bar.hidden = !(going || waiting || (paused && reading));
        if (waiting) {
            bar.max = indexing;
            bar.value = indexing - pending;
        } else if (reading) {
            bar.max = reading.total;
            bar.value = reading.done;
        } else {
            bar.removeAttribute('value');
        }
        text.textContent = waiting
            ? say('reading_index', { n: pending })
            : reading
              ? say(going ? 'reading' : paused ? 'read_stopped' : 'reading', reading)
              : words;
    }
    return { draw };
}
