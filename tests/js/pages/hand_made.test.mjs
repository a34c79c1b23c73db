import assert from 'node:assert/strict';
import { test } from 'node:test';
import { linkOf } from '../../../extension_js/src/pages/hand_made.js';
import { settle } from '../tavern.mjs';
import { memory, memoryWindow } from './window.mjs';

const CONCEPT = memory({ id: 'c1', kind: 'concept', text: 'lantern' });
const NOTE = memory({ id: 'm2', kind: 'note', text: 'A lantern was lit.' });

/** Pages are as the sidecar answers. @param {object} [about] of the open memory */
const answers = about => ({
    'GET /memories': { memories: [memory({ id: 'm1' }), CONCEPT, NOTE], cursor: null },
    'GET /memories/m1': memory(about),
    'GET /memories/c9': memory({ id: 'c9', kind: 'concept', text: 'ferry' }),
    'GET /memories/c9/history': { audit: [], cursor: null },
    'POST /memories': { id: 'c9' },
});

test('the kinds of two memories decide their link, whichever is open', () => {
    const scene = { id: 's', kind: 'episode' };
    const thing = { id: 't', kind: 'concept' };
    const pattern = { id: 'p', kind: 'abstract_episode' };
    assert.deepEqual(linkOf(scene, thing), { kind: 'mentions', to: 't' });
    assert.deepEqual(linkOf(thing, scene), { kind: 'mentions', from: 's' });
    assert.deepEqual(linkOf(scene, pattern), { kind: 'instance_of', to: 'p' });
    assert.deepEqual(linkOf(pattern, scene), { kind: 'instance_of', from: 's' });
    assert.deepEqual(linkOf(thing, { id: 'u', kind: 'concept' }), { kind: 'associates', to: 'u' });
});

test('another memory is looked for, and a press on it links the two', async () => {
    const { page, open, take } = await memoryWindow({ answers: answers({ kind: 'episode' }) });
    await open('memories', 'm1');
    page.get('#soulmem_link_search').value = 'lantern';
    await page.get('#soulmem_link_go').click();
    const rows = page.document.querySelectorAll('#soulmem_link_rows .soulmem_press');
    assert.equal(rows.length, 2, 'not the memory itself');
    await rows[0].click();
    const [{ body }] = take('PATCH /memories/m1');
    assert.deepEqual(body, { edges: [{ kind: 'mentions', to: 'c1' }], revision: 3 });
});

test('Enter looks for another memory, unless it ends the composing of a word', async () => {
    const { page, open, take } = await memoryWindow({ answers: answers() });
    await open('memories', 'm1');
    take('GET /memories');
    const field = page.get('#soulmem_link_search');
    field.value = 'lantern';
    for (const [about, searches] of /** @type {const} */ ([
        [{ key: 'n' }, 0],
        [{ key: 'Enter', isComposing: true }, 0],
        [{ key: 'Enter' }, 1],
    ])) {
        await field.happen('keydown', about);
        await settle();
        assert.equal(take('GET /memories').length, searches, JSON.stringify(about));
    }
});

test('a concept is made by its name and shown, and not without one', async () => {
    const { page, open, take } = await memoryWindow({ answers: answers() });
    await open('memories');
    await page.get('#soulmem_make').click();
    await page.get('#soulmem_make_save').click();
    assert.deepEqual(take('POST /memories'), []);
    page.get('#soulmem_make_text').value = ' ferry ';
    await page.get('#soulmem_make_save').click();
    const [{ body }] = take('POST /memories');
    assert.deepEqual([body.kind, body.text], ['concept', 'ferry']);
    assert.equal(page.get('#soulmem_text').value, 'ferry');
});
