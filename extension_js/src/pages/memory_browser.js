// Where does the user see and govern what a character remembers? One window with five pages.

import { createDesk } from './browser_context.js';
import { byId, el, onPress } from '../base/dom.js';
import { binPage, drawForgotten } from './bin_page.js';
import { changesPage } from './changes_page.js';
import { memoriesPage } from './memories_page.js';
import { waitingPage } from './waiting_page.js';
import { workPage } from './work_page.js';

/** @typedef {import('../app.js').App} App */
/** @typedef {import('../base/strings.js').Say} Say */
/** @typedef {import('./browser_context.js').Desk} Desk */
/** @typedef {import('./browser_context.js').Page} Page */

const PAGES = /** @type {const} */ ({
    memories: { icon: 'fa-brain', draw: memoriesPage },
    work: { icon: 'fa-graduation-cap', draw: workPage },
    bin: { icon: 'fa-trash-can', draw: binPage },
    changes: { icon: 'fa-clock-rotate-left', draw: changesPage },
    waiting: { icon: 'fa-bell', draw: waitingPage },
});

/** @param {App} app @param {Say} say @param {() => {avatar: string} | undefined} chosen the member of the open chat whose memory is meant
 * @returns {{open: (page?: Page, memory?: string, soul?: string) => Promise<void>}} */
export function mountBrowser(app, say, chosen) {
    let close = /** @type {(() => unknown) | null} */ (null);

    /** @param {Page} page @param {string} [memory] to show at once @param {string} [soul] */
    async function open(page = 'memories', memory, soul) {
        close?.();
        const person = (await app.people.present()).find(one => one.avatar === chosen()?.avatar);
        const content = el('div', { id: 'soulmem_browser', class: 'soulmem_browser' });
        let mayClose = async () => true;
        const popup = app.host.popup(content, say('recalled_close'), {
            large: true,
            mayClose: () => mayClose(),
        });
        close = popup.close;
        void popup.closed.finally(() => {
            if (close === popup.close) close = null;
        });
        const desk = createDesk(app, say, content, soul ?? person?.soul ?? '', popup.close);
        mayClose = () => desk.mayLeave();
        await furnish(desk, content, page, memory);
    }

    /** @param {Desk} desk @param {HTMLElement} content @param {Page} first @param {string} [memory] */
    async function furnish(desk, content, first, memory) {
        const who = /** @type {HTMLSelectElement} */ (
            el('select', {
                id: 'soulmem_who',
                class: 'text_pole margin0',
                'aria-label': say('browse_who'),
            })
        );
        const tabs = el('div', { class: 'soulmem_tabs', role: 'tablist' });
        const page = el('div', { class: 'soulmem_page' });
        content.append(
            el('div', { class: 'soulmem_browser_head' }, [
                el('h3', { class: 'margin0', text: say('browse_title') }),
                who,
            ]),
            tabs,
            desk.notice,
            desk.said,
            page,
        );
        let shown = first;

        /** @param {Page} name @param {string} [one] */
        async function show(name, one) {
            if (!(await desk.mayLeave())) return;
            desk.mayLeave = async () => true;
            shown = name;
            desk.said.replaceChildren();
            for (const tab of tabs.children)
                tab.setAttribute('aria-selected', String(tab.id === `soulmem_tab_${name}`));
            const fresh = el('div', { data: { page: name } });
            page.replaceChildren(fresh);
            await desk.attempt(() => PAGES[name].draw(desk, fresh, one));
        }
        desk.show = show;
        desk.again = () => open(shown, undefined, desk.soul);

        for (const [name, { icon }] of Object.entries(PAGES)) {
            const tab = el(
                'div',
                { id: `soulmem_tab_${name}`, class: 'soulmem_tab', role: 'tab', tabindex: '0' },
                [
                    el('i', { class: `fa-solid ${icon}` }),
                    el('span', {
                        text: say(/** @type {import('../base/strings.js').Key} */ (`page_${name}`)),
                    }),
                    el('b', { class: 'soulmem_count' }),
                ],
            );
            onPress(tab, () => void show(/** @type {Page} */ (name)));
            tabs.append(tab);
        }
        desk.counted = waiting => {
            const count = tabs.querySelector('#soulmem_tab_waiting .soulmem_count');
            if (count) count.textContent = waiting ? String(waiting) : '';
        };
        await desk.attempt(async () => {
            const souls = await desk.memories.souls();
            who.replaceChildren(
                ...souls.map(soul => el('option', { value: soul.id, text: soul.name })),
            );
            if (!souls.some(soul => soul.id === desk.soul)) desk.soul = souls[0]?.id ?? '';
            who.value = desk.soul;
            who.hidden = souls.length < 2;
            if (!desk.soul) {
                page.replaceChildren();
                if (!(await drawForgotten(desk, page)))
                    page.append(el('p', { text: say('browse_nobody') }));
                return;
            }
            await Promise.all([show(first, memory), desk.count()]);
        });
        who.addEventListener('change', async () => {
            if (!(await desk.mayLeave())) {
                who.value = desk.soul;
                return;
            }
            desk.mayLeave = async () => true;
            desk.soul = who.value;
            void show(shown);
            void desk.count().catch(() => undefined);
        });
    }

    onPress(byId('soulmem_browse'), () => open());
    onPress(byId('soulmem_waiting'), () => open('waiting'));
    const wand = el(
        'div',
        {
            id: 'soulmem_wand',
            class: 'list-group-item flex-container flexGap5 interactable',
            tabindex: '0',
            role: 'button',
        },
        [
            el('div', { class: 'fa-solid fa-brain extensionsMenuExtensionButton' }),
            el('span', { text: say('browse') }),
        ],
    );
    onPress(wand, () => open());
    document.getElementById('extensionsMenu')?.append(wand);
    return { open };
}
