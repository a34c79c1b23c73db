import assert from 'node:assert/strict';
import { afterEach, beforeEach, mock, test } from 'node:test';
import { ApiError } from '../../../extension_js/src/link/api.js';
import { API } from '../../../extension_js/src/link/connection.js';
import { checklist, stepText } from '../../../extension_js/src/link/health_checks.js';
import { createLink } from '../../../extension_js/src/link/link.js';
import { say } from '../texts.mjs';

const WELL = {
    status: 'ok',
    version: '0.1.0',
    api: API,
    store: { state: 'ok' },
    embedder: { state: 'ok', model: 'e5', dim: 384, fallback: false },
    pending: 0,
    notes: [],
};
const page = { hidden: false };

beforeEach(() => {
    Object.assign(globalThis, { document: page });
    page.hidden = false;
    mock.timers.enable({ apis: ['setTimeout', 'Date'], now: Date.UTC(2026, 0, 1) });
});
afterEach(async () => {
    await pass(0); // a check that is under way sets its next timer while timers are fakes
    mock.timers.reset();
});

function scene() {
    const world = { answer: /** @type {any} */ (WELL), calls: 0, enabled: true };
    const api = /** @type {import('../../../extension_js/src/link/api.js').Api} */ ({
        call: async (_route, _method, path) => {
            if (path === '/health') world.calls++;
            if (world.answer instanceof Error) throw world.answer;
            return world.answer;
        },
        listens: async () => false,
        chatNames: async () => [],
    });
    const changes = /** @type {string[]} */ ([]);
    const link = createLink(
        api,
        () => ({ mode: 'plugin', url: 'http://127.0.0.1:8731', token: '' }),
        () => ({
            enabled: world.enabled,
            page: { loopback: true, secure: true },
            quarantined: false,
            vectors: false,
            notInPrompt: false,
            readOnly: false,
            chatOff: false,
        }),
        state => changes.push(state.state),
    );
    return { world, link, changes };
}
/** Time passes, and what it started is done. @param {number} ms */
async function pass(ms) {
    mock.timers.tick(ms);
    for (let i = 0; i < 20; i++) await Promise.resolve();
}
const timeout = () => new ApiError('late', { kind: 'timeout' });
const down = () => new ApiError('down', { kind: 'http', status: 502, code: 'sidecar_down' });

test('a look finds the way, and later looks follow by themselves', async () => {
    const { world, link } = scene();
    await link.check();
    assert.deepEqual([link.state().state, link.state().via, world.calls], ['ok', 'plugin', 1]);
    await pass(61_000);
    assert.equal(world.calls, 2);
});

test('a sidecar that comes up is found within seconds', async () => {
    const { world, link } = scene();
    world.answer = down();
    await link.check();
    assert.deepEqual([link.state().state, link.state().step], ['down', 'sidecar_down']);
    world.answer = WELL;
    await pass(8_100);
    assert.equal(link.state().state, 'ok');
});

test('while messages are not searchable yet, their count is asked for every few seconds', async () => {
    const { world, link } = scene();
    world.answer = { ...WELL, pending: 400 };
    await link.check();
    world.answer = WELL;
    await pass(5_100);
    assert.deepEqual([world.calls, link.state().health?.pending], [2, 0]);
    await pass(5_100);
    assert.equal(world.calls, 2);
});

test('a page in the background does not ask', async () => {
    const { world, link } = scene();
    await link.check();
    page.hidden = true;
    await pass(300_000);
    assert.equal(world.calls, 1);
});

test('two looks at once are one', async () => {
    const { world, link } = scene();
    await Promise.all([link.check(), link.check()]);
    assert.equal(world.calls, 1);
});

test('a reply looks for itself when the last look is old, and not when it just failed', async () => {
    const { world, link } = scene();
    world.answer = down();
    assert.equal(await link.ready(), false);
    assert.equal(await link.ready(), false);
    assert.equal(world.calls, 1);
    world.answer = WELL;
    mock.timers.tick(4000);
    assert.equal(await link.ready(), true);
});

test('a late recall is said at once, and forgiven when health stays well', async () => {
    const { link } = scene();
    await link.check();
    link.report(timeout());
    assert.deepEqual([link.state().state, link.state().step], ['degraded', 'sidecar_slow']);
    await pass(21_000);
    await pass(21_000);
    assert.equal(link.state().step, '');
});

test('after three late recalls in a row replies stop waiting, until one look has gone well for a while', async () => {
    const { link } = scene();
    await link.check();
    for (let i = 0; i < 3; i++) {
        assert.equal(await link.ready(), true);
        link.report(timeout());
        await pass(1);
    }
    assert.equal(await link.ready(), false);
    await pass(41_000);
    await pass(1);
    assert.equal(await link.ready(), true);
});

test('a recall that went well clears what was said', async () => {
    const { link } = scene();
    await link.check();
    link.report(new ApiError('no such soul', { kind: 'http', status: 404 }));
    assert.equal(link.state().error?.message, 'no such soul');
    link.report(timeout());
    link.report(null);
    assert.deepEqual([link.state().state, link.state().error], ['ok', null]);
});

test('a lost connection starts a look', async () => {
    const { world, link } = scene();
    await link.check();
    world.answer = down();
    link.report(new ApiError('reset', { kind: 'network' }));
    await pass(1);
    assert.equal(link.state().step, 'sidecar_down');
});

test('nothing is asked of a sidecar whose contract we do not know', async () => {
    const { world, link } = scene();
    world.answer = { ...WELL, api: { major: 2, minor: 0 } };
    assert.equal(await link.ready(), false);
    assert.equal(link.state().step, 'sidecar_new');
});

test('switched off, nothing is asked at all', async () => {
    const { world, link } = scene();
    world.enabled = false;
    await link.check();
    assert.deepEqual([world.calls, link.state().state], [0, 'off']);
});

test('without a way a call fails at once', async () => {
    const { link } = scene();
    await assert.rejects(link.ask('GET', '/chats'), { kind: 'network' });
});

const still = { chat: 'c1', reading: null, error: null, quarantine: null };
const signs = (/** @type {any} */ change, /** @type {any} */ chatSync = {}) =>
    checklist(
        {
            state: 'ok',
            step: '',
            via: 'plugin',
            error: null,
            health: /** @type {any} */ (WELL),
            ...change,
        },
        { ...still, ...chatSync },
        'http://h:1',
        say,
    )
        .map(({ sign }) => sign)
        .join(' ');

for (const [what, got, wanted] of [
    ['all well', signs({}), 'yes yes yes yes yes yes'],
    ['off', signs({ state: 'off' }), 'no'],
    ['no way', signs({ health: null, via: null }), 'yes no'],
    [
        'store broken',
        signs({ health: { ...WELL, store: { state: 'error', detail: 'disk full' } } }),
        'yes yes yes no yes yes',
    ],
    [
        'model loading',
        signs({ health: { ...WELL, embedder: { ...WELL.embedder, state: 'loading' } } }),
        'yes yes yes yes wait yes',
    ],
    [
        'built-in model',
        signs({ health: { ...WELL, embedder: { ...WELL.embedder, fallback: true } } }),
        'yes yes yes yes warn yes',
    ],
    ['wrong version', signs({ step: 'sidecar_old' }), 'yes yes no yes yes yes'],
    [
        'reading',
        signs({ health: { ...WELL, pending: 40 } }, { reading: { done: 1, total: 9 } }),
        'yes yes yes yes yes wait wait',
    ],
    [
        'held',
        signs({}, { quarantine: { reason: 'mass_removal', count: 3 } }),
        'yes yes yes yes yes warn',
    ],
    ['no chat', signs({}, { chat: null }), 'yes yes yes yes yes wait'],
    ['a problem', signs({ error: 'no such soul' }), 'yes yes yes yes yes yes warn'],
])
    test(`checklist, ${what}: ${wanted}`, () => assert.equal(got, wanted));

test('a model is named as people know it', () => {
    const named = (/** @type {string} */ model) =>
        checklist(
            {
                state: 'ok',
                step: '',
                via: 'plugin',
                error: null,
                health: /** @type {any} */ ({ ...WELL, embedder: { ...WELL.embedder, model } }),
            },
            still,
            'http://h:1',
            say,
        )[4].text;
    assert.deepEqual(
        ['intfloat/multilingual-e5-small', '/home/u/models/e5/', 'C:\\models\\e5', 'e5'].map(named),
        [
            'Model for recall: intfloat/multilingual-e5-small',
            'Model for recall: e5',
            'Model for recall: e5',
            'Model for recall: e5',
        ],
    );
});

test("a step's words name what to do it with", () => {
    const facts = {
        folder: 'ext/SoulMem',
        origin: 'http://pc:8000',
        url: 'http://h:1',
        quarantined: 7,
    };
    const words = (/** @type {any} */ step, /** @type {any} */ health = null) =>
        stepText({ state: 'down', step, via: null, health, error: null }, facts, say);
    assert.match(words('sidecar_down'), /ext\/SoulMem/);
    assert.match(words('origin_refused'), /http:\/\/pc:8000/);
    assert.match(words('held_removal'), /^7 messages/);
    assert.match(words('degraded', { ...WELL, notes: ['The disk is full.'] }), /The disk is full\./);
    assert.match(words('sidecar_old', WELL), /0\.1\.0/);
    assert.equal(words(''), '');
});
