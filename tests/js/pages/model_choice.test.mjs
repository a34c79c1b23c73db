import assert from 'node:assert/strict';
import { test } from 'node:test';
import { settle } from '../tavern.mjs';
import { memoryWindow } from './window.mjs';

const LEDGER = {
    totals: {},
    this_hour: { calls: 0, failed: 0, prompt_tokens: 0, answer_tokens: 0, seconds: 0, memories: 0 },
    most_an_hour: { calls: 6, tokens: 1, memories: 1, minutes: 1 },
    due: { calls: 0, minutes: null },
    parked: [],
    down: null,
};

/** @param {object} chosen */
async function workPage(chosen) {
    const all = await memoryWindow({
        answers: {
            'GET /jobs': { jobs: [] },
            'GET /ledger': LEDGER,
            'GET /audit': { audit: [], cursor: null },
            'GET /model': chosen,
            'PUT /model': (/** @type {any} */ { body }) => ({
                ...{ model: '', base_url: '', has_key: Boolean(body.api_key) },
                ...body,
            }),
        },
    });
    await all.openPage('work');
    await settle();
    return all;
}
const NONE = { use: 'settings', model: '', base_url: '', has_key: false };

test('a server of its own is chosen with address, name and key', async () => {
    const { page, take } = await workPage(NONE);
    const url = page.get('#soulmem_model_url');
    assert.equal(url.hidden, true);
    await page.get('#soulmem_model_use').change('server');
    assert.equal(url.hidden, false);
    url.value = ' http://127.0.0.1:5001/v1 ';
    page.get('#soulmem_model_name').value = 'qwen';
    page.get('#soulmem_model_key').value = 'secret';
    await page.get('#soulmem_model_choose').click();
    await settle();
    assert.deepEqual(take('PUT /model')[0].body, {
        use: 'server',
        base_url: 'http://127.0.0.1:5001/v1',
        model: 'qwen',
        api_key: 'secret',
    });
    assert.equal(page.get('#soulmem_model_key').value, '', 'the key is not shown again');
    assert.match(page.get('.soulmem_said').textContent, /Test it now/);
    await page.get('#soulmem_model_choose').click();
    await settle();
    assert.equal('api_key' in take('PUT /model')[0].body, false, 'the stored key stays');
});

test("SillyTavern's connection is chosen with its profile", async () => {
    const { page, take, tavern } = await workPage({ ...NONE, use: 'none' });
    assert.equal(page.get('#soulmem_model_use').value, 'none');
    await page.get('#soulmem_model_use').change('client');
    page.get('#soulmem_model_profile').value = 'p2';
    await page.get('#soulmem_model_choose').click();
    await settle();
    assert.deepEqual(take('PUT /model')[0].body, { use: 'client' });
    assert.equal(tavern.settings.llm_profile, 'p2');
});

test('where the choice cannot be read there is none', async () => {
    const { page } = await workPage(new Error('no such route'));
    assert.equal(page.get('#soulmem_model_choice').hidden, true);
});
