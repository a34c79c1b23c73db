import assert from 'node:assert/strict';
import { test } from 'node:test';
import { ApiError } from '../../../extension_js/src/link/api.js';
import { binnedBy } from '../../../extension_js/src/pages/bin_page.js';
import { vanishedMessages } from '../../../extension_js/src/pages/quarantine_notice.js';
import { createMemoryApi, queryOf } from '../../../extension_js/src/link/memory_api.js';
import { createSay, EN } from '../../../extension_js/src/base/strings.js';
import {
    actionText,
    textDifference,
    fieldTexts,
    isUndoable,
    jobOf,
} from '../../../extension_js/src/widgets/audit_text.js';
import { errorText } from '../../../extension_js/src/widgets/error_text.js';

/** @typedef {import('../../../extension_js/src/base/types.js').AuditEntry} AuditEntry */

const say = createSay(english => english);

/** @param {Partial<AuditEntry>} [about] @returns {AuditEntry} */
const entry = about => ({
    id: 'c1',
    at: '2026-01-01T00:00:00Z',
    actor: 'engine',
    action: 'change',
    target: 'm1',
    before: { text: 'a' },
    after: { text: 'b' },
    source: '',
    reason: '',
    ...about,
});

test('an address holds only what was asked, safely written', () => {
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

test('each wish goes through its door of the contract', async () => {
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
        ['GET', '/memories?soul=s1&state=bin&limit=30&cursor=next', undefined],
        ['PATCH', '/memories/m1', { locked: true, revision: 4 }],
        ['DELETE', '/memories/m1', undefined],
        ['DELETE', '/memories/m1?confirm=permanent', undefined],
        ['POST', '/undo', { soul: 's1', job: 'j1' }],
        ['POST', '/deletions/d1', { decision: 'reject' }],
        ['POST', '/feedback', { trace: 't1', memory: 'm1', verdict: 'not_now' }],
        ['DELETE', '/memories/m1?confirm=purge', undefined],
    ]);
});

test('what can be undone is what the sidecar undoes', () => {
    assert.ok(isUndoable(entry()));
    assert.ok(
        isUndoable(
            entry({ actor: 'import', action: 'create', before: null, after: { text: 'b' } }),
        ),
    );
    assert.ok(
        isUndoable(entry({ actor: 'user', action: 'feedback' })),
        'feedback is undone by name',
    );
    for (const no of /** @type {Partial<AuditEntry>[]} */ ([
        { actor: 'user' },
        { action: 'read' },
        { action: 'purge' },
        { action: 'undo' },
        { action: 'ask' },
        { before: null },
        { action: 'create', before: null, after: null },
    ]))
        assert.ok(!isUndoable(entry(no)), JSON.stringify(no));
});

test('a job is known by its id, and never for the user', () => {
    const job = `j${'0'.repeat(22)}`;
    assert.equal(jobOf(entry({ source: job })), job);
    assert.equal(
        jobOf(entry({ source: 'idle-20260501T120000' })),
        'idle-20260501T120000',
        'a quiet moment',
    );
    assert.equal(jobOf(entry({ source: job, actor: 'user' })), null);
    for (const source of ['', 'idle-1', 'forget', 'j1', 'c00000000000000001', `t${'0'.repeat(22)}`])
        assert.equal(jobOf(entry({ source })), null, source);
});

test('a change is told by who did it, and field by field', () => {
    assert.equal(actionText(entry(), say), 'SoulMem: changed it');
    assert.equal(
        actionText(
            entry({ before: { edges: { e1: {} } }, after: { edges: { e1: {}, e2: {} } } }),
            say,
        ),
        'SoulMem: changed 2 links',
    );
    assert.equal(
        actionText(entry({ actor: 'user', action: 'bin' }), say),
        'You: moved it to the bin',
    );
    const fields = fieldTexts(
        entry({
            before: { locked: false, tags: [], state: 'active' },
            after: { locked: true, tags: ['a', 'b'], state: 'bin' },
        }),
        say,
    );
    assert.deepEqual(fields, [
        'locked: no → yes',
        'tags: – → a, b',
        'state: remembered → in the bin',
    ]);
    assert.deepEqual(
        fieldTexts(entry({ before: null, after: { locked: true } }), say),
        [],
        'a new memory changed nothing',
    );
});

test('every actor, action, field and state of the contract has its words', () => {
    for (const actor of ['user', 'lead', 'archivist', 'engine', 'import'])
        assert.ok(`by_${actor}` in EN, actor);
    for (const action of [
        'create',
        'change',
        'bin',
        'restore',
        'purge',
        'read',
        'learn',
        'feedback',
        'ask',
        'reject',
        'undo',
    ])
        assert.ok(`did_${action}` in EN, action);
    for (const state of ['active', 'bin', 'retracted', 'stale', 'forgotten'])
        assert.ok(`value_${state}` in EN, state);
});

test('two wordings differ where they differ, whole words and signs', () => {
    assert.deepEqual(textDifference('my sister is here', 'my cousin is here'), {
        start: 'my ',
        removed: 'sister',
        added: 'cousin',
        end: ' is here',
    });
    assert.deepEqual(textDifference('藏在橡树里', '藏在井里'), {
        start: '藏在',
        removed: '橡树',
        added: '井',
        end: '里',
    });
    const samples = ['', 'a', 'a a', 'the key 🗝️ lies', 'the 🔑 lies', '钥匙', '钥 匙', 'aa aa aa'];
    for (const before of samples) {
        for (const after of samples) {
            const { start, removed, added, end } = textDifference(before, after);
            assert.equal(start + removed + end, before);
            assert.equal(start + added + end, after);
            if (before === after) assert.equal(removed + added, '');
        }
    }
});

test('the bin knows the latest actionText that led there', () => {
    const audit = [
        entry({
            id: 'c3',
            target: 'm1',
            actor: 'engine',
            action: 'bin',
            after: { state: 'forgotten' },
        }),
        entry({
            id: 'c2',
            target: 'm1',
            actor: 'user',
            action: 'restore',
            after: { state: 'active' },
        }),
        entry({ id: 'c1', target: 'm1', actor: 'user', action: 'bin', after: { state: 'bin' } }),
        entry({ id: 'c0', target: 'm2', action: 'change', after: { text: 'x' } }),
    ];
    assert.deepEqual(
        [...binnedBy(audit)].map(([memory, by]) => [memory, by.id]),
        [['m1', 'c3']],
    );
});

test('what vanishedMessages is what is stored and no longer there', () => {
    const stored = ['a', 'b', 'c'].map(slot => ({ slot }));
    assert.deepEqual(
        vanishedMessages(stored, ['c', null, 'x']).map(message => message.slot),
        ['a', 'b'],
    );
});

test('a failure is told with what helps', () => {
    const facts = { folder: 'F', origin: 'O', url: 'U', quarantined: 0 };
    const link = /** @type {any} */ ({
        state: 'ok',
        step: '',
        via: 'plugin',
        health: null,
        error: null,
    });
    const away = { ...link, state: 'down', step: 'sidecar_down', via: null };
    const http = (/** @type {string} */ code, status = 409) =>
        new ApiError('memory m1 is at revision 2', { kind: 'http', status, code });
    assert.match(errorText(http('conflict'), link, facts, say), /changed elsewhere.*revision 2/s);
    assert.match(errorText(http('forbidden', 403), link, facts, say), /remove "permanent"/);
    assert.match(
        errorText(http('sidecar_down', 502), away, facts, say),
        /nothing was changed. Nothing answers at U. Start SoulMem/,
    );
    assert.match(errorText(new ApiError('x', { kind: 'network' }), away, facts, say), /Start\.bat/);
    assert.match(errorText(new ApiError('x', { kind: 'timeout' }), link, facts, say), /Try again/);
    assert.match(errorText(http('internal', 500), link, facts, say), /did not work: memory m1/);
    assert.match(errorText(new Error('odd'), link, facts, say), /odd/);
});
