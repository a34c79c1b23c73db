import assert from 'node:assert/strict';
import { test } from 'node:test';
import { repair } from '../../../extension_js/src/base/settings.js';
import { talk } from '../fakes.mjs';
import { drawer } from './drawer.mjs';

const soul = `s${'1'.repeat(20)}`;
const characters = { 'mira.png': { name: 'Mira', field: { version: 1, soul, config: {} } } };

test('a header of the user, none, and a section left out go to the sidecar as they are', async () => {
    const { page, app, take } = await drawer({ chat: talk(2), characters });
    const facts = page.get('#soulmem_section_facts');
    const text = page.get('#soulmem_section_facts_text');
    assert.deepEqual([facts.value, text.hidden], ['built_in', true]);
    await facts.change('own');
    assert.equal(text.hidden, false);
    assert.deepEqual(app.settings().headers, {}, 'nothing is written yet');
    await text.change(' {{char}} knows: ');
    await page.get('#soulmem_section_episodes').change('none');
    await page.get('#soulmem_section_summary').change('off');
    take(`PUT /souls/${soul}`);
    await app.chatSync.syncNow();
    const { config } = take(`PUT /souls/${soul}`).at(-1)?.body ?? {};
    assert.deepEqual(config.headers, { facts: '{{char}} knows:', episodes: '' });
    assert.deepEqual(config.sections_off, ['summary']);
    await facts.change('built_in');
    await page.get('#soulmem_section_episodes').change('built_in');
    await page.get('#soulmem_section_summary').change('built_in');
    await app.chatSync.syncNow();
    const back = take(`PUT /souls/${soul}`).at(-1)?.body.config;
    assert.deepEqual([back.headers, back.sections_off], [null, null], 'the default of the sidecar');
});

test('what is permanent cannot be left out', async () => {
    const { page } = await drawer({ chat: talk(2), characters });
    const values = page
        .get('#soulmem_section_permanent')
        .querySelectorAll('option')
        .map(option => option.getAttribute('value'));
    assert.deepEqual(values, ['built_in', 'own', 'none']);
});

test('stored headers and sections that the sidecar would refuse are dropped', () => {
    const stored = /** @type {any} */ ({
        headers: { facts: 'x'.repeat(600), nonsense: 'y', self: 7 },
        sections_off: ['permanent', 'facts', 3],
    });
    const { headers, sections_off: off } = repair(stored);
    assert.deepEqual(Object.keys(headers), ['facts']);
    assert.equal(headers.facts.length, 500);
    assert.deepEqual(off, ['facts']);
    assert.deepEqual(repair(/** @type {any} */ ({ headers: [], sections_off: 'all' })).sections_off, []);
});
