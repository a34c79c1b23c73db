import assert from 'node:assert/strict';
import { test } from 'node:test';
import { newPage } from './dom.mjs';
import { fakeApp, HEALTH } from './fake_app.mjs';
import { talk } from './fakes.mjs';
import { settle } from './tavern.mjs';

const AWAY = Object.assign(new Error('away'), { status: 502, code: 'sidecar_down' });

/** A page whose extension has started, with its chat stored. @param {Parameters<typeof fakeApp>[0]} [about] */
async function started(about = {}) {
    const page = newPage();
    const scene = fakeApp({ chat: talk(4), ...about });
    await scene.app.start();
    await scene.pass(1000);
    await settle();
    const states = () => scene.take('POST /activity').map(({ body }) => body.state);
    return { ...scene, page, states };
}

test('at the start the sidecar is found and the open chat is sent', async () => {
    const { app, sidecar } = await started();
    assert.equal(app.handle.state().route, 'plugin');
    assert.equal(app.handle.state().status, 'ok');
    assert.equal(sidecar.bodies.at(-1)?.messages.length, 4);
    assert.equal(app.handle.state().soul, app.settings().souls['mira.png']);
    assert.ok(app.handle.state().chat);
});

test('what happens in a stored chat is reported, except while a prompt is only tried', async () => {
    const { happen, states } = await started();
    await happen('GENERATION_STARTED', 'normal', {}, true);
    assert.deepEqual(states(), []);
    await happen('GENERATION_STARTED', 'normal', {}, false);
    await happen('GENERATION_ENDED');
    assert.deepEqual(states(), ['generating', 'idle']);
});

test('a page that is closed while it waits for a reply says that it no longer does', async () => {
    const { happen, take, states, page, app } = await started();
    await page.window.happen('pagehide');
    assert.deepEqual(states(), [], 'it waited for nothing');
    await happen('GENERATION_STARTED', 'normal', {}, false);
    const { chat } = app.handle.state();
    take('POST /activity');
    await page.window.happen('pagehide');
    const [{ body, keepalive }, ...more] = take('POST /activity');
    assert.deepEqual([body, keepalive], [{ chat, state: 'idle' }, true]);
    assert.deepEqual(more, []);
    await page.window.happen('pagehide');
    assert.deepEqual(states(), [], 'it was said before');
});

test('nothing is reported of a chat that is not stored, or while memory is off or away', async () => {
    const fresh = newPage();
    const scene = fakeApp({ chat: [] });
    await scene.app.start();
    await scene.happen('GENERATION_STARTED', 'normal', {}, false);
    assert.equal(scene.take('POST /activity').length, 0);
    assert.ok(fresh.body);
    const { happen, states, tavern, replies, app } = await started();
    tavern.settings.enabled = false;
    await happen('GENERATION_STARTED', 'normal', {}, false);
    tavern.settings.enabled = true;
    replies['GET /health'] = AWAY;
    await app.link.check();
    await happen('GENERATION_STARTED', 'normal', {}, false);
    assert.deepEqual(states(), []);
});

test('a chat that is left is reported as closed, not one that is loaded again or read-only', async () => {
    const { happen, states, tavern, app } = await started();
    await happen('CHAT_CHANGED');
    assert.deepEqual(states(), []);
    assert.ok(app.handle.state().chat);
    const { metadata } = tavern;
    tavern.metadata = {};
    await happen('CHAT_CHANGED');
    assert.deepEqual(states(), ['closed']);
    assert.equal(app.handle.state().chat, null);
    tavern.metadata = metadata;
    await app.chatSync.syncNow();
    tavern.settings.read_only = true;
    tavern.metadata = {};
    await happen('CHAT_CHANGED');
    assert.deepEqual(states(), []);
    tavern.metadata = metadata;
    await app.chatSync.identify();
    await happen('GENERATION_STARTED', 'normal', {}, false);
    assert.deepEqual(states(), ['generating'], 'other states change nothing that is stored');
});

test('an edit is sent a little later, and not while memory is off', async () => {
    const { happen, pass, sidecar, tavern } = await started();
    tavern.chat[3].mes = 'another wording';
    const before = sidecar.bodies.length;
    await happen('MESSAGE_EDITED', 3);
    assert.equal(sidecar.bodies.length, before);
    await pass(800);
    assert.ok(sidecar.bodies.length > before);
    tavern.settings.enabled = false;
    tavern.chat[3].mes = 'a third wording';
    const then = sidecar.bodies.length;
    await happen('MESSAGE_EDITED', 3);
    await pass(800);
    assert.equal(sidecar.bodies.length, then);
});

test('a new message is stamped at once, not while memory is off', async () => {
    const { happen, tavern } = await started();
    const line = /** @type {any} */ (talk(1)[0]);
    tavern.chat.push(line);
    tavern.settings.enabled = false;
    await happen('MESSAGE_SENT', 4);
    assert.equal(line.extra.soulmem, undefined);
    tavern.settings.enabled = true;
    await happen('MESSAGE_SENT', 4);
    assert.ok(line.extra.soulmem.id);
});

test('the chat is looked at again and again, except by a page in the background or after a failure', async () => {
    const { pass, sidecar, tavern, page, app } = await started();
    const sends = async (/** @type {string} */ text) => {
        const before = sidecar.bodies.length;
        tavern.chat[3].mes = text;
        await pass(20_000);
        await pass(1000);
        return sidecar.bodies.length > before;
    };
    assert.equal(await sends('hidden by a command'), true);
    page.document.hidden = true;
    assert.equal(await sends('in the background'), false);
    page.document.hidden = false;
    app.chatSync.state.error = { message: 'the disk is full' };
    assert.equal(await sends('after a failure'), false);
});

test('a sidecar that comes back gets the chat again', async () => {
    const { app, replies, pass, sidecar } = await started();
    replies['GET /health'] = AWAY;
    await app.link.check();
    assert.equal(app.handle.state().status, 'down');
    const before = sidecar.bodies.length;
    replies['GET /health'] = HEALTH;
    await app.link.check();
    await pass(300);
    await settle();
    assert.ok(sidecar.bodies.length > before);
    const then = sidecar.bodies.length;
    await app.link.check();
    await pass(300);
    assert.equal(sidecar.bodies.length, then, 'it was there all the time');
});

test('a prompt without the memories that were recalled is noticed, not one that is only tried', async () => {
    const { app, happen, tavern, replies } = await started();
    const memories = [{ id: 'm1', kind: 'note', text: 'The key hangs behind the clock.' }];
    const text = 'The key hangs behind the clock.';
    replies['POST /recall'] = {
        trace: 't1',
        memories,
        blocks: [
            {
                section: 'memories',
                position: 'in_chat',
                depth: 4,
                role: 'system',
                text,
                tokens: 8,
                items: [{ memory: 'm1', text, tokens: 8 }],
            },
        ],
        tokens: 8,
        timed_out: false,
        took_ms: { total: 3 },
    };
    const recall = () => app.recaller.intercept([], 8000, null, 'normal');
    await recall();
    assert.deepEqual(app.handle.lastRecall()?.sent, ['m1']);
    const prompt = [{ content: 'Alice: hello' }, { content: [{ type: 'text', text }] }];
    await happen('CHAT_COMPLETION_PROMPT_READY', { chat: [{ content: 'x' }], dryRun: true });
    await happen('GENERATE_AFTER_COMBINE_PROMPTS', { prompt: 'nothing', dryRun: true });
    await happen('GENERATE_AFTER_COMBINE_PROMPTS', { prompt: '', dryRun: false });
    await happen('GENERATE_AFTER_COMBINE_PROMPTS', { prompt: null, dryRun: false });
    assert.equal(app.handle.state().step, '');
    await happen('CHAT_COMPLETION_PROMPT_READY', { chat: [{ content: 'x' }], dryRun: false });
    assert.equal(app.handle.state().step, 'not_in_prompt');
    await recall();
    await happen('CHAT_COMPLETION_PROMPT_READY', { chat: prompt, dryRun: false });
    assert.equal(app.handle.state().step, '');
    await recall();
    await happen('GENERATE_AFTER_COMBINE_PROMPTS', { prompt: 'without it', dryRun: false });
    assert.equal(app.handle.state().step, 'not_in_prompt');
    assert.ok(tavern.prompts.size > 0);
});

test('listeners are told of changes until they leave', async () => {
    const { app } = await started();
    let times = 0;
    const leave = app.subscribe(() => times++);
    app.notify();
    leave();
    app.notify();
    assert.equal(times, 1);
});
