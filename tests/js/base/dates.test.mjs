import assert from 'node:assert/strict';
import { test } from 'node:test';
import { isoDate, storyDate } from '../../../extension_js/src/base/dates.js';

const local = (/** @type {[number, number, number, number, number]} */ ...parts) =>
    new Date(...parts).toISOString();

for (const [value, wanted] of /** @type {[unknown, string | null][]} */ ([
    ['2026-11-21T22:35:00.123Z', '2026-11-21T22:35:00.123Z'],
    ['2026-11-21T22:35:00+08:00', '2026-11-21T14:35:00.000Z'],
    [1700000000000, '2023-11-14T22:13:20.000Z'],
    ['1700000000000', '2023-11-14T22:13:20.000Z'],
    ['2023-7-15 @20h 44m 06s 330ms', '2023-07-15T20:44:06.330Z'],
    ['2024-07-12@01h31m37s', '2024-07-12T01:31:37.000Z'],
    ['June 19, 2023 2:20pm', local(2023, 5, 19, 14, 20)],
    ['June 9, 2023 12:05am', local(2023, 5, 9, 0, 5)],
    ['Foo 9, 2023 12:05am', null],
    ['', null],
    [undefined, null],
    [null, null],
    ['yesterday', null],
    [NaN, null],
    [8.7e15, null],
])) {
    test(`${JSON.stringify(value) ?? 'undefined'} is ${wanted}`, () =>
        assert.equal(isoDate(value), wanted));
}

for (const [text, wanted] of /** @type {[string, string | null][]} */ ([
    ['Date: 812-05-03\nThe rain had stopped.', '0812-05-03T00:00:00.000Z'],
    [
        'The rain had stopped.\n\n**[Date: May 3rd, 1924, 18:30 | Place: the mill]**',
        '1924-05-03T18:30:00.000Z',
    ],
    ['[3 May 1924]\nHe nods.', '1924-05-03T00:00:00.000Z'],
    ['【日期】812年5月3日 清晨\n她点点头。', '0812-05-03T00:00:00.000Z'],
    ['日期：2031-05-03 07:15\n她点点头。', '2031-05-03T07:15:00.000Z'],
    ['[2031-05-03]\nA day passes.\nAnd another.\n[2031-05-05]', '2031-05-05T00:00:00.000Z'],
    ['`Current Date: Monday, June 9, 2031`', '2031-06-09T00:00:00.000Z'],
    ['I was born on 3 May 1924.', null],
    ['2031-05-03 is my birthday.', null],
    ['Date: 2031-13-03', null],
    ['Date: soon', null],
    ['Dates: 2031-01-03', null],
    ['[12.05.2031]', null],
    ['Time: 18:30', null],
    ['', null],
    [`[${'date '.repeat(30_000)}`, null],
])) {
    test(`the story's date in ${JSON.stringify(text.slice(0, 60))} is ${wanted}`, () =>
        assert.equal(storyDate(text), wanted));
}
