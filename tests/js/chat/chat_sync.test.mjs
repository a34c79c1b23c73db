import assert from 'node:assert/strict';
import { test } from 'node:test';
import { createKeeper } from '../../../extension_js/src/chat/chat_sync.js';
import { derivedId } from '../../../extension_js/src/base/hash.js';
import { createPeople } from '../../../extension_js/src/chat/people.js';
import { slotOf } from '../../../extension_js/src/tavern/slots.js';
import { fakeSidecar, refusal, said, talk } from '../fakes.mjs';
import { fakeTavern } from '../tavern.mjs';

/** @param {Parameters<typeof fakeTavern>[0]} [about] @param {{names?: string[], imported?: {id: string, title: string, parent: object | null}[]}} [more] */
function scene(about, { names = [], imported = [] } = {}) {
    const { tavern, host } = fakeTavern(about);
    const sidecar = fakeSidecar();
    const pushed = /** @type {string[]} */ ([]);
    const asked = /** @type {string[]} */ ([]);
    const bin = /** @type {{id: string, name: string}[]} */ ([]);
    const gate = { open: Promise.resolve(), failing: /** @type {Error | null} */ (null) };
    const ask = async (
        /** @type {string} */ method,
        /** @type {string} */ path,
        /** @type {any} */ body,
        /** @type {any} */ options,
    ) => {
        if (method === 'GET' && path.startsWith('/chats?soul=')) return { chats: imported };
        if (path === '/souls?state=bin') return { souls: bin };
        await gate.open;
        if (gate.failing) throw gate.failing;
        if (method === 'PUT' && path.startsWith('/chats/'))
            return sidecar.put(path.slice(7), body, options?.signal);
        if (method === 'PUT') pushed.push(path.slice(7));
        if (method === 'GET' && path.startsWith('/chats/')) {
            const messages = sidecar.chats.get(path.slice(7));
            if (!messages) throw refusal('not_found', 404);
            asked.push(path.slice(7));
            return { souls: sidecar.bodies.at(-1)?.souls, messages };
        }
    };
    const people = createPeople(host, () => tavern.settings, ask);
    const keeper = createKeeper(
        host,
        people,
        ask,
        async () => names,
        () => {},
    );
    const id = () => String(keeper.state.chat);
    return {
        tavern,
        host,
        sidecar,
        people,
        keeper,
        gate,
        id,
        pushed,
        asked,
        bin,
        signal: new AbortController().signal,
    };
}
const words = (/** @type {import('../../../extension_js/src/base/types.js').StMessage[]} */ chat) =>
    chat.map(message => message.mes);

test('an old chat is named, saved once before it is sent, and read whole', async () => {
    const { tavern, sidecar, keeper, id } = scene({ chat: talk(250) });
    const result = await keeper.syncNow();
    assert.equal(result?.complete, true);
    assert.equal(tavern.saves, 1);
    assert.deepEqual(sidecar.held(id()), words(tavern.chat));
    await keeper.syncNow();
    assert.equal(tavern.saves, 1, 'nothing new, nothing to save');
});

test('a chat that was imported from its file before it was opened is that chat, branch or not', async () => {
    const soul = 's-known';
    const id = derivedId('c', ['st_chat', soul, 'old']);
    const parent = { chat: 'c0', fork_slot: 'm1' };
    for (const [title, expected] of /** @type {const} */ ([
        ['old', true],
        ['renamed since', false],
    ])) {
        const { tavern, keeper, host } = scene(
            { chat: talk(3), name: 'old' },
            { imported: [{ id, title, parent }] },
        );
        tavern.settings.souls['mira.png'] = soul;
        await keeper.identify();
        assert.equal(host.record()?.chat === id, expected, title);
        assert.deepEqual(host.record()?.parent, expected ? parent : undefined);
    }
});

test('a reply does not wait for a save', async () => {
    const { tavern, keeper, signal } = scene({ chat: talk(30) });
    await keeper.syncForReply({ leaveOut: 0, signal });
    assert.equal(tavern.saves, 0);
});

test("the coming reply's slot is stamped when it arrives, with its trace", async () => {
    const { tavern, keeper, id, signal } = scene({ chat: talk(4) });
    await keeper.syncForReply({ leaveOut: 0, signal });
    keeper.expect({
        chat: id(),
        index: 4,
        slot: 'm-coming',
        swipe: 0,
        fresh: true,
        present: undefined,
        trace: 't1',
        n: 2,
    });
    tavern.chat.push(said('the reply'));
    keeper.received(4, 'normal');
    assert.deepEqual(tavern.chat[4].extra?.soulmem, { id: 'm-coming', trace: 't1', n: 2 });
});

test('a reply whose event never came is stamped at the next look', async () => {
    const { tavern, keeper, id, signal } = scene({ chat: talk(4) });
    await keeper.syncForReply({ leaveOut: 0, signal });
    keeper.expect({
        chat: id(),
        index: 4,
        slot: 'm-coming',
        swipe: 0,
        fresh: true,
        present: undefined,
    });
    tavern.chat.push(said('stopped half'));
    await keeper.syncNow();
    assert.equal(slotOf(tavern.chat[4]), 'm-coming');
});

test("the user's next message does not take the slot of a reply that never came", async () => {
    const { tavern, keeper, id, signal } = scene({ chat: talk(4) });
    await keeper.syncForReply({ leaveOut: 0, signal });
    keeper.expect({
        chat: id(),
        index: 4,
        slot: 'm-coming',
        swipe: 0,
        fresh: true,
        present: undefined,
    });
    tavern.chat.push(said('never mind', { is_user: true }));
    await keeper.syncNow();
    assert.notEqual(slotOf(tavern.chat[4]), 'm-coming');
});

test('a new swipe keeps the slot and loses the recall of the old one', async () => {
    const { tavern, keeper, sidecar, id, signal } = scene({ chat: talk(5) });
    await keeper.syncNow();
    const last = tavern.chat[4];
    Object.assign(last, {
        swipe_id: 1,
        swipes: ['line 4', ''],
        mes: '',
        extra: { soulmem: { id: slotOf(last), trace: 'old', n: 5 } },
    });
    await keeper.syncForReply({ leaveOut: 1, signal });
    assert.deepEqual(
        sidecar.held(id()),
        words(tavern.chat.slice(0, 4)),
        'the rejected swipe is gone before the recall',
    );
    keeper.expect({
        chat: id(),
        index: 4,
        slot: String(slotOf(last)),
        swipe: 1,
        fresh: false,
        present: undefined,
        trace: undefined,
        n: undefined,
    });
    last.mes = 'another';
    keeper.received(4, 'swipe');
    assert.deepEqual(Object.keys(last.extra?.soulmem ?? {}), ['id']);
    await keeper.syncNow();
    assert.deepEqual(sidecar.held(id()), words(tavern.chat));
});

test("a swipe made while memory slept does not show the old swipe's recall", async () => {
    const { tavern, keeper } = scene({ chat: talk(5) });
    await keeper.syncNow();
    tavern.chat[4].extra = { soulmem: { id: slotOf(tavern.chat[4]) ?? '', trace: 'old', n: 5 } };
    keeper.received(4, 'swipe');
    assert.equal(tavern.chat[4].extra.soulmem?.trace, undefined);
});

test('a branch gets its own id, its parent and the fork', async () => {
    const { tavern, keeper, sidecar, id } = scene({ chat: talk(10) });
    await keeper.syncNow();
    const parent = id();
    tavern.chat = structuredClone(tavern.chat.slice(0, 6));
    tavern.metadata = { ...structuredClone(tavern.metadata), main_chat: tavern.name };
    tavern.name = 'Branch #1';
    tavern.chat.push(said('only here', { is_user: true }));
    await keeper.syncNow();
    assert.notEqual(id(), parent);
    assert.deepEqual(sidecar.bodies.at(-1)?.parent, {
        chat: parent,
        fork_slot: slotOf(tavern.chat[5]),
    });
    assert.equal(sidecar.held(parent).length, 10, 'the parent keeps its own');
});

test('a renamed chat keeps its id, announced or not', async () => {
    const { tavern, keeper, id } = scene({ chat: talk(4) }, { names: ['Other'] });
    await keeper.syncNow();
    const before = id();
    tavern.name = 'Renamed';
    await keeper.syncNow();
    assert.equal(id(), before);
    keeper.renamed('Renamed.jsonl', 'Again.jsonl');
    tavern.name = 'Again';
    await keeper.syncNow();
    assert.equal(id(), before);
    assert.equal(tavern.metadata.soulmem.name, 'Again');
});

test('two looks at a new chat at the same time give it one id', async () => {
    const { tavern, keeper } = scene({ chat: talk(4) });
    const [a, b] = await Promise.all([keeper.identify(), keeper.identify()]);
    assert.equal(a?.record.chat, b?.record.chat);
    assert.equal(tavern.metadata.soulmem.chat, a?.record.chat);
});

const TRIO = { 'a.png': { name: 'A' }, 'b.png': { name: 'B' }, 'c.png': { name: 'C' } };

test('in a group a muted member is not present, and who joins later was not there before', async () => {
    const group = { id: 'g1', chats: [], disabled_members: ['c.png'] };
    const { tavern, keeper, sidecar, id } = scene({
        characters: TRIO,
        open: ['a.png', 'b.png'],
        group,
        chat: [said('greeting'), said('hello', { is_user: true })],
    });
    await keeper.syncNow();
    const soulOf = (/** @type {string} */ avatar) => tavern.settings.souls[avatar];
    tavern.open.push('c.png');
    tavern.chat.push(said('c is here but muted', { is_user: true }));
    await keeper.syncNow();
    group.disabled_members = [];
    tavern.chat.push(said('now c listens', { is_user: true }));
    await keeper.syncNow();
    const present = sidecar.chats.get(id())?.map(message => message.present);
    const two = [soulOf('a.png'), soulOf('b.png')];
    assert.deepEqual(present, [two, two, two, null]);
    assert.deepEqual(sidecar.bodies.at(-1)?.souls, [...two, soulOf('c.png')]);
});

test('a member muted from the start does not hear the first words', async () => {
    const group = { id: 'g1', chats: [], disabled_members: ['c.png'] };
    const { tavern, keeper, sidecar, id } = scene({
        characters: TRIO,
        open: Object.keys(TRIO),
        group,
        chat: [said('hello', { is_user: true })],
    });
    await keeper.syncNow();
    assert.deepEqual(sidecar.chats.get(id())?.[0].present, [
        tavern.settings.souls['a.png'],
        tavern.settings.souls['b.png'],
    ]);
});

test('who leaves the group keeps what was heard until then', async () => {
    const group = { id: 'g1', chats: [], disabled_members: [] };
    const { tavern, keeper, sidecar, id } = scene({
        characters: TRIO,
        open: ['a.png', 'b.png'],
        group,
        chat: [said('secret', { is_user: true })],
    });
    await keeper.syncNow();
    tavern.open = ['a.png'];
    tavern.chat.push(said('b is gone', { is_user: true }));
    await keeper.syncNow();
    assert.deepEqual(sidecar.bodies.at(-1)?.souls, [
        tavern.settings.souls['a.png'],
        tavern.settings.souls['b.png'],
    ]);
    assert.deepEqual(
        sidecar.chats.get(id())?.map(message => message.present),
        [null, [tavern.settings.souls['a.png']]],
    );
});

test('a member who does not remember is not told, knows what it knew, and is told the rest when it remembers again', async () => {
    const group = { id: 'g1', chats: [], disabled_members: [] };
    const { tavern, keeper, sidecar, people, id, asked } = scene({
        characters: structuredClone(TRIO),
        open: ['a.png', 'b.png'],
        group,
        chat: [said('before', { is_user: true })],
    });
    await keeper.syncNow();
    const [a, b] = await people.present();
    const present = () => sidecar.chats.get(id())?.map(message => message.present);
    await people.configure(b, { enabled: false });
    for (const words of ['one', 'two']) {
        tavern.chat.push(said(words, { is_user: true }));
        await keeper.syncNow();
    }
    assert.deepEqual(present(), [null, [a.soul], [a.soul]]);
    assert.deepEqual(sidecar.bodies.at(-1)?.souls, [a.soul, b.soul]);
    assert.equal(asked.length, 1, 'what it heard is asked for once');
    keeper.reset(); // as after another page load
    tavern.chat.push(said('three', { is_user: true }));
    await keeper.syncNow();
    assert.deepEqual(present(), [null, [a.soul], [a.soul], [a.soul]]);
    await people.configure((await people.present())[1], {});
    await keeper.syncNow();
    assert.deepEqual(present(), [null, null, null, null]);
});

test('a character that was forgotten altogether is brought back by no sync, alone or in a group', async () => {
    const group = { id: 'g1', chats: [], disabled_members: [] };
    for (const [open, group_] of /** @type {[string[], object | null][]} */ ([
        [['a.png', 'b.png'], group],
        [['b.png'], null],
    ])) {
        const { tavern, keeper, sidecar, people, id, pushed, bin } = scene({
            characters: structuredClone(TRIO),
            open,
            group: group_,
            chat: [said('before', { is_user: true }), said('well')],
        });
        await keeper.syncNow();
        const all = await people.present();
        const forgotten = all[all.length - 1].soul;
        pushed.length = 0;
        bin.push({ id: forgotten, name: 'B' }); // by another page, or by hand
        keeper.reset(); // the sidecar refused: it knows no such soul
        tavern.chat.push(said('later', { is_user: true }));
        const result = await keeper.syncNow();
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
    const { tavern, keeper, sidecar, people, id, pushed, signal } = scene({
        characters,
        open: Object.keys(TRIO),
        group,
        chat: talk(30),
    });
    await keeper.syncForReply({ leaveOut: 0, signal });
    tavern.chat.push(said('c does not hear this', { is_user: true }));
    await keeper.syncNow();
    const [a, b, c] = (await people.present()).map(person => person.soul);
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

test('a cancelled reading stays cancelled until asked for, but replies still send the last words', async () => {
    const { tavern, keeper, sidecar, id, signal, gate } = scene({ chat: talk(300) });
    let go = () => {};
    gate.open = new Promise(resolve => {
        go = () => resolve(undefined);
    });
    const reading = keeper.syncNow();
    await new Promise(resolve => setTimeout(resolve, 10));
    keeper.cancelReading();
    go();
    await assert.rejects(reading);
    assert.equal(keeper.state.paused, true);
    await keeper.syncForReply({ leaveOut: 0, signal });
    assert.deepEqual(sidecar.held(id()), words(tavern.chat).slice(-20));
    assert.deepEqual(keeper.state.reading, { done: 20, total: 300 });
    assert.equal((await keeper.readAll())?.complete, true);
    assert.deepEqual(sidecar.held(id()), words(tavern.chat));
    assert.equal(keeper.state.reading, null);
});

test('a reply goes ahead of a reading', async () => {
    const { tavern, keeper, sidecar, id, signal, gate } = scene({ chat: talk(600) });
    Object.defineProperty(gate, 'open', {
        get: () => new Promise(resolve => setTimeout(resolve, 10)),
    });
    const reading = keeper.syncNow();
    await new Promise(resolve => setTimeout(resolve, 25));
    await keeper.syncForReply({ leaveOut: 0, signal });
    const held = sidecar.held(id());
    assert.ok(held.length < 600, 'the reading is not over');
    assert.equal(held.at(-1), 'line 599');
    assert.equal((await reading)?.complete, true);
    assert.deepEqual(sidecar.held(id()), words(tavern.chat));
});

test('a reading waits while a reply is being written, so no half reply is read', async () => {
    const { tavern, keeper, sidecar, id, signal, gate } = scene({ chat: talk(300) });
    Object.defineProperty(gate, 'open', {
        get: () => new Promise(resolve => setTimeout(resolve, 5)),
    });
    const reading = keeper.syncNow();
    await new Promise(resolve => setTimeout(resolve, 20));
    tavern.busy = true;
    await keeper.syncForReply({ leaveOut: 0, signal });
    tavern.chat.push(said('half a rep'));
    await new Promise(resolve => setTimeout(resolve, 150));
    assert.ok(!sidecar.held(id()).includes('half a rep'));
    tavern.chat[300].mes = 'half a reply is whole now';
    tavern.busy = false;
    await reading;
    assert.deepEqual(sidecar.held(id()), words(tavern.chat));
    assert.equal(sidecar.texts.size, 301);
});

test("in a group that was away, what was said meanwhile is everybody's", async () => {
    const group = { id: 'g1', chats: [], disabled_members: ['b.png'] };
    const { tavern, keeper, sidecar, id } = scene({
        characters: TRIO,
        open: ['a.png', 'b.png'],
        group,
        chat: talk(6),
    });
    await keeper.syncNow();
    tavern.chat.push(...talk(10));
    await keeper.syncNow();
    assert.ok(sidecar.chats.get(id())?.every(message => message.present === null));
    tavern.chat.push(said('a secret', { is_user: true }));
    await keeper.syncNow();
    assert.deepEqual(sidecar.chats.get(id())?.at(-1)?.present, [tavern.settings.souls['a.png']]);
});

test('a held removal is kept in the state until it is confirmed', async () => {
    const { tavern, keeper, sidecar, id } = scene({ chat: talk(40) });
    await keeper.syncNow();
    tavern.chat.splice(2, 35);
    await keeper.syncNow();
    assert.equal(keeper.state.held?.count, 35);
    await keeper.confirmRemoval();
    assert.equal(keeper.state.held, null);
    assert.deepEqual(sidecar.held(id()), words(tavern.chat));
});

test('after a refusal the souls and the whole chat are told again', async () => {
    const { tavern, keeper, sidecar, gate, id } = scene({ chat: talk(4) });
    await keeper.syncNow();
    gate.failing = Object.assign(new Error('no soul'), { code: 'not_found' });
    tavern.chat.push(said('next'));
    await assert.rejects(keeper.syncNow());
    assert.equal(keeper.state.error, 'no soul');
    gate.failing = null;
    await keeper.syncNow();
    assert.equal(keeper.state.error, null);
    assert.equal(sidecar.bodies.at(-1)?.base, null);
    assert.deepEqual(sidecar.held(id()), words(tavern.chat));
});

test('a chat that is still being loaded is left alone', async () => {
    const { tavern, keeper, sidecar } = scene({ chat: [] });
    assert.equal(await keeper.syncNow(), null);
    assert.deepEqual([sidecar.bodies, tavern.metadata.soulmem], [[], undefined]);
});

test('an emptied chat is told', async () => {
    const { tavern, keeper, sidecar, id } = scene({ chat: talk(4) });
    await keeper.syncNow();
    tavern.chat.length = 0;
    await keeper.syncNow();
    assert.deepEqual(sidecar.held(id()), []);
});

test('another chat starts with a clean state, the same chat keeps its own', async () => {
    const { tavern, keeper } = scene({ chat: talk(40) });
    await keeper.syncNow();
    tavern.chat.splice(2, 35);
    await keeper.syncNow();
    keeper.cancelReading();
    await keeper.identify();
    assert.deepEqual([keeper.state.held?.count, keeper.state.paused], [35, true]);
    keeper.leave();
    assert.deepEqual(keeper.state, {
        chat: null,
        held: null,
        reading: null,
        paused: false,
        error: null,
        syncing: false,
    });
});

test('nothing happens without a chat or a character', async () => {
    const { tavern, keeper } = scene();
    tavern.open = [];
    assert.equal(await keeper.syncNow(), null);
    assert.equal(tavern.metadata.soulmem, undefined);
});

test('a character that does not remember is told nothing of its chat', async () => {
    const { keeper, sidecar } = scene({
        chat: talk(9),
        characters: {
            'mira.png': {
                name: 'Mira',
                field: { soul: 's1', avatar: 'mira.png', config: { enabled: false } },
            },
        },
    });
    assert.equal(await keeper.syncNow(), null);
    assert.equal(sidecar.bodies.length, 0);
});
