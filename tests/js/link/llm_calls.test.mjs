import assert from 'node:assert/strict';
import { afterEach, beforeEach, mock, test } from 'node:test';
import { createApi } from '../../../extension_js/src/link/api.js';
import { createLlmCalls } from '../../../extension_js/src/link/llm_calls.js';

const CALL = {
    request: 'r1',
    name: 'summary',
    system: 'You write.',
    user: 'Write {{this}}.',
    schema: null,
    max_tokens: 30,
};

beforeEach(() => mock.timers.enable({ apis: ['setTimeout'] }));
afterEach(() => mock.timers.reset());

/** @param {number} ms */
async function pass(ms) {
    mock.timers.tick(ms);
    for (let i = 0; i < 20; i++) await Promise.resolve();
}

function scene() {
    const world = {
        waiting: /** @type {(typeof CALL)[]} */ ([]),
        asked: /** @type {string[]} */ ([]),
        answers: /** @type {[string, any][]} */ ([]),
        model: /** @type {string | null} */ ('client'),
        via: /** @type {string | null} */ ('plugin'),
        busy: false,
        enabled: true,
        fails: false,
        lost: false,
        slow: /** @type {Promise<void> | null} */ (null),
        options: /** @type {any} */ (null),
    };
    const llm = createLlmCalls(
        () => ({ via: world.via, health: { llm: { state: 'ok', model: world.model } } }),
        async (method, path, body, options) => {
            world.asked.push(`${method} ${path}`);
            world.options = options;
            if (world.lost) throw new Error('lost');
            if (method === 'GET') return world.waiting.shift() ?? null;
            world.answers.push([path, body]);
            return { ok: true };
        },
        {
            busy: () => world.busy,
            complete: async call => {
                await world.slow;
                if (world.fails) throw new Error('no connection '.repeat(90));
                return `answer to ${call.user}`;
            },
        },
        () => world.enabled,
    );
    llm.start();
    return Object.assign(world, { soon: llm.soon, leave: llm.giveBack, forReply: llm.forReply });
}

test('a call that waits is run and its answer brought back, and then the next', async () => {
    const world = scene();
    world.waiting = [CALL, { ...CALL, request: 'r2' }];
    await pass(5_000);
    await pass(500);
    assert.deepEqual(world.answers, [
        ['/llm/r1', { text: 'answer to Write {{this}}.' }],
        ['/llm/r2', { text: 'answer to Write {{this}}.' }],
    ]);
});

test('the next call of a run waits a tenth of a second, or three', async () => {
    for (const pauses of [[100], [100, 200]]) {
        const world = scene();
        world.waiting = [CALL];
        await pass(5_000);
        for (const pause of pauses.slice(0, -1)) await pass(pause);
        world.waiting = [{ ...CALL, request: 'r2' }];
        await pass(pauses[pauses.length - 1] - 1);
        assert.equal(world.answers.length, 1);
        await pass(1);
        assert.equal(world.answers.length, 2);
        mock.timers.reset();
        mock.timers.enable({ apis: ['setTimeout'] });
    }
});

test('after a call the next is looked for soon, for a while; when work was asked for, too', async () => {
    const world = scene();
    world.waiting = [CALL];
    await pass(5_000);
    for (let i = 0; i < 20; i++) await pass(500);
    const looks = () => world.asked.filter(request => request.startsWith('GET')).length;
    assert.ok(looks() >= 6 && looks() <= 9, String(looks()));
    const before = looks();
    world.soon();
    world.soon();
    await pass(500);
    assert.equal(looks(), before + 1, 'one chain of looks, however often it is asked for');
    world.lost = true;
    for (let i = 0; i < 40; i++) await pass(500);
    assert.ok(looks() < before + 14, 'a sidecar that is lost is not asked without a pause');
});

test('without one it looks again in a while', async () => {
    const world = scene();
    await pass(5_000);
    await pass(5_000);
    assert.deepEqual(world.asked, ['GET /llm/next', 'GET /llm/next']);
});

for (const [name, change] of /** @type {[string, object][]} */ ([
    ['a sidecar with another model or none is not asked', { model: null }],
    ['a sidecar that is gone is not asked', { via: null }],
    ['nothing is asked while a reply is being made', { busy: true }],
    ['nothing is asked while SoulMem is off', { enabled: false }],
])) {
    test(name, async () => {
        const world = Object.assign(scene(), change, { waiting: [CALL] });
        for (let i = 0; i < 9; i++) await pass(5_000);
        assert.deepEqual(world.asked, []);
        Object.assign(world, { model: 'client', via: 'plugin', busy: false, enabled: true });
        await pass(20_000);
        assert.equal(world.answers.length, 1);
    });
}

test('a connection that fails is told, shortly', async () => {
    const world = Object.assign(scene(), { fails: true, waiting: [CALL] });
    await pass(5_000);
    const [[path, { error }]] = world.answers;
    assert.equal(path, '/llm/r1');
    assert.match(error, /^no connection/);
    assert.ok(error.length <= 200);
});

test('a sidecar that does not answer ends nothing', async () => {
    const world = Object.assign(scene(), { lost: true, waiting: [CALL] });
    await pass(5_000);
    world.lost = false;
    await pass(5_000);
    assert.equal(world.answers.length, 1);
});

test("a page that goes gives its call back, once, and brings no answer; out of the browser's cache it goes on", async () => {
    const world = scene();
    world.waiting = [CALL, { ...CALL, request: 'r2' }];
    let finish = () => {};
    world.slow = new Promise(resolve => {
        finish = resolve;
    });
    await pass(5_000);
    world.leave();
    world.leave();
    assert.deepEqual(world.asked, ['GET /llm/next', 'DELETE /llm/r1']);
    assert.equal(world.options.keepalive, true, 'or it would go with the page');
    finish();
    await pass(0);
    assert.equal(world.asked.length, 2, 'no answer');
    await pass(5_000);
    assert.deepEqual(world.asked.slice(2), ['GET /llm/next', 'POST /llm/r2']);
});

test('a page that has no call gives none back, and a sidecar that is lost then is no error', async () => {
    const world = scene();
    world.leave();
    world.waiting = [CALL];
    await pass(5_000);
    world.leave();
    assert.deepEqual(world.asked, ['GET /llm/next', 'POST /llm/r1']);
    world.waiting = [CALL];
    world.slow = new Promise(() => {});
    await pass(500);
    world.lost = true;
    world.leave();
    await pass(0);
    assert.equal(world.asked.at(-1), 'DELETE /llm/r1');
});

test('a call that is kept alive says so to the browser, on both ways', async () => {
    const seen = /** @type {any[]} */ ([]);
    const api = createApi(
        () => ({}),
        /** @type {any} */ (
            async (/** @type {string} */ url, /** @type {any} */ options) => {
                seen.push([options.method, url, options.keepalive]);
                return Response.json({});
            }
        ),
    );
    await api.call({ kind: 'plugin' }, 'DELETE', '/llm/r1', undefined, { keepalive: true });
    await api.call(
        { kind: 'direct', url: 'http://h:1', token: 't' },
        'DELETE',
        '/llm/r1',
        undefined,
        { keepalive: true },
    );
    await api.call({ kind: 'plugin' }, 'GET', '/llm/next');
    assert.deepEqual(seen, [
        ['DELETE', '/api/plugins/soulmem/llm/r1', true],
        ['DELETE', 'http://h:1/v1/llm/r1', true],
        ['GET', '/api/plugins/soulmem/llm/next', false],
    ]);
});

test('an answer without content is nothing, not an error', async () => {
    const api = createApi(
        () => ({}),
        async () => new Response(null, { status: 204 }),
    );
    assert.equal(await api.call({ kind: 'plugin' }, 'GET', '/llm/next'), null);
});

test('asking for work looks soon, but not while a look is under way or before the start', async () => {
    const world = scene();
    world.slow = new Promise(() => {});
    world.waiting.push(CALL);
    await pass(5000);
    assert.deepEqual(world.asked, ['GET /llm/next']);
    world.soon();
    await pass(5000);
    assert.deepEqual(world.asked, ['GET /llm/next'], 'the call still runs');
    const asked = /** @type {string[]} */ ([]);
    const idle = createLlmCalls(
        () => ({ via: 'plugin', health: { llm: { model: 'client' } } }),
        async (method, path) => asked.push(`${method} ${path}`) && null,
        { busy: () => false, complete: async () => '' },
        () => true,
    );
    idle.soon();
    await pass(5000);
    assert.deepEqual(asked, [], 'it was not started');
});

test('while a reply is written only calls that it waits for are taken', async () => {
    const world = scene();
    world.busy = true;
    world.waiting = [CALL];
    await pass(20_000);
    assert.deepEqual(world.asked, []);
    let end = (/** @type {string} */ _) => {};
    const work = world.forReply(() => new Promise(resolve => (end = resolve)));
    await pass(100);
    assert.deepEqual(world.answers.map(([path]) => path), ['/llm/r1']);
    world.waiting = [{ ...CALL, request: 'r2' }];
    await pass(500); // it looks again and again
    assert.equal(world.answers.length, 2);
    end('done');
    assert.equal(await work, 'done');
    world.waiting = [CALL];
    await pass(20_000);
    assert.equal(world.answers.length, 2);
});
