import assert from 'node:assert/strict';
import { test } from 'node:test';
import { cardConfig } from '../../../extension_js/src/tavern/identity.js';
import { newMessage, talk } from '../fakes.mjs';
import { HEALTH } from '../fake_app.mjs';
import { settle } from '../tavern.mjs';
import { drawer } from './drawer.mjs';

const ids = { soul: `s${'1'.repeat(20)}` };
/** Mira, known to the page as a soul. */
const withSoul = () => ({
    'mira.png': { name: 'Mira', field: { version: 1, soul: ids.soul, config: {} } },
});

test('"Read this chat" sends the chat, says how far it is, and ends with the number of messages', async () => {
    const { page, replies, app, sidecar, pass } = await drawer({ chat: talk(4) });
    const read = page.get('#soulmem_read_chat');
    replies['GET /health'] = { ...HEALTH, pending: 3 };
    const reading = read.click();
    await settle();
    await settle();
    assert.equal(sidecar.bodies.at(-1)?.messages.length, 4);
    const bar = page.get('#soulmem_read_progress');
    assert.deepEqual([bar.hidden, read.hidden, Number(bar.max)], [false, true, 3]);
    assert.match(page.get('#soulmem_read_text').textContent, /3/);
    replies['GET /health'] = { ...HEALTH, pending: 1 };
    await pass(1000);
    assert.equal(Number(bar.value), 2);
    replies['GET /health'] = HEALTH;
    await pass(1000);
    await reading;
    app.notify();
    assert.match(page.get('#soulmem_read_text').textContent, /4 messages/);
    assert.deepEqual([bar.hidden, read.hidden], [true, false]);
    assert.equal(page.get('#soulmem_read_cancel').hidden, true);
});

test('reading looks for a sidecar that was away, and does not look again for one that is there', async () => {
    const { page, replies, app, take } = await drawer({
        chat: talk(2),
        answers: { 'GET /health': Object.assign(new Error('away'), { status: 502 }) },
    });
    assert.equal(app.link.state().via, null);
    replies['GET /health'] = HEALTH;
    await page.get('#soulmem_read_chat').click();
    assert.equal(app.link.state().via, 'plugin');
    assert.match(page.get('#soulmem_read_text').textContent, /2 messages/);
    take('GET /health');
    await page.get('#soulmem_read_chat').click();
    assert.equal(take('GET /health').length, 1, 'only to see what is searchable');
});

test('a chat that fails to be read is told with the reason', async () => {
    const { page } = await drawer({
        chat: talk(2),
        answers: { 'GET /souls': Object.assign(new Error('the disk is full'), { status: 507 }) },
    });
    await page.get('#soulmem_read_chat').click();
    assert.match(page.get('#soulmem_read_text').textContent, /the disk is full/);
});

test('no chat, a forgotten chat and read-only are not read, and the user is told why', async () => {
    const { page, tavern, shown, sidecar } = await drawer({ chat: talk(2) });
    const read = () => page.get('#soulmem_read_chat').click();
    tavern.settings.read_only = true;
    await read();
    assert.match(shown.toasts.at(-1)?.[1] ?? '', /Read-only/);
    tavern.metadata.soulmem = { off: true };
    await read();
    assert.match(shown.toasts.at(-1)?.[1] ?? '', /was forgotten/);
    tavern.name = '';
    await read();
    assert.match(shown.toasts.at(-1)?.[1] ?? '', /[Nn]o chat|open a chat/i);
    assert.equal(shown.toasts.length, 3);
    assert.equal(sidecar.bodies.length, 0);
});

test('a reading that is stopped can be continued, and another chat drops its result', async () => {
    const { page, app, happen, tavern } = await drawer({ chat: talk(3) });
    const { state } = app.chatSync;
    Object.assign(state, { reading: { done: 1, total: 3 }, syncing: true });
    app.notify();
    assert.deepEqual(
        ['#soulmem_read_chat', '#soulmem_read_cancel', '#soulmem_read_progress'].map(
            id => page.get(id).hidden,
        ),
        [true, false, false],
    );
    const bar = page.get('#soulmem_read_progress');
    assert.deepEqual([Number(bar.max), Number(bar.value)], [3, 1]);
    await page.get('#soulmem_read_cancel').click();
    state.syncing = false;
    app.notify();
    assert.equal(page.get('#soulmem_read_label').textContent, 'Go on reading');
    assert.deepEqual(
        ['#soulmem_read_chat', '#soulmem_read_cancel', '#soulmem_read_progress'].map(
            id => page.get(id).hidden,
        ),
        [false, true, false],
    );
    assert.match(page.get('#soulmem_read_text').textContent, /topped.*1.*3/);
    Object.assign(state, { reading: null, paused: false });
    await page.get('#soulmem_read_chat').click();
    assert.match(page.get('#soulmem_read_text').textContent, /3 messages/);
    tavern.name = 'Mira - later';
    await happen('CHAT_CHANGED');
    app.notify();
    assert.equal(page.get('#soulmem_read_text').textContent, '');
    assert.equal(page.get('#soulmem_read_label').textContent, 'Read this chat');
});

test('a chat is forgotten after a question only, and can be remembered again', async () => {
    const { page, user, shown, tavern, asked, app } = await drawer({ chat: talk(2) });
    await page.get('#soulmem_read_chat').click();
    const forget = page.get('#soulmem_forget_chat');
    const remember = page.get('#soulmem_remember_chat');
    assert.deepEqual([forget.hidden, remember.hidden], [false, true]);
    user.agrees = false;
    await forget.click();
    assert.ok(!asked.some(({ method }) => method === 'DELETE'));
    user.agrees = true;
    await forget.click();
    assert.ok(asked.some(({ method, path }) => method === 'DELETE' && path.startsWith('/chats/')));
    assert.equal(tavern.metadata.soulmem.off, true);
    assert.deepEqual([forget.hidden, remember.hidden], [true, false]);
    assert.match(page.get('#soulmem_chat_off').textContent, /was forgotten/);
    assert.equal(page.get('#soulmem_read_chat').hidden, true);
    await remember.click();
    await settle();
    app.notify();
    assert.deepEqual([forget.hidden, remember.hidden], [false, true]);
    assert.equal(page.get('#soulmem_chat_off').textContent, '');
    assert.deepEqual(
        shown.toasts.map(([kind]) => kind),
        ['success', 'success'],
    );
});

test('without a chat there is nothing to forget', async () => {
    const { page, tavern, shown, asked } = await drawer({ chat: [newMessage('Hello.')] });
    tavern.name = '';
    await page.get('#soulmem_forget_chat').click();
    assert.deepEqual([shown.questions, shown.toasts[0][0]], [[], 'info']);
    assert.ok(!asked.some(({ method }) => method === 'DELETE'));
});

test('a chat that the sidecar cannot forget says why', async () => {
    const { page, shown, replies, app } = await drawer({ chat: talk(2) });
    await page.get('#soulmem_read_chat').click();
    replies[`DELETE /chats/${app.chatSync.state.chat}`] = new Error('the disk is full');
    await page.get('#soulmem_forget_chat').click();
    assert.equal(shown.toasts[0][0], 'error');
    assert.match(shown.toasts[0][1], /the disk is full/);
});

test('the settings of a character are shown and written into its card', async () => {
    const { page, tavern } = await drawer({ characters: withSoul() });
    const field = () => tavern.characters['mira.png'].field;
    assert.equal(page.get('#soulmem_character').hidden, false);
    assert.equal(page.get('#soulmem_character_name').textContent, 'Mira');
    assert.equal(page.get('#soulmem_member').hidden, true);
    assert.deepEqual(
        ['#soulmem_card_enabled', '#soulmem_card_general_forgetting'].map(id => page.get(id).checked),
        [true, true],
    );
    await page.get('#soulmem_card_forgetting').change('1.5');
    await settle();
    assert.equal(field().config.forgetting, 1.5);
    assert.equal(page.get('#soulmem_card_general_forgetting').checked, false, 'who moves it wants his own');
    await page.get('#soulmem_card_scope').change('chat');
    await settle();
    assert.equal(field().config.scope, 'chat');
    await page.get('#soulmem_card_scope').change('character');
    await settle();
    assert.equal(field().config.scope, 'character');
    await page.get('#soulmem_card_scope').change('');
    await page.get('#soulmem_card_general_forgetting').tick(true);
    await settle();
    assert.equal(field().config.forgetting, null, 'SillyTavern merges: what is left out would stay');
    assert.equal(field().config.scope, null);
    assert.equal(page.get('#soulmem_card_general_forgetting').checked, true);
    await page.get('#soulmem_card_enabled').tick(false);
    await settle();
    assert.equal(field().config.enabled, false);
    assert.equal(page.get('#soulmem_card_enabled').checked, false);
});

test('hidden messages, clock, limits and digests of a character are set, kept beside each other and taken back', async () => {
    const { page, tavern } = await drawer({ characters: withSoul() });
    const config = () => cardConfig(tavern.characters['mira.png'].field);
    const change = async (/** @type {string} */ id, /** @type {string} */ value) => {
        await page.get(id).change(value);
        await settle();
    };
    assert.equal(page.get('#soulmem_card_budget').getAttribute('placeholder'), '1200');
    await change('#soulmem_card_hidden', 'no');
    await change('#soulmem_card_whole', 'yes');
    await change('#soulmem_card_clock', 'story');
    await change('#soulmem_card_budget', '20');
    await change('#soulmem_card_max_items', '3');
    await page.get('#soulmem_card_general_digest').tick(false);
    await settle();
    await page.get('#soulmem_card_digest_week').tick(false);
    await settle();
    await change('#soulmem_card_digest_from', '4');
    const digest = { hour: 4, periods: ['day', 'month', 'year', 'chat'] };
    const whole = { remember_hidden: false, whole_messages: true, clock: 'story', budget_tokens: 100, max_items: 3, digest };
    assert.deepEqual(config(), whole);
    assert.equal(page.get('#soulmem_card_budget').value, '100', 'as it was corrected');
    for (const id of ['hidden', 'whole', 'clock', 'budget', 'max_items']) await change(`#soulmem_card_${id}`, '');
    await page.get('#soulmem_card_general_digest').tick(true);
    await settle();
    assert.deepEqual(config(), {});
    assert.equal(page.get('#soulmem_card_clock').value, '');
});

test('how readily a character recalls is a dial with silence on the left', async () => {
    const { page, tavern } = await drawer({ characters: withSoul() });
    const config = () => tavern.characters['mira.png'].field.config;
    const own = page.get('#soulmem_card_restraint');
    assert.equal(own.value, '1');
    await page.get('#soulmem_restraint').change('1.7');
    assert.equal(tavern.settings.restraint, 0.3, 'talkative for all');
    assert.equal(page.get('#soulmem_restraint').value, '1.7');
    own.value = '0';
    await page.get('#soulmem_card_general_restraint').tick(false);
    await settle();
    assert.equal(config().restraint, 2, 'this character is silent');
    assert.equal(own.value, '0');
    assert.equal(config().forgetting, undefined);
    await page.get('#soulmem_card_general_restraint').tick(true);
    await settle();
    assert.equal(config().restraint, null);
    assert.equal(own.value, '1.7', 'as it is below');
});

test('in a group the user chooses whose settings are shown; without anybody there are none', async () => {
    const characters = { ...withSoul(), 'ben.png': { name: 'Ben', field: undefined } };
    const { page, tavern, happen } = await drawer({
        characters,
        open: ['mira.png', 'ben.png'],
        group: { id: 'g' },
    });
    const select = page.get('#soulmem_member');
    assert.equal(select.hidden, false);
    assert.equal(page.get('#soulmem_character_name').textContent, '');
    assert.deepEqual(
        select.children.map(option => [option.value, option.textContent]),
        [
            ['mira.png', 'Mira'],
            ['ben.png', 'Ben'],
        ],
    );
    await select.change('ben.png');
    await page.get('#soulmem_card_enabled').tick(false);
    await settle();
    assert.equal(tavern.characters['ben.png'].field.config.enabled, false);
    assert.equal(tavern.characters['mira.png'].field.config.enabled, undefined);
    tavern.open = [];
    await happen('CHAT_CHANGED');
    assert.equal(page.get('#soulmem_character').hidden, true);
});

test('a forgotten character is shown as gone, and comes back when it is ticked', async () => {
    const { page, asked, shown, tavern, app, replies } = await drawer({
        characters: withSoul(),
        answers: {
            'GET /souls': { souls: [{ id: ids.soul, name: 'Mira' }] },
        },
    });
    tavern.settings.souls['mira.png'] = ids.soul;
    await app.people.loadForgotten();
    await page.get('#soulmem_member').happen('change');
    await settle();
    assert.equal(page.get('#soulmem_card_enabled').checked, false);
    assert.notEqual(page.get('#soulmem_card_gone').textContent, '');
    replies[`PUT /souls/${ids.soul}`] = new Error('the disk is full');
    await page.get('#soulmem_card_enabled').tick(true);
    await settle();
    assert.match(shown.toasts[0][1], /the disk is full/);
    delete replies[`PUT /souls/${ids.soul}`];
    replies['GET /souls'] = { souls: [] };
    await page.get('#soulmem_card_enabled').tick(true);
    await settle();
    assert.ok(asked.some(({ method, path }) => method === 'PUT' && path === `/souls/${ids.soul}`));
    assert.equal(page.get('#soulmem_card_enabled').checked, true);
    assert.equal(page.get('#soulmem_card_gone').textContent, '');
});

test('the settings of the character are read again when the sidecar comes back', async () => {
    const { page, replies, app, take } = await drawer({ characters: withSoul() });
    page.get('#soulmem_card_enabled').checked = false;
    app.notify();
    await settle();
    assert.equal(page.get('#soulmem_card_enabled').checked, false, 'nothing was read');
    replies['GET /health'] = Object.assign(new Error('away'), { status: 502 });
    await app.link.check();
    await settle();
    assert.equal(page.get('#soulmem_card_enabled').checked, false);
    replies['GET /health'] = HEALTH;
    await app.link.check();
    await settle();
    assert.equal(page.get('#soulmem_card_enabled').checked, true);
    assert.ok(take('GET /health').length > 0);
});
