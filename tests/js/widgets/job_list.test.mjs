import assert from 'node:assert/strict';
import { test } from 'node:test';
import { say } from '../texts.mjs';
import {
    isUnfinished,
    jobName,
    outcomeText,
    shownJobs,
} from '../../../extension_js/src/widgets/job_list.js';

/** @typedef {import('../../../extension_js/src/base/types.js').Job} Job */


/** @param {Partial<Job>} about @returns {Job} */
const job = about => ({
    job: `j${'0'.repeat(22)}`,
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
    const deep = { answer: { memories: [{}, {}] }, calls: 3 };
    assert.match(
        outcomeText(job({ kind: 'deep', result: deep }), say),
        /Memories: 2\. Calls to the model: 3/,
    );
    assert.match(outcomeText(job({ kind: 'deep' }), say), /Memories: 0/);
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
