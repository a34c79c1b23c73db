// The memory window: five pages about what a soul remembers, and who is shown.

import { byId, el, onPress } from '../base/dom.js';
import { binPage, drawForgotten } from './bin_page.js';
import { createBrowserContext } from './browser_context.js';
import { changesPage } from './changes_page.js';
import { memoriesPage } from './memories_page.js';
import { waitingPage } from './waiting_page.js';
import { workPage } from './work_page.js';

/** @typedef {import('../app.js').App} App */
/** @typedef {import('../base/strings.js').Say} Say */
/** @typedef {import('../base/strings.js').Key} Key */
/** @typedef {import('./browser_context.js').BrowserContext} BrowserContext */
/** @typedef {import('./browser_context.js').Page} Page */

const PAGES = /** @type {const} */ ({
    memories: { icon: 'fa-brain', draw: memoriesPage },
    work: { icon: 'fa-graduation-cap', draw: workPage },
    bin: { icon: 'fa-trash-can', draw: binPage },
    changes: { icon: 'fa-clock-rotate-left', draw: changesPage },
    waiting: { icon: 'fa-bell', draw: waitingPage },
});

/** @param {App} app @param {Say} say
 * @param {() => {avatar: string} | undefined} chosen the member of the open chat whose memories are meant
 * @returns {{open: (page?: Page, memory?: string, soul?: string) => Promise<void>}} */
export function mountMemoryBrowser(app, say, chosen) {
    let close = /** @type {(() => unknown) | null} */ (null);

    /** @param {Page} page @param {string} [memory] to show at once @param {string} [soul] */
    async function open(page = 'memories', memory, soul) {
        close?.();
        const people = await app.people.inChat();
        const person = people.find(member => member.avatar === chosen()?.avatar);
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
        const shownSoul = soul ?? person?.soul ?? '';
        const context = createBrowserContext(app, say, content, shownSoul, popup.close);
        mayClose = () => context.mayLeave();
        await fillWindow(context, content, page, memory, open);
    }

    onPress(byId('soulmem_browse'), () => open());
    onPress(byId('soulmem_waiting'), () => open('waiting'));
    addToWandMenu(say, open);
    return { open };
}

/** @param {Say} say @param {() => unknown} open */
function addToWandMenu(say, open) {
    const about = {
        id: 'soulmem_wand',
        class: 'list-group-item flex-container flexGap5 interactable',
        tabindex: '0',
        role: 'button',
    };
    const item = el('div', about, [
        el('div', { class: 'fa-solid fa-brain extensionsMenuExtensionButton' }),
        el('span', { text: say('browse') }),
    ]);
    onPress(item, () => open());
    document.getElementById('extensionsMenu')?.append(item);
}

/** Draws the window: head, tabs and the first page.
 * @param {BrowserContext} context @param {HTMLElement} content @param {Page} firstPage
 * @param {string | undefined} memory to show at once
 * @param {(page: Page, memory: undefined, soul: string) => Promise<void>} reopen */
async function fillWindow(context, content, firstPage, memory, reopen) {
    const { say } = context;
    const who = /** @type {HTMLSelectElement} */ (
        el('select', {
            id: 'soulmem_who',
            class: 'text_pole margin0',
            'aria-label': say('browse_who'),
        })
    );
    const title = el('h3', { class: 'margin0', text: say('browse_title') });
    const head = el('div', { class: 'soulmem_browser_head' }, [title, who]);
    const tabs = el('div', { class: 'soulmem_tabs', role: 'tablist' });
    const page = el('div', { class: 'soulmem_page' });
    content.append(head, tabs, context.notice, context.status, page);
    let shown = firstPage;

    /** @param {Page} name @param {string} [memoryId] to show at once */
    async function show(name, memoryId) {
        if (!(await context.mayLeave())) return;
        context.mayLeave = async () => true;
        shown = name;
        context.status.replaceChildren();
        for (const tab of tabs.children) {
            tab.setAttribute('aria-selected', String(tab.id === `soulmem_tab_${name}`));
        }
        const fresh = el('div', { data: { page: name } });
        page.replaceChildren(fresh);
        await context.attempt(() => PAGES[name].draw(context, fresh, memoryId));
    }
    context.show = show;
    context.redraw = () => reopen(shown, undefined, context.soul);
    context.showWaitingCount = count => {
        const badge = tabs.querySelector('#soulmem_tab_waiting .soulmem_count');
        if (badge) badge.textContent = count ? String(count) : '';
    };
    for (const name of /** @type {Page[]} */ (Object.keys(PAGES))) {
        tabs.append(tabOf(name, say, () => void show(name)));
    }

    await context.attempt(async () => {
        const souls = await context.memoryApi.souls();
        who.replaceChildren(
            ...souls.map(soul => el('option', { value: soul.id, text: soul.name })),
        );
        const exists = souls.some(soul => soul.id === context.soul);
        if (!exists) context.soul = souls[0]?.id ?? '';
        who.value = context.soul;
        who.hidden = souls.length < 2;
        if (context.soul) {
            // the user may have chosen another page meanwhile
            const shownMemory = shown === firstPage ? memory : undefined;
            await Promise.all([show(shown, shownMemory), context.countWaiting()]);
            return;
        }
        page.replaceChildren();
        const anyForgotten = await drawForgotten(context, page);
        if (!anyForgotten) page.append(el('p', { text: say('browse_nobody') }));
    });
    who.addEventListener('change', async () => {
        if (!(await context.mayLeave())) {
            who.value = context.soul;
            return;
        }
        context.mayLeave = async () => true;
        context.soul = who.value;
        void show(shown);
        void context.countWaiting().catch(() => undefined);
    });
}

/** @param {Page} name @param {Say} say @param {() => void} press */
function tabOf(name, say, press) {
    const about = { id: `soulmem_tab_${name}`, class: 'soulmem_tab', role: 'tab', tabindex: '0' };
    const tab = el('div', about, [
        el('i', { class: `fa-solid ${PAGES[name].icon}` }),
        el('span', { text: say(/** @type {Key} */ (`page_${name}`)) }),
        el('b', { class: 'soulmem_count' }),
    ]);
    onPress(tab, press);
    return tab;
}
