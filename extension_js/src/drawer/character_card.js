// The card at the head of the drawer: portrait and what the character remembers, in words.

import { byId } from '../base/dom.js';
import { createMemoryApi } from '../link/memory_api.js';

/** @typedef {import('../app.js').App} App */
/** @typedef {import('../base/strings.js').Say} Say */

const LEAST_PAUSE = 3000; // ms between two counts

/** @param {App} app @param {Say} say
 * @param {() => {avatar: string, name: string} | undefined} chosen the member whose settings are shown */
export function bindCard(app, say, chosen) {
    const memoryApi = createMemoryApi(app.link.ask);
    const portrait = /** @type {HTMLImageElement} */ (byId('soulmem_card_portrait'));
    const counts = byId('soulmem_card_counts');
    let counted = { soul: '', at: 0 };

    /** @param {string} soul */
    async function count(soul) {
        if (Date.now() - counted.at < LEAST_PAUSE) return;
        counted = { soul, at: Date.now() };
        const seen = /** @type {import('../pages/her_page.js').Overview} */ (
            await memoryApi.overview(soul)
        );
        if (counted.soul !== soul) return;
        const { memories: n, permanent: m, today: k } = seen;
        counts.textContent = n ? say('card_counts', { n, m, k }) : say('card_counts_none');
    }

    function draw() {
        const member = chosen();
        const soul = (member && app.settings().souls[member.avatar]) ?? '';
        if (soul !== counted.soul) {
            counts.textContent = ''; // of another character
            counted = { soul, at: 0 };
        }
        portrait.hidden = member === undefined;
        if (!member) {
            counts.textContent = say('card_none');
            return;
        }
        portrait.setAttribute('src', app.host.portrait(member.avatar));
        // Counted only where somebody can see it
        const isSeen = counts.offsetParent !== null;
        if (soul && app.link.state().via && isSeen) void count(soul).catch(() => undefined);
    }

    // The drawer is opened without any event of ours
    if (globalThis.IntersectionObserver) new IntersectionObserver(draw).observe(portrait.parentElement ?? portrait);
    return { draw };
}
