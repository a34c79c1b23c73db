import assert from 'node:assert/strict';
import { test } from 'node:test';
import { oftenWord, sharesOf } from '../../../extension_js/src/pages/habit_graph.js';
import { settle } from '../tavern.mjs';
import { memory, memoryWindow } from './window.mjs';

const ACTION = memory({ id: 'a1', kind: 'action', text: 'denies that she cares' });
const WHEN = memory({ id: 'e1', kind: 'abstract_episode', text: 'somebody praises her' });

/** As the sidecar sends it. @param {any} action @param {string} [trigger] */
const habitOf = (action, trigger = 't1') => ({
    trigger,
    situations: [WHEN],
    actions: [{ memory: action, probability: 0.6 }],
});

/** The page. @param {any[]} [actions] */
async function habitsScene(actions = [ACTION]) {
    let made = 0;
    const scene = await memoryWindow({
        answers: {
            'GET /habits': { habits: actions.map(action => habitOf(action)), cursor: null },
            'GET /memories/a1': ACTION,
            'PATCH /memories/a1': ACTION,
            'GET /memories/e1': WHEN,
            'PATCH /memories/e1': WHEN,
            'DELETE /memories/a1': {},
            'POST /memories': () => memory({ id: `new${++made}` }),
            'POST /recall': {
                memories: [
                    { ...ACTION, fired: true, why: 'You praised her.' },
                    { ...WHEN, fired: null, why: '' },
                ],
                blocks: [],
                tokens: 5,
            },
        },
    });
    await scene.openPage('habits');
    return scene;
}

test('a habit reads as when, what and how often', async () => {
    const { texts } = await habitsScene();
    assert.deepEqual(texts('.soulmem_item .soulmem_item_text'), [
        'When somebody praises her: denies that she cares often',
    ]);
});

test('habits of every page of the list are shown, also an action that nothing sets off', async () => {
    const { page, replies, texts } = await habitsScene();
    const hums = memory({ id: 'a2', kind: 'action', text: 'hums' });
    const alone = { trigger: null, situations: [], actions: [{ memory: hums, probability: null }] };
    replies['GET /habits'] = (/** @type {any} */ { query }) =>
        query.get('cursor')
            ? { habits: [alone], cursor: null }
            : { habits: [habitOf(ACTION)], cursor: 'next' };
    await page.get('#soulmem_tab_bin').click();
    await page.get('#soulmem_tab_habits').click();
    await settle();
    assert.equal(texts('.soulmem_item').length, 2);
});

test('each probability has the nearest word', () => {
    assert.deepEqual([1, 0.8, 0.6, 0.45, 0.3, 0].map(oftenWord), [
        'always',
        'always',
        'often',
        'often',
        'sometimes',
        'sometimes',
    ]);
});

test('deeds of one trigger share what there is', () => {
    const deed = (/** @type {'always' | 'often' | 'sometimes'} */ often) => ({ action: null, does: '', often });
    assert.deepEqual(sharesOf([deed('often'), deed('sometimes')]), [0.6, 0.3]);
    const shares = sharesOf([deed('always'), deed('often'), deed('sometimes')]);
    assert.ok(shares.reduce((a, b) => a + b, 0) <= 1);
    assert.deepEqual(shares.map(oftenWord), ['often', 'sometimes', 'sometimes']);
});

test('a habit is made of a situation, its trigger and the action', async () => {
    const { page, take } = await habitsScene([]);
    await page.get('#soulmem_habit_new').click();
    page.get('#soulmem_habit_when').value = 'somebody sings';
    page.get('#soulmem_habit_does').value = 'hums along';
    page.get('#soulmem_habit_often').value = 'sometimes';
    await page.get('#soulmem_habit_save').click();
    await settle();
    const made = take('POST /memories').map((/** @type {any} */ { body }) => body);
    assert.deepEqual(
        made.map((/** @type {any} */ body) => [body.kind, body.text]),
        [
            ['abstract_episode', 'somebody sings'],
            ['trigger', 'somebody sings'],
            ['action', 'hums along'],
        ],
    );
    assert.deepEqual(made[1].edges, [{ from: 'new1', kind: 'triggers' }]);
    assert.deepEqual(made[2].edges, [{ from: 'new2', kind: 'fires', probability: 0.3 }]);
});

test('half a habit is not stored', async () => {
    const { page, take } = await habitsScene([]);
    await page.get('#soulmem_habit_new').click();
    page.get('#soulmem_habit_when').value = 'somebody sings';
    await page.get('#soulmem_habit_save').click();
    await settle();
    assert.equal(take('POST /memories').length, 0);
});

test('an action is not changed to nothing, and nothing else of its habit is stored then', async () => {
    const { page, take, texts } = await habitsScene();
    await page.get('.soulmem_item .soulmem_press').click();
    await page.get('#soulmem_habit_or').click();
    const [stored, added] = page.body.querySelectorAll('.soulmem_deed input');
    stored.value = ' ';
    added.value = 'talks of the lamp';
    await page.get('#soulmem_habit_save').click();
    await settle();
    assert.deepEqual([...take('PATCH /memories/a1'), ...take('POST /memories')], []);
    assert.ok(texts('.soulmem_not_done')[0]?.includes('A habit needs both'));
});

test('how often it happens is changed, and it goes to the bin', async () => {
    const { page, take } = await habitsScene();
    await page.get('.soulmem_item .soulmem_press').click();
    page.get('#soulmem_habit_often').value = 'always';
    page.get('#soulmem_habit_when').value = 'somebody praises the lamp';
    await page.get('#soulmem_habit_save').click();
    await settle();
    assert.deepEqual(take('PATCH /memories/e1')[0].body.text, 'somebody praises the lamp');
    assert.deepEqual(take('PATCH /memories/a1')[0].body.edges, [
        { from: 't1', kind: 'fires', probability: 1 },
    ]);
    await page.get('.soulmem_item .soulmem_press').click();
    await page.get('.soulmem_habit_bin').click();
    await settle();
    assert.equal(take('DELETE /memories/a1').length, 1);
});

test('of actions of one trigger the one that becomes rarer is stored first', async () => {
    const { page, replies } = await habitsScene();
    const hums = memory({ id: 'a2', kind: 'action', text: 'hums' });
    const stored = [
        { memory: ACTION, probability: 0.9 },
        { memory: hums, probability: 0.1 },
    ];
    replies['GET /habits'] = { habits: [{ ...habitOf(ACTION), actions: stored }], cursor: null };
    const changed = /** @type {string[]} */ ([]);
    for (const one of [ACTION, hums]) {
        replies[`GET /memories/${one.id}`] = one;
        replies[`PATCH /memories/${one.id}`] = () => (changed.push(one.id), one);
    }
    await page.get('#soulmem_tab_bin').click();
    await page.get('#soulmem_tab_habits').click();
    await settle();
    await page.get('.soulmem_item .soulmem_press').click();
    page.get('#soulmem_habit_often').value = 'often';
    await page.get('#soulmem_habit_save').click();
    await settle();
    assert.deepEqual(changed, ['a1', 'a2']);
});

test('a line is tried, and what it would set off is told', async () => {
    const { page, take, texts } = await habitsScene();
    page.get('#soulmem_habit_try').value = 'You are wonderful.';
    await page.get('#soulmem_habit_try_go').click();
    await settle();
    assert.equal(take('POST /recall')[0].body.type, 'preview');
    assert.deepEqual(texts('[data-fired]'), ['Fires: denies that she cares You praised her.']);
});

test('another deed of the same situation is its own action of the same trigger', async () => {
    const { page, take } = await habitsScene();
    await page.get('.soulmem_item .soulmem_press').click();
    await page.get('#soulmem_habit_or').click();
    const [, second] = page.body.querySelectorAll('.soulmem_deed input');
    if (second) second.value = 'talks of the lamp';
    await page.get('#soulmem_habit_save').click();
    await settle();
    const [made] = take('POST /memories');
    assert.deepEqual(
        [made.body.kind, made.body.text, made.body.edges],
        ['action', 'talks of the lamp', [{ from: 't1', kind: 'fires', probability: 0.3 }]],
    );
});

test('habits of the card are proposed; what is kept is made, what is known is not proposed', async () => {
    const { page, take, texts, replies } = await habitsScene();
    const { fetch } = globalThis;
    const card = { ok: true, text: async () => '{"name":"Mira"}' };
    Object.assign(globalThis, {
        fetch: async (/** @type {string} */ path, /** @type {any} */ options) =>
            path === '/api/characters/export' ? card : fetch(path, options),
    });
    replies['POST /import'] = { job: 'j1' };
    replies['GET /jobs/j1'] = {
        state: 'done',
        result: {
            habits: [
                { when: 'it rains', does: 'hums', often: 'always' },
                { when: 'somebody praises her', does: 'denies that she cares', often: 'often' },
            ],
        },
    };
    await page.get('#soulmem_habit_card').click();
    await settle();
    Object.assign(globalThis, { fetch });
    assert.equal(take('POST /import')[0].body.dry_run, true);
    assert.deepEqual(texts('.soulmem_proposal .soulmem_item_text'), ['When it rains: hums always']);
    await page.get('.soulmem_proposal_keep').click();
    await settle();
    assert.deepEqual(
        take('POST /memories').map(({ body }) => body.text),
        ['it rains', 'it rains', 'hums'],
    );
    assert.deepEqual(texts('.soulmem_proposal'), []);
});

test('what the character means to do is kept with the open chat', async () => {
    const { page, tavern } = await habitsScene();
    assert.equal(page.body.querySelector('#soulmem_intent'), null, 'no chat is open');
    tavern.metadata.soulmem = { chat: 'c1', name: 'n', owner: 's1' };
    await page.get('#soulmem_tab_bin').click();
    await page.get('#soulmem_tab_habits').click();
    await settle();
    await page.get('#soulmem_intent').change('show that I care');
    await settle();
    assert.equal(tavern.metadata.soulmem.intent, 'show that I care');
});
