import assert from 'node:assert/strict';
import { test } from 'node:test';
import { watchDeletionRequests } from '../../../extension_js/src/pages/waiting_requests.js';
import { newPage } from '../dom.mjs';
import { fakeApp, HEALTH } from '../fake_app.mjs';
import { say } from '../texts.mjs';
import { newMessage } from '../fakes.mjs';
import { settle } from '../tavern.mjs';
import { memoryWindow } from './window.mjs';

const request = (/** @type {object} */ about = {}) => ({
    request: 'r1',
    soul: 's1',
    memory: 'm1',
    actor: 'lead',
    reason: 'it is over',
    quote: 'The key hangs behind the clock.',
    at: '2026-01-01T00:00:00Z',
    state: 'awaiting_confirmation',
    ...about,
});
const LOST = {
    id: 'c1',
    title: 'Mira - now',
    count: 3,
    held: { reason: 'mass_removal', count: 30 },
};

test('a deletion that a model asks for is confirmed or rejected', async () => {
    const { open, page, replies, take, texts } = await memoryWindow();
    replies['GET /deletions'] = { deletions: [request(), request({ request: 'r2', reason: '' })] };
    await open('waiting');
    assert.equal(texts('.soulmem_request').length, 2);
    assert.equal(texts('.soulmem_request .soulmem_hint').length, 1);
    assert.equal(page.get('#soulmem_tab_waiting .soulmem_count').textContent, '2');
    replies['GET /deletions'] = { deletions: [request({ request: 'r2' })] };
    await page.get('.soulmem_confirm').click();
    assert.deepEqual(take('POST /deletions/r1')[0].body, { decision: 'confirm' });
    assert.match(texts('.soulmem_said')[0], /9 days/);
    replies['GET /deletions'] = { deletions: [] };
    await page.get('.soulmem_reject').click();
    assert.deepEqual(take('POST /deletions/r2')[0].body, { decision: 'reject' });
    assert.equal(texts('.soulmem_said')[0], 'It is kept.');
    assert.equal(texts('.soulmem_page .soulmem_hint')[0], 'Nothing waits for you.');
    assert.equal(page.get('#soulmem_tab_waiting .soulmem_count').textContent, '');
});

test('vanished messages of the open chat are shown and their removal is confirmed', async () => {
    const slot = (/** @type {string} */ letter) => `m${letter.repeat(20)}`;
    const chat = [newMessage('Hello.', { extra: { soulmem: { id: slot('a') } } })];
    const scene = await memoryWindow({ chat });
    const { open, page, replies, texts, shown, user, app } = scene;
    app.chatSync.state.chat = 'c1';
    replies['GET /chats'] = { chats: [LOST] };
    const line = (/** @type {string} */ id) => ({ slot: id, speaker: 'Al', text: `text ${id}` });
    replies['GET /chats/c1'] = { messages: ['a', 'b'].map(letter => line(slot(letter))) };
    await open('waiting');
    assert.match(texts('.soulmem_entry b')[0], /30 messages vanished at once from "Mira - now"/);
    await page.get('.soulmem_held_review').click();
    assert.deepEqual(texts('.soulmem_vanished li'), [`Al: text ${slot('b')}`]);
    assert.equal(texts('.soulmem_vanished small')[0], '');
    const many = Array.from({ length: 203 }, (_, i) => line(`m${i}`));
    replies['GET /chats/c1'] = { messages: many };
    await page.get('.soulmem_held_review').click();
    assert.equal(texts('.soulmem_vanished li').length, 200);
    assert.match(texts('.soulmem_vanished small')[0], /3 more/);
    replies['GET /chats/c1'] = new Error('the disk is full');
    await page.get('.soulmem_held_review').click();
    assert.equal(shown.toasts.at(-1)?.[0], 'error');
    const confirmed = /** @type {number[]} */ ([]);
    app.chatSync.confirmRemoval = async () => {
        confirmed.push(1);
        return null;
    };
    user.agrees = false;
    await page.get('.soulmem_held_yes').click();
    assert.equal(confirmed.length, 0);
    user.agrees = true;
    await page.get('.soulmem_held_yes').click();
    assert.equal(confirmed.length, 1);
    assert.match(shown.questions.at(-1) ?? '', /30/);
    assert.equal(shown.toasts.at(-1)?.[0], 'success');
    app.chatSync.confirmRemoval = async () => {
        throw new Error('the disk is full');
    };
    await page.get('.soulmem_held_yes').click();
    assert.equal(shown.toasts.at(-1)?.[0], 'error');
});

test('no open chat, no list of vanished messages', async () => {
    const { open, page, replies, take, app } = await memoryWindow();
    app.chatSync.state.chat = 'c1';
    replies['GET /chats'] = { chats: [LOST] };
    await open('waiting');
    app.chatSync.state.chat = null;
    await page.get('.soulmem_held_review').click();
    assert.equal(take('GET /chats/c1').length, 0);
});

test('vanished messages of another chat are decided there', async () => {
    const { open, page, replies, texts, shown } = await memoryWindow();
    replies['GET /chats'] = { chats: [LOST, { ...LOST, id: 'c2', held: null }] };
    await open('waiting');
    assert.equal(texts('.soulmem_entry').length, 1);
    assert.deepEqual(texts('.soulmem_held_yes'), []);
    await page.get('.soulmem_entry .menu_button').click();
    assert.deepEqual(shown.opened, ['Mira - now']);
});

/** A page that watches for requests. @param {object[]} deletions */
async function watching(deletions) {
    const page = newPage('<div id="soulmem_waiting"></div><div id="soulmem_waiting_text"></div>');
    const scene = fakeApp({ answers: { 'GET /deletions': { deletions } } });
    scene.tavern.settings.souls = { 'mira.png': 's1' };
    await scene.app.link.check();
    let opened = 0;
    watchDeletionRequests(scene.app, say, () => opened++);
    assert.equal(page.get('#soulmem_waiting').hidden, true);
    await scene.pass(1500);
    await settle();
    return { ...scene, page, openings: () => opened };
}

test('a new request is announced once, and the button counts what waits', async () => {
    const { page, shown, happen, pass, replies, openings } = await watching([request()]);
    assert.equal(shown.toasts.length, 1);
    shown.toasts[0][2].onclick();
    assert.equal(openings(), 1);
    assert.equal(page.get('#soulmem_waiting').hidden, false);
    await happen('MESSAGE_RECEIVED', 1, 'normal');
    await pass(1500);
    assert.equal(shown.toasts.length, 1);
    replies['GET /deletions'] = { deletions: [request(), request({ request: 'r2' })] };
    await happen('CHAT_CHANGED');
    await pass(1500);
    assert.equal(shown.toasts.length, 2);
    assert.match(page.get('#soulmem_waiting_text').textContent, /2/);
    replies['GET /deletions'] = new Error('away');
    await happen('CHAT_CHANGED');
    await pass(1500);
    assert.equal(page.get('#soulmem_waiting').hidden, true);
});

test('nothing is looked for while memory is off or away', async () => {
    const { tavern, app, happen, pass, take, replies } = await watching([]);
    take('GET /deletions');
    tavern.settings.enabled = false;
    await happen('CHAT_CHANGED');
    await pass(1500);
    tavern.settings.enabled = true;
    replies['GET /health'] = Object.assign(new Error('away'), { status: 502 });
    await app.link.check();
    await happen('CHAT_CHANGED');
    await pass(1500);
    assert.equal(take('GET /deletions').length, 0);
    replies['GET /health'] = HEALTH;
    await app.link.check();
    await happen('CHAT_CHANGED');
    await pass(1500);
    assert.equal(take('GET /deletions').length, 1);
});
