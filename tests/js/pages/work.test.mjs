// The page of background work: jobs, prices and tests in words, and the runs that are shown.

import assert from 'node:assert/strict';
import { test } from 'node:test';
import {
    isUnfinished,
    jobName,
    outcomeText,
    shownJobs,
} from '../../../extension_js/src/widgets/job_list.js';
import {
    kindCounts,
    splitByKept,
    runsOf,
    withFactTexts,
} from '../../../extension_js/src/pages/learned_runs.js';
import {
    durationText,
    priceOf,
    totalUsage,
    testVerdict,
} from '../../../extension_js/src/pages/model_card.js';
import { createSay } from '../../../extension_js/src/base/strings.js';

/** @typedef {import('../../../extension_js/src/base/types.js').AuditEntry} AuditEntry */
/** @typedef {import('../../../extension_js/src/base/types.js').Job} Job */
/** @typedef {import('../../../extension_js/src/base/types.js').UsageLedger} UsageLedger */

const say = createSay(english => english);
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
    assert.equal(kindCounts(shown[1].items, say), 'scene 1 · concept 1');
});

test('only what a model did in a run kindCounts, and of that what a reader can judge', () => {
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

/** @param {Partial<Job>} about @returns {Job} */
const job = about => ({
    job: JOB,
    kind: 'consolidate',
    soul: 's1',
    at: '2026-05-01T12:00:00Z',
    state: 'done',
    progress: { done: 0, total: 0, unit: '' },
    result: null,
    error: null,
    ...about,
});

test('a job is told with what came of it', () => {
    assert.match(
        outcomeText(job({ result: { calls: 4, memories: 9, parked: [] } }), say),
        /calls 4, memories 9/,
    );
    assert.match(
        outcomeText(job({ result: { calls: 4, memories: 0, parked: ['c1: no lists'] } }), say),
        /Deferred: 1/,
    );
    assert.match(
        outcomeText(job({ kind: 'replay', result: { calls: 2, written: 3, parked: [] } }), say),
        /calls 2, memories 3/,
    );
    assert.equal(outcomeText(job({ result: {} }), say), 'Done');
    assert.match(
        outcomeText(job({ state: 'failed', error: 'the disk is full' }), say),
        /the disk is full/,
    );
    assert.match(outcomeText(job({ state: 'cancelled' }), say), /stays/);
    assert.equal(jobName(job({ kind: 'import' }), say), 'Import');
    assert.equal(jobName(job({ kind: 'of tomorrow' }), say), 'of tomorrow');
});

test('what goes on is always told, of what ended the last; tests and quotes are told elsewhere', () => {
    const jobs = [
        job({ kind: 'model_test' }),
        job({ kind: 'import', result: { dry_run: true } }),
        ...Array.from({ length: 20 }, () => job({})),
        job({ state: 'running' }),
    ];
    const shown = shownJobs(jobs);
    assert.deepEqual([shown.length, shown.filter(isUnfinished).length], [9, 1]);
    assert.ok(!shown.some(other => other.kind === 'model_test' || other.result?.dry_run));
});

const spent = {
    calls: 4,
    failed: 1,
    prompt_tokens: 1000,
    answer_tokens: 200,
    seconds: 60,
    memories: 9,
};
/** @param {Partial<UsageLedger>} about @returns {UsageLedger} */
const ledger = about => ({
    totals: {},
    this_hour: spent,
    most_an_hour: { calls: 120, tokens: 1, memories: 1, minutes: 1 },
    due: { calls: 6, minutes: null },
    parked: [],
    down: null,
    ...about,
});

test('the price goes by what calls took so far, and says so when there were none', () => {
    assert.deepEqual(priceOf(ledger({})), { calls: 6, minutes: null, tokens: null });
    assert.deepEqual(
        priceOf(ledger({ totals: { consolidation: spent }, due: { calls: 6, minutes: 1.5 } })),
        { calls: 6, minutes: 1.5, tokens: 1800 },
    );
    assert.match(durationText(null, say), /not known/);
    assert.match(durationText(0.4, say), /less than a minute/);
    assert.match(durationText(1.2, say), /about 2 minutes/);
    assert.deepEqual(
        totalUsage(ledger({ totals: { consolidation: spent, test: { ...spent, calls: 1 } } })),
        {
            calls: 5,
            failed: 2,
            prompt_tokens: 2000,
            answer_tokens: 400,
            seconds: 120,
            memories: 18,
        },
    );
});

test('a test of the model is told so that one knows what to do', () => {
    assert.deepEqual(
        testVerdict(job({ result: { state: 'ok', seconds: 2.1, answer: 'A tree.' } }), say),
        { sign: 'yes', text: 'The model answers well, in 2.1 s:', answer: 'A tree.' },
    );
    for (const [result, sign, words] of /** @type {[object, string, RegExp][]} */ ([
        [
            { state: 'unreadable', seconds: 3, reason: 'no lists.' },
            'warn',
            /no lists.*larger model/,
        ],
        [
            { state: 'failed', reason: 'nobody listens.' },
            'no',
            /nobody listens.*Check the connection/,
        ],
        [{ state: 'off' }, 'no', /config\.toml/],
    ])) {
        const verdict = testVerdict(job({ result }), say);
        assert.equal(verdict.sign, sign);
        assert.match(verdict.text, words);
    }
    assert.match(
        testVerdict(job({ state: 'failed', error: 'the store is closed', result: null }), say).text,
        /the store is closed/,
    );
});
