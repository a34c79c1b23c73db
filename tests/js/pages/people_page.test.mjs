import assert from 'node:assert/strict';
import { test } from 'node:test';
import { settle } from '../tavern.mjs';
import { memory, memoryWindow } from './window.mjs';

const BELA = {
    concept: 'p1',
    name: 'Bela',
    aliases: ['Bel'],
    facts: ['f1'],
    episodes: 3,
    last: '2026-01-02T00:00:00Z',
    feeling: { label: 'joy', intensity: 0.6 },
};
const RELATION = { from: 'p1', to: 'p9', strength: 0.8, confidence: 0.3 };
const FACT = memory({
    id: 'f1',
    kind: 'fact',
    text: 'Bela lives in Lund',
    edges: [{ ...RELATION, id: 'f1', verb: 'lives in', valid_to: '2026-01-03T00:00:00Z' }],
});
const NICKNAME = memory({
    id: 'f2',
    kind: 'fact',
    text: 'Bela is also called Bel',
    edges: [{ ...RELATION, id: 'f2', verb: 'is also called' }],
});
const ADA = { ...BELA, concept: 'p2', name: 'Ada', aliases: [], facts: [], feeling: null };

const QUOTE = {
    id: 'm7l0',
    kind: 'like',
    about: 'Bela',
    speaker: 'Ada',
    quote: 'Bela loves lilies.',
    memory: 'm7',
    said_at: '2026-01-02T00:00:00Z',
    location: 'the pier',
    until: null,
};

async function peopleScene() {
    const scene = await memoryWindow({
        answers: {
            'GET /people': { people: [BELA, ADA] },
            'GET /souls/s1/known': (/** @type {any} */ { query }) => ({
                known:
                    query.get('about') === 'p2'
                        ? []
                        : [QUOTE, { ...QUOTE, id: 'm8l1', quote: 'No, roses.', until: QUOTE.said_at }],
                cursor: null,
            }),
            'GET /memories': (/** @type {any} */ { query }) => {
                if (query.get('kind') === 'fact') return { memories: [FACT, NICKNAME], cursor: null };
                if (query.get('cursor'))
                    return { memories: [memory({ id: 'm2', text: 'Bela danced.' })], cursor: null };
                return { memories: [memory({ text: 'Bela sang.' })], cursor: 'older' };
            },
            'GET /memories/p1': memory({ id: 'p1', kind: 'concept', text: 'Bela' }),
            'GET /memories/p2': memory({ id: 'p2', kind: 'concept', text: 'Ada' }),
            'PATCH /memories/p1': memory({ id: 'p1' }),
            'PATCH /memories/p2': memory({ id: 'p2' }),
            'GET /memories/p9': memory({ id: 'p9', kind: 'concept', text: 'Lund' }),
            'PATCH /memories/p9': memory({ id: 'p9' }),
            'POST /memories': memory({ id: 'p3' }),
            'POST /people/p1/split': { concept: 'p1', other: 'p3' },
        },
    });
    await scene.openPage('people');
    return {
        ...scene,
        async chosen(/** @type {number} */ place) {
            const rows = scene.page.body.querySelectorAll('[data-person] .soulmem_press');
            await rows[place]?.click();
            await settle();
        },
    };
}

test('those who are known are listed, and found by any of their names', async () => {
    const { page, texts } = await peopleScene();
    assert.deepEqual(texts('[data-person] b'), ['Bela', 'Ada']);
    await page.get('#soulmem_people_search').change('bel', 'input');
    assert.deepEqual(texts('[data-person] b'), ['Bela']);
    await page.get('#soulmem_people_search').change('zora', 'input');
    assert.deepEqual(texts('[data-person] b'), []);
    assert.ok(page.body.textContent.includes('Nobody of that name.'));
    const talking = page.body.querySelectorAll('.soulmem_list').find(list => list.querySelector('[data-speaker]'));
    assert.ok(talking?.hidden, 'who talks does not match either');
});

test('what is known of somebody stands as sentences, with until, and is one request', async () => {
    const { chosen, texts, take } = await peopleScene();
    take('GET /memories');
    await chosen(0);
    assert.equal(texts('[data-fact]').length, 1, 'another name is no fact');
    assert.equal(texts('[data-fact] span')[0], 'Bela lives in Lund');
    assert.ok(texts('[data-fact] small')[0]?.includes('2026'));
    assert.deepEqual(
        take('GET /memories').map(({ query }) => [query.get('kind'), query.get('about'), query.get('q')]),
        [
            ['fact', 'p1', null],
            ['episode', 'p1', null],
        ],
    );
});

test('what was said of somebody stands as quotes, what has ended struck through; each is a door', async () => {
    const { chosen, page, texts, take } = await peopleScene();
    take('GET /souls/s1/known');
    await chosen(0);
    assert.deepEqual(
        take('GET /souls/s1/known').map(({ query }) => query.get('about')),
        ['p1'],
    );
    const [quote, ended] = texts('[data-thing]');
    assert.ok(quote?.includes('“Bela loves lilies.”'));
    assert.ok(quote?.includes('Ada') && quote.includes('the pier'));
    assert.ok(ended?.includes('“No, roses.”'));
    assert.deepEqual(texts('[data-thing] .soulmem_fact_ended').map(text => text.trim()), ['“No, roses.”']);
    await page.body.querySelectorAll('[data-thing] .soulmem_press')[0]?.click();
    await settle();
    assert.equal(page.get('#soulmem_tab_memories').getAttribute('aria-selected'), 'true');
});

test('those who talk come first, with what is known of them', async () => {
    const { page, texts, take } = await peopleScene();
    const [persona, soul] = page.body.querySelectorAll('[data-speaker] .soulmem_press');
    assert.ok(persona && soul);
    take('GET /souls/s1/known');
    await persona.click();
    await settle();
    assert.equal(take('GET /souls/s1/known').length, 1);
    assert.equal(texts('[data-thing]').length, 2);
});

test('who talks and is named in the chat stands there once, with the scenes', async () => {
    const { page, replies, texts } = await peopleScene();
    const [persona] = texts('[data-speaker] b');
    replies['GET /people'] = { people: [BELA, { ...ADA, name: persona }] };
    await page.get('#soulmem_tab_bin').click();
    await page.get('#soulmem_tab_people').click();
    await settle();
    assert.deepEqual(texts('[data-person] b'), ['Bela']);
    await page.body.querySelectorAll('[data-speaker] .soulmem_press')[0]?.click();
    await settle();
    assert.deepEqual(texts('.soulmem_scenes li'), ['Bela sang.']);
});

test('of very many people those near the screen are drawn', async () => {
    const { page, replies, texts } = await peopleScene();
    const many = Array.from({ length: 120 }, (_, i) => ({ ...ADA, concept: `q${i}`, name: `Ada ${i}` }));
    replies['GET /people'] = { people: many };
    await page.get('#soulmem_tab_bin').click();
    await page.get('#soulmem_tab_people').click();
    await settle();
    assert.equal(texts('[data-person] b').length, 20);
    await page.get('.soulmem_more').click();
    await settle();
    assert.equal(texts('[data-person] b').length, 40);
});

test('a fact is written by hand, about somebody who is known or not', async () => {
    const { chosen, page, take, user } = await peopleScene();
    await chosen(0);
    user.typesInTurn = ['trusts', 'Ada'];
    await page.get('#soulmem_fact_new').click();
    await settle();
    const [edge] = take('PATCH /memories/p2')[0].body.edges;
    assert.deepEqual([edge.from, edge.kind, edge.verb], ['p1', 'relates', 'trusts']);
    user.typesInTurn = ['lives in', 'Malmo'];
    await page.get('#soulmem_fact_new').click();
    await settle();
    const made = take('POST /memories')[0].body;
    assert.deepEqual([made.kind, made.text, made.edges[0].from], ['concept', 'Malmo', 'p1']);
});

test('two names of one are joined by hand; an unknown name is refused', async () => {
    const { chosen, page, take, user } = await peopleScene();
    await chosen(0);
    user.typesInTurn = ['Nobody'];
    await page.get('#soulmem_people_join').click();
    await settle();
    assert.equal(take('PATCH /memories/p1').length, 0);
    user.typesInTurn = ['Ada'];
    await page.get('#soulmem_people_join').click();
    await settle();
    assert.deepEqual(take('PATCH /memories/p1')[0].body.fields.aliases, ['Bel', 'Ada']);
});

test('a fact that is not sure is asked about, and an answer settles it', async () => {
    const { chosen, page, take } = await peopleScene();
    await chosen(0);
    await page.get('.soulmem_fact_true').click();
    await settle();
    const fact = { from: 'p1', kind: 'relates', verb: 'lives in' };
    assert.deepEqual(take('PATCH /memories/p9')[0].body.edges, [
        { ...fact, strength: 0.8, confidence: 1 },
    ]);
    await page.get('.soulmem_fact_false').click();
    await settle();
    assert.deepEqual(take('PATCH /memories/p9')[0].body.edges, [{ ...fact, strength: 0 }]);
});

test('two of one name are told apart in one request', async () => {
    const { chosen, page, take, user } = await peopleScene();
    await chosen(0);
    user.typesInTurn = ['Bela the smith', 'Bela the bird'];
    await page.get('#soulmem_people_split').click();
    await settle();
    assert.deepEqual(
        take('POST /people/p1/split').map(({ body }) => body),
        [{ name: 'Bela the smith', other: 'Bela the bird' }],
    );
    assert.equal(take('PATCH /memories/p1').length + take('POST /memories').length, 0);
});

test('of two of one name it is said; they are joined, or a fact is handed over', async () => {
    const { chosen, page, take, texts, replies } = await peopleScene();
    replies['GET /people'] = { people: [BELA, { ...ADA, name: 'Bela the bird', aliases: ['Bela'] }] };
    await page.get('#soulmem_tab_bin').click();
    await page.get('#soulmem_tab_people').click();
    await settle();
    assert.equal(texts('.soulmem_item .soulmem_doubt').length, 2);
    await chosen(0);
    await page.get('.soulmem_fact_move').click();
    await settle();
    const [change, ...others] = take('PATCH /memories/p9').map(({ body }) => body.edges);
    assert.deepEqual(
        change.map((/** @type {any} */ edge) => [edge.from, edge.strength]),
        [
            ['p2', 0.8],
            ['p1', 0],
        ],
    );
    assert.deepEqual(others, []);
    await page.get('.soulmem_people_same').click();
    await settle();
    assert.deepEqual(take('PATCH /memories/p1')[0].body.fields.aliases, ['Bel', 'Bela the bird']);
});

test('the scenes with somebody go on, page by page', async () => {
    const { page, chosen, texts } = await peopleScene();
    await chosen(0);
    assert.deepEqual(texts('.soulmem_scenes li'), ['Bela sang.']);
    await page.get('.soulmem_scenes').parentElement?.querySelector('.soulmem_more')?.click();
    assert.deepEqual(texts('.soulmem_scenes li'), ['Bela sang.', 'Bela danced.']);
});

test('from a scene one gets back to the person it was opened from, unless another is read meanwhile', async () => {
    const { page, chosen, texts } = await peopleScene();
    const pageOf = () => /** @type {any} */ (page.body.querySelector('[data-page]')).dataset.page;
    const loaded = async () => {
        do await settle();
        while (page.get('#soulmem_browser').getAttribute('aria-busy') === 'true');
    };
    const pressScene = async () => {
        await page.body.querySelectorAll('.soulmem_scenes .soulmem_press')[0]?.click();
        await loaded();
    };
    await chosen(0);
    await pressScene();
    assert.equal(pageOf(), 'memories');
    await page.get('#soulmem_back').click();
    await loaded();
    assert.equal(pageOf(), 'people');
    assert.deepEqual(texts('.soulmem_memory h3'), ['Bela']);
    await pressScene();
    await page.get('.soulmem_item .soulmem_press').click();
    await settle();
    await page.get('#soulmem_back').click();
    await loaded();
    assert.equal(pageOf(), 'memories', 'the list is what it was read from');
});
