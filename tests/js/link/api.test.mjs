import assert from 'node:assert/strict';
import http from 'node:http';
import { after, before, test } from 'node:test';
import { ApiError, baseUrl, createApi } from '../../../extension_js/src/link/api.js';

let server = /** @type {http.Server} */ (/** @type {unknown} */ (null));
let url = '';
const seen =
    /** @type {{method?: string, url?: string, headers: http.IncomingHttpHeaders, body: string}[]} */ ([]);

before(async () => {
    server = http.createServer(async (request, response) => {
        let body = '';
        for await (const chunk of request) body += chunk;
        seen.push({ method: request.method, url: request.url, headers: request.headers, body });
        if (request.url === '/v1/silence') return;
        if (request.url === '/v1/half')
            return void response
                .writeHead(404, { 'Content-Type': 'application/json' })
                .write('{"err');
        const refused = request.url === '/v1/refused';
        response.writeHead(refused ? 409 : 200, { 'Content-Type': 'application/json' });
        response.end(
            request.url === '/v1/html'
                ? '<p>login</p>'
                : JSON.stringify(
                      refused
                          ? { error: 'conflict', message: 'send all', field: 'base' }
                          : { fine: true },
                  ),
        );
    });
    await new Promise(resolve => server.listen(0, '127.0.0.1', () => resolve(undefined)));
    url = `http://127.0.0.1:${/** @type {import('node:net').AddressInfo} */ (server.address()).port}`;
});
after(() => {
    server.closeAllConnections();
    server.close();
});

const api = createApi(() => ({ 'X-CSRF-Token': 'csrf', 'Content-Type': 'application/json' }));
const direct = (/** @type {string} */ token = '') =>
    /** @type {const} */ ({ kind: 'direct', url, token });

test('a call sends JSON and brings the answer', async () => {
    assert.deepEqual(await api.call(direct('secret'), 'PUT', '/chats/c1', { a: '林' }), {
        fine: true,
    });
    const { method, url: path, headers, body } = seen.at(-1) ?? assert.fail();
    assert.deepEqual(
        [method, path, headers['content-type'], headers.authorization, body],
        ['PUT', '/v1/chats/c1', 'application/json', 'Bearer secret', '{"a":"林"}'],
    );
});

test('without a token none is sent, without a body no type', async () => {
    await api.call(direct(), 'GET', '/health');
    const { headers } = seen.at(-1) ?? assert.fail();
    assert.deepEqual([headers.authorization, headers['content-type']], [undefined, undefined]);
});

test("the plugin gets SillyTavern's headers, on the page's own origin", async () => {
    const asked = /** @type {any[]} */ ([]);
    const viaPlugin = createApi(
        () => ({ 'X-CSRF-Token': 'csrf' }),
        /** @type {any} */ (
            async (/** @type {string} */ path, /** @type {any} */ options) => {
                asked.push([path, options.headers, options.credentials]);
                return Response.json({});
            }
        ),
    );
    await viaPlugin.call({ kind: 'plugin' }, 'POST', '/recall', {});
    assert.deepEqual(asked, [
        ['/api/plugins/soulmem/recall', { 'X-CSRF-Token': 'csrf' }, 'same-origin'],
    ]);
});

test("a refusal keeps the contract's code, message and field", async () => {
    await assert.rejects(api.call(direct(), 'PUT', '/refused', {}), {
        name: 'ApiError',
        kind: 'http',
        status: 409,
        code: 'conflict',
        field: 'base',
        message: 'send all',
    });
});

test('an answer that is not JSON is an error, not data', async () => {
    await assert.rejects(api.call(direct(), 'GET', '/html'), { kind: 'http', code: 'no_json' });
});

test('silence ends at the time-out, and a stop at once', async () => {
    const started = Date.now();
    await assert.rejects(api.call(direct(), 'GET', '/silence', undefined, { timeout: 60 }), {
        kind: 'timeout',
    });
    await assert.rejects(
        api.call(direct(), 'GET', '/half', undefined, { timeout: 500 }),
        { kind: 'timeout' },
        'in the middle of the answer',
    );
    const stop = new AbortController();
    setTimeout(() => stop.abort(), 30);
    await assert.rejects(
        api.call(direct(), 'GET', '/silence', undefined, { signal: stop.signal }),
        { kind: 'aborted' },
    );
    await assert.rejects(
        api.call(direct(), 'GET', '/health', undefined, { signal: AbortSignal.abort() }),
        { kind: 'aborted' },
    );
    assert.ok(Date.now() - started < 20_000);
});

test('nobody there is trouble with the network', async () => {
    const error = await api
        .call({ kind: 'direct', url: 'http://127.0.0.1:9', token: '' }, 'GET', '/health')
        .catch(caught => caught);
    assert.ok(error instanceof ApiError);
    assert.equal(error.kind, 'network');
    assert.equal(await api.listens('http://127.0.0.1:9', 500), false);
    assert.equal(await api.listens(url, 5000), true);
});

test('addresses are taken as people paste them', () => {
    for (const pasted of ['http://h:1', 'http://h:1/', ' http://h:1/v1/ ', 'http://h:1/v1'])
        assert.equal(baseUrl(pasted), 'http://h:1');
});

test('chat names come without the ending; an error means none', async () => {
    const of = (/** @type {unknown} */ answer) =>
        createApi(() => ({}), /** @type {any} */ (async () => Response.json(answer))).chatNames(
            'a.png',
        );
    assert.deepEqual(await of([{ file_name: 'A.jsonl' }, { file_name: 'B - Branch #1.jsonl' }]), [
        'A',
        'B - Branch #1',
    ]);
    assert.deepEqual(await of({ error: true }), []);
});
