// A chat, a sidecar and a recaller between them.

import assert from 'node:assert/strict';
import { createChatSync } from '../../../extension_js/src/chat/chat_sync.js';
import { createPeople } from '../../../extension_js/src/chat/people.js';
import { ApiError } from '../../../extension_js/src/link/api.js';
import { createRecaller } from '../../../extension_js/src/recall/recaller.js';
import { fakeSidecar, talk } from '../fakes.mjs';
import { fakeTavern } from '../tavern.mjs';

/** @typedef {import('../../../extension_js/src/base/types.js').RecallAnswer} RecallAnswer */

/** @param {string[]} texts best first @returns {RecallAnswer} */
export function answer(texts) {
    const items = texts.map((text, i) => ({ memory: `e${i}`, text: `- ${text}`, tokens: 5 }));
    return {
        trace: 't1',
        tokens: 20,
        timed_out: false,
        took_ms: { total: 3 },
        memories: texts.map((text, i) => ({
            id: `e${i}`,
            kind: 'episode',
            text,
            score: 1 / (i + 1),
            hops: 0,
            permanent: false,
            why: 'because',
            path: [],
            sources: [],
            age_turns: 9,
            visibility: 1,
        })),
        blocks: texts.length
            ? [
                  {
                      section: 'episodes',
                      position: 'in_chat',
                      depth: 4,
                      role: 'system',
                      tokens: 20,
                      text: ['[Earlier]', ...items.map(item => item.text)].join('\n'),
                      items,
                  },
              ]
            : [],
    };
}

/** @param {Parameters<typeof fakeTavern>[0]} [about] */
export function scene(about = { chat: talk(9) }) {
    const { tavern, host } = fakeTavern(about);
    const sidecar = fakeSidecar();
    const world = {
        ready: true,
        recall: async (/** @type {any} */ _body, /** @type {AbortSignal} */ _signal) =>
            answer(['the key is under the step', 'the cake']),
        put: sidecar.put,
        isForgetful: false, // without the chat
        asked: /** @type {any[]} */ ([]),
        requests: /** @type {string[]} */ ([]),
        reports: /** @type {unknown[]} */ ([]),
    };
    const ask = async (
        /** @type {string} */ _method,
        /** @type {string} */ path,
        /** @type {any} */ body,
        /** @type {any} */ options,
    ) => {
        world.requests.push(path.replace(/^\/chats\/[^/]+/, '/chats/ID'));
        if (path.endsWith('/recall') && path !== '/recall') {
            if (world.isForgetful) throw new ApiError('no such chat', { kind: 'http', status: 404 });
            const chat = path.split('/')[2];
            const sync = await world.put(chat, body.sync, options.signal);
            if (!sync.applied) return { sync, recall: null };
            world.asked.push(body.recall);
            return { sync, recall: await world.recall(body.recall, options.signal) };
        }
        if (path.startsWith('/chats/')) return world.put(path.slice(7), body, options?.signal);
        if (path === '/souls?state=bin') return { souls: [] };
        if (path !== '/recall') return;
        world.asked.push(body);
        return world.recall(body, options.signal);
    };
    const chatSync = createChatSync({
        host,
        people: createPeople(host, () => tavern.settings, ask),
        ask,
        chatNames: async () => [],
        changed: () => {},
    });
    const recaller = createRecaller({
        host,
        chatSync,
        ask,
        settings: () => tavern.settings,
        ready: async () => world.ready,
        report: error => world.reports.push(error),
    });
    const generate = (/** @type {unknown} */ type = 'normal', size = 8000) =>
        recaller.intercept([], size, () => assert.fail('never abort a generation'), type);
    const injected = () => [...tavern.prompts.values()].map(prompt => prompt.text).join('\n');
    return { tavern, host, sidecar, world, chatSync, recaller, generate, injected };
}
