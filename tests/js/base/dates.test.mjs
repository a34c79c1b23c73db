import assert from 'node:assert/strict';
import { readFileSync } from 'node:fs';
import { test } from 'node:test';
import { isoDate, storyDate } from '../../../extension_js/src/base/dates.js';

// The same table that the tests of the sidecar read.
const table = JSON.parse(
    readFileSync(new URL('../../transfer/dates.json', import.meta.url), 'utf8'),
);
process.env.TZ = table.zone;

for (const [value, wanted] of /** @type {[unknown, string | null][]} */ (table.send_dates)) {
    test(`${JSON.stringify(value)} is ${wanted}`, () => assert.equal(isoDate(value), wanted));
}

for (const value of [undefined, NaN, Infinity, '9'.repeat(1_000_000)]) {
    test(`${String(value).slice(0, 20)} is no date`, () => assert.equal(isoDate(value), null));
}

for (const [text, wanted] of /** @type {[string, string | null][]} */ (table.story_dates)) {
    test(`the story's date in ${JSON.stringify(text.slice(0, 60))} is ${wanted}`, () =>
        assert.equal(storyDate(text), wanted));
}

test('a megabyte in a bracket is no date', () =>
    assert.equal(storyDate(`[${'date '.repeat(200_000)}`), null));
