import assert from 'node:assert/strict';
import { test } from 'node:test';
import { settle } from '../tavern.mjs';
import { memoryWindow } from './window.mjs';
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
    text_then: 'xxx',
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
            'GET /people': { people: [{ concept: 'p1', name: 'Bela' }] },
            'GET /souls/s1/known': { known: [KNOWN], cursor: null },
            'GET /fading': { memories: [FADES], cursor: null },
            'GET /souls/s1': { id: 's1', name: 'Mira', config: { forgetting: 1, fades: true } },
        },
    });
    await scene.openPage('her');
    return scene;
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
    const { texts, take } = await herScene();
    const [asked] = take('GET /souls/s1/known');
    assert.equal(asked.query.get('about'), 'Alice');
    const [quote] = texts('#soulmem_her_knows [data-thing]');
    assert.ok(quote?.includes('“I will mend the roof.”'));
    assert.ok(quote?.includes(say('known_promise')));
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

test('the last reply shows what came and why, and what was held back is a door', async () => {
    const { page, app, texts } = await herScene();
    const recalled = { ...FADES, why: '“soup” came up', path: [], age_turns: 3, permanent: false };
    const record = {
        soul: 's1',
        memories: [recalled],
        sent: ['m1'],
        trimmed: [],
        item_tokens: { m1: 9 },
        tokens: 9,
        budget: 100,
        took_ms: {},
        withheld: 2,
    };
    Object.assign(app.recaller, { last: () => record });
    await page.get('#soulmem_tab_bin').click();
    await page.get('#soulmem_tab_her').click();
    do await settle();
    while (page.get('#soulmem_browser').classList.contains('soulmem_working'));
    assert.deepEqual(texts('.soulmem_recalled_why'), ['“soup” came up']);
    await page.get('#soulmem_her_withheld').click();
    await settle();
    assert.equal(page.get('#soulmem_tab_recall').getAttribute('aria-selected'), 'true');
});
