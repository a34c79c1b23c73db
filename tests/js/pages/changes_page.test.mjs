import assert from 'node:assert/strict';
import { test } from 'node:test';
import { settle } from '../tavern.mjs';
import { entry, memoryWindow } from './window.mjs';

const JOB = `j${'0'.repeat(22)}`;
const AUDIT = [
    { id: 'c4', actor: 'user' },
    { id: 'c3', source: JOB },
    { id: 'c2', source: JOB, target: 'm2' },
    { id: 'c1', action: 'read', target: 't1', before: null, after: null },
].map(entry);

/** The page of changes. @param {object[]} [audit] @param {string | null} [cursor] */
async function changesOpen(audit = AUDIT, cursor = null) {
    const scene = await memoryWindow({ answers: { 'GET /audit': { audit, cursor } } });
    await scene.open('changes');
    const entries = () =>
        scene.page.body.querySelectorAll('.soulmem_entry').map(item => item.dataset.entry);
    return { ...scene, entries };
}

test('the page shows what can be undone; all changes when they are wanted', async () => {
    const { page, entries, texts, replies } = await changesOpen();
    assert.deepEqual(entries(), ['c3', 'c2']);
    await page.get('#soulmem_changes_of').change('all');
    await settle();
    assert.deepEqual(entries(), ['c4', 'c3', 'c2', 'c1']);
    assert.equal(texts('.soulmem_show').length, 3, 'a read is of no memory');
    replies['GET /audit'] = { audit: [], cursor: null };
    await page.get('#soulmem_changes_of').change('automatic');
    await settle();
    const none = texts('.soulmem_foot')[0];
    await page.get('#soulmem_changes_of').change('all');
    await settle();
    assert.notEqual(texts('.soulmem_foot')[0], none);
});

test('a job has a single button that undoes all of it', async () => {
    const { page, texts, take, replies, user } = await changesOpen();
    assert.equal(texts('.soulmem_undo').length, 2);
    assert.equal(texts('.soulmem_undo_job').length, 1);
    user.agrees = false;
    await page.get('.soulmem_undo_job').click();
    assert.equal(take('POST /undo').length, 0);
    user.agrees = true;
    replies['POST /undo'] = { changes: ['c3', 'c2'], memories: [], edges: 0, skipped: [] };
    await page.get('.soulmem_undo_job').click();
    assert.deepEqual(take('POST /undo')[0].body, { soul: 's1', job: JOB });
    assert.equal(texts('.soulmem_said')[0], '2 changes undone.');
});

test('a single change is undone, and what the user set later is kept', async () => {
    const { page, texts, take, replies } = await changesOpen();
    replies['POST /undo'] = { changes: ['c3'], memories: [], edges: 0, skipped: [{}] };
    await page.get('.soulmem_undo').click();
    assert.deepEqual(take('POST /undo')[0].body, { soul: 's1', change: 'c3' });
    assert.equal(texts('.soulmem_said')[0], '1 change undone; 1 kept as you set them later.');
    assert.equal(texts('.soulmem_not_done').length, 0);
    replies['POST /undo'] = { changes: [], memories: [], edges: 0, skipped: [] };
    await page.get('.soulmem_undo').click();
    assert.match(texts('.soulmem_not_done')[0], /no automatic change/);
});

test('changes of a span are counted, asked about, and undone', async () => {
    const { page, take, shown, replies } = await changesOpen();
    replies['POST /undo'] = { changes: ['c3'], memories: [], edges: 0, skipped: [] };
    take('GET /audit');
    for (const [span, hours] of /** @type {[string, number][]} */ ([
        ['hour', 1],
        ['day', 24],
        ['week', 168],
    ])) {
        await page.get('#soulmem_span').change(span);
        assert.equal(page.get('#soulmem_since').hidden, true);
        await page.get('#soulmem_undo_since').click();
        const { since } = take('POST /undo')[0].body;
        assert.equal(Math.round((Date.now() - Date.parse(since)) / 3_600_000), hours);
    }
    assert.match(shown.questions[0], /\b2\b/, 'those of the user are not counted');
    assert.equal(take('GET /audit')[0].query.get('limit'), '1000');
});

test('a moment is chosen by the user, and asked for when it is none', async () => {
    const { page, take, texts } = await changesOpen();
    await page.get('#soulmem_span').change('moment');
    const field = page.get('#soulmem_since');
    assert.equal(field.hidden, false);
    const shown = new Date(field.value).getTime();
    assert.ok(Math.abs(Date.now() - 3_600_000 - shown) < 120_000, 'an hour ago, in local time');
    field.value = '';
    await page.get('#soulmem_undo_since').click();
    assert.equal(texts('.soulmem_said')[0], 'Choose a date and time first.');
    assert.equal(take('POST /undo').length, 0);
    field.value = '2026-01-02T03:04';
    await page.get('#soulmem_undo_since').click();
    const { since } = take('POST /undo')[0].body;
    assert.equal(since, new Date('2026-01-02T03:04').toISOString());
});

test('without automatic changes there is no question; with more than are counted there is', async () => {
    const none = await changesOpen([entry({ id: 'c4', actor: 'user' })]);
    await none.page.get('#soulmem_undo_since').click();
    assert.deepEqual(none.shown.questions, []);
    assert.match(none.texts('.soulmem_said')[0], /no automatic change/);
    const scene = await changesOpen();
    const audit = [entry({ id: 'c4', actor: 'user' })];
    scene.replies['GET /audit'] = { audit, cursor: 'further' };
    await scene.page.get('#soulmem_undo_since').click();
    assert.match(scene.shown.questions[0], /0\+/);
    scene.replies['GET /audit'] = new Error('the disk is full');
    await scene.page.get('#soulmem_undo_since').click();
    assert.equal(scene.shown.questions.length, 1);
    assert.match(scene.page.get('.soulmem_notice').textContent, /disk is full/);
});

test('the text of an entry is shown as a difference where there is one', async () => {
    const created = { action: 'create', before: null, after: { text: 'Ben is tall.' } };
    const { page, texts } = await changesOpen([
        entry({ id: 'c3', reason: 'Alice said so' }),
        entry({ id: 'c2', actor: 'import', ...created }),
        entry({ id: 'c1', before: { text: 'a b' }, after: { text: 'a b c' } }),
    ]);
    assert.deepEqual(texts('del'), ['is lost']);
    assert.deepEqual(texts('ins'), ['hangs behind the clock', ' c']);
    assert.ok(texts('.soulmem_item_text').includes('Ben is tall.'));
    assert.equal(texts('.soulmem_reuse').length, 0, 'only in the history of a memory');
    assert.equal(texts('.soulmem_entry .soulmem_hint').length, 1);
    await page.get('.soulmem_show').click();
    await settle();
    assert.equal(page.get('.soulmem_memory').dataset.memory, 'm1');
});
