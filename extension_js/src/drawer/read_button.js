// The button "Read this chat": sends what is not stored yet and waits until it is searchable. It can be stopped.

import { byId, onPress } from '../base/dom.js';
import { errorTextOf } from '../widgets/error_text.js';

/** @typedef {import('../app.js').App} App */
/** @typedef {import('../base/strings.js').Say} Say */

const POLL = 1000; // ms between looks while messages become searchable

/** @param {App} app @param {Say} say */
export function bindReading(app, say) {
    const read = byId('soulmem_read_chat');
    const cancel = byId('soulmem_read_cancel');
    const bar = /** @type {HTMLProgressElement} */ (byId('soulmem_read_progress'));
    const text = byId('soulmem_read_text');
    let isAsked = false; // the user pressed the button: the end of the reading is reported
    let result = ''; // of the last reading, in words
    let indexing = 0; // messages to make searchable when the wait began; 0 while not waiting

    const pendingCount = () => app.link.state().health?.pending ?? 0;

    async function waitUntilSearchable() {
        indexing = 0;
        while (isAsked) {
            await app.link.check();
            const pending = pendingCount();
            if (pending === 0) break;
            indexing = Math.max(indexing, pending);
            draw();
            await new Promise(resolve => setTimeout(resolve, POLL));
        }
        indexing = 0;
    }

    /** @returns {Promise<string>} the result in words; empty when the reading was stopped */
    async function readAll() {
        try {
            const sent = await app.chatSync.readAll();
            if (!sent?.complete) return result;
            await waitUntilSearchable();
            return isAsked ? say('read_done', { n: app.host.chat().length }) : result;
        } catch (error) {
            if (app.chatSync.state.paused) return result;
            return say('read_failed', { error: errorTextOf(app, error, say) });
        }
    }

    onPress(read, async () => {
        result = '';
        if (!app.host.chatName()) {
            app.host.toast('info', say('no_chat'));
            return;
        }
        if (!app.chatSync.mayStore()) {
            const isOff = app.host.record()?.off;
            app.host.toast('info', say(isOff ? 'step_chat_off' : 'step_read_only'));
            return;
        }
        if (!app.link.state().via) await app.link.check();
        isAsked = true;
        result = await readAll();
        isAsked = false;
        draw();
    });
    onPress(cancel, () => {
        isAsked = false;
        app.chatSync.cancelReading();
    });
    app.host.on('CHAT_CHANGED', () => {
        isAsked = false;
        result = '';
    });

    /** @param {boolean} isRunning @returns {string} */
    function statusText(isRunning) {
        const { reading, paused } = app.chatSync.state;
        if (isAsked && indexing > 0) return say('reading_index', { n: pendingCount() });
        if (!reading) return result;
        return say(paused && !isRunning ? 'read_stopped' : 'reading', reading);
    }

    /** @param {boolean} isIndexing */
    function drawBar(isIndexing) {
        const { reading } = app.chatSync.state;
        if (isIndexing) {
            bar.max = indexing;
            bar.value = indexing - pendingCount();
        } else if (reading) {
            bar.max = reading.total;
            bar.value = reading.done;
        } else {
            bar.removeAttribute('value');
        }
    }

    function draw() {
        const { reading, paused, syncing } = app.chatSync.state;
        const isRunning = syncing && (reading !== null || isAsked);
        const isIndexing = isAsked && indexing > 0;
        const isStopped = paused && reading !== null;
        read.hidden = isRunning || isIndexing || Boolean(app.host.record()?.off);
        cancel.hidden = !isRunning;
        byId('soulmem_read_label').textContent = say(isStopped ? 'read_resume' : 'read_chat');
        bar.hidden = !(isRunning || isIndexing || isStopped);
        drawBar(isIndexing);
        text.textContent = statusText(isRunning);
    }
    return { draw };
}
