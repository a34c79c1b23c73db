import assert from 'node:assert/strict';
import { test } from 'node:test';
import { vanishedMessages } from '../../../extension_js/src/pages/quarantine_notice.js';

test('what vanished is what is stored and no longer in the chat', () => {
    const stored = ['a', 'b', 'c'].map(slot => ({ slot }));
    assert.deepEqual(
        vanishedMessages(stored, ['c', null, 'x']).map(message => message.slot),
        ['a', 'b'],
    );
});
