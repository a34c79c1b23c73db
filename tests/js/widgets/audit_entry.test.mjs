import assert from 'node:assert/strict';
import { test } from 'node:test';
import {
    auditItem,
    differenceView,
    undoChanges,
} from '../../../extension_js/src/widgets/audit_entry.js';
import { say } from '../texts.mjs';
import { textsIn, widgetContext } from './context.mjs';

const JOB = `j${'0'.repeat(22)}`;
/** @param {object} [about] @returns {any} */
const entry = about => ({
    id: 'c1',
    at: '2026-01-01T00:00:00Z',
    actor: 'engine',
    action: 'change',
    target: 'm1',
    before: { text: 'The key is lost.' },
    after: { text: 'The key is here.' },
    source: '',
    reason: '',
    ...about,
});

/** @param {object} [about] of the entry @param {object} [options] */
function itemOf(about, options) {
    const { context, shown } = widgetContext();
    const given = { undone: () => {}, ...options };
    const item = /** @type {any} */ (auditItem(context, entry(about), given));
    const press = (/** @type {string} */ selector) => item.querySelector(selector).click();
    return { item, shown, press, has: (/** @type {string} */ s) => item.querySelector(s) !== null };
}

test('what can be undone has a button, what was undone says so', async () => {
    let redrawn = 0;
    const { item, shown, press } = itemOf({}, { undone: () => redrawn++ });
    await press('.soulmem_undo');
    assert.deepEqual(shown.undone, [['s1', { change: 'c1' }]]);
    assert.equal(redrawn, 1);
    assert.equal(item.className, 'soulmem_entry');
    assert.ok(!itemOf({ actor: 'user' }).has('.soulmem_undo'));
    const undone = itemOf({ undone: true });
    assert.ok(undone.item.classList.contains('soulmem_entry_undone'));
    assert.match(textsIn(undone.item, 'small')[0], new RegExp(say('entry_undone')));
    assert.equal(textsIn(item, 'small')[0], '2026-01-01');
});

test('the first entry of a job has a button for the whole job', async () => {
    const jobs = new Set();
    const first = itemOf({ source: JOB }, { jobs });
    assert.ok(first.has('.soulmem_undo_job'));
    await first.press('.soulmem_undo_job');
    assert.deepEqual(first.shown.undone, [['s1', { job: JOB }]]);
    assert.ok(!itemOf({ id: 'c2', source: JOB }, { jobs }).has('.soulmem_undo_job'));
    assert.ok(!itemOf({ source: JOB }).has('.soulmem_undo_job'), 'where no jobs are shown');
    assert.ok(!itemOf({}, { jobs: new Set() }).has('.soulmem_undo_job'), 'of no job');
    const read = { source: JOB, action: 'read', before: null, after: null };
    assert.ok(!itemOf(read, { jobs: new Set() }).has('.soulmem_undo_job'));
});

test('an earlier wording can be used again where there was another', async () => {
    const reused = /** @type {string[]} */ ([]);
    const options = { reuse: (/** @type {string} */ text) => reused.push(text) };
    await itemOf({}, options).press('.soulmem_reuse');
    assert.deepEqual(reused, ['The key is lost.']);
    assert.ok(!itemOf().has('.soulmem_reuse'));
    assert.ok(!itemOf({ before: { text: 'a' }, after: { state: 'bin' } }, options).has('.soulmem_reuse'));
    assert.ok(!itemOf({ before: null, after: { text: 'a' } }, options).has('.soulmem_reuse'));
});

test('a memory can be opened where the page says how', async () => {
    let opened = 0;
    await itemOf({}, { open: () => opened++ }).press('.soulmem_show');
    assert.equal(opened, 1);
    assert.ok(!itemOf().has('.soulmem_show'));
});

test('the text is a difference, or the text itself unless only changes are wanted', () => {
    assert.deepEqual(textsIn(itemOf().item, 'del'), ['lost']);
    assert.deepEqual(textsIn(itemOf().item, 'ins'), ['here']);
    const created = { action: 'create', before: null, after: { text: 'Ben is tall.' } };
    const texts = (/** @type {object} */ options) =>
        textsIn(itemOf(created, options).item, '.soulmem_item_text');
    assert.deepEqual(texts({}), ['Ben is tall.']);
    assert.deepEqual(texts({ reuse: () => {} }), []);
    newParts('same', 'same', 0);
    newParts('a b', 'a b c', 1);
});

/** @param {string} before @param {string} after @param {number} marks deletions and insertions */
function newParts(before, after, marks) {
    const parts = differenceView(before, after);
    assert.equal(parts.filter(part => typeof part !== 'string').length, marks);
}

test('a reason is shown, but not the id that an undo has as its reason', () => {
    const hints = (/** @type {object} */ about) => textsIn(itemOf(about).item, '.soulmem_hint');
    assert.equal(hints({ reason: 'Alice said so' }).length, 1);
    assert.deepEqual(hints({}), []);
    assert.deepEqual(hints({ action: 'undo', reason: 'c9' }), []);
});

test('an undo is asked about and says what it came to', async () => {
    const run = async (/** @type {object} */ result, isSure = true) => {
        const { context, shown } = widgetContext({ memoryApi: { undo: async () => result } });
        context.app.host.confirm = async () => isSure;
        let done = 0;
        await undoChanges(context, { change: 'c1' }, 'Sure?', () => done++);
        return [shown.statuses, done];
    };
    const changes = ['c1', 'c2'];
    assert.deepEqual(await run({ changes, skipped: [] }, false), [[], 0]);
    assert.deepEqual(await run({ changes, skipped: [] }), [
        [[say('undone', { n: 2, kept: 0 }), true]],
        1,
    ]);
    assert.deepEqual(await run({ changes, skipped: [{}] }), [
        [[say('undone_but', { n: 2, kept: 1 }), true]],
        1,
    ]);
    assert.deepEqual(await run({ changes: [], skipped: [] }), [[[say('undo_nothing'), false]], 1]);
});
