import assert from 'node:assert/strict';
import { test } from 'node:test';
import { say } from '../texts.mjs';
import {
    durationText,
    priceOf,
    testVerdict,
    totalUsage,
} from '../../../extension_js/src/pages/model_card.js';

/** @typedef {import('../../../extension_js/src/base/types.js').Job} Job */
/** @typedef {import('../../../extension_js/src/base/types.js').UsageLedger} UsageLedger */


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
            { state: 'weak', seconds: 3, right: 2, asked: 6 },
            'warn',
            /only 2 of 6 questions.*larger model/,
        ],
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
        [{ state: 'off' }, 'no', /Model for memory work/],
    ])) {
        const verdict = testVerdict(job({ result }), say);
        assert.equal(verdict.sign, sign);
        assert.match(verdict.text, words);
    }
    const passed = { state: 'ok', seconds: 2, answer: 'A tree.', right: 5, asked: 6 };
    assert.match(testVerdict(job({ result: passed }), say).text, /5 of 6 questions/);
    assert.match(
        testVerdict(job({ state: 'failed', error: 'the store is closed', result: null }), say).text,
        /the store is closed/,
    );
});
