import assert from 'node:assert/strict';
import fs from 'node:fs';
import http from 'node:http';
import os from 'node:os';
import path from 'node:path';
import { after, before, test } from 'node:test';
import { obstacle } from '../../../plugin/autostart.mjs';
import { dataFolder, readConfig, readToken } from '../../../plugin/config.mjs';
import * as plugin from '../../../plugin/index.mjs';
import { createProxy, sidecarPath } from '../../../plugin/proxy.mjs';

/** @typedef {import('../../../plugin/config.mjs').Config} Config */

const folder = fs.mkdtempSync(path.join(os.tmpdir(), 'soulmem-plugin-'));
let sidecar = /** @type {http.Server} */ (/** @type {unknown} */ (null));
let tavern = /** @type {http.Server} */ (/** @type {unknown} */ (null));
let hasty = /** @type {http.Server} */ (/** @type {unknown} */ (null)); // waits PATIENCE only
const PATIENCE = 500;
const seen =
    /** @type {{method?: string, url?: string, headers: http.IncomingHttpHeaders, body: string}[]} */ ([]);
const config = /** @type {Config} */ ({
    url: '',
    data: folder,
    token: 'a-token-of-the-sidecar',
    autostart: false,
    python: null,
});
let user = 'default-user';
let closed = 0;

/** What SillyTavern's Express does before a plugin's router gets a request.
 * @param {ReturnType<typeof createProxy>} proxy */
const likeExpress =
    proxy => async (/** @type {any} */ request, /** @type {http.ServerResponse} */ response) => {
        let text = '';
        for await (const chunk of request) text += chunk;
        request.body = text ? JSON.parse(text) : {};
        request.user = user ? { profile: { handle: user } } : undefined;
        request.path = request.url.split('?')[0];
        proxy(request, response);
    };
const port = (/** @type {http.Server} */ server) =>
    /** @type {import('node:net').AddressInfo} */ (server.address()).port;
const listen = (/** @type {http.Server} */ server) =>
    new Promise(resolve => server.listen(0, '127.0.0.1', () => resolve(undefined)));
const ask = (
    /** @type {string} */ where,
    /** @type {RequestInit} */ options = {},
    /** @type {http.Server} */ server = tavern,
) =>
    fetch(`http://127.0.0.1:${port(server)}${where}`, {
        ...options,
        headers: { 'Content-Type': 'application/json', ...options.headers },
    });

before(async () => {
    sidecar = http.createServer(async (request, response) => {
        let body = '';
        for await (const chunk of request) body += chunk;
        seen.push({ method: request.method, url: request.url, headers: request.headers, body });
        response.on('close', () => closed++);
        if (request.url === '/v1/silence') return;
        if (request.url === '/v1/events') {
            response.writeHead(200, { 'Content-Type': 'text/event-stream' });
            response.write('data: 1\n\n');
            return;
        }
        const status = request.url === '/v1/chats/conflict' ? 409 : 200;
        response.writeHead(status, { 'Content-Type': 'application/json' });
        response.end(
            status === 409
                ? '{"error":"conflict","message":"send all","field":"base"}'
                : '{"fine":"是"}',
        );
    });
    await listen(sidecar);
    config.url = `http://127.0.0.1:${port(sidecar)}`;
    tavern = http.createServer(likeExpress(createProxy(config, { patience: 60_000 })));
    hasty = http.createServer(likeExpress(createProxy(config, { patience: PATIENCE })));
    await listen(tavern);
    await listen(hasty);
});
after(() => {
    for (const server of [sidecar, tavern, hasty]) {
        server.closeAllConnections();
        server.close();
    }
    fs.rmSync(folder, { recursive: true });
});

test('a request passes with the token and the user that SillyTavern vouches for', async () => {
    user = 'alice';
    const answer = await ask('/chats/c1?x=1', {
        method: 'PUT',
        body: '{"a":"林"}',
        headers: { 'X-SoulMem-User': 'bob', Authorization: 'Bearer guess' },
    });
    assert.deepEqual([answer.status, await answer.json()], [200, { fine: '是' }]);
    const { method, url, headers, body } = seen.at(-1) ?? assert.fail();
    assert.deepEqual([method, url, body], ['PUT', '/v1/chats/c1?x=1', '{"a":"林"}']);
    assert.deepEqual(
        [headers['x-soulmem-user'], headers.authorization],
        ['alice', 'Bearer a-token-of-the-sidecar'],
    );
    assert.deepEqual([headers.origin, headers.cookie], [undefined, undefined]);
    user = 'default-user';
});

test('what another page has loaded is refused, as an image or a script would be', async () => {
    for (const from of ['cross-site', 'same-site']) {
        const before = seen.length;
        const answer = await ask('/llm/next', { headers: { 'Sec-Fetch-Site': from } });
        assert.deepEqual(
            [answer.status, (await answer.json()).error, seen.length],
            [403, 'forbidden', before],
        );
    }
    assert.equal(
        (await ask('/health', { headers: { 'Sec-Fetch-Site': 'same-origin' } })).status,
        200,
    );
});

test('a GET carries no body', async () => {
    await ask('/health');
    assert.deepEqual([seen.at(-1)?.url, seen.at(-1)?.body], ['/v1/health', '']);
});

test('a DELETE passes without a body', async () => {
    const answer = await ask('/llm/r1', {
        method: 'DELETE',
        headers: { 'Content-Type': 'application/json' },
    });
    const { method, url, body } = seen.at(-1) ?? assert.fail();
    assert.deepEqual([answer.status, method, url, body], [200, 'DELETE', '/v1/llm/r1', '']);
});

test('a refusal of the sidecar passes as it is', async () => {
    const answer = await ask('/chats/conflict', { method: 'PUT', body: '{}' });
    assert.deepEqual(
        [answer.status, await answer.json()],
        [409, { error: 'conflict', message: 'send all', field: 'base' }],
    );
});

test('who is not logged in is refused', async () => {
    user = '';
    const answer = await ask('/health');
    assert.deepEqual([answer.status, (await answer.json()).error], [403, 'forbidden']);
    user = 'default-user';
});

test('without the token several users may not share one memory', async () => {
    const bare = http.createServer(likeExpress(createProxy({ ...config, token: null })));
    await listen(bare);
    const status = async () => (await fetch(`http://127.0.0.1:${port(bare)}/health`)).status;
    assert.equal(await status(), 200, 'one user needs no token');
    assert.equal(seen.at(-1)?.headers['x-soulmem-user'], undefined);
    user = 'alice';
    assert.equal(await status(), 401);
    user = 'default-user';
    bare.close();
});

test("a silent sidecar is 502 in the contract's shape, in time", async () => {
    const started = Date.now();
    const answer = await ask('/silence', {}, hasty);
    assert.deepEqual([answer.status, (await answer.json()).error], [502, 'sidecar_timeout']);
    assert.ok(Date.now() - started < 10_000);
});

test('a sidecar that is down is 502 and named', async () => {
    const alone = http.createServer(
        likeExpress(createProxy({ ...config, url: 'http://127.0.0.1:9' })),
    );
    await listen(alone);
    const answer = await fetch(`http://127.0.0.1:${port(alone)}/health`);
    const { error, message } = await answer.json();
    assert.deepEqual([answer.status, error], [502, 'sidecar_down']);
    assert.match(message, /127\.0\.0\.1:9/);
    alone.close();
});

test('the page is told why the sidecar is not started again', async () => {
    const why = () => 'the sidecar crashed 5 times in a row';
    const alone = http.createServer(
        likeExpress(createProxy({ ...config, url: 'http://127.0.0.1:9' }, { why })),
    );
    await listen(alone);
    const { message } = await (await fetch(`http://127.0.0.1:${port(alone)}/health`)).json();
    assert.match(message, /crashed 5 times in a row/);
    alone.close();
});

test('a stream flows, outlives the patience, and ends upstream when the page leaves', async () => {
    const leave = new AbortController();
    const answer = await ask('/events', { signal: leave.signal }, hasty);
    const reader = /** @type {ReadableStreamDefaultReader<Uint8Array>} */ (
        answer.body?.getReader()
    );
    assert.equal(Buffer.from((await reader.read()).value ?? []).toString(), 'data: 1\n\n');
    await new Promise(resolve => setTimeout(resolve, 1.2 * PATIENCE));
    const before = closed;
    leave.abort();
    await reader.read().catch(() => undefined);
    for (let i = 0; i < 100 && closed === before; i++)
        await new Promise(resolve => setTimeout(resolve, 10));
    assert.ok(closed > before);
});

test('what is too large stays here', async () => {
    const before = seen.length;
    const answer = await ask('/recall', {
        method: 'POST',
        body: JSON.stringify({ text: 'x'.repeat(33 * 1024 * 1024) }),
    });
    assert.deepEqual(
        [answer.status, (await answer.json()).error, seen.length],
        [413, 'too_large', before],
    );
});

test('other methods are refused', async () => {
    for (const method of ['OPTIONS', 'HEAD'])
        assert.equal((await ask('/health', { method })).status, 405);
});

for (const [requested, wanted] of /** @type {[string, string | null][]} */ ([
    ['/health', '/v1/health'],
    ['/v1/health', '/v1/health'],
    ['/souls/s1/fingerprint', '/v1/souls/s1/fingerprint'],
    ['//health/', '/v1/health'],
    ['/', null],
    ['/../openapi.json', null],
    ['/a/../b', null],
    ['/test/clock', null],
    ['/v1/test/idle', null],
    ['/a%2fb', null],
    ['/a b', null],
    ['/@x', null],
    ['/V1/v1/souls', '/v1/souls'],
    ['/v1/v1/test/clock', null],
    ['/v1/TEST/clock', null],
]))
    test(`${requested} is ${wanted}`, () => assert.equal(sidecarPath(requested), wanted));

test('a header that no HTTP can carry is refused', async () => {
    user = 'al\r\nX-Other: 1';
    const answer = await ask('/souls');
    user = 'default-user';
    assert.equal(answer.status, 400);
});

for (const [
    what,
    env,
    platform,
    wanted,
] of /** @type {[string, Record<string, string>, string, string][]} */ ([
    ['Linux', {}, 'linux', '/home/u/.local/share/soulmem'],
    ['Linux with XDG', { XDG_DATA_HOME: '/x' }, 'linux', '/x/soulmem'],
    [
        'XDG that is not absolute does not count',
        { XDG_DATA_HOME: 'x' },
        'linux',
        '/home/u/.local/share/soulmem',
    ],
    ['macOS', {}, 'darwin', '/home/u/Library/Application Support/soulmem'],
    ['Windows', { LOCALAPPDATA: 'C:\\L' }, 'win32', 'C:\\L\\soulmem'],
    ['given', { SOULMEM_DATA: '/d', XDG_DATA_HOME: '/x' }, 'linux', '/d'],
    ['given from home', { SOULMEM_DATA: '~/d' }, 'linux', '/home/u/d'],
    ['given by the long name', { SOULMEM_STORE_DATA: '/e' }, 'linux', '/e'],
]))
    test(`data folder, ${what}: ${wanted}`, () =>
        assert.equal(dataFolder(env, platform, '/home/u'), wanted));

test('settings: environment, then the file, then defaults; a broken file is ignored', () => {
    const file = path.join(folder, 'config.json');
    const read = (/** @type {Record<string, string>} */ env) =>
        readConfig({ env, file, platform: 'linux', home: '/home/u' });
    assert.deepEqual(read({}), {
        url: 'http://127.0.0.1:8731',
        data: '/home/u/.local/share/soulmem',
        token: null,
        autostart: false,
        python: null,
    });
    fs.writeFileSync(
        file,
        JSON.stringify({ url: 'http://10.0.0.2:9000/v1/', autostart: true, data: '/data' }),
    );
    assert.deepEqual(
        [read({}).url, read({}).autostart, read({}).data],
        ['http://10.0.0.2:9000', true, '/data'],
    );
    assert.deepEqual(
        [
            read({ SOULMEM_URL: 'http://h:1' }).url,
            read({ SOULMEM_AUTOSTART: '0' }).autostart,
            read({ SOULMEM_DATA: '/e' }).data,
        ],
        ['http://h:1', false, '/e'],
    );
    fs.writeFileSync(file, '{');
    assert.equal(read({}).autostart, false);
});

test('the token is read when it is needed: the sidecar may write it after we started', () => {
    const late = { ...config, token: null };
    assert.equal(readToken(late), null);
    fs.writeFileSync(path.join(folder, 'token'), 'written-later\n');
    assert.equal(readToken(late), 'written-later');
    fs.rmSync(path.join(folder, 'token'));
});

test('the sidecar is not started in a container, in Termux, or where there is none', () => {
    const root = '/clone';
    const plain = (/** @type {string} */ file) => file.endsWith('start.py');
    assert.equal(obstacle({}, plain, root), null);
    assert.match(String(obstacle({}, () => true, root)), /container/);
    assert.match(String(obstacle({ container: 'podman' }, plain, root)), /container/);
    assert.match(
        String(obstacle({ PREFIX: '/data/data/com.termux/files/usr' }, plain, root)),
        /Termux/,
    );
    assert.match(String(obstacle({}, () => false, root)), /start\.py/);
});

test('SillyTavern finds what it asks of a plugin', async () => {
    assert.match(plugin.info.id, /^[a-z0-9_-]+$/);
    assert.equal(typeof plugin.info.name + typeof plugin.info.description, 'stringstring');
    const used = /** @type {unknown[]} */ ([]);
    await plugin.init({ use: handler => used.push(handler) });
    assert.equal(used.length, 1);
    await plugin.exit();
});
