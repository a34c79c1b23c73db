import assert from 'node:assert/strict';
import { test } from 'node:test';
import { createIndexing } from '../../../extension_js/src/link/indexing.js';

const SECOND = 1000; // ms

test('what waits at one look only is no lag', () => {
    const indexing = createIndexing();
    indexing.note(2, 0);
    assert.equal(indexing.lag(), null);
    indexing.note(0, 5 * SECOND);
    indexing.note(3, 60 * SECOND);
    assert.equal(indexing.lag(), null);
});

test('a lag has its number, and its end by the pace so far', () => {
    const indexing = createIndexing();
    indexing.note(100, 0);
    indexing.note(100, 5 * SECOND);
    assert.deepEqual(indexing.lag(), { n: 100, seconds: null }, 'nothing was done yet');
    indexing.note(80, 10 * SECOND);
    assert.deepEqual(indexing.lag(), { n: 80, seconds: 40 });
    indexing.note(300, 15 * SECOND);
    assert.deepEqual(indexing.lag(), { n: 300, seconds: null }, 'more came: a new pace');
    indexing.note(0, 20 * SECOND);
    assert.equal(indexing.lag(), null);
});
