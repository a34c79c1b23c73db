import assert from 'node:assert/strict';
import { test } from 'node:test';
import { newMessage, talk } from '../fakes.mjs';
import { scene, words } from './scene.mjs';

test('an old chat is named, saved once before it is sent, and read whole', async () => {
    const { tavern, sidecar, chatSync, id } = scene({ chat: talk(250) });
    const result = await chatSync.syncNow();
    assert.equal(result?.complete, true);
    assert.equal(tavern.saves, 1);
    assert.deepEqual(sidecar.storedTexts(id()), words(tavern.chat));
    await chatSync.syncNow();
    assert.equal(tavern.saves, 1, 'nothing new, nothing to save');
});

test('a reply does not wait for a save', async () => {
    const { tavern, chatSync, signal } = scene({ chat: talk(30) });
    await chatSync.syncForReply({ leaveOut: 0, signal });
    assert.equal(tavern.saves, 0);
});

test('a cancelled reading stays cancelled until asked for, but replies still send the last words', async () => {
    const { tavern, chatSync, sidecar, id, signal, gate } = scene({ chat: talk(300) });
    let go = () => {};
    gate.open = new Promise(resolve => {
        go = () => resolve(undefined);
    });
    const reading = chatSync.syncNow();
    await new Promise(resolve => setTimeout(resolve, 10));
    chatSync.cancelReading();
    go();
    await assert.rejects(reading);
    assert.equal(chatSync.state.paused, true);
    await chatSync.syncForReply({ leaveOut: 0, signal });
    assert.deepEqual(sidecar.storedTexts(id()), words(tavern.chat).slice(-20));
    assert.deepEqual(chatSync.state.reading, { done: 20, total: 300 });
    assert.equal((await chatSync.readAll())?.complete, true);
    assert.deepEqual(sidecar.storedTexts(id()), words(tavern.chat));
    assert.equal(chatSync.state.reading, null);
});

test('a reply goes ahead of a reading', async () => {
    const { tavern, chatSync, sidecar, id, signal, gate } = scene({ chat: talk(600) });
    Object.defineProperty(gate, 'open', {
        get: () => new Promise(resolve => setTimeout(resolve, 10)),
    });
    const reading = chatSync.syncNow();
    await new Promise(resolve => setTimeout(resolve, 25));
    await chatSync.syncForReply({ leaveOut: 0, signal });
    const texts = sidecar.storedTexts(id());
    assert.ok(texts.length < 600, 'the reading is not over');
    assert.equal(texts.at(-1), 'line 599');
    assert.equal((await reading)?.complete, true);
    assert.deepEqual(sidecar.storedTexts(id()), words(tavern.chat));
});

test('a reading waits while a reply is being written, so no half reply is read', async () => {
    const { tavern, chatSync, sidecar, id, signal, gate } = scene({ chat: talk(300) });
    Object.defineProperty(gate, 'open', {
        get: () => new Promise(resolve => setTimeout(resolve, 5)),
    });
    const reading = chatSync.syncNow();
    await new Promise(resolve => setTimeout(resolve, 20));
    tavern.busy = true;
    await chatSync.syncForReply({ leaveOut: 0, signal });
    tavern.chat.push(newMessage('half a rep'));
    await new Promise(resolve => setTimeout(resolve, 150));
    assert.ok(!sidecar.storedTexts(id()).includes('half a rep'));
    tavern.chat[300].mes = 'half a reply is whole now';
    tavern.busy = false;
    await reading;
    assert.deepEqual(sidecar.storedTexts(id()), words(tavern.chat));
    assert.equal(sidecar.texts.size, 301);
});

test('a held removal is kept in the state until it is confirmed', async () => {
    const { tavern, chatSync, sidecar, id } = scene({ chat: talk(40) });
    await chatSync.syncNow();
    tavern.chat.splice(2, 35);
    await chatSync.syncNow();
    assert.equal(chatSync.state.quarantine?.count, 35);
    await chatSync.confirmRemoval();
    assert.equal(chatSync.state.quarantine, null);
    assert.deepEqual(sidecar.storedTexts(id()), words(tavern.chat));
});

test('after a refusal the souls and the whole chat are told again', async () => {
    const { tavern, chatSync, sidecar, gate, id } = scene({ chat: talk(4) });
    await chatSync.syncNow();
    gate.failing = Object.assign(new Error('no soul'), { code: 'not_found' });
    tavern.chat.push(newMessage('next'));
    await assert.rejects(chatSync.syncNow());
    assert.equal(chatSync.state.error?.message, 'no soul');
    gate.failing = null;
    await chatSync.syncNow();
    assert.equal(chatSync.state.error, null);
    assert.equal(sidecar.bodies.at(-1)?.base, null);
    assert.deepEqual(sidecar.storedTexts(id()), words(tavern.chat));
});

test('an emptied chat is told', async () => {
    const { tavern, chatSync, sidecar, id } = scene({ chat: talk(4) });
    await chatSync.syncNow();
    tavern.chat.length = 0;
    await chatSync.syncNow();
    assert.deepEqual(sidecar.storedTexts(id()), []);
});

test('another chat starts with a clean state, the same chat keeps its own', async () => {
    const { tavern, chatSync } = scene({ chat: talk(40) });
    await chatSync.syncNow();
    tavern.chat.splice(2, 35);
    await chatSync.syncNow();
    chatSync.cancelReading();
    await chatSync.identify();
    assert.deepEqual([chatSync.state.quarantine?.count, chatSync.state.paused], [35, true]);
    chatSync.chatClosed();
    assert.deepEqual(chatSync.state, {
        chat: null,
        quarantine: null,
        reading: null,
        paused: false,
        error: null,
        syncing: false,
    });
});

test('a character that does not remember is told nothing of its chat', async () => {
    const { chatSync, sidecar } = scene({
        chat: talk(9),
        characters: {
            'mira.png': {
                name: 'Mira',
                field: { soul: 's1', avatar: 'mira.png', config: { enabled: false } },
            },
        },
    });
    assert.equal(await chatSync.syncNow(), null);
    assert.equal(sidecar.bodies.length, 0);
});

test('a reading does not go on in another chat', async () => {
    const { tavern, chatSync, sidecar, id, gate } = scene({ chat: talk(300) });
    Object.defineProperty(gate, 'open', {
        get: () => new Promise(resolve => setTimeout(resolve, 10)),
    });
    const reading = chatSync.syncNow();
    await new Promise(resolve => setTimeout(resolve, 15));
    const first = id();
    tavern.name = 'Another chat';
    tavern.metadata = {};
    tavern.chat = talk(300);
    const result = await reading;
    assert.ok(!result?.complete);
    assert.deepEqual(
        [...sidecar.chats.keys()].filter(chat => chat !== first),
        [],
    );
});
