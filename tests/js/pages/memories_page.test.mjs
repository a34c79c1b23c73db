import assert from 'node:assert/strict';
import { test } from 'node:test';
import { settle } from '../tavern.mjs';
import { memory, memoryWindow } from './window.mjs';

const DAYS = [
    { from: '2026-03-01T00:00:00Z', to: '2026-03-02T00:00:00Z', count: 2 },
    { from: '2026-03-02T00:00:00Z', to: '2026-03-03T00:00:00Z', count: 1 },
];
const MONTH = [{ from: '2026-03-01T00:00:00Z', to: '2026-04-01T00:00:00Z', count: 3 }];
const LISTED = [
    memory({ id: 'm1', text: 'First.', happened: '2026-03-01T09:00:00Z', importance: 0.3 }),
    memory({ id: 'm2', text: 'Second.', happened: '2026-03-01T10:00:00Z', last_used: null }),
    memory({ id: 'm3', text: 'Third.', happened: '2026-03-02T09:00:00Z', strength: 0.42 }),
];
const DIGEST = memory({ id: 'd1', kind: 'digest', text: 'A day of beginnings.' });

/** As the sidecar answers. @param {any} asked */
function listed({ query }) {
    const [from, to] = [query.get('from') ?? '0', query.get('to') ?? '9'];
    if (query.get('kind') === 'digest') {
        const isFirst = from === DAYS[0].from && query.get('period') === 'day';
        return { memories: isFirst ? [DIGEST] : [], cursor: null };
    }
    const within = LISTED.filter(({ happened }) => happened >= from && happened < to);
    return { memories: within.reverse(), cursor: null };
}

/** @param {Record<string, any>} [answers] */
async function storyScene(answers = {}) {
    const scene = await memoryWindow({
        answers: {
            'GET /memories': listed,
            'GET /density': (/** @type {any} */ { query }) => ({
                from: '2026-03-01T09:00:00Z',
                to: '2026-03-02T09:00:00Z',
                counts: [2, 0, 1],
                periods: query.get('by') === 'month' ? MONTH : DAYS,
            }),
            'GET /memories/m3': LISTED[2],
            'GET /memories/m3/history': { audit: [], cursor: null },
            'GET /people': { people: [{ concept: 'c1', name: 'Wren' }] },
            'GET /chats': {
                chats: [
                    { id: 'k1', title: 'now', count: 3, held: null },
                    { id: 'k2', title: 'then', count: 3, held: null },
                ],
            },
            ...answers,
        },
    });
    await scene.openPage('memories');
    await settle();
    return scene;
}

test('days stand with the newest first, each with its digest and its memories', async () => {
    const { texts } = await storyScene();
    const heads = texts('.soulmem_day h4').map(text => text?.match(/\d+ \w+ \d+/)?.[0]);
    assert.deepEqual(heads, ['2 March 2026', '1 March 2026']);
    assert.deepEqual(texts('.soulmem_item_text'), ['Third.', 'A day of beginnings.', 'Second.', 'First.']);
});

test('beside a pattern stands what the character does then', async () => {
    const when = { id: 'm3', text: 'somebody praises her' };
    const pattern = { ...LISTED[2], ...when, kind: 'abstract_episode' };
    const hides = { memory: memory({ id: 'a1', text: 'hides her face' }), probability: 0.8 };
    const { texts } = await storyScene({
        'GET /memories': (/** @type {any} */ { query }) => ({
            memories: query.get('kind') === 'digest' ? [] : [pattern],
            cursor: null,
        }),
        'GET /habits': { habits: [{ trigger: memory({ id: 't1' }), situations: [when], actions: [hides] }], cursor: null },
    });
    assert.equal(texts('.soulmem_item_text')[0], 'somebody praises her → hides her face');
});

test('the oldest come first when that is asked for', async () => {
    const { page, texts, take } = await storyScene();
    take('GET /memories');
    await page.get('#soulmem_sort').change('oldest');
    await settle();
    const heads = texts('.soulmem_day h4').map(text => text?.match(/\d+ \w+ \d+/)?.[0]);
    assert.deepEqual(heads, ['1 March 2026', '2 March 2026']);
    const asked = take('GET /memories').map(({ query }) => query.get('sort') ?? query.get('kind'));
    assert.deepEqual([...new Set(asked)].sort(), ['digest', 'oldest']);
});

test('months are folded until one is opened', async () => {
    const { page, texts } = await storyScene();
    await page.get('#soulmem_group').change('month');
    await settle();
    assert.deepEqual(texts('.soulmem_day h3').map(text => text?.match(/\w+ \d+/)?.[0]), ['March 2026']);
    assert.deepEqual(texts('.soulmem_day h4'), []);
    assert.equal(page.get('.soulmem_day').getAttribute('aria-expanded'), 'false');
    await page.get('.soulmem_day').click();
    await settle();
    assert.equal(page.get('.soulmem_day').getAttribute('aria-expanded'), 'true');
    assert.equal(texts('.soulmem_day h4').length, 2);
    await page.get('#soulmem_fold').click();
    await page.get('#soulmem_fold').click();
    assert.equal(page.get('.soulmem_day').getAttribute('aria-expanded'), 'false');
});

test('other orders are one list that tells what it is ordered by', async () => {
    const { page, texts, take } = await storyScene();
    const { body } = page;
    for (const [order, fact] of [
        ['strength', 'strength 42 %'],
        ['importance', 'importance 30 %'],
        ['recalled', 'in no kept reply yet'],
    ]) {
        take('GET /memories');
        await page.get('#soulmem_sort').change(order);
        await settle();
        assert.equal(take('GET /memories')[0].query.get('sort'), order);
        assert.equal(body.querySelector('.soulmem_story'), null);
        assert.ok(texts('.soulmem_recalled_facts').includes(fact), order);
    }
});

test('chats and people are filters', async () => {
    const { page, take, texts } = await storyScene();
    assert.deepEqual(texts('#soulmem_in_chat option'), ['All chats', 'now', 'then']);
    assert.deepEqual(texts('#soulmem_about option'), ['About anybody', 'Wren']);
    take('GET /density');
    await page.get('#soulmem_in_chat').change('k2');
    await page.get('#soulmem_about').change('c1');
    await settle();
    const asked = take('GET /density').at(-1)?.query;
    assert.deepEqual([asked?.get('chat'), asked?.get('about')], ['k2', 'c1']);
});

test('the slider goes to a time and says which', async () => {
    const { page } = await storyScene();
    const slider = page.get('#soulmem_density');
    await slider.change('0', 'input');
    assert.match(slider.getAttribute('aria-valuetext') ?? '', /2 memories/);
    const oldest = page.body.querySelectorAll('.soulmem_story section')[1];
    const before = oldest.scrolls;
    await slider.change('0');
    assert.equal(oldest.scrolls, before + 1);
});

test('a memory opens beside the list, and another one only when the user agrees', async () => {
    const { page, user, shown } = await storyScene();
    await page.get('.soulmem_press').click();
    await settle();
    assert.equal(page.get('.soulmem_memory').dataset.memory, 'm3');
    await page.get('#soulmem_text').change('another wording', 'input');
    user.agrees = false;
    await page.body.querySelectorAll('.soulmem_press')[1].click();
    await settle();
    assert.equal(shown.questions.length, 1);
    assert.equal(page.get('.soulmem_memory').dataset.memory, 'm3');
});

test('digests that cannot be read are a failure that is shown, and tried again', async () => {
    const { page, replies, texts } = await storyScene({
        'GET /memories': (/** @type {any} */ question) => {
            if (question.query.get('kind') === 'digest') throw new Error('the store is closed');
            return listed(question);
        },
    });
    assert.notEqual(page.get('.soulmem_notice').textContent, '');
    replies['GET /memories'] = listed;
    await page.get('.soulmem_notice .menu_button').click();
    await settle();
    assert.equal(page.get('.soulmem_notice').textContent, '');
    assert.deepEqual(texts('.soulmem_story_digests .soulmem_item_text').length, 1);
});

test('years of days are drawn in pieces; the slider draws those that are missing, in their order', async () => {
    const from = Date.UTC(2026, 0, 1);
    const iso = (/** @type {number} */ day) => new Date(from + 86_400_000 * day).toISOString();
    const periods = Array.from({ length: 250 }, (_, day) => ({ from: iso(day), to: iso(day + 1), count: 1 }));
    const { page, texts } = await storyScene({
        'GET /density': { from: iso(0), to: iso(250), counts: [125, 125], periods },
    });
    const heads = () => texts('.soulmem_day h4').length;
    assert.equal(heads(), 30);
    await page.get('#soulmem_density').change('0');
    assert.equal(heads(), 188, 'down to the day in the middle of the first half');
    while (page.drawFrames()); // until none is due
    const days = page.body.querySelectorAll('.soulmem_story section').map(day => day.dataset.from);
    assert.deepEqual(days, periods.map(period => period.from).reverse());
});

test('the window counts as working until the last of its questions is answered', async () => {
    const { page, replies } = await storyScene();
    let answerLate = () => {};
    replies['GET /density'] = (/** @type {any} */ { query }) =>
        query.get('chat') === 'k2'
            ? new Promise(done => (answerLate = () => done({ from: null, to: null, counts: [], periods: [] })))
            : { from: null, to: null, counts: [], periods: [] };
    await page.get('#soulmem_in_chat').change('k2');
    await page.get('#soulmem_in_chat').change('k1');
    await settle();
    const isWorking = () => page.get('#soulmem_browser').getAttribute('aria-busy') === 'true';
    assert.equal(isWorking(), true);
    answerLate();
    await settle();
    assert.equal(isWorking(), false);
});

test('a corrected memory reads so in the list beside it at once', async () => {
    const { page, texts, replies } = await storyScene();
    await page.get('.soulmem_press').click();
    await settle();
    replies['GET /memories/m3'] = { ...LISTED[2], text: 'The third, corrected.', revision: 4 };
    await page.get('#soulmem_text').change('The third, corrected.', 'input');
    await page.get('#soulmem_save').click();
    await settle();
    assert.deepEqual(texts('.soulmem_item_text'), [
        'The third, corrected.',
        'A day of beginnings.',
        'Second.',
        'First.',
    ]);
    assert.match(page.get('.soulmem_open').textContent, /corrected/);
});
