import assert from 'node:assert/strict';
import { test } from 'node:test';
import { API, createProbe, judge } from '../../../extension_js/src/link/connection.js';
import { ENGLISH } from '../texts.mjs';

/** @typedef {import('../../../extension_js/src/link/connection.js').Circumstances} Circumstances */
/** @typedef {import('../../../extension_js/src/base/types.js').Health} Health */

/** @type {Health} */
const WELL = {
    status: 'ok',
    version: '0.1.0',
    api: { ...API, minor: API.minor + 1 },
    embedder: { state: 'ok', model: 'e5', dim: 384, fallback: false },
    notes: [],
};
const NETWORK = { status: 0, kind: 'network' };
const MISSING = { status: 404, kind: 'http' };
/** @type {Circumstances} */
const HOME = {
    enabled: true,
    mode: 'auto',
    plugin: MISSING,
    direct: { health: WELL },
    page: { loopback: true, secure: true },
    slow: false,
    quarantined: false,
    vectors: false,
    notInPrompt: false,
    readOnly: false,
    chatOff: false,
};
const LAN = { loopback: false, secure: false };

for (const [
    what,
    change,
    state,
    step,
    via,
] of /** @type {[string, Partial<Circumstances>, string, string, string | null][]} */ ([
    ['all well, direct', {}, 'ok', '', 'direct'],
    ['all well, plugin', { plugin: { health: WELL }, direct: null }, 'ok', '', 'plugin'],
    [
        'plugin without sidecar, but the browser reaches it',
        { plugin: { status: 502, kind: 'http', code: 'sidecar_down' } },
        'ok',
        '',
        'direct',
    ],
    ['switched off', { enabled: false }, 'off', 'turned_off', null],
    ['nothing runs, page on the same machine', { direct: NETWORK }, 'down', 'sidecar_down', null],
    [
        'nothing runs, plugin there',
        { plugin: { status: 502, kind: 'http', code: 'sidecar_down' }, direct: NETWORK },
        'down',
        'sidecar_down',
        null,
    ],
    [
        'sidecar hangs behind the plugin',
        { plugin: { status: 502, kind: 'http', code: 'sidecar_timeout' }, direct: NETWORK },
        'down',
        'sidecar_slow',
        null,
    ],
    [
        'sidecar hangs, plugin waits with us',
        { plugin: { status: 0, kind: 'timeout' }, direct: NETWORK },
        'down',
        'sidecar_slow',
        null,
    ],
    [
        'sidecar hangs, direct',
        { direct: { status: 0, kind: 'timeout' } },
        'down',
        'sidecar_slow',
        null,
    ],
    [
        'logged out',
        { plugin: { status: 403, kind: 'http', code: 'http_403' }, direct: NETWORK },
        'down',
        'log_in',
        null,
    ],
    [
        'the plugin holds a wrong token',
        { plugin: { status: 401, kind: 'http', code: 'unauthorized' }, direct: NETWORK },
        'down',
        'token_wrong',
        null,
    ],
    [
        'a token is wanted',
        { direct: { status: 401, kind: 'http', code: 'unauthorized' } },
        'down',
        'token_wrong',
        null,
    ],
    [
        'our origin is refused, and CORS hides why',
        { direct: { ...NETWORK, listens: true } },
        'down',
        'origin_refused',
        null,
    ],
    [
        'our origin is refused',
        { direct: { status: 403, kind: 'http', code: 'forbidden' } },
        'down',
        'origin_refused',
        null,
    ],
    ['a phone, no plugin', { direct: NETWORK, page: LAN }, 'down', 'plugin_disabled', null],
    [
        'a phone, direct chosen',
        { mode: 'direct', plugin: null, direct: NETWORK, page: LAN },
        'down',
        'blocked_by_browser',
        null,
    ],
    ['plugin chosen but absent', { mode: 'plugin', direct: null }, 'down', 'plugin_disabled', null],
    [
        'SillyTavern itself is gone',
        { mode: 'plugin', plugin: NETWORK, direct: null },
        'down',
        'sidecar_down',
        null,
    ],
    [
        'starting',
        { direct: { health: { ...WELL, status: 'starting' } } },
        'starting',
        'sidecar_starting',
        'direct',
    ],
    [
        'degraded',
        { direct: { health: { ...WELL, status: 'degraded' } } },
        'degraded',
        'degraded',
        'direct',
    ],
    [
        'older sidecar',
        { direct: { health: { ...WELL, api: { ...API, minor: API.minor - 1 } } } },
        'degraded',
        'sidecar_old',
        null,
    ],
    [
        'newer sidecar',
        { direct: { health: { ...WELL, api: { major: 2, minor: 0 } } } },
        'degraded',
        'sidecar_new',
        null,
    ],
    [
        'a store that cannot be written',
        {
            direct: {
                health: {
                    ...WELL,
                    status: 'degraded',
                    store: { state: 'ok', detail: 'the disk is full' },
                },
            },
        },
        'degraded',
        'store_read_only',
        'direct',
    ],
    [
        'a store that cannot be read',
        {
            direct: {
                health: {
                    ...WELL,
                    status: 'degraded',
                    store: { state: 'error', detail: 'broken' },
                },
            },
        },
        'degraded',
        'degraded',
        'direct',
    ],
    ['read-only by wish', { readOnly: true, chatOff: true }, 'ok', 'read_only', 'direct'],
    ['a forgotten chat', { chatOff: true, vectors: true }, 'ok', 'chat_off', 'direct'],
    [
        'read-only hides no trouble',
        { readOnly: true, quarantined: true },
        'degraded',
        'held_removal',
        'direct',
    ],
    ['a held removal', { quarantined: true }, 'degraded', 'held_removal', 'direct'],
    ['the last recall was late', { slow: true }, 'degraded', 'sidecar_slow', 'direct'],
    ['our text did not arrive', { notInPrompt: true }, 'degraded', 'not_in_prompt', 'direct'],
    ['no macro placed our text', { nowhere: true }, 'degraded', 'nowhere', 'direct'],
    ['meaning lags behind', { lag: { n: 9, seconds: null } }, 'ok', 'indexing', 'direct'],
    ['Vector Storage recalls too', { vectors: true }, 'ok', 'vectors_on', 'direct'],
    [
        'the built-in model',
        {
            direct: {
                health: { ...WELL, embedder: { state: 'ok', model: 'x', dim: 1, fallback: true } },
            },
        },
        'ok',
        'fallback_model',
        'direct',
    ],
])) {
    test(`${what}: ${state} ${step}`, () => {
        const judged = judge({ ...HOME, ...change });
        assert.deepEqual([judged.state, judged.step, judged.via], [state, step, via]);
        if (step) assert.ok(`soulmem.step_${step}` in ENGLISH, 'the step has words');
        assert.ok(`soulmem.state_${state}` in ENGLISH);
    });
}

/** @param {Record<string, any>} answers */
function fakeApi(answers) {
    const asked = /** @type {string[]} */ ([]);
    return {
        asked,
        call: async (/** @type {any} */ route) => {
            asked.push(route.kind);
            if (answers[route.kind] instanceof Error) throw answers[route.kind];
            return answers[route.kind];
        },
        listens: async () => Boolean(answers.listens),
        chatNames: async () => [],
    };
}
const trouble = (/** @type {object} */ about) => Object.assign(new Error('no'), about);
const way = { mode: /** @type {const} */ ('auto'), url: 'http://127.0.0.1:8731', token: '' };

test('the plugin is tried first, and alone when it answers', async () => {
    const api = fakeApi({ plugin: WELL });
    assert.deepEqual(await createProbe(api, () => way)(), {
        plugin: { health: WELL },
        direct: null,
    });
    assert.deepEqual(api.asked, ['plugin']);
});

test('without the plugin the direct way is tried', async () => {
    const api = fakeApi({ plugin: trouble(MISSING), direct: WELL });
    assert.deepEqual((await createProbe(api, () => way)()).direct, { health: WELL });
    assert.deepEqual(api.asked, ['plugin', 'direct']);
});

test('an answer that is not health is none', async () => {
    const { plugin } = await createProbe(
        fakeApi({ plugin: { hello: 1 }, direct: WELL }),
        () => way,
    )();
    assert.deepEqual(plugin, { status: 404, kind: 'http' });
});

test('a refusal that CORS hides is told from silence', async () => {
    const { direct } = await createProbe(
        fakeApi({ plugin: trouble(MISSING), direct: trouble(NETWORK), listens: true }),
        () => way,
    )();
    assert.equal(direct && 'listens' in direct && direct.listens, true);
});

test('a plugin that is not installed is asked for once a page, unless it is chosen', async () => {
    const api = fakeApi({ plugin: trouble(MISSING), direct: WELL });
    const chosen = { ...way, mode: /** @type {'auto' | 'plugin'} */ ('auto') };
    const probe = createProbe(api, () => chosen);
    await probe();
    assert.deepEqual(await probe(), {
        plugin: { status: 404, kind: 'http', code: undefined, listens: false },
        direct: { health: WELL },
    });
    chosen.mode = 'plugin';
    await probe();
    assert.deepEqual(api.asked, ['plugin', 'direct', 'direct', 'plugin']);
});

test('a chosen way is the only one tried', async () => {
    const api = fakeApi({ plugin: trouble(MISSING), direct: trouble(NETWORK) });
    await createProbe(api, () => ({ ...way, mode: 'plugin' }))();
    await createProbe(api, () => ({ ...way, mode: 'direct' }))();
    assert.deepEqual(api.asked, ['plugin', 'direct']);
});
