// Read-only, and chats that the user had forgotten: recalls work, and nothing is sent.

import assert from 'node:assert/strict';
import { test } from 'node:test';
import { chatIdentity } from '../../../extension_js/src/tavern/identity.js';
import { createChatSync } from '../../../extension_js/src/chat/chat_sync.js';
import { createPeople } from '../../../extension_js/src/chat/people.js';
import { createRecaller } from '../../../extension_js/src/recall/recaller.js';
import { refusal, newMessage, talk } from '../fakes.mjs';
import { fakeTavern } from '../tavern.mjs';

/** @param {boolean} readOnly */
function scene(readOnly) {
    const { tavern, host } = fakeTavern({ chat: talk(9) });
    tavern.settings.read_only = readOnly;
    const asked = /** @type {[string, string, any][]} */ ([]);
    const chats = new Set(/** @type {string[]} */ ([]));
    const souls = new Set(/** @type {string[]} */ ([]));
    const ask = async (
        /** @type {string} */ method,
        /** @type {string} */ path,
        /** @type {any} */ body,
    ) => {
        asked.push([method, path, structuredClone(body)]);
        const id = path.slice('/chats/'.length);
        if (path.startsWith('/chats?')) return { chats: [] };
        if (path === '/souls?state=bin') return { souls: [] };
        if (path === '/chats') return { chats: [...chats].map(chat => ({ id: chat })) };
        if (method === 'PUT' && path.startsWith('/souls/')) souls.add(path.slice('/souls/'.length));
        if (method === 'DELETE' && !chats.delete(id)) throw refusal('not_found', 404);
        if (method === 'PUT' && path.startsWith('/chats/')) {
            chats.add(id);
            return {
                needs_text: [],
                applied: true,
                added: body.messages.length,
                changed: 0,
                removed: 0,
                held: null,
            };
        }
        if (path !== '/recall') return {};
        if (!chats.has(body.chat) || !souls.has(body.soul)) throw refusal('not_found', 404);
        return { trace: 't1', tokens: 0, timed_out: false, took_ms: {}, memories: [], blocks: [] };
    };
    const people = createPeople(host, () => tavern.settings, ask);
    const chatSync = createChatSync({
        host,
        people,
        ask,
        chatNames: async () => [],
        changed: () => {},
        readOnly: () => tavern.settings.read_only,
    });
    const recaller = createRecaller({
        host,
        chatSync,
        ask,
        settings: () => tavern.settings,
        ready: async () => true,
        report: error => assert.equal(error, null),
    });
    const generate = () =>
        recaller.intercept([], 8000, () => assert.fail('never abort a generation'), 'normal');
    /** @param {string} method @param {string} start */
    const calls = (method, start) =>
        asked.filter(([how, path]) => how === method && path.startsWith(start));
    return { tavern, host, asked, souls, people, chatSync, generate, calls };
}

test('read-only recalls without telling a word of the chat, and learns nothing', async () => {
    const { host, asked, chatSync, generate, calls } = scene(true);
    assert.equal(await chatSync.syncNow(), null);
    await generate();
    const chat = host.record()?.chat;
    const introduced = calls('PUT', '/chats/');
    assert.deepEqual(
        introduced.map(([, path, body]) => [path, body.messages]),
        [[`/chats/${chat}`, []]],
        'an unknown chat is introduced by name alone',
    );
    const [, , question] = calls('POST', '/recall').at(-1) ?? assert.fail('nothing was recalled');
    assert.equal(question.slot, undefined);
    assert.equal(question.swipe, undefined);
    assert.match(question.query, /line 8/);
    await generate();
    assert.equal(
        calls('PUT', '/chats/').length,
        1,
        'a known chat is never introduced again: that would empty it',
    );
    assert.ok(
        !asked.some(
            ([method, path, body]) =>
                method !== 'GET' && path !== '/recall' && JSON.stringify(body).includes('line'),
        ),
    );
});

test('a soul that memory has not met yet never empties a chat that it has', async () => {
    const { tavern, souls, people, chatSync, generate, calls } = scene(false);
    await chatSync.syncNow();
    tavern.settings.read_only = true;
    souls.clear(); // as when somebody joins a group
    people.resetPushed();
    await generate();
    assert.equal(souls.size, 1);
    assert.ok(calls('PUT', '/chats/').every(([, , body]) => body.messages.length > 0));
});

test('what is still in the window is not recalled read-only either', async () => {
    const { tavern, generate, calls, chatSync } = scene(false);
    await chatSync.syncNow();
    tavern.settings.read_only = true;
    tavern.metadata.lastInContextMessageId = 3;
    await generate();
    const slot = tavern.chat[3].extra?.soulmem?.id;
    assert.ok(slot);
    assert.equal(calls('POST', '/recall')[0][2].context_from, slot);
});

test('when read-only ends, what was newMessage meanwhile is told', async () => {
    const { tavern, chatSync, calls } = scene(true);
    tavern.chat.push(newMessage('meanwhile'));
    await chatSync.syncNow();
    assert.equal(calls('PUT', '/chats/').length, 0);
    tavern.settings.read_only = false;
    const result = await chatSync.syncNow();
    assert.equal(result?.added, 10);
});

test('a forgotten chat goes to the bin, stays untold, and comes back whole', async () => {
    const { tavern, host, chatSync, generate, calls } = scene(false);
    await chatSync.syncNow();
    const chat = host.record()?.chat;
    await chatSync.forgetChat();
    assert.deepEqual(
        calls('DELETE', '/chats/').map(([, path]) => path),
        [`/chats/${chat}`],
    );
    assert.equal(host.record()?.off, true);
    tavern.chat.push(newMessage('not for memory'));
    assert.equal(await chatSync.syncNow(), null);
    await generate();
    assert.deepEqual(calls('PUT', '/chats/').at(-1)?.[2].messages, []);
    const result = await chatSync.rememberChat();
    assert.equal(host.record()?.off, undefined);
    assert.equal(host.record()?.chat, chat);
    assert.equal(result?.added, 10);
});

test('a chat that memory never met can be forgotten; when forgetting fails it stays remembered', async () => {
    const unmet = scene(false);
    await unmet.chatSync.forgetChat();
    assert.equal(unmet.host.record()?.off, true);

    const { host } = fakeTavern({ chat: talk(3) });
    const ask = async (/** @type {string} */ method) => {
        if (method === 'DELETE') throw refusal('busy', 503);
        return { chats: [] };
    };
    const chatSync = createChatSync({
        host,
        people: createPeople(host, () => unmet.tavern.settings, ask),
        ask,
        chatNames: async () => [],
        changed: () => {},
    });
    await assert.rejects(chatSync.forgetChat(), /busy/);
    assert.equal(host.record()?.off, undefined);
});

test('a branch of a forgotten chat is forgotten too', () => {
    const facts = {
        name: 'b',
        mainChat: 'a',
        parentExists: true,
        renamed: false,
        owner: 's1',
        souls: ['s1'],
        lastSlot: 'm9',
        mint: () => 'c2',
    };
    const before = { chat: 'c1', name: 'a', owner: 's1', off: true };
    assert.equal(chatIdentity(before, facts).record.off, true);
    assert.equal(chatIdentity({ ...before, off: undefined }, facts).record.off, undefined);
});
