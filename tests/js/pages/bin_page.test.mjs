import assert from 'node:assert/strict';
import { test } from 'node:test';
import { binnedBy } from '../../../extension_js/src/pages/bin_page.js';

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

test('the bin shows the latest change that led there', () => {
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
