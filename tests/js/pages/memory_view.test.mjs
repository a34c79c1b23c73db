import assert from 'node:assert/strict';
import { test } from 'node:test';
import { say } from '../texts.mjs';
import { newMessage } from '../fakes.mjs';
import { settle } from '../tavern.mjs';
import { memory, memoryWindow } from './window.mjs';

const conflict = Object.assign(new Error('memory m1 is at revision 4'), {
    status: 409,
    code: 'conflict',
});

/** The window with one memory open. @param {object} [about] of the memory @param {object} [more] */
async function memoryOpen(about, more) {
    const scene = await memoryWindow({ answers: { 'GET /memories/m1': memory(about) }, ...more });
    await scene.open('memories', 'm1');
    return scene;
}

test('another wording is saved, and only one that differs and says something', async () => {
    const { page, take, texts } = await memoryOpen();
    const [save, text] = [page.get('#soulmem_save'), page.get('#soulmem_text')];
    assert.equal(save.hidden, true);
    await text.change('  ', 'input');
    assert.equal(save.hidden, true);
    await text.change(' The key is gone. ', 'input');
    assert.equal(save.hidden, false);
    await save.click();
    assert.deepEqual(take('PATCH /memories/m1')[0].body, { text: 'The key is gone.', revision: 3 });
    assert.equal(page.get('#soulmem_text').value, 'The key hangs behind the clock.', 'as it is now');
    assert.equal(texts('.soulmem_said').length, 1);
});

test('who spoke stays before the corrected words, unless these name a speaker', async () => {
    const said = { text: 'Ann: I keep bees.', fields: { participants: [{ name: 'Ann', kind: 'other' }] } };
    for (const [words, saved] of [
        ['I keep goats.', 'Ann: I keep goats.'],
        ['Ben: I keep goats.', 'Ben: I keep goats.'],
    ]) {
        const { page, take } = await memoryOpen(said);
        await page.get('#soulmem_text').change(words, 'input');
        await page.get('#soulmem_save').click();
        assert.equal(take('PATCH /memories/m1')[0].body.text, saved);
    }
    const { page, take } = await memoryOpen({ ...said, fields: {} });
    await page.get('#soulmem_text').change('I keep goats.', 'input');
    await page.get('#soulmem_save').click();
    assert.equal(take('PATCH /memories/m1')[0].body.text, 'I keep goats.', 'nobody said it');
});

test('a renaming says that the chats keep the former name', async () => {
    const { page, texts } = await memoryOpen({ kind: 'concept', text: 'Marek', fields: { concept_type: 'person' } });
    await page.get('#soulmem_text').change('Pavel', 'input');
    await page.get('#soulmem_save').click();
    await settle();
    assert.match(texts('.soulmem_said').join(), /keep “Marek”: both names mean Pavel/);
});

test('a change elsewhere shows the new state and keeps the words that are not saved', async () => {
    const { page, replies, texts } = await memoryOpen();
    replies['PATCH /memories/m1'] = conflict;
    replies['GET /memories/m1'] = memory({ text: 'Mira has the key.', locked: true });
    await page.get('#soulmem_text').change('The key is gone.', 'input');
    await page.get('#soulmem_lock').click();
    assert.equal(page.get('#soulmem_text').value, 'The key is gone.');
    assert.equal(page.get('#soulmem_lock').getAttribute('aria-pressed'), 'true');
    assert.match(page.get('.soulmem_notice').textContent, /revision 4/);
    assert.equal(texts('.soulmem_said').length, 0);
    replies['PATCH /memories/m1'] = new Error('the disk is full');
    replies['GET /memories/m1'] = memory({ text: 'A third text.' });
    await page.get('#soulmem_lock').click();
    assert.equal(page.get('#soulmem_lock').getAttribute('aria-pressed'), 'true', 'not read again');
});

test('a button keeps the words that are not saved, and a saved text has none', async () => {
    const { page, take } = await memoryOpen();
    await page.get('#soulmem_text').change('The key is gone.', 'input');
    await page.get('#soulmem_permanent').click();
    assert.deepEqual(take('PATCH /memories/m1')[0].body, { permanent: true, revision: 3 });
    assert.equal(page.get('#soulmem_text').value, 'The key is gone.');
    assert.equal(page.get('#soulmem_permanent').getAttribute('aria-pressed'), 'false');
});

test('what can be changed is what the memory is not', async () => {
    const about = { permanent: true, locked: true, timelines: 'this', in_doubt: true };
    const { page, take, texts } = await memoryOpen(about);
    for (const [button, body] of /** @type {[string, object][]} */ ([
        ['#soulmem_permanent', { permanent: false }],
        ['#soulmem_lock', { locked: false }],
        ['#soulmem_timelines', { timelines: 'all' }],
        ['#soulmem_doubt', { in_doubt: false }],
    ])) {
        await page.get(button).click();
        assert.deepEqual(take('PATCH /memories/m1')[0].body, { ...body, revision: 3 });
    }
    assert.deepEqual(texts('.soulmem_memory .soulmem_badge').length, 3, 'doubt, permanent, locked');
    assert.equal(texts('.soulmem_memory .soulmem_hint').length >= 3, true);
});

test('a memory of the user with a source can be narrowed to its timeline, no other', async () => {
    const source = { chat: 'c1', slot: 'a1' };
    const { page, take } = await memoryOpen({ sources: [source] });
    await page.get('#soulmem_timelines').click();
    assert.deepEqual(take('PATCH /memories/m1')[0].body, {
        timelines: 'this',
        ...source,
        revision: 3,
    });
    for (const about of [{ sources: [] }, { sources: [source], origin: 'chat' }]) {
        const other = await memoryOpen(about);
        assert.equal(other.page.body.querySelector('#soulmem_timelines'), null);
        assert.equal(other.page.body.querySelector('#soulmem_doubt'), null);
    }
});

test('what was imported says from where', async () => {
    const about = async (/** @type {string} */ origin, /** @type {string[]} */ tags) =>
        (await memoryOpen({ origin, tags })).page.get('.soulmem_memory').textContent;
    const store = ['store: Mira - then', 'MessageSummarize'];
    assert.match(await about('model', store), /imported from Message Summarize/);
    assert.match(await about('card', ['store: Mill', 'MemoryBooks']), /imported from MemoryBooks/);
    assert.match(await about('card', ['world: Isles', 'world info']), /from the world Isles/);
    assert.match(await about('card', ['card', 'book']), /from the card/);
    assert.match(await about('model', []), /written by a language model/);
    assert.doesNotMatch(await about('user', store), /imported/);
});

test('who may change a memory is said: nobody, a chat, or the user alone', async () => {
    const hints = async (/** @type {object} */ about) =>
        (await memoryOpen(about)).texts('.soulmem_memory .soulmem_hint').join('\n');
    assert.match(await hints({}), /Yours: no chat changes it\./);
    assert.match(await hints({ origin: 'card' }), /follows the card or the file at the next import/);
    for (const origin of ['chat', 'model'])
        assert.doesNotMatch(await hints({ origin }), /Yours/, origin);
    for (const protection of [{ permanent: true }, { locked: true }])
        assert.doesNotMatch(await hints({ origin: 'chat', ...protection }), /Yours/);
    assert.notEqual(await hints({ origin: 'chat', locked: true }), await hints({ origin: 'chat' }));
    assert.match(await hints({ kind: 'concept' }), /A former one stays as another name/);
    assert.doesNotMatch(await hints({ kind: 'concept', fields: { concept_type: 'topic' } }), /former/);
});

test('how often a memory was recalled is said when it was', async () => {
    const facts = async (/** @type {object} */ about) =>
        (await memoryOpen(about)).texts('.soulmem_memory .soulmem_hint').join('\n');
    assert.match(await facts({}), /in no kept reply yet/);
    assert.match(
        await facts({ uses: 2, last_used: '2026-02-03T10:00:00Z' }),
        /recalled 2 times, last 3 Feb 2026/,
    );
    assert.match(await facts({ importance: 0.256, strength: 0.9 }), /26.*90/);
});

test('a memory goes to the bin; a permanent one only after the word', async () => {
    const { page, take, texts, shown } = await memoryOpen();
    await page.get('#soulmem_to_bin').click();
    await settle();
    assert.equal(take('DELETE /memories/m1').length, 1);
    assert.deepEqual(shown.questions, []);
    assert.equal(page.body.querySelector('.soulmem_memory'), null);
    assert.match(texts('.soulmem_said')[0], /9 days/);
    const kept = await memoryOpen({ permanent: true });
    for (const word of [null, 'permanently', '']) {
        kept.user.types = word;
        await kept.page.get('#soulmem_to_bin').click();
    }
    assert.equal(kept.take('DELETE /memories/m1').length, 0);
    assert.equal(kept.texts('.soulmem_not_done').length, 1, 'the wrong word is said');
    kept.user.types = ' Permanent ';
    await kept.page.get('#soulmem_to_bin').click();
    assert.equal(kept.take('DELETE /memories/m1')[0].query.get('confirm'), 'permanent');
});

test('a memory that could not be moved stays on the page', async () => {
    const { page, replies, texts } = await memoryOpen();
    replies['DELETE /memories/m1'] = new Error('the disk is full');
    await page.get('#soulmem_to_bin').click();
    assert.ok(page.body.querySelector('.soulmem_memory'));
    assert.equal(texts('.soulmem_said').length, 0);
});

test('a removed memory can only be restored', async () => {
    for (const state of ['bin', 'retracted', 'forgotten']) {
        const { page, take } = await memoryOpen({ state });
        assert.equal(page.body.querySelector('#soulmem_text'), null, state);
        await page.get('.soulmem_restore').click();
        assert.equal(take('POST /memories/m1/restore').length, 1);
    }
    assert.ok((await memoryOpen({ state: 'stale' })).page.get('#soulmem_text'));
});

test('an ordinary word of a topic is read from its messages, and nothing of it can be changed', async () => {
    const { page, texts } = await memoryOpen({ revision: 0, kind: 'concept', text: 'harbour' });
    assert.ok(texts('.soulmem_item_text').includes('harbour'));
    assert.ok(texts('.soulmem_hint').includes(say('hint_word')));
    for (const control of ['#soulmem_text', '#soulmem_save', '#soulmem_lock'])
        assert.equal(page.body.querySelector(control), null, control);
});

test('sources lead to their message, to another chat, or say that it is gone', async () => {
    const chat = ['a', 'b'].map(letter =>
        newMessage(`Hello from ${letter}. ${'x'.repeat(200)}`, {
            extra: { soulmem: { id: `m${letter.repeat(20)}` } },
        }),
    );
    const sources = [
        { chat: 'c1', slot: `m${'b'.repeat(20)}` },
        { chat: 'c2', slot: `m${'d'.repeat(20)}` },
        { chat: 'c9', slot: `m${'e'.repeat(20)}` },
        { chat: 'c1', slot: `m${'f'.repeat(20)}` },
    ];
    const scene = await memoryOpen({ sources }, { chat });
    scene.replies['GET /chats'] = {
        chats: [
            { id: 'c1', title: 'Mira - now', count: 2, held: null },
            { id: 'c2', title: 'Mira - then', count: 2, held: null },
        ],
    };
    await scene.open('memories', 'm1');
    const lines = scene.texts('.soulmem_sources li');
    assert.match(lines[0], /^Mira: Hello from b\. x+Show/);
    assert.ok(lines[0].length < 190, 'a quote, not the whole message');
    assert.match(lines[1], /In the chat "Mira - then"/);
    assert.equal(lines[2], 'In a chat that is no longer remembered');
    assert.equal(lines[3], 'In the chat "Mira - now"', 'that is open already');
    const buttons = scene.page.body.querySelectorAll('.soulmem_jump');
    assert.equal(buttons.length, 2);
    await buttons[0].click();
    assert.deepEqual([scene.shown.jumps, scene.shown.opened], [[1], []]);
    assert.equal(scene.page.body.querySelector('#soulmem_browser'), null, 'the window closes');
    await buttons[1].click();
    assert.deepEqual(scene.shown.opened, ['Mira - then']);
    assert.equal(scene.shown.toasts.at(-1)?.[1], 'That message is no longer in this chat.');
});

test('a jump closes the settings that cover the chat, when they are open', async () => {
    const chat = [newMessage('Hello.', { extra: { soulmem: { id: `m${'b'.repeat(20)}` } } })];
    const sources = [{ chat: 'c1', slot: `m${'b'.repeat(20)}` }];
    for (const isOpen of [true, false]) {
        const { page } = await memoryOpen({ sources }, { chat });
        let closings = 0;
        page.get('.drawer-toggle').addEventListener('click', () => closings++);
        page.get('#rm_extensions_block').classList.toggle('openDrawer', isOpen);
        await page.get('.soulmem_jump').click();
        assert.equal(closings, Number(isOpen));
    }
});

test('another chat is offered only of the open character, not in a group', async () => {
    const sources = [{ chat: 'c2', slot: `m${'d'.repeat(20)}` }];
    const answers = { 'GET /chats': { chats: [{ id: 'c2', title: 'then', count: 2, held: null }] } };
    const jumps = async (/** @type {object} */ more, soul = 's1') => {
        const scene = await memoryWindow({
            ...more,
            answers: { ...answers, 'GET /memories/m1': memory({ sources }) },
        });
        await scene.open('memories', 'm1', soul);
        return scene.texts('.soulmem_jump').length;
    };
    assert.equal(await jumps({}), 1);
    assert.equal(await jumps({}, 's2'), 0);
    assert.equal(await jumps({ group: { id: 'g' } }), 0);
});

test('of many sources the first ten are shown and the others counted', async () => {
    const sources = (/** @type {number} */ count) =>
        Array.from({ length: count }, (_, i) => ({ chat: 'c9', slot: `m${i}` }));
    const all = await memoryOpen({ sources: sources(10) });
    assert.equal(all.texts('.soulmem_sources li').length, 10);
    assert.doesNotMatch(all.page.get('.soulmem_memory').textContent, /1 more/);
    const some = await memoryOpen({ sources: sources(11) });
    assert.equal(some.texts('.soulmem_sources li').length, 10);
    assert.match(some.page.get('.soulmem_memory').textContent, /1 more/);
    const none = await memoryOpen({ sources: [] });
    assert.equal(none.texts('.soulmem_sources').length, 0);
});

test('the chats of a soul are asked for once, and again after a failure', async () => {
    const scene = await memoryOpen({ sources: [{ chat: 'c9', slot: 'a' }] });
    scene.take('GET /chats');
    await scene.page.get('#soulmem_lock').click();
    assert.equal(scene.take('GET /chats').length, 0);
    scene.replies['GET /chats'] = new Error('away');
    await scene.open('memories', 'm1');
    assert.ok(scene.take('GET /chats').length > 0);
    scene.replies['GET /chats'] = { chats: [] };
    await scene.page.get('.soulmem_notice .menu_button').click();
    assert.ok(scene.take('GET /chats').length > 0);
});

test('a memory without sources says so, and one with sources does not', async () => {
    const none = await memoryOpen({ sources: [] });
    const some = await memoryOpen({ sources: [{ chat: 'c9', slot: 'a' }] });
    const text = say('sources_none');
    assert.ok(none.texts('.soulmem_memory p').includes(text));
    assert.ok(!some.texts('.soulmem_memory p').includes(text));
    assert.equal(some.texts('.soulmem_sources li').length, 1);
});
