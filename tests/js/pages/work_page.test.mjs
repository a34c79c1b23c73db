import assert from 'node:assert/strict';
import { test } from 'node:test';
import { HEALTH } from '../fake_app.mjs';
import { settle } from '../tavern.mjs';
import { entry, memory, memoryWindow } from './window.mjs';

const JOB = `j${'0'.repeat(22)}`;
const USAGE = {
    calls: 4,
    failed: 0,
    prompt_tokens: 1000,
    answer_tokens: 200,
    seconds: 9,
    memories: 3,
};
const LEDGER = {
    totals: {},
    this_hour: USAGE,
    most_an_hour: { calls: 120, tokens: 1, memories: 1, minutes: 1 },
    due: { calls: 6, minutes: 1.5 },
    parked: [],
    down: null,
};
const LLM = { state: 'ok', model: 'qwen' };
const job = (/** @type {object} */ about) => ({
    job: JOB,
    kind: 'consolidate',
    soul: 's1',
    at: '2026-01-01T00:00:00Z',
    state: 'running',
    progress: { done: 0, total: 0, unit: '' },
    result: null,
    error: null,
    ...about,
});

/** The page of background work. @param {object} [answers] @param {object | undefined} [llm] */
async function workOpen(answers = {}, llm = LLM) {
    const scene = await memoryWindow({
        answers: {
            'GET /health': { ...HEALTH, llm },
            'GET /jobs': { jobs: [] },
            'GET /ledger': LEDGER,
            ...answers,
        },
    });
    await scene.open('work');
    const isHidden = (/** @type {string} */ id) => scene.page.get(id).hidden;
    return { ...scene, isHidden };
}

test('without a model the card says so and offers nothing', async () => {
    const { isHidden, texts, page } = await workOpen({}, { state: 'off', model: '' });
    assert.deepEqual([isHidden('#soulmem_run_now'), isHidden('#soulmem_test_model')], [true, true]);
    assert.equal(page.get('#soulmem_model .soulmem_light').dataset.state, 'off');
    assert.equal(texts('#soulmem_model b')[0], 'No model for memory work');
    const unknown = await workOpen({}, undefined);
    assert.equal(unknown.texts('#soulmem_model b')[0], 'Model for memory work: qwen');
    const old = await workOpen({ 'GET /health': { ...HEALTH, llm: undefined } });
    assert.equal(old.texts('#soulmem_model b')[0], 'No model for memory work');
    assert.equal(old.isHidden('#soulmem_run_now'), true);
});

test('a model that is well, one that is down and one with trouble differ', async () => {
    const light = async (/** @type {any[]} */ ...how) =>
        (await workOpen(...how)).page.get('#soulmem_model .soulmem_light').dataset.state;
    assert.equal(await light(), 'ok');
    assert.equal(await light({ 'GET /ledger': { ...LEDGER, down: 'refused' } }), 'degraded');
    assert.equal(await light({}, { state: 'down', model: 'qwen' }), 'degraded');
});

test("SillyTavern's connection is named by the chosen profile", async () => {
    const scene = await workOpen({}, { state: 'ok', model: 'client' });
    const name = () => scene.texts('#soulmem_model b')[0];
    assert.equal(name(), "Model for memory work: SillyTavern's connection");
    scene.tavern.settings.llm_profile = 'p2';
    await scene.open('work');
    assert.equal(name(), 'Model for memory work: connection profile "Small"');
    scene.tavern.settings.llm_profile = 'gone';
    await scene.open('work');
    assert.equal(name(), "Model for memory work: SillyTavern's connection");
});

test('what is due, what it cost and what is put off are told', async () => {
    const facts = async (/** @type {object} */ about) =>
        (await workOpen({ 'GET /ledger': { ...LEDGER, ...about } })).texts('.soulmem_facts li');
    const due = await facts({});
    assert.equal(due.length, 1);
    assert.match(due[0], /6.*2 minutes/);
    assert.match((await facts({ due: { calls: 0, minutes: null } }))[0], /Nothing is due/);
    const all = await facts({
        totals: { consolidation: USAGE },
        down: 'refused',
        parked: [{ chat: 'c', work: 'w', reason: 'no lists', attempts: 2, again: '' }],
    });
    assert.equal(all.length, 5);
    assert.match(all[1], /refused/);
    assert.match(all[2], /no lists/);
    assert.match(all[3], /1,200/);
    assert.match(all[4], /4.*120/);
});

test('a run is offered when calls are due and none runs, and starts after its price', async () => {
    assert.equal((await workOpen()).isHidden('#soulmem_run_now'), false);
    const nothing = await workOpen({ 'GET /ledger': { ...LEDGER, due: { calls: 0, minutes: 0 } } });
    assert.equal(nothing.isHidden('#soulmem_run_now'), true);
    const running = await workOpen({ 'GET /jobs': { jobs: [job({})] } });
    assert.equal(running.isHidden('#soulmem_run_now'), true);
    for (const other of [job({ kind: 'replay' }), job({ state: 'done', result: {} })]) {
        const scene = await workOpen({ 'GET /jobs': { jobs: [other] } });
        assert.equal(scene.isHidden('#soulmem_run_now'), false);
    }
    const { page, user, shown, take, replies } = await workOpen({
        'GET /ledger': { ...LEDGER, totals: { consolidation: USAGE } },
    });
    replies['POST /jobs'] = job({});
    user.agrees = false;
    await page.get('#soulmem_run_now').click();
    assert.match(shown.questions[0], /6.*2 minutes.*1,800/);
    assert.equal(take('POST /jobs').length, 0);
    user.agrees = true;
    take('GET /ledger');
    await page.get('#soulmem_run_now').click();
    assert.deepEqual(take('POST /jobs')[0].body, { kind: 'consolidate', soul: 's1', arguments: {} });
    assert.equal(take('GET /ledger').length, 1, 'drawn anew');
});

test('the price of a first run has no tokens', async () => {
    const { page, shown } = await workOpen();
    await page.get('#soulmem_run_now').click();
    assert.doesNotMatch(shown.questions[0], /tokens/);
});

test('a test of the model is watched, and its verdict shown with the answer', async () => {
    const { page, replies, pass, take, texts, host } = await workOpen();
    const test = job({ kind: 'model_test', job: 'j1' });
    replies['POST /jobs'] = test;
    replies['GET /jobs/j1'] = test;
    const testing = page.get('#soulmem_test_model').click();
    await settle();
    assert.equal(take('POST /jobs')[0].body.arguments.language, 'en');
    const running = page.get('#soulmem_test_result').textContent;
    replies['GET /jobs/j1'] = { ...test, state: 'queued' };
    await pass(500);
    assert.notEqual(page.get('#soulmem_test_result').textContent, running);
    replies['GET /jobs/j1'] = {
        ...test,
        state: 'done',
        result: { state: 'ok', seconds: 2, answer: 'A tree.' },
    };
    await pass(500);
    await testing;
    assert.equal(page.get('.soulmem_verdict').dataset.sign, 'yes');
    assert.deepEqual(texts('#soulmem_test_result q'), ['A tree.']);
    replies['GET /jobs/j1'] = { ...test, state: 'done', result: { state: 'off' } };
    host.locale = () => 'zh-CN';
    await page.get('#soulmem_test_model').click();
    assert.equal(take('POST /jobs')[0].body.arguments.language, 'zh');
    assert.equal(page.get('.soulmem_verdict').dataset.sign, 'no');
    assert.deepEqual(texts('#soulmem_test_result q'), []);
    replies['POST /jobs'] = new Error('the disk is full');
    await page.get('#soulmem_test_model').click();
    assert.equal(page.get('#soulmem_test_result').textContent, '');
    assert.match(page.get('.soulmem_notice').textContent, /disk is full/);
});

test('the page looks again, sooner while a job runs, and not when it is hidden or gone', async () => {
    const { pass, take, replies, page } = await workOpen();
    const looks = async (/** @type {number} */ ms) => {
        take('GET /jobs');
        await pass(ms);
        await settle();
        return take('GET /jobs').length;
    };
    assert.equal(await looks(1000), 0);
    assert.equal(await looks(10_000), 1);
    replies['GET /jobs'] = { jobs: [job({})] };
    await looks(10_000);
    assert.equal(await looks(1000), 1);
    page.document.hidden = true;
    assert.equal(await looks(1000), 0);
    page.document.hidden = false;
    replies['GET /jobs'] = new Error('away');
    assert.equal(await looks(10_000), 1);
    assert.equal(await looks(10_000), 1, 'it goes on after a failure');
    page.get('#soulmem_browser').remove();
    assert.equal(await looks(10_000), 0);
    assert.equal(await looks(10_000), 0);
});

test('jobs are listed at once, left alone while they stay the same, and drawn anew when one changes', async () => {
    const { page, pass, replies } = await workOpen({ 'GET /jobs': { jobs: [job({})] } });
    const shown = page.get('.soulmem_job');
    assert.equal(shown.dataset.state, 'running');
    await pass(1000);
    await settle();
    assert.equal(page.get('.soulmem_job'), shown);
    replies['GET /jobs'] = { jobs: [job({ state: 'done', result: {} })] };
    await pass(1000);
    await settle();
    assert.equal(page.get('.soulmem_job').dataset.state, 'done');
});

test('what runs have learned is listed, kept by the user, and read again when a job has ended', async () => {
    const text = 'Ben is afraid of dogs.';
    const audit = [
        entry({
            id: 'c9',
            actor: 'archivist',
            action: 'create',
            source: JOB,
            target: 'm9',
            before: null,
            after: { text, kind: 'concept' },
        }),
        entry({ id: 'c8', actor: 'archivist', source: JOB }),
    ];
    const scene = await workOpen({
        'GET /audit': { audit, cursor: null },
        'GET /memories/m9': memory({ id: 'm9' }),
    });
    const { page, texts, take, pass, replies, tavern, shown } = scene;
    assert.equal(page.get('.soulmem_run').dataset.fresh, 'true');
    assert.ok(texts('.soulmem_learned').some(line => line.includes(text)));
    assert.equal(texts('.soulmem_learned del').length, 1);
    take('GET /audit');
    for (const reads of [1, 0]) {
        await pass(10_000);
        await settle();
        assert.equal(take('GET /audit').length, reads, 'once more, then nothing new can have been learned');
    }
    replies['GET /jobs'] = { jobs: [job({ state: 'done', result: {} })] };
    await pass(10_000);
    await settle();
    assert.equal(take('GET /audit').length, 1);
    const drawn = page.get('.soulmem_run');
    replies['GET /ledger'] = { ...LEDGER, totals: { consolidation: USAGE } };
    await pass(10_000);
    await settle();
    assert.equal(take('GET /audit').length, 1);
    assert.equal(page.get('.soulmem_run'), drawn, 'the same runs are left alone');
    await page.get('#soulmem_keep_all').click();
    await settle();
    assert.equal(tavern.settings.kept.s1, 'c9');
    assert.equal(shown.settingsSaves, 1);
    assert.equal(page.get('.soulmem_earlier .soulmem_run').dataset.fresh, 'false');
    assert.equal(page.body.querySelector('#soulmem_keep_all'), null);
    assert.match(texts('.soulmem_hint').join('\n'), /\w/);
    await page.get('.soulmem_learned .soulmem_show').click();
    await settle();
    assert.ok(page.get('.soulmem_memory'));
});

test('a run of many memories shows six and the others after a press', async () => {
    const audit = Array.from({ length: 8 }, (_, i) =>
        entry({
            id: `c${i}`,
            actor: 'archivist',
            action: 'create',
            source: JOB,
            target: `n${i}`,
            before: null,
            after: { text: `memory ${i}`, kind: 'concept' },
        }),
    );
    const { page, texts } = await workOpen({ 'GET /audit': { audit, cursor: null } });
    assert.equal(texts('.soulmem_learned').length, 6);
    await page.get('.soulmem_run .soulmem_more').click();
    assert.equal(texts('.soulmem_learned').length, 8);
    assert.equal(texts('.soulmem_run .soulmem_more').length, 0);
    const few = await workOpen({ 'GET /audit': { audit: audit.slice(0, 6), cursor: null } });
    assert.equal(few.texts('.soulmem_run .soulmem_more').length, 0);
});
