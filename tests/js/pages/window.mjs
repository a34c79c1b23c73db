// The memory window of a connected extension.

import { mountMemoryBrowser } from '../../../extension_js/src/pages/memory_browser.js';
// What the window loads when a page of it is opened, so that no test waits for it
import '../../../extension_js/src/pages/bin_page.js';
import '../../../extension_js/src/pages/changes_page.js';
import '../../../extension_js/src/pages/fading_page.js';
import '../../../extension_js/src/pages/her_page.js';
import '../../../extension_js/src/pages/memories_page.js';
import '../../../extension_js/src/pages/waiting_page.js';
import '../../../extension_js/src/pages/work_page.js';
import { newPage } from '../dom.mjs';
import { fakeApp } from '../fake_app.mjs';
import { say } from '../texts.mjs';
import { settle } from '../tavern.mjs';

const PAGE = `
<div id="soulmem_browse"></div><div id="soulmem_waiting"></div><div id="soulmem_waiting_text"></div>
<div id="extensionsMenu"></div>
<div id="extensions-settings-button"><div class="drawer-toggle"></div></div>
<div id="rm_extensions_block"></div>`;

/** A memory as the sidecar lists it. @param {object} [about] @returns {any} */
export const memory = about => ({
    id: 'm1',
    kind: 'note',
    text: 'The key hangs behind the clock.',
    tags: [],
    importance: 0.5,
    permanent: false,
    locked: false,
    timelines: 'all',
    state: 'active',
    revision: 3,
    sources: [],
    origin: 'user',
    in_doubt: false,
    created: '2026-01-01T00:00:00Z',
    strength: 0.7,
    uses: 0,
    last_used: null,
    ...about,
});

/** An entry of the audit. @param {object} [about] @returns {any} */
export const entry = about => ({
    id: 'c1',
    at: '2026-01-01T00:00:00Z',
    actor: 'engine',
    action: 'change',
    target: 'm1',
    before: { text: 'The key is lost.' },
    after: { text: 'The key hangs behind the clock.' },
    source: '',
    reason: '',
    ...about,
});

/** The window, not open yet. @param {Parameters<typeof fakeApp>[0]} [about] */
export async function memoryWindow({ answers = {}, ...about } = {}) {
    const page = newPage(PAGE);
    const scene = fakeApp({
        answers: {
            'GET /souls': (/** @type {any} */ { query }) => ({
                souls: query.has('state')
                    ? []
                    : [
                          { id: 's1', name: 'Mira' },
                          { id: 's2', name: 'Ben' },
                      ],
            }),
            'GET /memories': { memories: [memory()], cursor: null },
            'GET /memories/m1': memory(),
            'GET /memories/m1/history': { audit: [entry()], cursor: null },
            'GET /audit': { audit: [], cursor: null },
            'GET /feelings': { stretches: [] },
            'GET /density': { from: null, to: null, counts: [], periods: [] },
            ...answers,
        },
        characters: { 'mira.png': { name: 'Mira', field: { version: 1, soul: 's1', config: {} } } },
        ...about,
    });
    scene.tavern.settings.souls = { 'mira.png': 's1' };
    await scene.app.link.check();
    const browser = mountMemoryBrowser(scene.app, say, () => scene.host.members()[0]);
    /** Opens it. @param {any[]} how */
    const open = async (...how) => {
        await browser.open(...how);
        await settle();
    };
    /** Opens the window on a page, and waits until that is drawn. @param {string} name */
    async function openPage(name) {
        await open();
        await page.get(`#soulmem_tab_${name}`).click();
        do await settle();
        while (page.get('#soulmem_browser').getAttribute('aria-busy') === 'true');
    }
    const texts = (/** @type {string} */ selectors) =>
        page.body.querySelectorAll(selectors).map(element => element.textContent);
    return { ...scene, page, browser, open, openPage, texts };
}
