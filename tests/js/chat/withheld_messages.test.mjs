import assert from 'node:assert/strict';
import { test } from 'node:test';
import { newMessage, talk } from '../fakes.mjs';
import { TRIO, scene } from './scene.mjs';

test('a member who does not remember is not told, knows what it knew, and is told the rest when it remembers again', async () => {
    const group = { id: 'g1', chats: [], disabled_members: [] };
    const { tavern, chatSync, sidecar, people, id, asked } = scene({
        characters: structuredClone(TRIO),
        open: ['a.png', 'b.png'],
        group,
        chat: [newMessage('before', { is_user: true })],
    });
    await chatSync.syncNow();
    const [a, b] = await people.inChat();
    const present = () => sidecar.chats.get(id())?.map(message => message.present);
    await people.configure(b, { enabled: false });
    for (const words of ['one', 'two']) {
        tavern.chat.push(newMessage(words, { is_user: true }));
        await chatSync.syncNow();
    }
    assert.deepEqual(present(), [null, [a.soul], [a.soul]]);
    assert.deepEqual(sidecar.bodies.at(-1)?.souls, [a.soul, b.soul]);
    assert.equal(asked.length, 1, 'what it heard is asked for once');
    chatSync.reset(); // as after another page load
    tavern.chat.push(newMessage('three', { is_user: true }));
    await chatSync.syncNow();
    assert.deepEqual(present(), [null, [a.soul], [a.soul], [a.soul]]);
    await people.configure((await people.inChat())[1], {});
    await chatSync.syncNow();
    assert.deepEqual(present(), [null, null, null, null]);
});

test('a character that was forgotten altogether is brought back by no sync, alone or in a group', async () => {
    const group = { id: 'g1', chats: [], disabled_members: [] };
    for (const [open, group_] of /** @type {[string[], object | null][]} */ ([
        [['a.png', 'b.png'], group],
        [['b.png'], null],
    ])) {
        const { tavern, chatSync, sidecar, people, id, pushed, bin } = scene({
            characters: structuredClone(TRIO),
            open,
            group: group_,
            chat: [newMessage('before', { is_user: true }), newMessage('well')],
        });
        await chatSync.syncNow();
        const all = await people.inChat();
        const forgotten = all[all.length - 1].soul;
        pushed.length = 0;
        bin.push({ id: forgotten, name: 'B' }); // by another page, or by hand
        chatSync.reset(); // the sidecar refused: it knows no such soul
        tavern.chat.push(newMessage('later', { is_user: true }));
        const result = await chatSync.syncNow();
        assert.ok(!pushed.includes(forgotten));
        if (open.length === 1) assert.equal(result, null, 'alone, nothing is told at all');
        else {
            assert.deepEqual(sidecar.bodies.at(-1)?.souls, [all[0].soul]);
            assert.ok(
                sidecar.chats.get(id())?.every(message => !message.present?.includes(forgotten)),
            );
        }
    }
});

test('a member who never remembered is unknown to the sidecar, and its name is known to the others', async () => {
    const group = { id: 'g1', chats: [], disabled_members: ['c.png'] };
    const characters = {
        ...structuredClone(TRIO),
        'b.png': { name: 'B', field: { config: { enabled: false } } },
    };
    const { tavern, chatSync, sidecar, people, id, pushed, signal } = scene({
        characters,
        open: Object.keys(TRIO),
        group,
        chat: talk(30),
    });
    await chatSync.syncForReply({ leaveOut: 0, signal });
    tavern.chat.push(newMessage('c does not hear this', { is_user: true }));
    await chatSync.syncNow();
    const [a, b, c] = (await people.inChat()).map(person => person.soul);
    assert.deepEqual(sidecar.bodies.at(-1)?.souls, [a, c]);
    assert.deepEqual(
        sidecar.chats
            .get(id())
            ?.map(message => message.present)
            .slice(-2),
        [null, [a]],
    );
    assert.deepEqual([...new Set(pushed)].sort(), [a, c].sort());
    assert.ok(!JSON.stringify(sidecar.bodies).includes(b));
});
