import assert from 'node:assert/strict';
import { test } from 'node:test';
import { settle } from '../tavern.mjs';
import { memory, memoryWindow } from './window.mjs';

const NODES = [
    { ...memory({ id: 'm1', kind: 'episode', text: 'Bela sold the boat.' }), x: 0.1, y: 0.5 },
    { ...memory({ id: 'p1', kind: 'concept', text: 'Bela' }), x: 0.9, y: 0.5 },
];
const EDGES = [{ id: 'x', from: 'm1', to: 'p1', kind: 'mentions', strength: 0.5 }];

/** @param {any} [graph] */
async function graphScene(graph = { memories: NODES, edges: EDGES }) {
    const scene = await memoryWindow({
        answers: {
            'GET /people': { people: [{ concept: 'p1', name: 'Bela' }] },
            'GET /graph': graph,
        },
    });
    await scene.openPage('graph');
    return scene;
}

/** Unfolds the list below the picture. @param {Awaited<ReturnType<typeof graphScene>>['page']} page */
async function unfoldList(page) {
    const words = page.get('.soulmem_graph_words');
    /** @type {any} */ (words).open = true;
    for (const run of words.listeners.get('toggle') ?? []) await run();
}

test('memories are drawn with what links them, and listed in words', async () => {
    const { page, texts } = await graphScene();
    assert.deepEqual(texts('.soulmem_graph_list small'), [], 'it is drawn once it is unfolded');
    await unfoldList(page);
    assert.equal(page.body.querySelectorAll('.soulmem_graph_node').length, 2);
    assert.equal(page.body.querySelectorAll('.soulmem_graph_edge').length, 1);
    assert.deepEqual(texts('.soulmem_graph_list small').filter(Boolean), ['names: Bela']);
});

test('a graph is drawn around somebody, and from the memory that was pressed', async () => {
    const { page, take } = await graphScene();
    take('GET /graph');
    await page.get('#soulmem_graph_center').change('p1');
    await settle();
    const [asked] = take('GET /graph');
    assert.deepEqual([asked.query.get('center'), asked.query.get('layout')], ['p1', 'true']);
    await page.get('.soulmem_graph_node').click();
    await page.get('.soulmem_column_detail .menu_button.margin0').click();
});

test('without links the page says what brings them', async () => {
    const { page, texts } = await graphScene({ memories: [], edges: [] });
    assert.equal(page.body.querySelectorAll('.soulmem_graph').length, 0);
    assert.ok(texts('.soulmem_graph_place')[0]?.includes('Links come'));
});

test('the way of the last recall is drawn in gold, with its memories in any case', async () => {
    const scene = await graphScene();
    const path = [{ id: 'p1', label: 'Bela', edge: null }, { id: 'm1', label: '', edge: 'x' }];
    const record = { soul: 's1', sent: ['m1'], memories: [{ id: 'm1', path }] };
    scene.app.recaller.last = () => /** @type {any} */ (record);
    await scene.openPage('graph');
    scene.take('GET /graph');
    await scene.page.get('#soulmem_graph_center').change('last recall');
    await settle();
    const [{ query }] = scene.take('GET /graph');
    assert.deepEqual([query.get('center'), query.get('also')], ['p1', 'p1,m1']);
    assert.equal(scene.page.get('.soulmem_graph_edge').getAttribute('data-way'), 'true');
});

test('one dot takes the Tab key, and arrow keys go to the nearest in their direction', async () => {
    const { page } = await graphScene();
    const [first, second] = page.body.querySelectorAll('.soulmem_graph_node');
    assert.deepEqual([first, second].map(dot => dot.getAttribute('tabindex')), ['0', '-1']);
    const picture = page.get('.soulmem_graph');
    const press = (/** @type {string} */ key) => {
        for (const run of picture.listeners.get('keydown') ?? [])
            run({ key, target: first, currentTarget: picture, preventDefault() {} });
    };
    press('ArrowLeft');
    assert.equal(second.focused, 0, 'nothing lies there');
    press('ArrowRight');
    assert.equal(second.focused, 1);
    assert.deepEqual([first, second].map(dot => dot.getAttribute('tabindex')), ['-1', '0']);
});

test('kinds are hidden and shown again, in the picture and in the list', async () => {
    const { page, texts } = await graphScene();
    await unfoldList(page);
    const shown = () =>
        page.body.querySelectorAll('.soulmem_graph_node').map(node => node.getAttribute('data-memory'));
    const chips = page.body.querySelectorAll('.soulmem_kind_toggles .soulmem_chip');
    assert.deepEqual(chips.map(chip => chip.getAttribute('data-kind')), ['concept', 'episode']);
    const [names, scenes] = chips;
    await names.click();
    assert.deepEqual([shown(), names.getAttribute('aria-pressed')], [['m1'], 'false']);
    assert.equal(page.body.querySelectorAll('.soulmem_graph_edge').length, 0);
    assert.equal(texts('.soulmem_graph_list .soulmem_item').length, 1);
    assert.deepEqual(texts('.soulmem_graph_list small'), [''], 'no link to what is hidden');
    await scenes.click();
    assert.ok(texts('.soulmem_graph_place')[0].includes('All kinds are hidden'));
    await names.click();
    await scenes.click();
    assert.deepEqual(shown(), ['m1', 'p1']);
});

test('what is hidden stays hidden around another memory', async () => {
    const { page } = await graphScene();
    await page.get('.soulmem_kind_toggles .soulmem_chip').click();
    await page.get('#soulmem_graph_center').change('p1');
    await settle();
    assert.equal(page.body.querySelectorAll('.soulmem_graph_node').length, 1);
    assert.equal(page.get('.soulmem_kind_toggles .soulmem_chip').getAttribute('aria-pressed'), 'false');
});

test('a hidden kind that stands alone around another memory can be shown', async () => {
    let memories = NODES;
    const { page } = await graphScene(() => ({ memories, edges: [] }));
    await page.get('.soulmem_kind_toggles .soulmem_chip').click();
    memories = [NODES[1]];
    await page.get('#soulmem_graph_center').change('p1');
    await settle();
    assert.equal(page.body.querySelectorAll('.soulmem_graph_node').length, 0);
    await page.get('.soulmem_kind_toggles .soulmem_chip').click();
    assert.equal(page.body.querySelectorAll('.soulmem_graph_node').length, 1);
});

test('what has faded is drawn faint, reads as it does now, and says so in words', async () => {
    const faded = { ...NODES[0], text: 'Bela sold the boat.', reads_now: 'xxx.', visibility: 0.1 };
    const { page, texts, take } = await graphScene({ memories: [faded, NODES[1]], edges: EDGES });
    await unfoldList(page);
    assert.equal(take('GET /graph')[0].query.get('reads'), 'true');
    const [scene, name] = page.body.querySelectorAll('.soulmem_graph_node');
    assert.equal(scene.getAttribute('style'), '--soulmem_seen: 10%');
    assert.equal(scene.getAttribute('aria-label'), 'xxx., almost gone');
    assert.equal(name.getAttribute('style'), '--soulmem_seen: 70%', 'a name by how present it is');
    assert.equal(name.getAttribute('aria-label'), 'Bela');
    assert.deepEqual(texts('.soulmem_graph_list .soulmem_recalled_facts'), ['almost gone', '']);
});
