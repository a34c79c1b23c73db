import assert from 'node:assert/strict';
import { test } from 'node:test';
import { settle } from '../tavern.mjs';
import { memory, memoryWindow } from './window.mjs';

/** An answer to a recall with one memory. @param {object} [about] @returns {any} */
const answer = about => ({
    trace: 't1',
    memories: [
        {
            ...memory(),
            id: 'm1',
            kind: 'episode',
            text: 'You hid the key in the oak.',
            score: 1,
            hops: 2,
            why: '"key" leads to it.',
            path: [
                { id: 'a', label: 'key', edge: 'mentions' },
                { id: 'm1', label: 'the oak', edge: null },
            ],
        },
    ],
    blocks: [{ items: [{ memory: 'm1', text: 'You hid the key in the oak.', tokens: 9 }] }],
    tokens: 14,
    timed_out: false,
    took_ms: { total: 3 },
    withheld: 0,
    ...about,
});

/** The page with an answer. @param {object} [about] of the answer */
async function recallScene(about) {
    const scene = await memoryWindow({
        answers: {
            'POST /recall': answer(about),
            'GET /chats': { chats: [] },
            'GET /overview': { memories: 7 },
            'GET /traces/t1': {
                considered: [
                    { id: 'm1', text: 'told', kept: true, cut: null, score: 2 },
                    { id: 'm2', text: 'The soup was cold.', kept: false, cut: 'in the prompt', score: 0.4 },
                    { id: 'm3', text: 'The boat leaks.', kept: false, cut: 'not near', score: 0.9 },
                ],
            },
        },
    });
    await scene.openPage('recall');
    return {
        ...scene,
        async tried(/** @type {string} */ line) {
            scene.page.get('#soulmem_try_line').value = line;
            await scene.page.get('#soulmem_try_go').click();
            await settle();
        },
    };
}

test('a line that was never said shows what would come, why, and what it costs', async () => {
    const { tried, take, texts, page, tavern } = await recallScene();
    await tried('Where is the key?');
    const [asked] = take('POST /recall');
    assert.deepEqual(
        [asked.body.type, asked.body.query, asked.body.slot],
        ['preview', 'Where is the key?', undefined],
    );
    assert.deepEqual(texts('.soulmem_recalled_text'), ['You hid the key in the oak.']);
    assert.ok(texts('.soulmem_recalled_summary')[0]?.includes('14 of 1200'));
    tavern.contextSize = 4000;
    await tried('Where is the key?');
    assert.ok(texts('.soulmem_recalled_summary')[0]?.includes('14 of 480'), 'within the context');
    assert.equal(take('POST /recall')[0].body.budget_tokens, 480);
    await page.get('.soulmem_recalled_item .soulmem_press').click();
    await settle();
    assert.deepEqual(texts('.soulmem_path span'), ['key', 'the oak']);
    assert.equal(asked.body.language, 'en');
    assert.equal(take('POST /recall').length, 0, 'looking keeps no trace');
    await page.get('.soulmem_verdict_stronger').click();
    await settle();
    assert.equal(take('POST /recall')[0].body.type, 'quiet', 'a verdict is on a kept trace');
    assert.deepEqual(
        take('POST /feedback').map(({ body }) => [body.trace, body.memory, body.verdict]),
        [['t1', 'm1', 'stronger']],
    );
    await page.get('.soulmem_column_detail .soulmem_verdict_wrong').click();
    await settle();
    assert.equal(take('POST /recall').length, 0, 'one trace for a line');
});

test('nothing said is nothing asked', async () => {
    const { tried, take } = await recallScene();
    await tried('   ');
    assert.equal(take('POST /recall').length, 0);
});

test('silence says so, and what was held back can be seen', async () => {
    const { tried, take, texts, page } = await recallScene({ memories: [], blocks: [], withheld: 2 });
    await tried('Good morning.');
    assert.equal(texts('.soulmem_recalled_item').length, 0);
    await page.get('#soulmem_try_withheld').click();
    await settle();
    assert.deepEqual(texts('.soulmem_recalled_text'), ['The boat leaks.', 'The soup was cold.']);
    assert.deepEqual(texts('.soulmem_withheld .soulmem_recalled_why'), ['not near', 'in the prompt']);
    await page.get('.soulmem_try_bring').click();
    await settle();
    assert.deepEqual(
        take('POST /feedback').map(({ body }) => [body.memory, body.verdict]),
        [['m3', 'stronger']],
    );
});

test('only where nothing came and nothing was held back it is asked whether there are memories', async () => {
    const nothing = { memories: [], blocks: [], tokens: 0 };
    for (const [about, asked] of /** @type {const} */ ([
        [{}, 0],
        [{ ...nothing, withheld: 2 }, 0],
        [nothing, 1],
    ])) {
        const { tried, take } = await recallScene(about);
        take('GET /overview');
        await tried('Where is the key?');
        assert.equal(take('GET /overview').length, asked, JSON.stringify(about));
    }
});

test('a memory is kept for ever from its row', async () => {
    const { tried, take, page } = await recallScene();
    await tried('Where is the key?');
    await page.get('.soulmem_recalled_item .soulmem_press').click();
    await settle();
    await page.get('.soulmem_try_forever').click();
    await settle();
    assert.equal(take('PATCH /memories/m1')[0].body.permanent, true);
});

test('a line is tried again after long thought, and in a bad mood', async () => {
    const { tried, take, page } = await recallScene();
    await tried('Where is the key?');
    take('POST /recall');
    for (const chip of page.body.querySelectorAll('[data-way]').slice(1)) {
        await chip.click();
        await settle();
    }
    const bodies = take('POST /recall').map(({ body }) => [body.mode, body.mood?.label]);
    assert.deepEqual(bodies, [
        ['walk', undefined],
        [undefined, 'irritation'],
    ]);
});

test('an answer that comes late does not replace a newer one', async () => {
    const { page, replies, texts } = await recallScene();
    let answerLate = () => {};
    replies['POST /recall'] = (/** @type {any} */ { body }) =>
        body.query === 'early'
            ? new Promise(done => (answerLate = () => done(answer())))
            : answer({ memories: [], blocks: [] });
    const line = page.get('#soulmem_try_line');
    for (const query of ['early', 'later']) {
        line.value = query;
        await line.happen('keydown', { key: 'Enter' });
        await settle();
    }
    answerLate();
    await settle();
    assert.deepEqual(texts('.soulmem_recalled_item'), []);
    assert.match(texts('.soulmem_recalled_summary')[0], /Nothing would come/);
});

test('a line that brings nothing is told apart from a memory that is empty', async () => {
    for (const [memories, words] of /** @type {const} */ ([
        [0, /Nothing is remembered yet/],
        [7, /the line calls for no memory/],
    ])) {
        const nothing = { memories: [], blocks: [], tokens: 0 };
        const { tried, texts, replies } = await recallScene(nothing);
        replies['GET /overview'] = { memories };
        await tried('Where is the key?');
        assert.match(texts('.soulmem_recalled_summary').join(), words);
    }
});

/** A recall as it is kept for a reply. */
const RECORD = {
    trace: 't9',
    soul: 's1',
    memories: answer().memories,
    sent: ['m1'],
    trimmed: [],
    item_tokens: { m1: 9 },
    tokens: 9,
    budget: 100,
    took_ms: {},
    withheld: 2,
    error: null,
};

test('the last reply shows what came and why, and its line is tried again by one press', async () => {
    const { page, app, texts, take, openPage, tavern } = await recallScene();
    tavern.chat.push({ name: 'Alice', is_user: true, mes: 'Where is the key?' }, { name: 'Mira', mes: 'Hm.' });
    Object.assign(app.recaller, { last: () => RECORD });
    await openPage('recall');
    assert.deepEqual(texts('#soulmem_last_reply .soulmem_recalled_why'), ['"key" leads to it.']);
    assert.equal(take('POST /recall').length, 0, 'nothing is asked before a press');
    await page.get('#soulmem_her_withheld').click();
    await settle();
    assert.equal(take('POST /recall')[0].body.query, 'Where is the key?');
});

test('after the page was loaded anew the sidecar tells what came for the last reply', async () => {
    const { openPage, texts, replies, tavern } = await recallScene();
    tavern.chat.push({ name: 'Mira', mes: 'Hm.', extra: { soulmem: { trace: 't8', n: 1 } } });
    replies['GET /traces/t8'] = { type: 'normal', soul: 's1', chat: 'c1', answer: answer() };
    await openPage('recall');
    assert.deepEqual(texts('#soulmem_last_reply .soulmem_recalled_text'), ['You hid the key in the oak.']);
});

test('the line is the last one of the chat until another is typed', async () => {
    const { openPage, page, tavern } = await recallScene();
    tavern.chat.push({ name: 'Alice', is_user: true, mes: 'It smells of rain.' });
    await openPage('recall');
    assert.equal(page.get('#soulmem_try_line').value, 'It smells of rain.');
});
