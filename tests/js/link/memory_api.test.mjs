import assert from 'node:assert/strict';
import { test } from 'node:test';
import { createMemoryApi, queryOf } from '../../../extension_js/src/link/memory_api.js';

test('an address holds only the values that are set, escaped', () => {
    assert.equal(
        queryOf({
            soul: 's1',
            q: 'key & "oak"? 橡树',
            kind: '',
            cursor: null,
            permanent: undefined,
            limit: 30,
        }),
        '?soul=s1&q=key+%26+%22oak%22%3F+%E6%A9%A1%E6%A0%91&limit=30',
    );
    assert.equal(queryOf({ q: '' }), '');
});

test('each request goes to its route of the contract', async () => {
    const asked = /** @type {[string, string, unknown][]} */ ([]);
    const memories = createMemoryApi(async (method, path, body) => {
        asked.push([method, path, body]);
        return {
            deletions: [
                { state: 'awaiting_confirmation', request: 'd1' },
                { state: 'rejected', request: 'd2' },
            ],
            chats: [],
            messages: [],
            souls: [],
        };
    });
    const memory = /** @type {any} */ ({ id: 'm1', revision: 4, permanent: false });
    await memories.list('s1', { state: 'bin', q: '' }, 'next');
    await memories.change(memory, { locked: true });
    await memories.moveToBin(memory);
    await memories.moveToBin({ ...memory, permanent: true });
    await memories.undo('s1', { job: 'j1' });
    await memories.decide('d1', 'reject');
    await memories.judge('t1', 'm1', 'not_now');
    await memories.purge('m1');
    assert.deepEqual(
        (await memories.deletionRequests('s1')).map(request => request.request),
        ['d1'],
        'a decided request waits for nobody',
    );
    assert.deepEqual(asked.slice(0, 8), [
        ['GET', '/memories?soul=s1&state=bin&limit=30&cursor=next&reads=true', undefined],
        ['PATCH', '/memories/m1', { locked: true, revision: 4 }],
        ['DELETE', '/memories/m1', undefined],
        ['DELETE', '/memories/m1?confirm=permanent', undefined],
        ['POST', '/undo', { soul: 's1', job: 'j1' }],
        ['POST', '/deletions/d1', { decision: 'reject' }],
        ['POST', '/feedback', { trace: 't1', memory: 'm1', verdict: 'not_now' }],
        ['DELETE', '/memories/m1?confirm=purge', undefined],
    ]);
});
