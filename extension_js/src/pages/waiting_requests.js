// Does a language model ask to delete something? The drawer says so, and a word is said once.

import { byId } from '../base/dom.js';
import { createMemories } from '../link/memory_api.js';

/** @typedef {import('../app.js').App} App */
/** @typedef {import('../base/strings.js').Say} Say */

const GATHER = 1500; // ms after a reply or a change of chat

/** @param {App} app @param {Say} say @param {() => unknown} open the page of what waits */
export function watchWaiting(app, say, open) {
    const memories = createMemories(app.link.ask);
    const told = /** @type {Set<string>} */ (new Set()); // requests that were spoken of
    let waiting = 0;
    let timer = /** @type {ReturnType<typeof setTimeout> | undefined} */ (undefined);

    async function look() {
        const souls = app.host
            .members()
            .map(member => app.settings().souls[member.avatar])
            .filter(Boolean);
        const lists = await Promise.all(
            souls.map(soul => memories.deletions(soul).catch(() => [])),
        ); // a soul it has not met, or no way there: the dot says so
        const requests = lists.flat();
        waiting = requests.length;
        const fresh = requests.filter(request => !told.has(request.request));
        fresh.forEach(request => told.add(request.request));
        if (fresh.length)
            app.host.toast('info', say('waiting_toast', { n: fresh.length }), {
                timeOut: 15_000,
                onclick: open,
            });
        draw();
    }

    const plan = () => {
        clearTimeout(timer);
        timer = setTimeout(() => {
            if (app.settings().enabled && app.link.state().via) void look();
        }, GATHER);
    };
    app.host.on('CHAT_CHANGED', plan);
    app.host.on('MESSAGE_RECEIVED', plan);

    function draw() {
        const button = byId('soulmem_waiting');
        button.hidden = waiting === 0;
        byId('soulmem_waiting_text').textContent = say('waiting_button', { n: waiting });
    }
    draw();
    plan();
    return { look };
}
