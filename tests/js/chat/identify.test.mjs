import assert from 'node:assert/strict';
import { test } from 'node:test';
import { derivedId } from '../../../extension_js/src/base/hash.js';
import { slotOf } from '../../../extension_js/src/tavern/slots.js';
import { newMessage, refusal, talk } from '../fakes.mjs';
import { TRIO, scene } from './scene.mjs';

test('a chat that was imported from its file before it was opened is that chat, branch or not', async () => {
    const soul = 's-known';
    const id = derivedId('c', ['st_chat', soul, 'old']);
    const parent = { chat: 'c0', fork_slot: 'm1' };
    for (const [title, expected] of /** @type {const} */ ([
        ['old', true],
        ['renamed since', false],
    ])) {
        const { tavern, chatSync, host } = scene(
            { chat: talk(3), name: 'old' },
            { imported: [{ id, title, parent }] },
        );
        tavern.settings.souls['mira.png'] = soul;
        await chatSync.identify();
        assert.equal(host.record()?.chat === id, expected, title);
        assert.deepEqual(host.record()?.parent, expected ? parent : undefined);
    }
});

test('a branch gets its own id, its parent and the fork', async () => {
    const { tavern, chatSync, sidecar, id } = scene({ chat: talk(10) });
    await chatSync.syncNow();
    const parent = id();
    tavern.chat = structuredClone(tavern.chat.slice(0, 6));
    tavern.metadata = { ...structuredClone(tavern.metadata), main_chat: tavern.name };
    tavern.name = 'Branch #1';
    tavern.chat.push(newMessage('only here', { is_user: true }));
    await chatSync.syncNow();
    assert.notEqual(id(), parent);
    assert.deepEqual(sidecar.bodies.at(-1)?.parent, {
        chat: parent,
        fork_slot: slotOf(tavern.chat[5]),
    });
    assert.equal(sidecar.storedTexts(parent).length, 10, 'the parent keeps its own');
});

test('a renamed chat keeps its id, announced or not', async () => {
    const { tavern, chatSync, id } = scene({ chat: talk(4) }, { names: ['Other'] });
    await chatSync.syncNow();
    const before = id();
    tavern.name = 'Renamed';
    await chatSync.syncNow();
    assert.equal(id(), before);
    chatSync.chatRenamed('Renamed.jsonl', 'Again.jsonl');
    tavern.name = 'Again';
    await chatSync.syncNow();
    assert.equal(id(), before);
    assert.equal(tavern.metadata.soulmem.name, 'Again');
});

test('two looks at a new chat at the same time give it one id', async () => {
    const { tavern, chatSync } = scene({ chat: talk(4) });
    const [a, b] = await Promise.all([chatSync.identify(), chatSync.identify()]);
    assert.equal(a?.record.chat, b?.record.chat);
    assert.equal(tavern.metadata.soulmem.chat, a?.record.chat);
});

test('a chat that is still being loaded is left alone', async () => {
    const { tavern, chatSync, sidecar } = scene({ chat: [] });
    assert.equal(await chatSync.syncNow(), null);
    assert.deepEqual([sidecar.bodies, tavern.metadata.soulmem], [[], undefined]);
});

test('nothing happens without a chat or a character', async () => {
    const { tavern, chatSync } = scene();
    tavern.open = [];
    assert.equal(await chatSync.syncNow(), null);
    assert.equal(tavern.metadata.soulmem, undefined);
});

test('in a group a muted member is not present, and who joins later was not there before', async () => {
    const group = { id: 'g1', chats: [], disabled_members: ['c.png'] };
    const { tavern, chatSync, sidecar, id } = scene({
        characters: TRIO,
        open: ['a.png', 'b.png'],
        group,
        chat: [newMessage('greeting'), newMessage('hello', { is_user: true })],
    });
    await chatSync.syncNow();
    const soulOf = (/** @type {string} */ avatar) => tavern.settings.souls[avatar];
    tavern.open.push('c.png');
    tavern.chat.push(newMessage('c is here but muted', { is_user: true }));
    await chatSync.syncNow();
    group.disabled_members = [];
    tavern.chat.push(newMessage('now c listens', { is_user: true }));
    await chatSync.syncNow();
    const present = sidecar.chats.get(id())?.map(message => message.present);
    const two = [soulOf('a.png'), soulOf('b.png')];
    assert.deepEqual(present, [two, two, two, null]);
    assert.deepEqual(sidecar.bodies.at(-1)?.souls, [...two, soulOf('c.png')]);
});

test('a member muted from the start does not hear the first words', async () => {
    const group = { id: 'g1', chats: [], disabled_members: ['c.png'] };
    const { tavern, chatSync, sidecar, id } = scene({
        characters: TRIO,
        open: Object.keys(TRIO),
        group,
        chat: [newMessage('hello', { is_user: true })],
    });
    await chatSync.syncNow();
    assert.deepEqual(sidecar.chats.get(id())?.[0].present, [
        tavern.settings.souls['a.png'],
        tavern.settings.souls['b.png'],
    ]);
});

test('who leaves the group keeps what was heard until then', async () => {
    const group = { id: 'g1', chats: [], disabled_members: [] };
    const { tavern, chatSync, sidecar, id } = scene({
        characters: TRIO,
        open: ['a.png', 'b.png'],
        group,
        chat: [newMessage('secret', { is_user: true })],
    });
    await chatSync.syncNow();
    tavern.open = ['a.png'];
    tavern.chat.push(newMessage('b is gone', { is_user: true }));
    await chatSync.syncNow();
    assert.deepEqual(sidecar.bodies.at(-1)?.souls, [
        tavern.settings.souls['a.png'],
        tavern.settings.souls['b.png'],
    ]);
    assert.deepEqual(
        sidecar.chats.get(id())?.map(message => message.present),
        [null, [tavern.settings.souls['a.png']]],
    );
});

test("in a group that was away, what was newMessage meanwhile is everybody's", async () => {
    const group = { id: 'g1', chats: [], disabled_members: ['b.png'] };
    const { tavern, chatSync, sidecar, id } = scene({
        characters: TRIO,
        open: ['a.png', 'b.png'],
        group,
        chat: talk(6),
    });
    await chatSync.syncNow();
    tavern.chat.push(...talk(10));
    await chatSync.syncNow();
    assert.ok(sidecar.chats.get(id())?.every(message => message.present === null));
    tavern.chat.push(newMessage('a secret', { is_user: true }));
    await chatSync.syncNow();
    assert.deepEqual(sidecar.chats.get(id())?.at(-1)?.present, [tavern.settings.souls['a.png']]);
});

test('no id is minted while it is not known whether the chat was imported', async () => {
    const { host, chatSync, gate } = scene({ chat: talk(3) });
    gate.listing = refusal('busy', 503);
    await assert.rejects(chatSync.identify(), /busy/);
    assert.equal(host.record(), undefined);
    gate.listing = null;
    await chatSync.identify();
    assert.ok(host.record()?.chat);
});
