import assert from 'node:assert/strict';
import { test } from 'node:test';
import { say } from '../texts.mjs';
import {
    kindCounts,
    runsOf,
    splitByKept,
    withFactTexts,
} from '../../../extension_js/src/pages/learned_runs.js';

/** @typedef {import('../../../extension_js/src/base/types.js').AuditEntry} AuditEntry */

const IDLE = 'idle-20260501T120000',
    JOB = `j${'0'.repeat(22)}`;
let number = 0;

/** @param {Partial<AuditEntry>} about @returns {AuditEntry} each newer than those before */
const entry = about => ({
    id: `c${String(++number).padStart(16, '0')}`,
    at: '2026-05-01T12:00:00Z',
    actor: 'archivist',
    action: 'create',
    target: `m${number}`,
    before: null,
    after: { kind: 'episode', text: 'a scene' },
    source: IDLE,
    reason: 'consolidation',
    ...about,
});
/** @param {AuditEntry[]} entries the oldest first */
const runs = (...entries) => runsOf(entries.reverse());
/** @param {ReturnType<typeof runsOf>} shown */
const texts = shown => shown.map(run => run.items.map(item => item.text));

test('what runs made is told run by run, the newest first, scenes before names', () => {
    const shown = runs(
        entry({ after: { kind: 'concept', text: 'Mira' } }),
        entry({ after: { kind: 'episode', text: 'first' } }),
        entry({ source: JOB, after: { kind: 'summary', text: 'all' } }),
    );
    assert.deepEqual(
        shown.map(run => run.id),
        [JOB, IDLE],
    );
    assert.deepEqual(texts(shown), [['all'], ['first', 'Mira']]);
    assert.equal(kindCounts(shown[1].items, say), 'moment 1 · name 1');
});

test('only what a model did in a run counts, and of that what a reader can judge', () => {
    assert.deepEqual(
        runs(
            entry({ actor: 'user' }),
            entry({ actor: 'engine' }),
            entry({ source: '' }),
            entry({ source: 'request-1' }),
            entry({ action: 'bin', before: { state: 'active' }, after: { state: 'bin' } }),
            entry({ after: null }),
            entry({ action: 'change', before: { importance: 0.5 }, after: { importance: 0.6 } }),
            entry({
                action: 'change',
                before: { edges: { e1: null } },
                after: { edges: { e1: { kind: 'mentions', source: 'm1', target: 'm2' } } },
            }),
        ),
        [],
    );
});

test('what was taken back, or is gone for good, is left out', () => {
    const made = entry({}),
        kept = entry({});
    for (const action of ['undo', 'purge']) {
        const shown = runsOf([
            entry({ actor: 'user', action, target: made.target, source: IDLE, after: null }),
            kept,
            made,
        ]);
        assert.deepEqual(
            shown.flatMap(run => run.items.map(item => item.id)),
            [kept.target],
            action,
        );
    }
    const again = entry({ target: made.target });
    assert.equal(
        runsOf([
            again,
            entry({ actor: 'user', action: 'undo', target: made.target, after: null }),
            made,
        ]).length,
        1,
        'learned anew after that',
    );
});

test('a rewording is told with what it was before the run, once', () => {
    const [run] = runs(
        entry({ action: 'change', target: 'm1', before: { text: 'one' }, after: { text: 'two' } }),
        entry({
            action: 'change',
            target: 'm1',
            before: { text: 'two' },
            after: { text: 'three' },
        }),
    );
    assert.deepEqual(
        run.items.map(({ before, text }) => [before, text]),
        [['one', 'three']],
    );
});

test('a fact is told in words, by the names of its ends; without an end it is not', async () => {
    const edge = { kind: 'relates', source: 's', target: 'o', verb: 'knows' };
    const shown = runs(
        entry({
            target: 's',
            after: {
                kind: 'concept',
                text: 'Alice',
                edges: { e1: edge, e2: { ...edge, target: 'nobody' } },
            },
        }),
        entry({
            action: 'change',
            target: 'x',
            before: { edges: { e3: { verb: 'knew' } } },
            after: { edges: { e3: { verb: 'knows' } } },
        }),
    );
    const asked = /** @type {string[]} */ ([]);
    const [run] = await withFactTexts(shown, async memory => {
        asked.push(memory);
        return memory === 'o' ? 'Mira' : null;
    });
    assert.deepEqual(
        run.items.map(({ kind, text }) => [kind, text]),
        [
            ['fact', 'Alice knows Mira'],
            ['concept', 'Alice'],
        ],
    );
    assert.deepEqual(
        asked.sort(),
        ['nobody', 'o'],
        'each is asked for once, and none that is known',
    );
    assert.equal(run.items[0].memory, 's');
    assert.deepEqual(
        await withFactTexts(
            runs(
                entry({
                    action: 'change',
                    target: 'x',
                    before: { edges: {} },
                    after: { edges: { e: edge } },
                }),
            ),
            async () => null,
        ),
        [],
    );
});

test('kept is what was there when the user kept it; a run that wrote more since is new again', () => {
    const first = entry({}),
        second = entry({ source: JOB });
    const all = runsOf([second, first]);
    assert.deepEqual(splitByKept(all, undefined).fresh.length, 2);
    const after = splitByKept(all, all[0].newest);
    assert.deepEqual([after.fresh.length, after.earlier.length], [0, 2]);
    assert.deepEqual(
        splitByKept(runsOf([entry({}), second, first]), all[0].newest).fresh.map(run => run.id),
        [IDLE],
    );
});
