import assert from 'node:assert/strict';
import { test } from 'node:test';
import { el } from '../../../extension_js/src/base/dom.js';
import {
    kindLabel,
    localTime,
    memoryBadges,
    memoryRow,
} from '../../../extension_js/src/widgets/memory_badges.js';
import { paged } from '../../../extension_js/src/widgets/paging.js';
import { newPage } from '../dom.mjs';
import { say } from '../texts.mjs';
import { textsIn } from './context.mjs';

/** A list of these pages; a row "-" is not shown. @param {string[][]} pages */
async function listOf(pages) {
    newPage();
    const asked = /** @type {(string | null)[]} */ ([]);
    const view = /** @type {any} */ (
        await paged({
            fetch: async cursor => {
                asked.push(cursor);
                const number = Number(cursor ?? 0);
                const next = number + 1 < pages.length ? String(number + 1) : null;
                return { rows: pages[number], cursor: next };
            },
            draw: row => (row === '-' ? null : el('li', { text: row })),
            more: 'More',
            none: 'Nothing.',
            attempt: async work => (await work(), true),
        })
    );
    return { view, asked, rows: () => textsIn(view, 'li') };
}

test('a list goes on page by page and ends without a button', async () => {
    const { view, asked, rows } = await listOf([['a'], ['b', '-'], ['c']]);
    assert.deepEqual(rows(), ['a']);
    await view.querySelector('.soulmem_more').click();
    assert.deepEqual(rows(), ['a', 'b']);
    await view.querySelector('.soulmem_more').click();
    assert.deepEqual(rows(), ['a', 'b', 'c']);
    assert.equal(view.querySelector('.soulmem_foot').textContent, '');
    assert.deepEqual(asked, [null, '1', '2']);
});

test('pages without anything to show are passed over, and a list of such is empty', async () => {
    const some = await listOf([['-'], [], ['c'], ['d']]);
    assert.deepEqual(some.rows(), ['c']);
    assert.deepEqual(some.asked, [null, '1', '2']);
    const none = await listOf([['-'], []]);
    assert.deepEqual(textsIn(none.view, '.soulmem_foot p'), ['Nothing.']);
});

/** @param {object} [about] @returns {any} */
const memory = about => ({
    id: 'm1',
    kind: 'note',
    text: 'The key is here.',
    permanent: false,
    locked: false,
    state: 'active',
    ...about,
});

test('a memory has a badge for each thing that is special about it', () => {
    newPage();
    const badges = (/** @type {object} */ about, /** @type {Set<string>} */ leftOut = new Set()) =>
        memoryBadges(memory(about), say, leftOut).map(badge => badge.textContent);
    assert.deepEqual(badges({}), []);
    assert.deepEqual(memoryBadges(memory(), say), []);
    assert.deepEqual(badges({}, new Set(['m2'])), []);
    assert.deepEqual(badges({ told: 1 }), []);
    assert.deepEqual(badges({ told: 30 }), [say('item_retold', { n: 30 })]);
    assert.deepEqual(
        badges({ in_doubt: true, permanent: true, locked: true, state: 'stale' }, new Set(['m1'])),
        [
            say('item_left_out'),
            say('item_doubt'),
            say('item_permanent'),
            say('item_locked'),
            say('item_stale'),
        ],
    );
});

test('a row of a list is pressed only where it opens something', async () => {
    newPage();
    let presses = 0;
    const row = /** @type {any} */ (memoryRow(memory(), say, { press: () => presses++, facts: 'x' }));
    await row.querySelector('.soulmem_press').click();
    assert.equal(presses, 1);
    assert.deepEqual(textsIn(row, 'small'), ['x']);
    const plain = /** @type {any} */ (memoryRow(memory(), say));
    assert.equal(plain.querySelector('.soulmem_press'), null);
    assert.deepEqual(textsIn(plain, 'small'), []);
    assert.equal(plain.children.length, 1, 'no buttons');
});

test('a row shows blurred words where they were looked for', () => {
    newPage();
    const blurred = memory({ text: 'The *brass* key.', reads_now: 'xxx.' });
    const row = /** @type {any} */ (memoryRow(blurred, say));
    assert.deepEqual(textsIn(row, '.soulmem_item_text'), ['xxx.']);
    const found = /** @type {any} */ (memoryRow(blurred, say, { inOwnWords: true }));
    assert.match(found.querySelector('.soulmem_item_text .soulmem_fading').textContent, /brass.* key/);
    const clear = /** @type {any} */ (memoryRow(memory(), say, { inOwnWords: true }));
    assert.equal(clear.querySelector('.soulmem_fading'), null);
});

test('a kind that is unknown is shown as a note, a time that is none as it is', () => {
    newPage();
    assert.equal(kindLabel('dream', say).textContent, say('kind_note'));
    assert.equal(kindLabel('fact', say).textContent, say('kind_fact'));
    assert.equal(localTime('long ago', 'en-GB'), 'long ago');
    assert.match(localTime('2026-02-03T10:00:00Z', 'en-GB'), /3 Feb 2026/);
});
