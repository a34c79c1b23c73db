import assert from 'node:assert/strict';
import { test } from 'node:test';
import { writeStamp } from '../../../extension_js/src/tavern/slots.js';
import { settle } from '../tavern.mjs';
import { say } from '../texts.mjs';
import { note, openChat } from './scene.mjs';

const memories = [
    { ...note({ id: 'e1', kind: 'episode', text: 'The mill burnt, {{user}}.' }), why: 'the mill' },
    { ...note({ id: 'f1', kind: 'fact', text: 'Bo is late.' }), why: 'Bo' },
];

test('a recall keeps to the limits that were typed, and returns objects for scripts', async () => {
    const { run, take } = await openChat({ answers: { 'POST /recall': { memories } } });
    const named = { limit: '3', budget: '200', as: 'json' };
    const rows = JSON.parse(await run('recall', 'the mill', named));
    assert.deepEqual(rows, [
        { id: 'e1', kind: 'episode', text: 'The mill burnt, { {user}}.', why: 'the mill' },
        { id: 'f1', kind: 'fact', text: 'Bo is late.', why: 'Bo' },
    ]);
    await run('recall', 'the mill', { limit: 'many', budget: '0' });
    const bodies = take('POST /recall').map(({ body }) => [body.max_items, body.budget_tokens]);
    assert.deepEqual(bodies, [
        [3, 200],
        [8, 1],
    ]);
});

test('a search lists by meaning, kind and tag, at most so many', async () => {
    const { run, take } = await openChat({
        answers: { 'GET /memories': { memories, cursor: null } },
    });
    assert.equal(
        await run('search', ' mill ', { kind: 'episode', tag: 'fire', limit: '1' }),
        'The mill burnt, { {user}}.',
    );
    const [{ query }] = take('GET /memories');
    const asked = ['q', 'kind', 'tag', 'match'].map(key => query.get(key));
    assert.deepEqual(asked, ['mill', 'episode', 'fire', 'meaning']);
    assert.equal((await run('search', 'mill')).split('\n').length, 2);
});

test('why tells the reasons of the last reply, or of the reply with a number', async () => {
    const answer = {
        ...{ trace: 't1', memories, blocks: [], tokens: 9, timed_out: false, took_ms: {} },
    };
    const { run, tavern, toasts, replies } = await openChat();
    assert.equal(await run('why'), say('recalled_none'));
    assert.equal(await run('why', '', { as: 'json' }), '[]');
    writeStamp(tavern.chat[1], { trace: 't1', n: 1 });
    replies['GET /traces/t1'] = { answer, soul: 's1' };
    assert.equal(await run('why', '1'), 'The mill burnt, { {user}}.\n  the mill');
    assert.equal(JSON.parse(await run('why', '1', { as: 'json' })).length, 1);
    assert.equal(await run('why', '0'), say('recalled_none'));
    assert.equal(await run('why', '8'), '');
    assert.deepEqual(toasts(), [['warning', 'This chat has no message 8.']]);
});

test('a digest is made and the newest of its period returned', async () => {
    const { run, take, replies, toasts } = await openChat({
        answers: {
            'POST /jobs': { job: 'j1' },
            'GET /memories': {
                memories: [note({ kind: 'digest', text: 'A week.' }), note({})],
                cursor: null,
            },
        },
    });
    replies['GET /jobs/j1'] = { job: 'j1', state: 'done', result: { digests: ['d1'] } };
    assert.equal(await run('digest', '', { period: 'week' }), 'A week.');
    const [{ body }] = take('POST /jobs');
    assert.deepEqual([body.kind, body.arguments], ['digest', { period: 'week' }]);
    assert.equal(take('GET /memories')[0].query.get('period'), 'week');
    replies['GET /jobs/j1'] = { job: 'j1', state: 'failed', error: 'no messages' };
    assert.equal(await run('digest'), '');
    await settle();
    assert.deepEqual(toasts(), [['warning', 'That did not work: no messages']]);
});

test('every command has help, examples that begin with its name, and says what it returns', async () => {
    const { shown } = await openChat();
    const names = Object.keys(shown.registered);
    const wanted = 'recall remember forget pin why status read deep digest search'.split(' ');
    assert.deepEqual(names.sort(), wanted.map(name => `soulmem-${name}`).sort());
    for (const { name, help, examples, returns, named = {}, argument } of Object.values(
        shown.registered,
    )) {
        assert.ok(help.length > 20 && returns, name);
        assert.ok(examples.length > 0, name);
        for (const example of examples) assert.ok(example.startsWith(`/${name}`), example);
        for (const about of Object.values(/** @type {any} */ ({ ...named, argument })))
            assert.ok(about === undefined || about.help, name);
    }
});
