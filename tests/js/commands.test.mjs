import assert from 'node:assert/strict';
import { test } from 'node:test';
import { registerCommands } from '../../extension_js/src/commands.js';
import { newPage } from './dom.mjs';
import { fakeApp } from './fake_app.mjs';
import { say } from './texts.mjs';
import { newMessage } from './fakes.mjs';
import { settle } from './tavern.mjs';

const MEMORIES = [
    { id: 'n1', kind: 'note', text: 'Behind the clock.', why: 'It is near.' },
    { id: 'n2', kind: 'fact', text: '{{x}}', why: 'It is near, too.' },
];

/** @param {Parameters<typeof fakeApp>[0]} [about] */
async function scene(about) {
    newPage();
    const all = fakeApp({
        chat: [newMessage('Where is the key?', { is_user: true })],
        answers: { 'POST /recall': { memories: MEMORIES } },
        ...about,
    });
    await all.app.link.check();
    registerCommands(all.app, say);
    return { ...all, command: all.shown.commands['soulmem-recall'] };
}

test('the command answers with memories for its text, without macros in them', async () => {
    const { command, take } = await scene();
    const answer = await command(' the key ');
    assert.match(answer, /^Behind the clock\.\n/);
    assert.doesNotMatch(answer, /\{\{x\}\}/);
    const [{ body }] = take('POST /recall');
    assert.deepEqual([body.query, body.type, body.budget_tokens], ['the key', 'quiet', 1200]);
});

test('tags are separated by commas of either script', async () => {
    const { command, take } = await scene();
    await command('the key', () => false, { tags: ' cellar， key,, ' });
    await command('the key', () => false, {});
    const tags = take('POST /recall').map(({ body }) => body.tags);
    assert.deepEqual(tags, [['cellar', 'key'], []]);
});

test('without text the command asks with the last messages', async () => {
    const { command, take } = await scene();
    await command('  ');
    assert.match(take('POST /recall')[0].body.query, /Where is the key\?/);
});

test('in a group the command asks the one who speaks', async () => {
    const { command, take, tavern, app } = await scene({
        characters: { 'mira.png': { name: 'Mira' }, 'ben.png': { name: 'Ben' } },
        open: ['mira.png', 'ben.png'],
        group: { id: 'g' },
    });
    const people = await app.people.inChat();
    for (const { avatar, soul } of people) {
        tavern.speaking = avatar;
        await command('the key');
        assert.equal(take('POST /recall')[0].body.soul, soul);
    }
    assert.notEqual(people[0].soul, people[1].soul);
});

test('without a chat, or after a failure, the command answers with nothing and says why', async () => {
    const { command, shown, replies, tavern } = await scene();
    replies['POST /recall'] = new Error('the model is away');
    assert.equal(await command('the key'), '');
    assert.deepEqual(shown.toasts[0].slice(0, 2), ['warning', 'That did not work: the model is away']);
    tavern.name = '';
    assert.equal(await command('the key'), '');
    assert.deepEqual(shown.toasts[1].slice(0, 2), ['info', 'Open a chat first.']);
});

test('the macro is the text of the last recall', async () => {
    const { shown, app } = await scene();
    assert.equal(shown.macros.soulmem(), app.recaller.text());
});

/** @param {object} about @returns {any} */
const deepJob = about => ({ job: 'j1', progress: {}, result: null, error: null, ...about });

test('the deep command searches with a job and answers with its memories, without macros', async () => {
    const result = { answer: { memories: [{ text: 'In the harbour.' }, { text: '{{x}}' }] } };
    const { shown, replies, take } = await scene();
    replies['POST /jobs'] = { job: 'j1' };
    replies['GET /jobs/j1'] = deepJob({ state: 'done', result });
    const answer = await shown.commands['soulmem-deep'](' Where? ');
    assert.match(answer, /^In the harbour\.\n/);
    assert.doesNotMatch(answer, /\{\{x\}\}/);
    const [{ body }] = take('POST /jobs');
    assert.deepEqual([body.kind, body.arguments.query], ['deep', 'Where?']);
    assert.match(body.arguments.chat, /./);
    assert.match(shown.toasts[0][1], /minute/);
    await shown.commands['soulmem-deep']('');
    assert.equal(take('POST /jobs')[0].body.arguments.query, 'Where is the key?');
});

test('a deep command that fails or is stopped answers with nothing', async () => {
    const { shown, replies, take, pass, tavern } = await scene();
    const deep = /** @type {any} */ (shown.commands['soulmem-deep']);
    replies['POST /jobs'] = { job: 'j1' };
    replies['GET /jobs/j1'] = deepJob({ state: 'failed', error: 'no chat c1' });
    assert.equal(await deep('Where?'), '');
    assert.deepEqual(shown.toasts.at(-1)?.slice(0, 2), ['warning', 'That did not work: no chat c1']);
    replies['GET /jobs/j1'] = deepJob({ state: 'running' });
    let isStopped = false;
    const answer = deep('Where?', () => isStopped);
    await settle();
    isStopped = true;
    replies['DELETE /jobs/j1'] = () => {
        replies['GET /jobs/j1'] = deepJob({ state: 'cancelled' });
        return deepJob({ state: 'running' });
    };
    await pass(400);
    assert.equal(await answer, '');
    assert.equal(take('DELETE /jobs/j1').length, 1);
    tavern.name = '';
    assert.equal(await deep('Where?'), '');
    assert.equal(take('POST /jobs').length, 2);
});
