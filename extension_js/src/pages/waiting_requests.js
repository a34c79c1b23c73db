// The button in the drawer for deletions that a language model asks for, and a toast for each new request.

import { byId } from '../base/dom.js';
import { createMemoryApi } from '../link/memory_api.js';

/** @typedef {import('../app.js').App} App */
/** @typedef {import('../base/strings.js').Say} Say */

const DELAY = 1500; // ms after a reply or a change of the chat
const TOAST_TIME = 15_000; // ms

/** @param {App} app @param {Say} say @param {() => unknown} open shows the page with the requests */
export function watchDeletionRequests(app, say, open) {
    const memoryApi = createMemoryApi(app.link.ask);
    const announced = /** @type {Set<string>} */ (new Set()); // requests that had a toast
    let waiting = 0;
    let timer = /** @type {ReturnType<typeof setTimeout> | undefined} */ (undefined);

    async function look() {
        const { souls } = app.settings();
        const present = app.host.members().map(member => souls[member.avatar]);
        if (!present.some(Boolean)) return show([]);
        // A sidecar that is away is shown by the health dot
        const all = await memoryApi.deletionRequests().catch(() => []);
        show(all.filter(({ soul }) => present.includes(soul)).map(({ request }) => request));
    }

    /** @param {string[]} requests that wait for the user */
    function show(requests) {
        const fresh = requests.filter(id => !announced.has(id));
        waiting = requests.length;
        for (const id of fresh) announced.add(id);
        if (fresh.length) {
            const text = say('waiting_toast', { n: fresh.length });
            app.host.toast('info', text, { timeOut: TOAST_TIME, onclick: open });
        }
        draw();
    }

    function schedule() {
        clearTimeout(timer);
        timer = setTimeout(() => {
            if (app.settings().enabled && app.link.state().via) void look();
        }, DELAY);
    }

    function draw() {
        byId('soulmem_waiting').hidden = waiting === 0;
        byId('soulmem_waiting_text').textContent = say('waiting_button', { n: waiting });
    }

    app.host.on('CHAT_CHANGED', schedule);
    app.host.on('MESSAGE_RECEIVED', schedule);
    draw();
    schedule();
}
