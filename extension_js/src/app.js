// The extension as a whole: creates its parts, connects them, and passes SillyTavern's events on.

import { repair } from './base/settings.js';
import { createChatSync } from './chat/chat_sync.js';
import { createPeople } from './chat/people.js';
import { createApi } from './link/api.js';
import { createLink } from './link/link.js';
import { createLlmCalls } from './link/llm_calls.js';
import { createPromptCheck } from './recall/prompt_check.js';
import { createRecaller } from './recall/recaller.js';

/** @typedef {import('./tavern/host.js').Host} Host */
/** @typedef {import('./tavern/host.js').EventName} EventName */
/** @typedef {import('./link/link.js').LinkState} LinkState */

const TOKEN_KEY = 'soulmem_token'; // in this browser only: settings.json is readable by every extension
const SYNC_EVERY = 20_000; // ms; /hide and some edits fire no event
const SYNC_EVENTS = /** @type {EventName[]} */ ([
    'MESSAGE_SENT',
    'MESSAGE_EDITED',
    'MESSAGE_UPDATED',
    'MESSAGE_DELETED',
    'MESSAGE_SWIPED',
    'MESSAGE_SWIPE_DELETED',
    'GROUP_UPDATED',
]);

/** The token of the direct route, in this browser's storage. */
const token = {
    get: () => localStorage.getItem(TOKEN_KEY) ?? '',
    /** @param {string} value empty removes it */
    set(value) {
        if (value) localStorage.setItem(TOKEN_KEY, value);
        else localStorage.removeItem(TOKEN_KEY);
    },
};

/** Listeners that want to draw the state anew. */
function createListeners() {
    const listeners = /** @type {Set<() => void>} */ (new Set());
    return {
        notify: () => listeners.forEach(listener => listener()),
        /** @param {() => void} listener @returns {() => void} unsubscribe */
        subscribe(listener) {
            listeners.add(listener);
            return () => listeners.delete(listener);
        },
    };
}

/** @param {Host} host */
export function createApp(host) {
    const settings = () => repair(host.stored());
    const { notify, subscribe } = createListeners();
    const promptCheck = createPromptCheck(() => settings().position);
    const api = createApi(host.headers);

    const circumstances = () => ({
        enabled: settings().enabled,
        page: host.page(),
        quarantined: chatSync.state.quarantine !== null,
        vectors: host.vectorsRecall(),
        notInPrompt: promptCheck.isMissing(),
        nowhere: promptCheck.isNowhere(),
        readOnly: settings().read_only,
        chatOff: Boolean(host.record()?.off),
        regexFailed: chatSync.regexFailed(),
    });
    /** @param {LinkState} state @param {LinkState} before */
    function linkChanged(state, before) {
        if (state.via && !before.via) {
            chatSync.reset();
            chatSync.scheduleSync(200);
        }
        notify();
    }
    const address = () => ({ mode: settings().route, url: settings().url, token: token.get() });
    const link = createLink(api, address, circumstances, linkChanged);
    const { ask } = link;
    const people = createPeople(host, settings, ask);
    const chatSync = createChatSync({
        host,
        people,
        ask,
        chatNames: api.chatNames,
        changed: () => link.update(),
        readOnly: () => settings().read_only,
    });
    const recaller = createRecaller({
        host,
        chatSync,
        ask,
        settings,
        ready: link.ready,
        report: link.report,
        recalled: record => promptCheck.expect(record.sent.length ? recaller.texts() : {}),
    });
    const llmCalls = createLlmCalls(link.state, ask, host, () => settings().enabled);
    const isActive = () => settings().enabled && Boolean(link.state().via);

    let isGenerating = false; // SillyTavern makes a reply in this page

    /** Tells the sidecar what happens in the open chat, so that its background work gives way. The request is sent
     * to its end although the page is closed meanwhile.
     * @param {'generating' | 'typing' | 'idle' | 'closed'} state */
    function reportActivity(state) {
        const { chat } = chatSync.state;
        isGenerating = state === 'generating';
        // "closed" stores the last message for good, which read-only must not
        if (state === 'closed' && settings().read_only) return;
        if (!chatSync.isStored() || !isActive()) return;
        const options = { timeout: 5000, keepalive: true };
        ask('POST', '/activity', { chat, state }, options).catch(() => undefined);
    }

    /** The page is closed: no reply comes to it any more, and it answers no call of the sidecar. */
    function pageClosed() {
        llmCalls.giveBack();
        if (isGenerating) reportActivity('idle');
    }

    /** @param {string} prompt as it is sent to the model */
    function checkPrompt(prompt) {
        const isChecked = promptCheck.check(prompt, recaller.notPlaced);
        if (isChecked) link.update();
    }

    const parts = { host, link, people, chatSync, recaller, llmCalls };
    return {
        ...parts,
        settings,
        token,
        notify,
        subscribe,
        start() {
            listen({ ...parts, isActive, reportActivity, pageClosed, checkPrompt, notify });
            llmCalls.start();
            return link.check();
        },
        /** What tests and the browser's console see as globalThis.soulmem. */
        handle: {
            lastRecall: () => recaller.last(),
            state: () => ({
                health: link.state().health,
                status: link.state().state,
                step: link.state().step,
                route: link.state().via,
                syncing: chatSync.state.syncing,
                held: chatSync.state.quarantine,
                chat: chatSync.state.chat,
                reading: chatSync.state.reading,
                soul: settings().souls[host.members()[0]?.avatar] ?? null,
                error: (link.state().error ?? chatSync.state.error)?.message ?? null,
            }),
            syncNow: () => chatSync.syncNow(),
        },
    };
}

/** @typedef {ReturnType<typeof createApp>} App */

/** What the events of SillyTavern are passed on to.
 * @typedef {object} Receivers
 * @property {() => boolean} isActive memory is switched on and the sidecar can be reached
 * @property {(state: 'generating' | 'typing' | 'idle' | 'closed') => void} reportActivity
 * @property {() => void} pageClosed
 * @property {(prompt: string) => void} checkPrompt
 * @property {() => void} notify
 */

/** @param {Pick<App, 'host' | 'link' | 'people' | 'chatSync' | 'recaller' | 'llmCalls'> & Receivers} app */
function listen(app) {
    const { host, people, chatSync, recaller } = app;
    const sync = () => {
        if (app.isActive()) chatSync.scheduleSync();
    };

    // New messages are stamped at once with who is present, before somebody is muted or joins.
    host.on('MESSAGE_SENT', () => {
        if (!app.isActive()) return;
        const failed = (/** @type {unknown} */ error) =>
            console.debug('[SoulMem] the chat has no identity:', error);
        chatSync.identify().catch(failed);
    });
    for (const event of SYNC_EVENTS) host.on(event, sync);
    host.on('MESSAGE_RECEIVED', (index, type) => {
        recaller.promptMade();
        chatSync.replyArrived(Number(index), String(type));
        sync();
        app.notify();
    });
    host.on('CHAT_CHANGED', () => {
        recaller.chatClosed();
        // SillyTavern sends this event also when it reloads the same chat
        if (host.record()?.chat !== chatSync.state.chat) {
            app.reportActivity('closed');
            chatSync.chatClosed();
        }
        sync();
        app.link.update();
    });
    host.on('CHAT_RENAMED', ({ oldFileName, newFileName }) =>
        chatSync.chatRenamed(String(oldFileName), String(newFileName)),
    );
    host.on('CHARACTER_RENAMED', (from, to) => people.avatarRenamed(from, to));
    host.on('CHARACTER_DELETED', ({ character }) => people.avatarDeleted(character?.avatar));
    listenToGeneration(app, sync);
    // Fired also when the page enters the back/forward cache, where nothing runs
    window.addEventListener('pagehide', app.pageClosed);
    setInterval(() => {
        if (!document.hidden && !chatSync.state.error) sync();
    }, SYNC_EVERY);
}

/** @param {Pick<App, 'host' | 'recaller'> & Receivers} app @param {() => void} sync */
function listenToGeneration({ host, recaller, reportActivity, checkPrompt }, sync) {
    host.on('GENERATION_STARTED', (type, _options, dryRun) => {
        if (dryRun) return;
        recaller.generationStarted(type);
        reportActivity('generating');
    });
    host.on('GENERATION_STOPPED', recaller.stop);
    host.on('WORLD_INFO_ACTIVATED', recaller.loreActivated);
    host.on('GENERATION_ENDED', () => {
        reportActivity('idle');
        sync();
    });
    const textOf = (/** @type {{content?: unknown}} */ { content }) =>
        typeof content === 'string' ? content : JSON.stringify(content);
    host.on('CHAT_COMPLETION_PROMPT_READY', ({ chat, dryRun }) => {
        if (!dryRun) checkPrompt(chat.map(textOf).join('\n'));
    });
    host.on('GENERATE_AFTER_COMBINE_PROMPTS', ({ prompt, dryRun }) => {
        if (!dryRun && typeof prompt === 'string' && prompt) checkPrompt(prompt);
    });
}
