import assert from 'node:assert/strict';
import { test } from 'node:test';
import { settle } from '../tavern.mjs';
import { memory, memoryWindow } from './window.mjs';

const QUIZ = {
    job: 'q1',
    kind: 'quiz',
    state: 'done',
    at: '2026-01-01T00:00:00Z',
    error: null,
    progress: { done: 2, total: 2, unit: 'questions' },
    result: {
        score: 0.5,
        asked: [
            { memory: 'm1', question: 'Where hangs the ..?', answer: 'The key.', rank: 1, told: 3 },
            { memory: 'm2', question: 'Who sold ..?', answer: 'Bela.', rank: null, told: 2 },
        ],
        never: [{ question: 'What did Osgood Tarrant give me?', told: 0 }],
    },
};

/** @param {any[]} [jobs] */
async function checkScene(jobs = [QUIZ]) {
    const scene = await memoryWindow({
        answers: {
            'GET /jobs': { jobs },
            'POST /jobs': { job: 'q1' },
            'GET /jobs/q1': QUIZ,
            'GET /memories/m2': memory({ id: 'm2' }),
            'PATCH /memories/m2': memory({ id: 'm2' }),
            'POST /recall': { trace: 't9', memories: [], blocks: [], tokens: 0 },
        },
    });
    await scene.openPage('check');
    return scene;
}

test('the last result is there, what failed stands first with buttons that help', async () => {
    const { texts, page, take } = await checkScene();
    assert.deepEqual(texts('.soulmem_check_score'), ['Of 2: 1 came, 0 met silence, 1 brought something else.']);
    assert.deepEqual(texts('.soulmem_quote_text'), ['Bela.', 'The key.']);
    assert.deepEqual(texts('.soulmem_no').map(text => text.trim()), ['brought 2 other memories']);
    assert.match(texts('.soulmem_check_never')[0], /nothing is told: “What did Osgood/);
    assert.equal(page.body.querySelectorAll('.soulmem_check_pin').length, 1);
    assert.equal(page.body.querySelectorAll('.soulmem_scores span').length, 1);
    await page.get('.soulmem_check_pin').click();
    await settle();
    assert.equal(take('PATCH /memories/m2')[0].body.permanent, true);
});

test('ten questions are asked by a job, and its score is added', async () => {
    const { page, take, texts } = await checkScene([]);
    assert.deepEqual(texts('.soulmem_check_score'), []);
    await page.get('#soulmem_check_start').click();
    await settle();
    assert.deepEqual(take('POST /jobs')[0].body.kind, 'quiz');
    assert.deepEqual(texts('.soulmem_check_score'), ['Of 2: 1 came, 0 met silence, 1 brought something else.']);
    assert.equal(page.get('#soulmem_check_stop').hidden, true);
});

test('of what did not come the user says that it was meant', async () => {
    const { page, take } = await checkScene();
    await page.get('.soulmem_check_meant').click();
    await settle();
    assert.equal(take('POST /recall')[0].body.query, 'Who sold ..?');
    assert.deepEqual(take('POST /feedback')[0].body, { trace: 't9', memory: 'm2', verdict: 'stronger' });
});
