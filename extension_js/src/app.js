// How do the parts work together? Listens to SillyTavern, and wires connection, keeper, recaller and UI.

import { createApi } from './link/api.js';
import { createKeeper } from './chat/chat_sync.js';
import { createLink } from './link/link.js';
import { createLlm } from './link/llm_calls.js';
import { createPeople } from './chat/people.js';
import { createRecaller } from './recall/recaller.js';
import { repair } from './base/settings.js';

/** @typedef {import('./tavern/host.js').Host} Host */
/** @typedef {import('./tavern/host.js').EventName} EventName */

const TOKEN_KEY = 'soulmem_token'; // in this browser only: settings.json is readable by every extension
const WATCH = 20_000; // ms; /hide and some edits fire no event

/** @param {Host} host */
export function createApp(host) {
    const settings = () => repair(host.stored());
    const token = {
        get: () => localStorage.getItem(TOKEN_KEY) ?? '',
        set: (/** @type {string} */ value) =>
            value ? localStorage.setItem(TOKEN_KEY, value) : localStorage.removeItem(TOKEN_KEY),
    };
    const listeners = /** @type {Set<() => void>} */ (new Set());
    const changed = () => listeners.forEach(listener => listener());
    let missing = false; // our text was not in the last prompt
    let awaited = ''; // a piece of it, to be looked for

    const api = createApi(host.headers);
    const link = createLink(
        api,
        () => ({ mode: settings().route, url: settings().url, token: token.get() }),
        () => ({
            enabled: settings().enabled,
            page: host.page(),
            held: keeper.state.held !== null,
            vectors: host.vectorsRecall(),
            missing,
            readOnly: settings().read_only,
            chatOff: Boolean(host.record()?.off),
        }),
        (now, before) => {
            if (now.via && !before.via) {
                keeper.reset();
                keeper.enqueue(200);
            }
            changed();
        },
    );
    const people = createPeople(host, settings, link.ask);
    const keeper = createKeeper(
        host,
        people,
        link.ask,
        api.chatNames,
        () => link.update(),
        () => settings().read_only,
    );
    const recaller = createRecaller(
        host,
        keeper,
        link.ask,
        settings,
        {
            ready: link.ready,
            report: link.report,
            minor: () => link.state().health?.api.minor ?? 0,
        },
        record => {
            const text = record.sent.length ? recaller.text() : '';
            awaited = text.split('\n').at(-1)?.trim() ?? '';
        },
    );

    const llm = createLlm(link.state, link.ask, host, () => settings().enabled);

    /** Keeps the sidecar's background work out of the way of the open chat. @param {'generating' | 'typing' | 'idle' | 'closed'} state */
    function tell(state) {
        const { chat } = keeper.state;
        if (state === 'closed' && settings().read_only) return; // it settles the last message, which is writing
        if (keeper.known() && link.state().via && settings().enabled)
            link.ask('POST', '/activity', { chat, state }, { timeout: 5000 }).catch(
                () => undefined,
            );
    }

    /** @param {string} prompt */
    function checkPrompt(prompt) {
        if (!awaited) return;
        const lost = !prompt.includes(awaited);
        if (settings().position === 'macro') {
            if (lost) recaller.placedNowhere();
        } else missing = lost;
        awaited = '';
        link.update();
    }

    const sync = () => {
        if (settings().enabled && link.state().via) keeper.enqueue();
    };

    /** Words spoken now were heard by who is in the scene now: stamp them before somebody is muted or joins. */
    const heard = () => {
        if (settings().enabled && link.state().via)
            keeper
                .identify()
                .catch(error => console.debug('[SoulMem] the chat has no identity:', error));
    };

    function listen() {
        host.on('MESSAGE_SENT', heard);
        for (const event of /** @type {EventName[]} */ ([
            'MESSAGE_SENT',
            'MESSAGE_EDITED',
            'MESSAGE_UPDATED',
            'MESSAGE_DELETED',
            'MESSAGE_SWIPED',
            'MESSAGE_SWIPE_DELETED',
            'GROUP_UPDATED',
        ]))
            host.on(event, sync);
        host.on('MESSAGE_RECEIVED', (index, type) => {
            recaller.promptMade();
            keeper.received(Number(index), String(type));
            sync();
            changed();
        });
        host.on('CHAT_CHANGED', () => {
            recaller.forget();
            if (host.record()?.chat !== keeper.state.chat) {
                // SillyTavern also says so when it reloads the same chat
                tell('closed');
                keeper.leave();
            }
            sync();
            link.update();
        });
        host.on('CHAT_RENAMED', ({ oldFileName, newFileName }) =>
            keeper.renamed(String(oldFileName), String(newFileName)),
        );
        host.on('CHARACTER_RENAMED', (from, to) => people.renamed(from, to));
        host.on('CHARACTER_DELETED', ({ character }) => people.deleted(character?.avatar));
        host.on('GENERATION_STARTED', (_type, _options, dryRun) => {
            if (!dryRun) tell('generating');
        });
        host.on('GENERATION_STOPPED', recaller.stop);
        host.on('WORLD_INFO_ACTIVATED', recaller.loreAwoke);
        host.on('GENERATION_ENDED', () => {
            tell('idle');
            sync();
        });
        host.on('CHAT_COMPLETION_PROMPT_READY', ({ chat, dryRun }) => {
            if (!dryRun)
                checkPrompt(
                    chat
                        .map((/** @type {any} */ message) =>
                            typeof message.content === 'string'
                                ? message.content
                                : JSON.stringify(message.content),
                        )
                        .join('\n'),
                );
        });
        host.on('GENERATE_AFTER_COMBINE_PROMPTS', ({ prompt, dryRun }) => {
            if (!dryRun && typeof prompt === 'string' && prompt) checkPrompt(prompt);
        });
        window.addEventListener('pagehide', llm.leave); // into the back/forward cache too: nothing runs there
        setInterval(() => {
            if (!document.hidden && !keeper.state.error) sync();
        }, WATCH);
    }

    return {
        host,
        settings,
        token,
        api,
        link,
        people,
        keeper,
        recaller,
        llm,
        changed,
        tell,
        /** @param {() => void} listener @returns {() => void} unsubscribe */
        subscribe(listener) {
            listeners.add(listener);
            return () => listeners.delete(listener);
        },
        start() {
            listen();
            llm.start();
            return link.look();
        },
        /** For tests and the curious: globalThis.soulmem. */
        handle: {
            lastRecall: () => recaller.last(),
            state: () => ({
                health: link.state().health,
                status: link.state().state,
                step: link.state().step,
                route: link.state().via,
                syncing: keeper.state.syncing,
                held: keeper.state.held,
                chat: keeper.state.chat,
                reading: keeper.state.reading,
                soul: settings().souls[host.members()[0]?.avatar] ?? null,
                error: link.state().error ?? keeper.state.error,
            }),
            syncNow: () => keeper.syncNow(),
        },
    };
}

/** @typedef {ReturnType<typeof createApp>} App */
