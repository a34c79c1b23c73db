import assert from 'node:assert/strict';
import { test } from 'node:test';
import { isoDate } from '../../extension_js/src/dates.js';

const local = (/** @type {[number, number, number, number, number]} */ ...parts) => new Date(...parts).toISOString();

for (const [given, wanted] of /** @type {[unknown, string | null][]} */ ([
    ['2026-11-21T22:35:00.123Z', '2026-11-21T22:35:00.123Z'],
    ['2026-11-21T22:35:00+08:00', '2026-11-21T14:35:00.000Z'],
    [1700000000000, '2023-11-14T22:13:20.000Z'],
    ['1700000000000', '2023-11-14T22:13:20.000Z'],
    ['2023-7-15 @20h 44m 06s 330ms', '2023-07-15T20:44:06.330Z'],
    ['2024-07-12@01h31m37s', '2024-07-12T01:31:37.000Z'],
    ['June 19, 2023 2:20pm', local(2023, 5, 19, 14, 20)],
    ['June 9, 2023 12:05am', local(2023, 5, 9, 0, 5)],
    ['Foo 9, 2023 12:05am', null],
    ['', null], [undefined, null], [null, null], ['yesterday', null], [NaN, null], [8.7e15, null],
])) {
    test(`${JSON.stringify(given) ?? 'undefined'} is ${wanted}`, () => assert.equal(isoDate(given), wanted));
}
