import assert from 'node:assert/strict';
import { test } from 'node:test';
import { mountRememberChips } from '../../../extension_js/src/controls/remember_chips.js';
import { newMessage } from '../fakes.mjs';
import { settle } from '../tavern.mjs';
import { note, openChat } from './scene.mjs';
import { say } from '../texts.mjs';

/** An open chat whose first message told something, and how a reply arrives. @param {object} [settings] */
async function chipScene(settings = {}) {
    const scene = await openChat();
    const { app, tavern, page, happen, pass, replies, soul } = scene;
    Object.assign(app.host.stored(), settings);
    mountRememberChips(app, say);
    await app.chatSync.syncNow();
    replies['GET /fading'] = { memories: [], cursor: null };
    /** What is known of a message. @param {number} index @param {object} [about] */
    const thing = (index, about) => ({
        id: `k${index}`,
        kind: 'fact',
        about: 'Alice',
        speaker: 'Alice',
        quote: 'I cannot touch walnuts.',
        memory: 'n1',
        slot: tavern.chat[index].extra?.soulmem?.id,
        until: null,
        ...about,
    });
    /** A reply came, and the sidecar knows these. @param {object[]} known @param {number} [unread] */
    async function replied(known, unread = 0) {
        replies[`GET /souls/${soul}/known`] = { known, cursor: null, unread };
        await happen('MESSAGE_RECEIVED', tavern.chat.length - 1, 'normal');
        await look();
    }
    async function look() {
        await pass(30_000);
        page.drawFrames();
    }
    const chips = () => page.body.querySelectorAll('.soulmem_will');
    return { ...scene, thing, replied, look, chips };
}

test('what was worth keeping is told quietly under its message, once', async () => {
    const { thing, replied, chips, page } = await chipScene();
    await replied([thing(0)]);
    assert.deepEqual(
        chips().map(({ textContent, parentElement }) => [textContent.trim(), parentElement?.getAttribute('mesid')]),
        [[` Mira will remember: “I cannot touch walnuts.”${say('thing_pin')}${say('will_not')}`.trim(), '0']],
    );
    page.change();
    page.drawFrames();
    assert.equal(chips().length, 1);
});

test('small talk, what ended, and what an older message told bring none', async () => {
    const { thing, replied, chips } = await chipScene();
    await replied([]);
    await replied([thing(0, { until: '2026-01-05T00:00:00Z' }), thing(1, { slot: 'elsewhere' })]);
    await replied([thing(0, { sure: 0.3 })]);
    assert.deepEqual(chips(), []);
});

test('a chip comes once the lines are judged, and nothing is asked after that', async () => {
    const { thing, replied, look, chips, take, replies, soul } = await chipScene();
    await replied([], 3);
    assert.deepEqual(chips(), []);
    replies[`GET /souls/${soul}/known`] = { known: [thing(0)], cursor: null, unread: 0 };
    await look();
    assert.equal(chips().length, 1);
    const asked = take(`GET /souls/${soul}/known`).length;
    for (let i = 0; i < 9; i++) await look();
    assert.equal(take(`GET /souls/${soul}/known`).length, 0);
    assert.ok(asked >= 2);
});

test('while lines are not judged the looks come to an end', async () => {
    const { replied, look, take, soul } = await chipScene();
    await replied([], 3);
    for (let i = 0; i < 20; i++) await look();
    assert.ok(take(`GET /souls/${soul}/known`).length <= 8);
});

test('at most one in five messages has one, and a promise comes before a fact', async () => {
    const { thing, replied, chips, tavern } = await chipScene();
    await replied([thing(1), thing(0, { kind: 'promise' })]);
    const places = () => chips().map(({ parentElement }) => parentElement?.getAttribute('mesid'));
    assert.deepEqual(places(), ['0']);
    tavern.chat.push(newMessage('Hm.'));
    await replied([thing(1)]);
    assert.deepEqual(places(), ['0']);
});

test('the switch and read-only turn it off', async () => {
    for (const off of [{ chips: false }, { read_only: true }]) {
        const { thing, replied, chips, take, soul } = await chipScene(off);
        await replied([thing(0)]);
        assert.deepEqual(chips(), []);
        assert.equal(take(`GET /souls/${soul}/known`).length, 0);
    }
});

test('its pin keeps for ever, and its undo has the message forgotten', async () => {
    const { thing, replied, page, take, replies, tavern, shown } = await chipScene();
    replies['GET /memories/n1'] = note({ revision: 2 });
    await replied([thing(0)]);
    await page.get('.soulmem_will_pin').click();
    await settle();
    assert.equal(page.get('.soulmem_will_pin').getAttribute('aria-pressed'), 'true');
    await page.get('.soulmem_will_undo').click();
    for (let i = 0; i < 8; i++) await settle();
    assert.deepEqual(take('PATCH /memories/n1').map(({ body }) => body.permanent), [true, false]);
    assert.equal(tavern.chat[0].extra?.soulmem?.off, true);
    assert.match(String(shown.toasts.at(-1)?.[1]), /Where is the key/);
    page.drawFrames();
    assert.equal(page.body.querySelector('.soulmem_will'), null);
});

/** A memory that will be gone soon. @param {object} [about] */
const fading = about => ({
    ...{ id: 'n1', kind: 'episode', importance: 0.5, text: 'A blue door.', reads_then: 'xxx' },
    ...{ visibility: 0.5, visibility_then: 0.1 },
    ...about,
});

test('what is about to be forgotten is asked about once a day, and can be kept', async () => {
    const { replied, chips, page, take, replies, app, soul, tavern } = await chipScene();
    tavern.chat.pop();
    const pageOf = (/** @type {object[]} */ memories) => ({ memories, cursor: null });
    replies['GET /fading'] = pageOf([
        ...[fading({ id: 'n0', visibility: 0.1 }), fading({ id: 'n2', importance: 0.2 })],
        ...[fading({ id: 'n3', importance: 0.4 }), fading({})],
    ]);
    replies['GET /memories/n1'] = note({ revision: 2 });
    await replied([]);
    assert.match(chips()[0].textContent, /Mira is about to forget: “A blue door.”. Keep it\?/);
    await page.get('.soulmem_will_pin').click();
    await settle();
    assert.deepEqual(take('PATCH /memories/n1').map(({ body }) => body.permanent), [true]);
    assert.equal(app.settings().asked_to_keep[soul], new Date().toDateString());
    assert.equal(take('GET /fading').length, 1);
    await replied([]);
    assert.equal(take('GET /fading').length, 0);
});

test('the first reply of a chat says what it has from an earlier one', async () => {
    const { replied, chips, app, soul, tavern } = await chipScene();
    const memory = (/** @type {string} */ id, /** @type {string} */ chat) => ({
        ...{ id, text: `${id} text`, sources: [{ chat, slot: 's' }] },
    });
    const record = {
        ...{ chat: app.chatSync.state.chat, soul, sent: ['n2', 'n0', 'n3'] },
        memories: [
            ...[memory('n1', 'old'), memory('n2', app.chatSync.state.chat ?? '')],
            ...[{ ...memory('n0', 'old'), text: 'Mira: *nods* Why?*' }, memory('n3', 'old')],
        ],
    };
    Object.assign(app.recaller, { last: () => record });
    await replied([]);
    assert.deepEqual(chips(), [], 'the newest message is the own');
    tavern.chat.pop();
    await replied([]);
    assert.match(chips()[0]?.textContent ?? '', /From an earlier chat: “n3 text”/);
});

test('of several the clearest fact is told, and what is no fact before it', async () => {
    const { thing, replied, chips } = await chipScene();
    const facts = [thing(0, { id: 'a', sure: 0.92 }), thing(1, { id: 'b', sure: 0.95, quote: 'I am a twin.' })];
    await replied(facts);
    assert.match(chips()[0].textContent, /I am a twin/);
    const other = await chipScene();
    await other.replied([...facts, other.thing(1, { id: 'c', kind: 'promise', sure: 0.92, quote: 'I will come.' })]);
    assert.match(other.chips()[0].textContent, /I will come/);
});
