import assert from 'node:assert/strict';
import { test } from 'node:test';
import { selectedWords } from '../../../extension_js/src/controls/kept_messages.js';
import { mountMessageMenu } from '../../../extension_js/src/controls/message_menu.js';
import { say } from '../texts.mjs';
import { settle } from '../tavern.mjs';
import { note, openChat } from './scene.mjs';

/** @param {Parameters<typeof openChat>[0]} [about] */
async function menus(about) {
    const scene = await openChat(about);
    mountMessageMenu(scene.app, say);
    scene.page.drawFrames();
    const entries = (/** @type {string} */ name) =>
        scene.page.body.querySelectorAll(`.soulmem_message_${name}`);
    /** Presses an entry of a message and waits for what it does. @param {string} name @param {number} index */
    async function press(name, index) {
        entries(name)[index].click();
        for (let i = 0; i < 8; i++) await settle();
    }
    return { ...scene, entries, press };
}

test('every message has the three entries, each once, whatever happens', async () => {
    const { entries, page, app } = await menus();
    for (let i = 0; i < 2; i++) {
        page.change();
        app.notify();
        page.drawFrames();
    }
    for (const name of ['remember', 'pin', 'forget']) {
        assert.equal(entries(name).length, 2, name);
        for (const entry of entries(name)) {
            assert.match(entry.getAttribute('title') ?? '', /SoulMem/);
            assert.equal(entry.getAttribute('role'), 'button');
        }
    }
});

test('a message is remembered as a note that names its place, and a click takes it back', async () => {
    const { press, take, shown, soul, tavern, app } = await menus();
    await press('remember', 1);
    const [{ body }] = take('POST /memories');
    const { slot, chat, importance, ...rest } = body;
    assert.deepEqual(rest, {
        soul,
        kind: 'note',
        text: 'Mira: Behind the clock, {{user}}.',
        permanent: false,
        timelines: 'all',
    });
    assert.deepEqual([slot, chat], [tavern.chat[1].extra?.soulmem?.id, app.chatSync.state.chat]);
    assert.ok(importance >= 0.6, 'its names do not blur');
    const [kind, text, options] = shown.toasts[0];
    assert.equal(kind, 'success');
    assert.match(text, /Mira remembers: “Behind the clock/);
    assert.equal(tavern.chat[1].extra?.soulmem?.notes?.[soul], 'n1');
    options.onclick();
    await settle();
    await settle();
    assert.equal(take('DELETE /memories/n1').length, 1);
    assert.equal(tavern.chat[1].extra?.soulmem?.notes, undefined);
});

test('pinning what was remembered makes that note permanent, and no second one', async () => {
    const { press, take, replies } = await menus();
    await press('remember', 1);
    replies['GET /memories/n1'] = note({});
    await press('pin', 1);
    assert.equal(take('POST /memories').length, 1);
    assert.equal(take('PATCH /memories/n1')[0].body.permanent, true);
    replies['GET /memories/n1'] = note({ state: 'bin' });
    await press('pin', 1);
    assert.equal(take('POST /memories')[0].body.permanent, true, 'the note was binned meanwhile');
});

test('a press waits for the one before it, and a second press of the same entry does nothing', async () => {
    const { entries, press, take, replies } = await menus();
    replies['GET /memories/n1'] = note({});
    entries('remember')[1].click();
    entries('remember')[1].click();
    await press('pin', 1);
    for (let i = 0; i < 8; i++) await settle();
    assert.equal(take('POST /memories').length, 1);
    assert.equal(take('PATCH /memories/n1')[0].body.permanent, true);
});

test('what is taken back is what this press did, not the note that there was', async () => {
    const { press, take, shown, replies, soul, tavern } = await menus();
    const undo = async () => {
        shown.toasts.at(-1)?.[2].onclick();
        for (let i = 0; i < 6; i++) await settle();
    };
    const notes = () => tavern.chat[1].extra?.soulmem?.notes;
    await press('remember', 1);
    replies['GET /memories/n1'] = note({});
    await press('remember', 1);
    await undo();
    await press('pin', 1);
    replies['GET /memories/n1'] = note({ permanent: true, revision: 2 });
    await undo();
    assert.deepEqual(
        take('PATCH /memories/n1').map(({ body }) => body),
        [
            { permanent: true, revision: 1 },
            { permanent: false, revision: 2 },
        ],
    );
    assert.equal(take('DELETE /memories/n1').length, 0);
    assert.deepEqual(notes(), { [soul]: 'n1' });
    replies['GET /memories/n1'] = note({ state: 'bin' });
    await press('forget', 1);
    await undo();
    assert.equal(take('POST /memories/n1/restore').length, 0, 'it was in the bin before');
    await press('forget', 1);
    await press('remember', 1);
    await undo();
    assert.equal(take('DELETE /memories/n2').length, 1);
    assert.equal(tavern.chat[1].extra?.soulmem?.off, true, 'it was forgotten before');
});

test('a message is not forgotten while its note cannot be read', async () => {
    const { press, shown, replies, tavern } = await menus();
    await press('remember', 1);
    replies['GET /memories/n1'] = Object.assign(new Error('away'), { status: 502 });
    await press('forget', 1);
    assert.equal(shown.toasts.at(-1)?.[0], 'warning');
    assert.equal(tavern.chat[1].extra?.soulmem?.off, undefined);
});

test('a message that is forgotten has no witness, shows it, and is remembered again', async () => {
    const { press, page, sidecar, app, shown, tavern } = await menus();
    await app.chatSync.syncNow();
    await press('forget', 1);
    page.drawFrames();
    const presentOf = () => {
        const [messages] = [...sidecar.chats.values()];
        return messages.map(message => message.present);
    };
    assert.deepEqual(presentOf(), [null, [], null]);
    const rows = () =>
        page.body
            .querySelectorAll('.soulmem_message_off')
            .map(row => row.getAttribute('mesid'));
    assert.deepEqual(rows(), ['1']);
    assert.ok(tavern.saves > 0, 'the mark is in the chat file');
    shown.toasts.at(-1)?.[2].onclick();
    for (let i = 0; i < 6; i++) await settle();
    page.drawFrames();
    assert.deepEqual([presentOf(), rows()], [[null, null, null], []]);
    await press('forget', 1);
    await press('remember', 1);
    assert.deepEqual(presentOf(), [null, null, null]);
});

test('a pinned message is forgotten only after a question, and restored by its toast', async () => {
    const { press, take, user, shown, replies, tavern } = await menus();
    await press('pin', 1);
    replies['GET /memories/n1'] = note({ permanent: true });
    user.agrees = false;
    await press('forget', 1);
    assert.equal(tavern.chat[1].extra?.soulmem?.off, undefined);
    assert.equal(shown.toasts.at(-1)?.[1], 'It stays.');
    user.agrees = true;
    await press('forget', 1);
    const [{ query }] = take('DELETE /memories/n1');
    assert.equal(query.get('confirm'), 'permanent');
    shown.toasts.at(-1)?.[2].onclick();
    for (let i = 0; i < 6; i++) await settle();
    assert.equal(take('POST /memories/n1/restore').length, 1);
    assert.equal(tavern.chat[1].extra?.soulmem?.off, undefined);
});

test('in a group a message is remembered by those who were there and remember', async () => {
    const { press, take, app, shown, tavern } = await menus({
        characters: {
            'mira.png': { name: 'Mira' },
            'ben.png': { name: 'Ben' },
            'eve.png': { name: 'Eve' },
        },
        open: ['mira.png', 'ben.png', 'eve.png'],
        group: { id: 'g', chats: [] },
    });
    const [mira, ben, eve] = await app.people.inChat();
    await app.people.configure(eve, { enabled: false });
    await press('remember', 1);
    const souls = take('POST /memories').map(({ body }) => body.soul);
    assert.deepEqual(souls, [mira.soul, ben.soul]);
    assert.match(shown.toasts[0][1], /^Mira, Ben remembers/);
    const stamp = tavern.chat[0].extra?.soulmem;
    tavern.chat[0].extra = { soulmem: { ...stamp, present: [eve.soul] } };
    await press('remember', 0);
    assert.match(shown.toasts.at(-1)?.[1] ?? '', /^Nobody who was there/);
    assert.equal(take('POST /memories').length, 0);
});

test('where the chat is not stored, the note names no place', async () => {
    const { press, take, tavern } = await menus();
    tavern.settings.read_only = true;
    await press('remember', 1);
    const [{ body }] = take('POST /memories');
    assert.deepEqual([body.chat, body.slot], [undefined, undefined]);
});

test('a failure is told, and the next press works', async () => {
    const { press, toasts, replies, take } = await menus();
    const answer = replies['POST /memories'];
    replies['POST /memories'] = new Error('full');
    await press('remember', 1);
    assert.deepEqual(toasts(), [['warning', 'That did not work: full']]);
    replies['POST /memories'] = answer;
    await press('remember', 1);
    assert.equal(take('POST /memories').length, 2);
});

test('of the selected words only those inside the message are meant', () => {
    const node = {};
    const selection = { toString: () => ' the clock ', anchorNode: node };
    const inside = { contains: (/** @type {unknown} */ other) => other === node };
    const places = /** @type {Record<string, any>} */ ({
        '#chat .mes[mesid="1"] .mes_text': inside,
    });
    Object.assign(globalThis, {
        getSelection: () => selection,
        document: { querySelector: (/** @type {string} */ selector) => places[selector] ?? null },
    });
    assert.equal(selectedWords(1), 'the clock');
    assert.equal(selectedWords(0), '');
    Object.assign(globalThis, { getSelection: undefined });
    assert.equal(selectedWords(1), '');
});
