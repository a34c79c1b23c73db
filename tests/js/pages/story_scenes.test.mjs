import assert from 'node:assert/strict';
import { test } from 'node:test';
import { el } from '../../../extension_js/src/base/dom.js';
import { sceneDrawer } from '../../../extension_js/src/pages/story_scenes.js';
import { newPage } from '../dom.mjs';
import { say } from '../texts.mjs';
import { memory } from './window.mjs';

const context = /** @type {any} */ ({ say, app: { host: { locale: () => 'en-GB' } } });

/** A line of a chat. @param {string} id @param {string} text @param {string} clock @param {string} [chat] */
const line = (id, text, clock, chat = 'c1') =>
    memory({ id, kind: 'episode', text, happened: `2026-01-02T${clock}:00`, sources: [{ chat, slot: id }] });

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
        line('c', 'Mira: It rains.', '15:00'),
    ];
    const wanted = [
        { head: '10:00 – 10:02 · Alice, Mira · 2 lines', ids: ['a', 'b'] },
        { head: '15:00 · Mira · 1 line', ids: ['c'] },
    ];
    assert.deepEqual(scenesOf(told), wanted);
    const newestFirst = scenesOf([...told].reverse());
    assert.deepEqual(newestFirst.map(({ ids }) => ids), [['c'], ['a', 'b']]);
});

test('another chat begins a scene, and what is no line of a chat stands by itself', () => {
    const note = memory({ id: 'n', kind: 'note', happened: '2026-01-02T10:01:00' });
    const scenes = scenesOf([
        line('a', 'Alice: Hm.', '10:00'),
        line('b', 'Alice: Hm.', '10:01', 'c2'),
        note,
        line('c', 'Alice: Hm.', '10:02', 'c2'),
    ]);
    assert.deepEqual(scenes.map(({ ids }) => ids), [['a'], ['b'], ['n'], ['c']]);
    assert.equal(scenes[2].head, null);
});

test('a scene that is on the page does not move under the pointer: earlier lines are a card of their own', () => {
    const page = newPage();
    const draw = sceneDrawer(context, ({ id }) => el('li', { data: { memory: id } }), () => undefined);
    const [later, earlier, last] = [line('b', 'Mira: Here.', '10:02'), line('a', 'Alice: Where?', '10:00'), line('c', 'Mira: Ah.', '10:03')];
    page.body.append(/** @type {any} */ (draw(later)));
    const card = /** @type {any} */ (draw(earlier));
    assert.deepEqual(card.all().flatMap((/** @type {any} */ { dataset }) => dataset.memory ?? []), ['a']);
    page.body.append(card);
    assert.equal(draw(last), null, 'a later line goes on below');
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
