import assert from 'node:assert/strict';
import { test } from 'node:test';
import { note, openChat } from './scene.mjs';

test('a text is remembered for the character of the open chat, with what was typed of it', async () => {
    const { run, take, toasts, soul, app } = await openChat();
    assert.equal(await run('remember', ' Alice owes three coins. ', { tags: 'debt，coins' }), 'n1');
    const [{ body }] = take('POST /memories');
    assert.deepEqual(body, {
        soul,
        kind: 'note',
        text: 'Alice owes three coins.',
        permanent: false,
        importance: 0.7,
        tags: ['debt', 'coins'],
        timelines: 'all',
    });
    assert.match(toasts()[0][1], /Mira remembers/);
    const more = { importance: '7', timelines: 'this', permanent: 'true' };
    await run('remember', 'She limps.', more);
    const [{ body: here }] = take('POST /memories');
    assert.deepEqual(
        [here.importance, here.timelines, here.chat, here.permanent],
        [1, 'this', app.chatSync.state.chat, true],
    );
});

test('a message is remembered, or words of it, by its number', async () => {
    const { run, take } = await openChat();
    await run('remember', '', { message: '1', tags: 'key', importance: '0.3' });
    await run('pin', 'behind the clock', { message: '1' });
    const bodies = take('POST /memories').map(({ body }) => body);
    assert.equal(bodies[0].text, 'Mira: Behind the clock, {{user}}.');
    assert.deepEqual([bodies[0].tags, bodies[0].importance], [['key'], 0.3]);
    assert.deepEqual([bodies[1].text, bodies[1].permanent], ['Mira: behind the clock', true]);
    assert.ok(bodies.every(body => body.slot && body.chat));
});

test('nothing to remember, or a message that is not there, is told and returns nothing', async () => {
    const { run, take, toasts, tavern } = await openChat();
    assert.equal(await run('remember', ' '), '');
    assert.equal(await run('pin', '', { message: '9' }), '');
    assert.equal(await run('forget', 'x'), '');
    assert.equal(await run('forget', ''), '');
    const texts = toasts().map(([, text]) => text);
    assert.match(texts[0], /^Nothing to remember/);
    assert.deepEqual(texts.slice(1), [
        'This chat has no message 9.',
        'This chat has no message x.',
        'This chat has no message .',
    ]);
    tavern.name = '';
    assert.equal(await run('remember', 'something'), '');
    assert.deepEqual(toasts(), [['info', 'Open a chat first.']]);
    assert.equal(take('POST /memories').length, 0);
});

test('a memory is pinned by its id', async () => {
    const { run, take, replies } = await openChat();
    replies['GET /memories/e7'] = note({ id: 'e7', revision: 4 });
    replies['PATCH /memories/e7'] = note({ id: 'e7', permanent: true });
    assert.equal(await run('pin', '', { memory: 'e7' }), 'e7');
    assert.deepEqual(take('PATCH /memories/e7')[0].body, { permanent: true, revision: 4 });
});

test('a message is forgotten by its number, a memory by its id, a permanent one after a question', async () => {
    const { run, take, tavern, replies, user } = await openChat();
    assert.equal(await run('forget', ' 1 '), '1');
    assert.equal(tavern.chat[1].extra?.soulmem?.off, true);
    replies['GET /memories/e7'] = note({ id: 'e7' });
    assert.equal(await run('forget', '', { memory: 'e7' }), 'e7');
    replies['GET /memories/e8'] = note({ id: 'e8', permanent: true });
    user.agrees = false;
    assert.equal(await run('forget', '', { memory: 'e8' }), '');
    user.agrees = true;
    assert.equal(await run('forget', '', { memory: 'e8' }), 'e8');
    const binned = ['e7', 'e8'].map(id => take(`DELETE /memories/${id}`).length);
    assert.deepEqual(binned, [1, 1]);
});

test('the open chat is read whole, and how much of it is returned', async () => {
    const { run, sidecar, toasts, tavern } = await openChat();
    assert.equal(await run('read'), '3');
    assert.equal([...sidecar.chats.values()][0].length, 3);
    assert.deepEqual(toasts(), [['success', 'Read: 3 messages']]);
    tavern.settings.read_only = true;
    assert.equal(await run('read'), '');
    assert.match(toasts()[0][1], /read-only/);
});

test('the status is words, or an object for scripts', async () => {
    const { run } = await openChat();
    await run('read');
    assert.equal(await run('status'), 'Memory is ready\nRead: 3 of 3 messages');
    const about = JSON.parse(await run('status', '', { as: 'json' }));
    assert.deepEqual(
        [about.state, about.read, about.messages, about.model, about.memory_work],
        ['ok', 3, 3, 'e5', null],
    );
});

test('arguments offer the last messages and the memories of the last recall', async () => {
    const { shown, app } = await openChat();
    const { named, argument } = shown.registered['soulmem-forget'];
    assert.deepEqual(
        argument.offered().map((/** @type {any} */ choice) => choice.value),
        ['0', '1', '2'],
    );
    assert.deepEqual(named.memory.offered(), []);
    const last = () => ({ memories: [note({ text: 'x'.repeat(200) })] });
    Object.assign(app.recaller, { last });
    const [{ value, help }] = named.memory.offered();
    assert.deepEqual([value, help.length], ['n1', 80]);
});
