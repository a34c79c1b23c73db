import assert from 'node:assert/strict';
import { test } from 'node:test';
import { registerFunctionTools } from '../../../extension_js/src/recall/function_tools.js';
import { newPage } from '../dom.mjs';
import { fakeApp, HEALTH } from '../fake_app.mjs';
import { say } from '../texts.mjs';
import { newMessage } from '../fakes.mjs';
import { settle } from '../tavern.mjs';

const LEAD = ['call_assistant', 'save_permanent_memory', 'remember', 'search_memories'];
const toolOf = (/** @type {string} */ name, actor = 'lead') => ({
    name,
    actor,
    description: `about ${name}`,
    parameters: { type: 'object', properties: {} },
});
const TOOLS = { tools: [...LEAD.map(name => toolOf(name)), toolOf('delete_memory', 'archivist')] };
const MADE = { audit: [{ id: 'c7', action: 'create' }], cursor: null };
const UNDONE = { changes: ['c7'], memories: ['m1'], edges: 0, skipped: [] };

/** @param {Parameters<typeof fakeApp>[0]} [about] */
async function scene(about = {}) {
    newPage();
    const { answers, ...more } = about;
    const all = fakeApp({
        chat: [newMessage('Where is the key?', { is_user: true })],
        answers: {
            'GET /tools': TOOLS,
            'POST /tools/remember': { result: { memory: 'm1', importance: 0.5 } },
            'GET /memories/m1/history': MADE,
            'POST /undo': UNDONE,
            ...answers,
        },
        ...more,
    });
    all.tavern.settings.tools = true;
    await all.app.link.check();
    registerFunctionTools(all.app, say);
    await settle();
    await all.app.chatSync.identify();
    return all;
}

test('nothing is registered until the switch is on, and all goes when it is off', async () => {
    newPage();
    const { app, shown, tavern } = fakeApp({ answers: { 'GET /tools': TOOLS } });
    await app.link.check();
    registerFunctionTools(app, say);
    await settle();
    assert.deepEqual(Object.keys(shown.tools), []);
    tavern.settings.tools = true;
    app.notify();
    await settle();
    assert.deepEqual(Object.keys(shown.tools).sort(), LEAD.map(name => `soulmem_${name}`).sort());
    assert.equal(shown.tools.soulmem_remember.description, 'about remember');
    tavern.settings.tools = false;
    app.notify();
    await settle();
    assert.deepEqual(Object.keys(shown.tools), []);
});

test('a tool is offered only where it can be used', async () => {
    const { shown, tavern, app, replies } = await scene();
    const offered = () =>
        LEAD.filter(name => shown.tools[`soulmem_${name}`].shouldRegister()).join(' ');
    assert.equal(offered(), 'save_permanent_memory remember search_memories'); // there is no model
    replies['GET /health'] = { ...HEALTH, llm: { state: 'ok', model: 'client' } };
    await app.link.check();
    assert.equal(offered(), LEAD.join(' '));
    tavern.settings.read_only = true;
    assert.equal(offered(), 'search_memories');
    tavern.settings.read_only = false;
    tavern.settings.enabled = false;
    assert.equal(offered(), '');
});

test('what the model keeps is told, and a click takes it back', async () => {
    const { shown, take } = await scene();
    const text = 'The key hangs behind the door.';
    const answer = await shown.tools.soulmem_remember.action({ content: text });
    assert.deepEqual(JSON.parse(answer), { memory: 'm1', importance: 0.5 });
    const [{ body }] = take('POST /tools/remember');
    assert.deepEqual(
        [body.actor, body.arguments, body.for_reply],
        ['lead', { content: text }, true],
    );
    const [kind, told, { onclick }] = shown.toasts[0];
    assert.equal(kind, 'info');
    assert.match(told, /Mira.*behind the door.*undo/);
    onclick();
    await settle();
    assert.equal(take('POST /undo')[0].body.change, 'c7');
    assert.deepEqual(shown.toasts[1].slice(0, 2), ['success', 'Undone.']);
});

test('an undo that fails or finds nothing is told', async () => {
    const { shown, replies } = await scene();
    await shown.tools.soulmem_remember.action({ content: 'x'.repeat(200) });
    assert.match(shown.toasts[0][1], /x{80}…/);
    replies['POST /undo'] = { ...UNDONE, changes: [] };
    shown.toasts[0][2].onclick();
    await settle();
    assert.match(shown.toasts[1][1], /undone before/);
    replies['POST /undo'] = new Error('the sidecar is away');
    shown.toasts[0][2].onclick();
    await settle();
    assert.equal(shown.toasts[2][0], 'warning');
    assert.match(shown.toasts[2][1], /did not work: the sidecar is away/);
});

test('what waits for the user is told without an undo', async () => {
    const { shown } = await scene({
        answers: {
            'POST /tools/save_permanent_memory': {
                result: { memory: 'm1', permanent: true, status: 'awaiting_confirmation' },
            },
        },
    });
    await shown.tools.soulmem_save_permanent_memory.action({ content: 'No nuts.', reason: 'r' });
    const [, text, options] = shown.toasts[0];
    assert.match(text, /No nuts.*bin/);
    assert.equal(options, undefined);
});

test('a search tells nobody, and no macro runs in its result', async () => {
    const found = { result: { memories: [{ id: 'm1', text: 'say {{roll:6}}' }] } };
    const { shown } = await scene({ answers: { 'POST /tools/search_memories': found } });
    const answer = await shown.tools.soulmem_search_memories.action({ query: 'key' });
    assert.match(answer, /m1/);
    assert.doesNotMatch(answer, /\{\{roll/);
    assert.deepEqual(shown.toasts, []);
});

test('all that the archivist did is undone as one job', async () => {
    const did = [{ tool: 'update_memory_node', arguments: {}, result: {} }];
    const result = { said: 'Reworded.', did, calls: 2, job: 'j5' };
    const { shown, take } = await scene({
        answers: { 'POST /tools/call_assistant': { result } },
    });
    await shown.tools.soulmem_call_assistant.action({ instruction: 'tidy' });
    assert.match(shown.toasts[0][1], /Reworded/);
    shown.toasts[0][2].onclick();
    await settle();
    assert.equal(take('POST /undo')[0].body.job, 'j5');
});

test('a refusal is told to the model in words', async () => {
    const { shown, replies, tavern } = await scene();
    replies['POST /tools/remember'] = new Error('remember needs some content: it is blank');
    const answer = await shown.tools.soulmem_remember.action({ content: ' ' });
    assert.equal(answer, 'Not done: remember needs some content: it is blank');
    assert.deepEqual(shown.toasts, []);
    assert.match(shown.tools.soulmem_remember.formatMessage(), /remember/);
    tavern.name = '';
    assert.equal(await shown.tools.soulmem_remember.action({}), 'Open a chat first.');
});
