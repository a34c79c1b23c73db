// The memory window: its pages about what a soul remembers, and who is shown.

import { byId, el, onPress, whenQuiet } from '../base/dom.js';
import { createBrowserContext } from './browser_context.js';
import { windowFrame } from './window_frame.js';
import { avatarOf } from '../widgets/soul_avatar.js';
import { pageTabs } from '../widgets/page_tabs.js';

/** @typedef {import('../app.js').App} App */
/** @typedef {import('../base/strings.js').Say} Say */
/** @typedef {import('./browser_context.js').BrowserContext} BrowserContext */
/** @typedef {import('./browser_context.js').Page} Page */

/** @typedef {import('./browser_context.js').Origin} Origin */
/** @typedef {(context: BrowserContext, page: HTMLElement, memory?: string, from?: Origin | null) => Promise<unknown>} DrawPage */
/** @typedef {() => Promise<DrawPage>} LoadPage */

/** Every part of the window, by its name. @type {Record<Page, {icon: string, load: LoadPage}>} */
const PARTS = {
    her: {
        icon: 'fa-heart',
        load: async () => (await import('./her_page.js')).herPage,
    },
    habits: {
        icon: 'fa-masks-theater',
        load: async () => (await import('./habits_page.js')).habitsPage,
    },
    fading: {
        icon: 'fa-hourglass-half',
        load: async () => (await import('./fading_page.js')).fadingPage,
    },
    memories: {
        icon: 'fa-book-open',
        load: async () => (await import('./memories_page.js')).memoriesPage,
    },
    people: {
        icon: 'fa-users',
        load: async () => (await import('./people_page.js')).peoplePage,
    },
    heart: {
        icon: 'fa-map',
        load: async () => (await import('./heart/heart_page.js')).heartPage,
    },
    graph: {
        icon: 'fa-diagram-project',
        load: async () => (await import('./graph_page.js')).graphPage,
    },
    recall: {
        icon: 'fa-wand-magic-sparkles',
        load: async () => (await import('./recall_page.js')).recallPage,
    },
    bin: {
        icon: 'fa-trash-can',
        load: async () => (await import('./bin_page.js')).binPage,
    },
    changes: {
        icon: 'fa-clock-rotate-left',
        load: async () => (await import('./changes_page.js')).changesPage,
    },
    work: {
        icon: 'fa-graduation-cap',
        load: async () => (await import('./work_page.js')).workPage,
    },
    check: {
        icon: 'fa-list-check',
        load: async () => (await import('./check_page.js')).checkPage,
    },
    waiting: {
        icon: 'fa-bell',
        load: async () => (await import('./waiting_page.js')).waitingPage,
    },
    settings: {
        icon: 'fa-sliders',
        load: async () => (await import('./settings_page.js')).settingsPage,
    },
};

/** The pages of the window, and the parts of each; the first part is shown when the page is opened. */
const PAGES = /** @type {const} */ ({
    her: ['her', 'habits', 'fading'],
    memories: ['memories'],
    people: ['people', 'heart', 'graph'],
    recall: ['recall'],
    gear: ['settings', 'bin', 'changes', 'work', 'check', 'waiting'],
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
        await fillWindow(context, content, { page, memory }, popup, open);
        // Whoever looks at one page looks at others
        for (const { load } of Object.values(PARTS)) whenQuiet(() => void load().catch(() => undefined));
    }

    onPress(byId('soulmem_browse'), () => open('her'));
    onPress(byId('soulmem_waiting'), () => open('waiting'));
    addToWandMenu(say, open);
    whenQuiet(() => void Promise.all([PARTS.her.load(), PARTS.memories.load()]));
    return { open };
}

/** @param {Say} say @param {(page: Page) => unknown} open */
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
    onPress(item, () => open('her'));
    document.getElementById('extensionsMenu')?.append(item);
}

/** Draws the window: head, tabs and the first page.
 * @param {BrowserContext} context @param {HTMLElement} content
 * @param {{page: Page, memory: string | undefined}} first `memory`: to show at once
 * @param {{closed: Promise<unknown>, close: () => unknown}} popup
 * @param {(page: Page, memory: undefined, soul: string) => Promise<void>} reopen */
async function fillWindow(context, content, { page: firstPage, memory }, popup, reopen) {
    const { close, closed } = popup;
    const { say } = context;
    const tabs = pageTabs(say, { pages: PAGES, parts: PARTS, press });
    const frame = windowFrame(context, tabs.pages, close);
    const { who } = frame;
    // It takes the focus, so that keys scroll a page that is only read.
    const page = el('div', { class: 'soulmem_page', role: 'tabpanel', tabindex: '0' });
    const { notice, status } = context;
    content.append(frame.head, tabs.parts, frame.problem, notice, status, page, frame.foot);
    const unwatch = frame.watch();
    void closed.finally(unwatch);
    let shown = firstPage;
    let isChosen = false; // by the user, who may be quicker than the list of souls
    let soulIsKnown = () => {};
    const soulKnown = /** @type {Promise<void>} */ (new Promise(done => (soulIsKnown = done)));

    /** @param {Page} name @param {string} [memoryId] to show at once */
    async function show(name, memoryId) {
        await soulKnown;
        if (!(await context.mayLeave())) return;
        context.mayLeave = async () => true;
        const from = memoryId && name !== shown ? { page: shown, chosen: context.chosen } : null;
        shown = name;
        context.chosen = memoryId;
        context.status.replaceChildren();
        choose(name);
        const fresh = el('div', { data: { page: name } });
        page.replaceChildren(fresh);
        await context.attempt(async () => {
            const draw = await PARTS[name].load();
            await draw(context, fresh, memoryId, from);
        });
    }
    context.show = show;
    context.soulName = () => {
        const member = context.app.host.members().find(({ avatar }) => avatar === avatarOf(context.app, context.soul));
        return frame.nameOf(context.soul) || member?.name || '';
    };
    context.redraw = () => reopen(shown, undefined, context.soul);
    context.showWaitingCount = tabs.showWaiting;
    choose(firstPage);

    /** @param {Page} name */
    function press(name) {
        isChosen = true;
        void show(name);
    }

    /** @param {Page} name */
    function choose(name) {
        page.setAttribute('aria-labelledby', tabs.choose(name).id);
    }

    await context.attempt(async () => {
        const listed = context.memoryApi.souls();
        let first = /** @type {Promise<void> | null} */ (null);
        if (context.app.people.isSent(context.soul)) {
            // The sidecar has it, so its page need not wait for the list
            soulIsKnown();
            first = show(firstPage, memory);
        }
        const souls = await listed;
        const exists = souls.some(soul => soul.id === context.soul);
        if (!exists) {
            await first;
            first = null;
            context.soul = souls[0]?.id ?? '';
        }
        frame.showSouls(souls, context.soul);
        tabs.showName(frame.nameOf(context.soul));
        if (context.soul) {
            soulIsKnown();
            if (!isChosen) first ??= show(firstPage, memory);
            await Promise.all([first, context.countWaiting()]);
            return;
        }
        page.replaceChildren();
        const { drawForgotten } = await import('./bin_page.js');
        const anyForgotten = await drawForgotten(context, page);
        if (!anyForgotten) page.append(el('p', { text: say('browse_nobody') }));
    });
    // The window opens with the focus on what is shown
    tabs.choose(shown).focus();
    who.addEventListener('change', async () => {
        if (!(await context.mayLeave())) {
            who.value = context.soul;
            return;
        }
        context.mayLeave = async () => true;
        context.soul = who.value;
        frame.showPortrait(who.value);
        tabs.showName(frame.nameOf(who.value));
        void show(shown);
        void context.countWaiting().catch(() => undefined);
    });
}
