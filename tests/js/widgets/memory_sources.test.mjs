import assert from 'node:assert/strict';
import { test } from 'node:test';
import { sourcesView } from '../../../extension_js/src/widgets/memory_sources.js';
import { say } from '../texts.mjs';
import { textsIn, widgetContext } from './context.mjs';

const HERE = { chat: 'c1', slot: 'here' };
const THEN = { chat: 'c2', slot: 'then' };
const GONE = { chat: 'c9', slot: 'gone' };

/** @param {object[]} sources @param {object} [about] */
async function viewOf(sources, about) {
    const { context, shown } = widgetContext(about);
    const view = /** @type {any} */ (
        await sourcesView(context, /** @type {any} */ ({ sources }))
    );
    return { view, shown, lines: textsIn(view, 'li'), jumps: view.querySelectorAll('.soulmem_jump') };
}

test('without sources there is a sentence, with sources a list', async () => {
    const none = await viewOf([]);
    assert.equal(none.view.textContent, say('sources_none'));
    const some = await viewOf([GONE]);
    assert.deepEqual(some.lines, [say('source_gone')]);
});

test('a source leads to its message, here or in another chat', async () => {
    const { lines, jumps, shown } = await viewOf([HERE, THEN, GONE]);
    assert.match(lines[0], /^Mira: Hello\./);
    assert.match(lines[1], /Mira - then/);
    assert.equal(jumps.length, 2);
    for (const button of jumps) await button.click();
    assert.deepEqual(shown.jumps, [[HERE], [THEN, 'Mira - then']]);
});

test('another chat cannot be opened when it is open or of somebody else', async () => {
    assert.equal((await viewOf([THEN])).jumps.length, 1);
    assert.equal((await viewOf([THEN], { isOpenCharacter: () => false })).jumps.length, 0);
    const chats = async () => [{ id: 'c2', title: 'Mira - now' }];
    assert.equal((await viewOf([THEN], { chats })).jumps.length, 0);
});

test('ten sources are shown and the others counted', async () => {
    const many = (/** @type {number} */ count) => Array.from({ length: count }, () => GONE);
    const ten = await viewOf(many(10));
    assert.deepEqual([ten.lines.length, textsIn(ten.view, 'small')], [10, []]);
    const more = await viewOf(many(12));
    assert.deepEqual(
        [more.lines.length, textsIn(more.view, 'small')],
        [10, [say('sources_more', { n: 2 })]],
    );
});
