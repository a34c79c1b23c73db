import assert from 'node:assert/strict';
import { test } from 'node:test';
import { cardConfig } from '../../../extension_js/src/tavern/identity.js';
import { settle } from '../tavern.mjs';
import { memoryWindow } from './window.mjs';

/** A memory now and later. @param {object} [about] @returns {any} */
const row = about => ({
    id: 'm1',
    kind: 'episode',
    text: 'Al: Kaelith hid a key.',
    reads_then: 'Al: xxx(a deed).',
    visibility: 0.9,
    importance: 0.2,
    visibility_then: 0.4,
    leaves: false,
    ...about,
});

/** The page of forgetting. @param {Parameters<typeof memoryWindow>[0]} [about] */
async function fadingOpen({ answers = {}, ...more } = {}) {
    const scene = await memoryWindow({
        answers: {
            'GET /fading': (/** @type {any} */ { query }) => ({
                memories: [
                    row({ reads_then: `${query.get('turns')} at ${query.get('forgetting') ?? 'own'}` }),
                ],
                cursor: null,
            }),
            ...answers,
        },
        ...more,
    });
    await scene.open('fading');
    return scene;
}

test('what fades next is listed with what becomes of it', async () => {
    const rows = [row(), row({ id: 'm2', leaves: true })];
    const { texts, page, take, open } = await memoryWindow({
        answers: { 'GET /fading': { memories: rows, cursor: null } },
    });
    await open('fading');
    assert.equal(texts('.soulmem_fades').length, 2);
    const [first, second] = texts('.soulmem_fades');
    assert.match(first, /clear → blurred/);
    assert.match(first, /Kaelith hid a key\..*xxx\(a deed\)/);
    assert.match(second, /goes to the bin/);
    take('GET /fading');
    await page.get('#soulmem_ahead').change('2000');
    await settle();
    const [asked] = take('GET /fading');
    assert.deepEqual(Object.fromEntries(asked.query), { soul: 's1', limit: '30', turns: '2000' });
});

test('a memory of the list opens by a press', async () => {
    const { page } = await fadingOpen();
    await page.get('.soulmem_fades .soulmem_press').click();
    await settle();
    assert.equal(page.get('.soulmem_memory').dataset.memory, 'm1');
});

test('the dial shows one of her memories at three ages, anew wherever it is moved', async () => {
    const { page, pass, texts, tavern } = await fadingOpen();
    assert.deepEqual(texts('.soulmem_example_line'), [
        'todayAl: Kaelith hid a key.',
        'in 300 turns300 at 1',
        'in 900 turns900 at 1',
    ]);
    await page.get('#soulmem_fading_dial').change('1.7', 'input');
    await pass(200);
    assert.equal(texts('.soulmem_example_line')[2], 'in 900 turns900 at 1.7');
    assert.deepEqual(tavern.characters['mira.png'].field.config, {}, 'not saved while it moves');
});

test('the dial and its switches are kept in the card and sent', async () => {
    const { page, take, tavern, texts } = await fadingOpen();
    const card = () => cardConfig(tavern.characters['mira.png'].field);
    await page.get('#soulmem_fading_dial').change('0.4');
    await settle();
    assert.deepEqual(card(), { forgetting: 0.4 });
    assert.equal(take('PUT /souls/s1').at(-1)?.body.config.forgetting, 0.4);
    assert.equal(texts('.soulmem_said').length, 1);
    await page.get('#soulmem_fades').tick(false);
    await page.get('#soulmem_knows_it_forgets').tick(true);
    await page.get('#soulmem_masks').tick(true);
    await page.get('#soulmem_hybrid').tick(true);
    await page.get('#soulmem_rewords').tick(false);
    await settle();
    const set = { fades: false, masks: 'seed', knows_it_forgets: true, decay: 'hybrid', rewords: false };
    assert.deepEqual(card(), { forgetting: 0.4, ...set });
    const { config } = /** @type {any} */ (take('PUT /souls/s1').at(-1)).body;
    assert.deepEqual([config.fades, config.decay], [false, 'hybrid']);
    await page.get('#soulmem_fades').tick(true);
    await page.get('#soulmem_masks').tick(false);
    await page.get('#soulmem_hybrid').tick(false);
    await page.get('#soulmem_rewords').tick(true);
    await settle();
    assert.deepEqual(card(), { forgetting: 0.4, knows_it_forgets: true });
});

test('of a character that is not in the open chat nothing can be set', async () => {
    const { page, texts, browser } = await fadingOpen();
    await browser.open('fading', undefined, 's2');
    await settle();
    for (const id of ['fading_dial', 'fades', 'masks', 'knows_it_forgets', 'hybrid', 'rewords'])
        assert.equal(page.get(`#soulmem_${id}`).disabled, true, id);
    assert.match(texts('.soulmem_forgetting')[0], /open a chat with this character/);
});

test('without a memory that can fade it is said what will stand there', async () => {
    const { texts } = await fadingOpen({ answers: { 'GET /fading': { memories: [], cursor: null } } });
    assert.match(texts('#soulmem_example')[0], /As soon as there is a memory/);
    assert.match(texts('#soulmem_fades_next')[0], /Nothing fades/);
});
