import assert from 'node:assert/strict';
import { test } from 'node:test';
import { deepPanel, endingText, stepText } from '../../../extension_js/src/pages/deep_panel.js';
import { el } from '../../../extension_js/src/base/dom.js';
import { newPage } from '../dom.mjs';
import { fakeApp } from '../fake_app.mjs';
import { say } from '../texts.mjs';
import { settle } from '../tavern.mjs';

const LOOK = 400; // ms
const FIRST = { step: 'explore', ask: 'Where is it?', found: ['m1', 'm2'], calls: 0 };
const BACK = { step: 'back', ask: 'Where is it?', found: [], calls: 0 };
const ANSWER = {
    trace: 't9',
    memories: [
        { id: 'm1', kind: 'episode', text: 'It is in the harbour.', why: 'It came up.' },
        { id: 'm2', kind: 'note', text: '<b>Cid</b> keeps it.', why: 'It fits.' },
    ],
};

/** @param {object} about @returns {any} */
const job = about => ({
    job: 'j1',
    kind: 'deep',
    state: 'running',
    progress: { done: 1, total: 10, unit: 'questions' },
    result: { answer: null, steps: [FIRST], calls: 0 },
    error: null,
    ...about,
});

/** @param {object} [result] */
const done = result =>
    job({
        state: 'done',
        result: {
            answer: ANSWER,
            steps: [FIRST, BACK],
            calls: 3,
            ended: 'enough',
            failure: null,
            ...result,
        },
    });

/** The panel on a page. */
async function scene() {
    const page = newPage();
    const all = fakeApp({ answers: { 'POST /jobs': { job: 'j1' }, 'GET /jobs/j1': job({}) } });
    await all.app.link.check();
    const acted = /** @type {string[][]} */ ([]);
    const start = { soul: 's1', chat: 'c1', query: 'Where is it?' };
    const panel = /** @type {any} */ (
        deepPanel(all.app, say, start, (trace, memory) => {
            acted.push([trace, memory.id]);
            return el('span', { class: 'act' });
        })
    );
    page.body.append(panel);
    const texts = (/** @type {string} */ selectors) =>
        panel.querySelectorAll(selectors).map((/** @type {any} */ found) => found.textContent);
    const press = async (/** @type {string} */ selector) => {
        void page.get(selector).click();
        await settle();
    };
    return { ...all, page, panel, acted, texts, press };
}

test('steps and endings are told in words', () => {
    assert.equal(stepText(FIRST, 2, say), 'Searched: Where is it? (2 new)');
    assert.equal(stepText({ ...FIRST, step: 'reflect' }, 2, say), 'Weighed what was found: 2 useful');
    assert.match(stepText(BACK, 0, say), /dead end.*Where is it\?/);
    assert.match(stepText({ ...BACK, step: 'plan' }, 0, say), /plan/);
    assert.equal(stepText({ ...BACK, step: 'dance' }, 0, say), 'Where is it?');
    assert.equal(
        endingText(done(), say),
        'That is enough. Memories: 2. Calls to the model: 3.',
    );
    assert.match(endingText(done({ ended: 'time', failure: 'away' }), say), /minute.*away$/);
    const refused = { failure: 'HTTP 401', failure_kind: 'refused' };
    assert.match(endingText(done(refused), say), /only memory was searched: it refused/);
    assert.doesNotMatch(endingText(done({ ended: 'else' }), say), /else|undefined/);
    assert.equal(endingText(job({ state: 'cancelled' }), say), 'Stopped.');
    assert.equal(endingText(job({ state: 'failed', error: 'no chat' }), say), 'Failed: no chat');
});

test('the steps are shown as they come, then the answer, whose memories can be judged', async () => {
    const { replies, take, pass, page, texts, press, acted } = await scene();
    assert.equal(page.get('.soulmem_deep_question').value, 'Where is it?');
    assert.equal(page.get('.soulmem_deep_running').hidden, true);
    await press('.soulmem_deep_go');
    const arguments_ = { query: 'Where is it?', language: 'en', chat: 'c1' };
    assert.deepEqual(take('POST /jobs')[0].body, {
        kind: 'deep',
        soul: 's1',
        arguments: arguments_,
    });
    assert.equal(page.get('.soulmem_deep_running').hidden, false);
    assert.deepEqual(texts('.soulmem_deep_steps li'), [stepText(FIRST, 2, say)]);
    assert.equal(page.get('.soulmem_job_bar').getAttribute('value'), '1');
    replies['GET /jobs/j1'] = done();
    await pass(LOOK);
    assert.deepEqual(texts('.soulmem_deep_steps li'), [stepText(FIRST, 2, say), stepText(BACK, 0, say)]);
    assert.deepEqual(texts('.soulmem_recalled_text'), ANSWER.memories.map(m => m.text));
    assert.deepEqual(texts('.soulmem_recalled_why'), ANSWER.memories.map(m => m.why));
    assert.deepEqual(acted, [
        ['t9', 'm1'],
        ['t9', 'm2'],
    ]);
    assert.equal(texts('.soulmem_deep_outcome')[0], endingText(done(), say));
    assert.equal(page.get('.soulmem_deep_running').hidden, true);
});

test('only what was not found before counts as new', async () => {
    const { replies, texts, press } = await scene();
    const again = { ...FIRST, ask: 'Who?', found: ['m2', 'm3'] };
    const weighed = { ...FIRST, step: 'reflect' };
    replies['GET /jobs/j1'] = done({ steps: [FIRST, again, weighed] });
    await press('.soulmem_deep_go');
    assert.deepEqual(texts('.soulmem_deep_steps li'), [
        stepText(FIRST, 2, say),
        stepText(again, 1, say),
        stepText(weighed, 2, say),
    ]);
});

test('a second search begins anew', async () => {
    const { replies, page, texts, press, take } = await scene();
    replies['GET /jobs/j1'] = done();
    await press('.soulmem_deep_go');
    page.get('.soulmem_deep_question').value = ' Who keeps it? ';
    await press('.soulmem_deep_go');
    assert.deepEqual(
        take('POST /jobs').map(asked => asked.body.arguments.query),
        ['Where is it?', 'Who keeps it?'],
    );
    assert.equal(texts('.soulmem_deep_steps li').length, 2);
    assert.equal(texts('.soulmem_recalled_text').length, 2);
});

test('stopping cancels the job, and the steps so far stay', async () => {
    const { replies, take, pass, texts, press } = await scene();
    await press('.soulmem_deep_go');
    replies['DELETE /jobs/j1'] = () => {
        replies['GET /jobs/j1'] = job({ state: 'cancelled' });
        return job({});
    };
    await press('.soulmem_deep_stop');
    await pass(LOOK);
    assert.equal(take('DELETE /jobs/j1').length, 1);
    assert.deepEqual(texts('.soulmem_deep_steps li'), [stepText(FIRST, 2, say)]);
    assert.equal(texts('.soulmem_deep_outcome')[0], 'Stopped.');
    assert.deepEqual(texts('.soulmem_recalled_text'), []);
});

test('a window that is closed stops the search', async () => {
    const { panel, take, pass, press } = await scene();
    await press('.soulmem_deep_go');
    panel.remove();
    await pass(LOOK);
    assert.equal(take('DELETE /jobs/j1').length, 1);
});

test('an empty question is not searched for, and a refusal is told', async () => {
    const { replies, take, page, texts, press } = await scene();
    page.get('.soulmem_deep_question').value = '  ';
    await press('.soulmem_deep_go');
    assert.equal(take('POST /jobs').length, 0);
    page.get('.soulmem_deep_question').value = 'Where?';
    replies['POST /jobs'] = new Error('no job of kind deep');
    await press('.soulmem_deep_go');
    assert.match(texts('.soulmem_deep_outcome')[0], /no job of kind deep/);
    assert.equal(page.get('.soulmem_deep_running').hidden, true);
});
