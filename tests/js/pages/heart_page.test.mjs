import assert from 'node:assert/strict';
import { test } from 'node:test';
import '../../../extension_js/src/pages/heart/heart_page.js';
import { rowsOf } from '../../../extension_js/src/pages/heart/heart_picture.js';
import '../../../extension_js/src/pages/people_page.js';
import { settle } from '../tavern.mjs';
import { memoryWindow } from './window.mjs';

const person = (/** @type {string} */ concept, /** @type {string} */ name, /** @type {string[]} */ aliases = []) => ({
    ...{ concept, name, aliases, episodes: 3, x: 0.8, y: 0.2 },
    ...{ facts: [], last: null, feeling: null },
});
const line = (/** @type {string | null} */ first, /** @type {string} */ second, /** @type {string} */ text) => ({
    ...{ first, second, text, memory: `m-${first}-${second}`, weight: 0.5, clear: 0.9 },
});
const HEART = {
    people: [person('p1', 'Bela', ['Bee']), person('p2', 'Odile')],
    lines: [line(null, 'p1', 'Bela sold the boat.'), line(null, 'p2', 'Odile wept.'), line('p1', 'p2', 'Both left.')],
    middle: [[0.38, 0.5], [0.62, 0.5]],
    you: null,
};
const SECRET = { id: 't1', kind: 'secret', about: 'Alice', speaker: 'Alice', quote: 'I fear bells.', memory: 'm9' };

/** @param {{heart?: any, recalled?: any, known?: any[]}} [about] */
async function heartScene({ heart = HEART, recalled = null, known = [] } = {}) {
    const scene = await memoryWindow({
        answers: {
            'GET /people': { people: HEART.people },
            'GET /heart': heart,
            'GET /souls/s1/known': { known, cursor: null },
        },
        characters: {
            'mira.png': { name: 'Mira', field: { version: 1, soul: 's1', config: {} } },
            'bee.png': { name: 'Bee' },
        },
    });
    scene.app.recaller.last = () => recalled;
    await scene.openPage('heart');
    const all = (/** @type {string} */ selector) => scene.page.body.querySelectorAll(selector);
    return { ...scene, all };
}

test('people stand round the two, with a portrait where there is a card by any of their names', async () => {
    const { all, take } = await heartScene();
    assert.equal(take('GET /heart')[0].query.get('you'), 'Alice');
    const names = all('.soulmem_heart_person').map(one => one.getAttribute('aria-label'));
    assert.deepEqual(names, ['Mira', 'Alice', 'Bela', 'Odile']);
    const pictures = all('.soulmem_heart_person image').map(one => one.getAttribute('href'));
    assert.deepEqual(pictures, ['/thumbnail?file=mira.png', '/thumbnail?file=bee.png']);
    assert.equal(all('.soulmem_heart_line').length, 3);
    assert.equal(all('.soulmem_heart_list .soulmem_item').length, 3);
    assert.deepEqual(all('[tabindex][data-x]').map(one => one.getAttribute('tabindex')).sort().at(-1), '0');
});

test('the line to the player tells the weightiest thing known', async () => {
    const { all } = await heartScene({ known: [{ ...SECRET, kind: 'like', quote: 'Tea.' }, SECRET] });
    const [own] = all('.soulmem_heart_list .soulmem_item');
    assert.ok(own.textContent.includes('Mira – Alice'));
    assert.ok(own.textContent.includes('I fear bells.'));
});

test('what the last reply knew is in gold, and said in words', async () => {
    const memories = [{ id: 'm7', text: 'Alice: I saw Bee at the pier.', path: [] }];
    const { all, texts } = await heartScene({ recalled: { soul: 's1', sent: ['m7'], memories } });
    const gold = all('.soulmem_heart_line').filter(one => one.getAttribute('data-gold'));
    assert.deepEqual(gold.map(one => one.getAttribute('data-line')), ['m-null-p1']);
    assert.ok(texts('.soulmem_hint').some(text => text.includes('last reply: Bela.')));
});

test('somebody who is pressed has the lines below, and opens in the list', async () => {
    const { all, page } = await heartScene();
    await all('.soulmem_heart_person')[3].click();
    const below = all('.soulmem_heart_panel .soulmem_item').map(one => one.textContent);
    assert.equal(below.length, 2);
    await page.get('.soulmem_heart_open').click();
    assert.equal(page.get('.soulmem_column_detail h3').textContent, 'Odile');
});

test('places and scenes come by a switch, in the picture and in the list', async () => {
    const { all, page, replies, take, texts } = await heartScene();
    const spot = { memories: 3, x: 0.1, y: 0.1 };
    replies['GET /heart'] = {
        ...HEART,
        spots: [
            { ...spot, id: 'place pier', name: 'Pier', began: null },
            { ...spot, id: 'scene m1', name: '', began: '2026-01-02T00:00:00Z' },
        ],
        lines: [...HEART.lines, line('p1', 'place pier', 'Bela fell in.'), line(null, 'scene m1', 'It rained.')],
    };
    take('GET /heart');
    await page.get('#soulmem_heart_spots').click();
    await settle();
    assert.equal(take('GET /heart')[0].query.get('spots'), 'true');
    const shapes = all('[data-spot]').map(one => [one.getAttribute('data-spot'), one.getAttribute('aria-label')]);
    assert.deepEqual(shapes, [['place', 'Pier'], ['scene', '2 Jan']]);
    assert.ok(texts('.soulmem_heart_list .soulmem_item').some(text => text.includes('Bela – Pier')));
    assert.ok(texts('.soulmem_hint').some(text => text.includes('cards are scenes')));
    assert.equal(page.get('#soulmem_heart_spots').getAttribute('aria-pressed'), 'true');
});

test('without anybody the page says what will stand here', async () => {
    const { all, texts } = await heartScene({ heart: { ...HEART, people: [], lines: [] } });
    assert.equal(all('.soulmem_heart').length, 0);
    assert.ok(texts('.soulmem_hint')[0].includes('the people of the story will stand'));
});

test('words are cut into two rows that have room, in any script', () => {
    assert.deepEqual(rowsOf('Bela sold the boat.', 200, 10), ['Bela sold the boat.']);
    assert.deepEqual(rowsOf('Bela sold the old boat to a man.', 60, 10), ['Bela sold', 'the old…']);
    assert.deepEqual(rowsOf('周怀安冒着暴雨把信船开了回来', 60, 10), ['周怀安冒着暴', '雨把信船开了…']);
});

test('words that would cross others or somebody show only when their line is pressed', async () => {
    const quiet = async (/** @type {object[]} */ places) => {
        const people = HEART.people.map((one, i) => ({ ...one, ...places[i] }));
        const { all } = await heartScene({ heart: { ...HEART, people } });
        const lines = all('.soulmem_heart_line').filter(one => one.getAttribute('data-quiet'));
        return lines.map(one => one.getAttribute('data-line')).sort();
    };
    assert.deepEqual(await quiet([{ x: 0.1, y: 0.1 }, { x: 0.9, y: 0.9 }]), ['m-p1-p2']);
    assert.deepEqual(await quiet([{ x: 0.1, y: 0.1 }, { x: 0.1, y: 0.12 }]), ['m-null-p2', 'm-p1-p2']);
});
