import assert from 'node:assert/strict';
import { test } from 'node:test';
import { el } from '../../../extension_js/src/base/dom.js';
import { sceneDrawer, wholeScenes } from '../../../extension_js/src/pages/story_scenes.js';
import { newPage } from '../dom.mjs';
import { say } from '../texts.mjs';
import { memory } from './window.mjs';

const context = /** @type {any} */ ({ say, app: { host: { locale: () => 'en-GB' } } });

/** A line of a chat. @param {string} id @param {string} text @param {string} clock @param {string} [scene] */
const line = (id, text, clock, scene = 'a') =>
    memory({ id, kind: 'episode', text, happened: `2026-01-02T${clock}:00`, scene });

/** The scenes of these lines: ids in their order, and heads. @param {any[]} lines */
function scenesOf(lines) {
    newPage();
    const draw = sceneDrawer(context, ({ id }) => el('li', { data: { memory: id } }), () => undefined);
    const cards = /** @type {any[]} */ (lines.map(draw).filter(Boolean));
    return cards.map(card => ({
        head: card.querySelector('.soulmem_scene_head')?.textContent ?? null,
        ids: [card, ...card.all()].flatMap(({ dataset }) => dataset.memory ?? []),
    }));
}

test('lines that follow each other are one scene that reads downwards, also with the newest first', () => {
    const told = [
        line('a', 'Alice: Where is it?', '10:00'),
        line('b', 'Mira: Behind the clock.', '10:02'),
        line('c', 'Mira: It rains.', '15:00', 'c'),
    ];
    const wanted = [
        { head: '10:00 – 10:02 · Alice, Mira · 2 lines', ids: ['a', 'b'] },
        { head: '15:00 · Mira · 1 line', ids: ['c'] },
    ];
    assert.deepEqual(scenesOf(told), wanted);
    const newestFirst = scenesOf([...told].reverse());
    assert.deepEqual(newestFirst.map(({ ids }) => ids), [['c'], ['a', 'b']]);
});

test('another scene is another card, and what is no line of a chat stands by itself', () => {
    const note = memory({ id: 'n', kind: 'note', happened: '2026-01-02T10:01:30' });
    const scenes = scenesOf([
        line('a', 'Alice: Hm.', '10:00'),
        line('b', 'Alice: Hm.', '10:01', 'b'),
        note,
        line('c', 'Alice: Hm.', '10:02', 'b'),
    ]);
    assert.deepEqual(scenes.map(({ ids }) => ids), [['a'], ['b', 'c'], ['n']]);
    assert.equal(scenes[2].head, null);
});

test('a page ends where a scene does, also when a scene is longer than a page', async () => {
    const all = 'aaabbbbbcd'.split('').map((scene, i) => line(`m${i}`, 'Hm.', `10:0${i}`, scene));
    const failing = new Set(['4']);
    const fetch = wholeScenes(async cursor => {
        if (failing.delete(String(cursor))) throw new Error('lost');
        const end = Number(cursor ?? 0) + 2;
        return { rows: all.slice(end - 2, end), cursor: end < all.length ? String(end) : null };
    });
    const pages = /** @type {string[]} */ ([]);
    let cursor = /** @type {string | null} */ (null);
    do {
        const page = await fetch(cursor).catch(() => null);
        if (!page) continue; // asked again
        pages.push(page.rows.map(({ scene }) => scene).join(''));
        cursor = page.cursor;
    } while (cursor !== null);
    assert.deepEqual(pages, ['aaa', 'bbbbbcd']);
});

test('the lines of a scene are forgotten together', async () => {
    newPage();
    const forgotten = /** @type {string[][]} */ ([]);
    const forget = (/** @type {readonly any[]} */ memories) => forgotten.push(memories.map(({ id }) => id));
    const draw = sceneDrawer(context, ({ id }) => el('li', { data: { memory: id } }), forget);
    const card = /** @type {any} */ (draw(line('a', 'Alice: Where?', '10:00')));
    draw(line('b', 'Mira: Here.', '10:02'));
    await card.querySelector('.soulmem_scene_forget').click();
    assert.deepEqual(forgotten, [['a', 'b']]);
});
