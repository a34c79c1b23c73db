import assert from 'node:assert/strict';
import { test } from 'node:test';
import { ENGLISH, say } from '../texts.mjs';
import {
    actionText,
    fieldTexts,
    isUndoable,
    jobOf,
    rewordingOf,
    textDifference,
} from '../../../extension_js/src/widgets/audit_text.js';

/** @typedef {import('../../../extension_js/src/base/types.js').AuditEntry} AuditEntry */


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
        { action: 'learn', before: { edges: {} }, after: { edges: {} } },
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
        assert.ok(`soulmem.by_${actor}` in ENGLISH, actor);
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
        assert.ok(`soulmem.did_${action}` in ENGLISH, action);
    for (const state of ['active', 'bin', 'retracted', 'stale', 'forgotten'])
        assert.ok(`soulmem.value_${state}` in ENGLISH, state);
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

test('what a model made of a memory is told apart from what is kept of it by hand', () => {
    const record = (/** @type {string | null} */ reworded) => ({ fading: { m1: { reworded } } });
    const worded = entry({ actor: 'archivist', before: { fading: { m1: null } }, after: record('c') });
    assert.deepEqual(rewordingOf(worded), { before: null, after: 'c' });
    assert.equal(actionText(worded, say), 'The model for memory work: put into words what had blurred');
    const kept = entry({ actor: 'user', before: record(null), after: record(null) });
    assert.equal(rewordingOf(kept), undefined);
    assert.equal(actionText(kept, say), 'You: changed what is kept of it');
    assert.equal(rewordingOf(entry()), undefined);
    const both = entry({ before: { text: 'a', ...record(null) }, after: { text: 'b', ...record(null) } });
    assert.match(actionText(both, say), /changed it$/);
});
