// The whole extension over a fake page, a fake SillyTavern and a fake sidecar.

import { createApp } from '../../extension_js/src/app.js';
import { API } from '../../extension_js/src/link/connection.js';
import { fakeSidecar } from './fakes.mjs';
import { fakeTavern, settle } from './tavern.mjs';

/** @typedef {import('../../extension_js/src/tavern/host.js').Host} Host */
/** @typedef {{method: string, path: string, query: URLSearchParams, body: any, keepalive: boolean}} Asked */
/** @typedef {unknown | ((asked: Asked) => unknown)} Answer */

const LONG = 200; // ms from which on a timer waits until a test lets time pass

/** Timers that are far away wait for `pass`, so that no test waits for them. */
function holdTimers() {
    const { setTimeout: start, clearTimeout: stop } = globalThis;
    const held = /** @type {Map<object, {run: Function, delay: number, again: boolean}>} */ (
        new Map()
    );
    const hold = (/** @type {Function} */ run, /** @type {number} */ delay, again = false) => {
        const id = {};
        held.set(id, { run, delay, again });
        return id;
    };
    const timers = {
        setTimeout: (/** @type {any} */ run, delay = 0) =>
            delay < LONG ? start(run, delay) : hold(run, delay),
        setInterval: (/** @type {any} */ run, delay = 0) => hold(run, delay, true),
        clearTimeout: (/** @type {any} */ id) => {
            if (!held.delete(id)) stop(id);
        },
    };
    Object.assign(globalThis, timers);
    /** Runs what is due within so many ms, and waits for its work. @param {number} ms */
    return async function pass(ms) {
        for (const [id, { run, delay, again }] of [...held]) {
            if (delay > ms || !held.has(id)) continue;
            if (!again) held.delete(id);
            run();
        }
        await settle();
    };
}

export const HEALTH = {
    status: 'ok',
    version: '1.2.3',
    api: API,
    store: { state: 'ok' },
    embedder: { state: 'ok', model: 'e5', dim: 384, fallback: false },
    llm: { state: 'off', model: null },
    pending: 0,
    bin_days: 9,
    notes: [],
};

/** @param {Parameters<typeof fakeTavern>[0] & {answers?: Record<string, Answer>}} [about] `answers`: by method and
 *   path, such as "GET /souls"; a function makes the answer, an Error is the failure */
export function fakeApp({ answers = {}, ...about } = {}) {
    const { tavern, host: chatHost } = fakeTavern(about);
    const pass = holdTimers();
    const sidecar = fakeSidecar();
    const asked = /** @type {Asked[]} */ ([]);
    const events = /** @type {Map<string, Function[]>} */ (new Map());
    const shown = {
        toasts: /** @type {[string, string, any][]} */ ([]),
        questions: /** @type {string[]} */ ([]),
        popups: /** @type {any[]} */ ([]),
        opened: /** @type {string[]} */ ([]),
        jumps: /** @type {number[]} */ ([]),
        macros: /** @type {Record<string, (section?: string) => string>} */ ({}),
        registered: /** @type {Record<string, any>} */ ({}),
        sources: /** @type {Record<string, any>} */ ({}),
        debug: /** @type {Record<string, () => Promise<unknown>>} */ ({}),
        quickReplies: /** @type {Record<string, any[]>} */ ({}),
        downloads: /** @type {[string, Blob][]} */ ([]),
        tools: /** @type {Record<string, any>} */ ({}),
        commands:
            /** @type {Record<string, (text: string, isStopped?: () => boolean, named?: Record<string, string>) => Promise<string>>} */ ({}),
        settingsSaves: 0,
        lorebook: '',
        dataBank: /** @type {{name: string, url: string}[]} */ ([]),
        dropped: 0,
    };
    /** What the user answers. */
    const user = {
        agrees: true,
        hasQuickReplies: true,
        types: /** @type {string | null} */ (null),
        typesInTurn: /** @type {(string | null)[]} */ ([]), // before `types`
    };
    const replies = /** @type {Record<string, Answer>} */ ({
        'GET /health': HEALTH,
        'GET /souls': (/** @type {any} */ { query }) =>
            query.has('state') ? { souls: [] } : { souls: [{ id: 's1', name: 'Mira' }] },
        'GET /chats': { chats: [] },
        'GET /deletions': { deletions: [] },
        ...answers,
    });

    /** @param {string} address @param {any} options */
    async function fetch(address, { method = 'GET', body, keepalive = false } = {}) {
        if (!address.startsWith('/')) throw new TypeError(`nobody answers at ${address}`);
        const url = new URL(address.replace('/api/plugins/soulmem', ''), 'http://sidecar');
        const question = {
            method,
            path: url.pathname,
            query: url.searchParams,
            body: body && JSON.parse(body),
            keepalive,
        };
        asked.push(question);
        const { status, answer } = await answerTo(question);
        return /** @type {any} */ ({
            status,
            ok: status < 400,
            headers: new Headers({ 'x-soulmem-plugin': '1' }),
            json: async () => structuredClone(answer),
            text: async () => JSON.stringify(answer),
        });
    }

    /** @param {Asked} question */
    async function answerTo(question) {
        const key = `${question.method} ${question.path}`;
        try {
            const reply = replies[key];
            if (reply instanceof Error) throw reply;
            if (typeof reply === 'function') return { status: 200, answer: await reply(question) };
            if (reply !== undefined) return { status: 200, answer: reply };
            if (key.startsWith('PUT /chats/'))
                return {
                    status: 200,
                    answer: await sidecar.put(question.path.slice(7), question.body),
                };
            if (question.method !== 'GET') return { status: 200, answer: {} };
            return { status: 404, answer: { error: 'not_found', message: key } };
        } catch (error) {
            const { code, message, status = 500 } = /** @type {any} */ (error);
            return { status, answer: { error: code, message } };
        }
    }

    const host = {
        ...chatHost,
        folder: 'SoulMem',
        page: () => ({ loopback: true, secure: true, origin: 'http://tavern' }),
        stored: () => tavern.settings,
        saveSettings: () => shown.settingsSaves++,
        headers: () => ({}),
        vectorsRecall: () => false,
        locale: () => 'en-GB',
        profiles: () => [
            { id: 'p1', name: 'Large' },
            { id: 'p2', name: 'Small' },
        ],
        on: (/** @type {string} */ name, /** @type {Function} */ handler) =>
            events.set(name, [...(events.get(name) ?? []), handler]),
        toast: (/** @type {string} */ kind, /** @type {string} */ text, /** @type {any} */ more) =>
            shown.toasts.push([kind, text, more]),
        confirm: async (/** @type {string} */ question) => {
            shown.questions.push(question);
            return user.agrees;
        },
        ask: async (/** @type {any} */ content) => {
            shown.questions.push(content.textContent);
            return user.agrees;
        },
        prompt: async (/** @type {string} */ question) => {
            shown.questions.push(question);
            return user.typesInTurn.shift() ?? user.types;
        },
        popup(/** @type {any} */ content, /** @type {string} */ _label, options = {}) {
            /** @type {any} */ (globalThis).document.body.append(content);
            let ended = (/** @type {unknown} */ _) => {};
            const closed = new Promise(resolve => (ended = resolve));
            const close = () => {
                content.remove();
                ended(null);
            };
            shown.popups.push({ content, close, ...options });
            return { closed, close };
        },
        openChat: async (/** @type {string} */ name) => {
            shown.opened.push(name);
            tavern.name = name;
        },
        firstShown: () => 0,
        showEarlier: async () => undefined,
        showMessage: async (/** @type {number} */ index) => shown.jumps.push(index),
        registerMacro: (/** @type {any} */ macro) => {
            shown.macros[macro.name] = (section = '') => macro.text(section);
        },
        registerCommand: (/** @type {any} */ command) => {
            shown.registered[command.name] = command;
            shown.commands[command.name] = (text, isStopped = () => false, named = {}) =>
                command.run(text, isStopped, named);
        },
        registerDataBankSource: (/** @type {any} */ source) => {
            shown.sources[source.id] = source;
        },
        registerDebugEntry: (
            /** @type {string} */ id,
            /** @type {string} */ _name,
            /** @type {string} */ _help,
            /** @type {any} */ run,
        ) => {
            shown.debug[id] = run;
        },
        installQuickReplies: async (/** @type {string} */ name, /** @type {any[]} */ replies) => {
            shown.quickReplies[name] = replies;
            return user.hasQuickReplies;
        },
        download: (/** @type {string} */ name, /** @type {Blob} */ content) =>
            shown.downloads.push([name, content]),
        registerTool: (/** @type {any} */ tool) => {
            shown.tools[tool.name] = tool;
            return true;
        },
        unregisterTool: (/** @type {string} */ name) => delete shown.tools[name],
        worldsOf: async () => [],
        lorebookOfChat: () => shown.lorebook,
        dataBank: () => shown.dataBank,
        dropStored: () => {
            shown.dropped++;
        },
    };
    Object.assign(globalThis, { fetch });
    const app = createApp(/** @type {Host} */ (/** @type {unknown} */ (host)));
    return {
        app,
        host,
        tavern,
        sidecar,
        asked,
        shown,
        user,
        replies,
        pass,
        /** What was asked with this method and path, and forgets it. @param {string} key */
        take(key) {
            const isIt = (/** @type {Asked} */ { method, path }) => `${method} ${path}` === key;
            const taken = asked.filter(isIt);
            asked.splice(0, asked.length, ...asked.filter(other => !isIt(other)));
            return taken;
        },
        /** SillyTavern tells what happened. @param {string} name @param {any[]} about */
        async happen(name, ...about) {
            for (const handler of events.get(name) ?? []) handler(...about);
            await settle();
        },
    };
}
