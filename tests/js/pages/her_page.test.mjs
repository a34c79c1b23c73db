import assert from 'node:assert/strict';
import { test } from 'node:test';
import { settle } from '../tavern.mjs';
import { memory, memoryWindow } from './window.mjs';
import { say } from '../texts.mjs';

const OVERVIEW = {
    memories: 214,
    permanent: 3,
    today: 12,
    habits: 1,
    felt: { label: 'joy', intensity: 0.7, memory: 'm1', text: 'I could dance!' },
};
const FADES = {
    id: 'm1',
    kind: 'episode',
    text: 'The soup was cold.',
    reads_then: 'xxx',
    importance: 0.2,
    visibility: 0.9,
    visibility_then: 0.1,
    leaves: false,
};

const KNOWN = {
    id: 'm7l0',
    kind: 'promise',
    about: 'User',
    speaker: 'User',
    quote: 'I will mend the roof.',
    memory: 'm7',
    said_at: '2026-01-02T00:00:00Z',
    location: null,
    until: null,
};

/** @param {object} [about] of the overview */
async function herScene(about) {
    const scene = await memoryWindow({
        answers: {
            'GET /overview': { ...OVERVIEW, ...about },
            'GET /people': {
                people: [
                    { concept: 'p1', name: 'Bela', aliases: [] },
                    { concept: 'p2', name: 'Miss M', aliases: ['mira'] }, // who talks, not counted
                ],
            },
            'GET /souls/s1/known': { known: [KNOWN], cursor: null },
            'GET /fading': { memories: [FADES], cursor: null },
            'GET /souls/s1': { id: 's1', name: 'Mira', config: { forgetting: 1, fades: true } },
        },
    });
    await scene.openPage('her');
    await settle();
    /** @param {string} page */
    async function open(page) {
        await scene.open(page);
        await settle();
    }
    return { ...scene, open };
}

test('what the character holds is counted, and each count is a door', async () => {
    const { texts, page } = await herScene();
    assert.deepEqual(texts('.soulmem_count_card'), [
        '214memories',
        '3for ever, never forgotten',
        '12from today',
        '1person known',
        '1habit',
    ]);
    await page.body.querySelectorAll('.soulmem_count_card')[0]?.click();
    await settle();
    assert.equal(page.get('#soulmem_tab_memories').getAttribute('aria-selected'), 'true');
});

test('the latest feeling and what fades next are told', async () => {
    const { page, texts } = await herScene();
    assert.ok(page.get('.soulmem_page').textContent.includes('joy, strongly “I could dance!”'));
    assert.equal(texts('#soulmem_her_fades .soulmem_fades').length, 1);
});

test('what is known of the player stands there as it was said', async () => {
    const { open, texts, take, replies } = await herScene();
    replies['GET /souls/s1/known'] = { known: THINGS, cursor: null };
    await open('her');
    const [asked] = take('GET /souls/s1/known');
    assert.equal(asked.query.get('about'), 'Alice');
    const [quote] = texts('#soulmem_her_knows [data-thing]');
    assert.ok(quote?.includes('“I cannot swim.”'));
    assert.ok(quote?.includes(say('known_fact')));
});

test('while what was said is being read the page says so', async () => {
    const { open, texts, replies } = await herScene();
    replies['GET /souls/s1/known'] = { known: [], cursor: null, unread: 7 };
    await open('her');
    assert.deepEqual(texts('#soulmem_her_knows .soulmem_hint'), [say('known_reading', { n: 7 })]);
});

test('promises stand apart by how they ended, which the player says', async () => {
    const promise = (/** @type {string} */ id, /** @type {object} */ about) => ({ ...KNOWN, id, quote: id, ...about });
    const over = { until: '2026-01-05T00:00:00Z' };
    const { open, page, texts, take, replies } = await herScene();
    const answer = [promise('open', {}), promise('kept', { kept: true, ...over }), promise('ended', over)];
    replies['GET /souls/s1/known'] = (/** @type {{query: URLSearchParams}} */ { query }) => ({
        known: query.get('kind') === 'promise' ? answer : [],
        cursor: null,
    });
    replies['GET /memories/m7'] = { id: 'm7', tags: ['roof', 'broken'], revision: 3 };
    await open('her');
    assert.equal(texts('#soulmem_her_promises h4')[0], say('promises_open', { n: 1 }));
    const [first, second, third] = texts('[data-promises]');
    assert.ok(first.includes('“open”') && second.includes('“kept”') && third.includes('“ended”'));
    assert.equal(page.body.querySelectorAll('.soulmem_promise_reopen').length, 1);
    await page.get('.soulmem_promise_kept').click();
    await settle();
    assert.deepEqual(take('PATCH /memories/m7')[0].body, { tags: ['roof', 'kept'], revision: 3 });
});

test('of many promises some are drawn, the others after a press, and unread ones are not counted', async () => {
    const { open, page, texts, replies } = await herScene();
    const many = Array.from({ length: 20 }, (_, place) => ({ ...KNOWN, id: `p${place}`, quote: `p${place}` }));
    replies['GET /souls/s1/known'] = (/** @type {{query: URLSearchParams}} */ { query }) =>
        query.get('kind') === 'promise' ? { known: many, cursor: 'next' } : { known: [], cursor: null };
    await open('her');
    assert.equal(texts('#soulmem_her_promises h4')[0], say('promises_open', { n: '20+' }));
    const drawn = () => page.body.querySelectorAll('#soulmem_her_promises .soulmem_thing').length;
    assert.equal(drawn(), 8);
    await page.get('#soulmem_her_promises .soulmem_foot .soulmem_more').click();
    await settle();
    assert.equal(drawn(), 16);
});

test('its portrait and yours stand at the head', async () => {
    const { page } = await herScene();
    const pictures = page.body.querySelectorAll('.soulmem_her_head .soulmem_portrait');
    assert.deepEqual(pictures.map(one => one.getAttribute('src')), ['/thumbnail?file=mira.png']);
    assert.equal(pictures[0]?.hidden, false);
});

test('without memories the page says what will stand there and what brings it', async () => {
    const { texts, page } = await herScene({ memories: 0 });
    assert.deepEqual(texts('.soulmem_count_card'), []);
    assert.ok(page.get('.soulmem_page').textContent.includes(say('her_empty_hint')));
});

test('how much comes up is chosen by a word and saved in the card', async () => {
    const { page, tavern } = await herScene();
    const [silent, natural, talkative] = page.body.querySelectorAll('[data-recalling]');
    assert.equal(natural?.getAttribute('aria-pressed'), 'true');
    await talkative?.click();
    await settle();
    assert.equal(tavern.characters['mira.png'].field.config.restraint, 0);
    assert.equal(talkative?.getAttribute('aria-pressed'), 'true');
    await silent?.click();
    await settle();
    assert.equal(tavern.characters['mira.png'].field.config.restraint, 2);
});

const LIKES = { ...KNOWN, id: 'm10l0', kind: 'like', quote: 'I love plums.', memory: 'm10' };
/** Things that are known, of three kinds and one of them past. */
const THINGS = [
    KNOWN,
    { ...KNOWN, id: 'm8l0', kind: 'fact', quote: 'I cannot swim.', memory: 'm8' },
    { ...KNOWN, id: 'm9l0', kind: 'fact', quote: 'I live in Tarn.', memory: 'm9', until: '2026-01-05T00:00:00Z' },
];

test('one sentence tells how the two stand: what is past is not counted, and a promise once', async () => {
    const { open, texts, replies } = await herScene();
    replies['GET /souls/s1/known'] = { known: THINGS, cursor: null };
    replies['GET /density'] = { from: '2026-01-02T00:00:00Z', to: null, counts: [], periods: [] };
    await open('her');
    assert.equal(
        texts('#soulmem_her_stands')[0],
        'Since 2 January 2026 Mira has kept 214 memories, knows 1 thing about Alice, ' +
            'holds 1 promise of Alice, and felt this last: joy, strongly.',
    );
});

test('what is known is shown by kind, and asked for by kind', async () => {
    const { open, page, take, texts, replies } = await herScene();
    replies['GET /souls/s1/known'] = { known: [...THINGS, LIKES], cursor: null };
    await open('her');
    assert.deepEqual(texts('[data-told]'), ['everything', 'known 2', 'likes 1']);
    take('GET /souls/s1/known');
    await page.body.querySelectorAll('[data-told]')[1]?.click();
    await settle();
    assert.deepEqual(take('GET /souls/s1/known').map(({ query }) => query.get('kind')), ['fact']);
});

test('a thing that is known is pinned, let go of again, and corrected', async () => {
    const { page, take, replies } = await herScene();
    replies['GET /memories/m7'] = { ...memory(), id: 'm7', revision: 4 };
    const pin = page.get('.soulmem_thing_pin');
    for (const permanent of [true, false]) {
        await pin.click();
        await settle();
        assert.equal(pin.getAttribute('aria-pressed'), String(permanent));
        assert.deepEqual(take('PATCH /memories/m7').map(({ body }) => body), [{ permanent, revision: 4 }]);
    }
    await page.get('.soulmem_thing_correct').click();
    await settle();
    assert.equal(page.get('#soulmem_tab_memories').getAttribute('aria-selected'), 'true');
    assert.ok(take('GET /memories/m7').length);
});

test('what is about to be forgotten is kept by one press', async () => {
    const { page, take, texts, replies } = await herScene();
    replies['GET /fading'] = { memories: [], cursor: null };
    await page.get('.soulmem_fading_keep').click();
    await settle();
    assert.equal(take('PATCH /memories/m1')[0]?.body.permanent, true);
    assert.deepEqual(texts('#soulmem_her_fades .soulmem_fades'), []);
});
