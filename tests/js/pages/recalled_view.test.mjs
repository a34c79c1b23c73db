import assert from 'node:assert/strict';
import { test } from 'node:test';
import {
    recalledView,
    recordOfTrace,
    searchSteps,
    summaryText,
} from '../../../extension_js/src/pages/recalled_view.js';
import { newPage } from '../dom.mjs';
import { say } from '../texts.mjs';
import { settle } from '../tavern.mjs';

/** @typedef {import('../../../extension_js/src/base/types.js').RecallRecord} RecallRecord */

/** @param {object} answer @returns {RecallRecord} */
function record(answer) {
    const none = { trace: 't1', memories: [], blocks: [], tokens: 0, timed_out: false, took_ms: {} };
    const made = recordOfTrace({ answer: { ...none, ...answer } }, 0);
    assert.ok(made);
    return made;
}

test('a recall that called for nothing says so in a sentence, with how many came to mind', () => {
    assert.match(summaryText(record({ withheld: 8 }), say), /called for none, or only for what still stands there.*8 came.* were withheld/);
    assert.match(summaryText(record({ withheld: 1 }), say), /1 came.* was withheld/);
});

test('a recall that had nothing to withhold does not say that nothing was called for', () => {
    assert.equal(summaryText(record({ withheld: 0 }), say), say('recalled_none'));
    assert.equal(summaryText(record({}), say), say('recalled_none'), 'from an older sidecar');
});

test('a trace with grades is told step by step, with the reason of each', () => {
    const trace = {
        grades: [
            { name: 'baseline', enough: false, why: 'no memory of Bo', ms: 1.234 },
            { name: 'walk', enough: true, why: 'all names are covered', ms: 5 },
            { name: 'dream', enough: true, why: '', ms: 0 },
        ],
    };
    assert.deepEqual(searchSteps(trace, say), [
        { text: 'Words and meaning: went on (1.2 ms)', why: 'no memory of Bo' },
        { text: 'Links between memories: enough (5 ms)', why: 'all names are covered' },
        { text: 'dream: enough (0 ms)', why: '' },
    ]);
});

test('a trace without grades is told by the grade that it reached', () => {
    const trace = { grade: 'walk', grade_why: 'a walk of 12 edges' };
    assert.deepEqual(searchSteps(trace, say), [
        { text: 'Links between memories', why: 'a walk of 12 edges' },
    ]);
});

const memory = { id: 'm1', kind: 'episode', text: 'The lamp broke.', why: 'by its words', age_turns: 3 };

/** The view on a page. @param {RecallRecord} shown @param {() => Promise<any>} [traceOf] */
function onPage(shown, traceOf) {
    const page = newPage();
    page.body.append(/** @type {any} */ (recalledView(shown, 'Mira', say, undefined, traceOf)));
    return page;
}

test('below the memories stands how many more came to mind', () => {
    const page = onPage(record({ memories: [memory], withheld: 3 }));
    assert.equal(page.get('.soulmem_withheld').textContent, '3 more came to mind and were withheld.');
    assert.equal(page.document.querySelectorAll('.soulmem_recalled_item').length, 1);
    const whole = onPage(record({ memories: [memory], withheld: 0 }));
    assert.equal(whole.document.querySelector('.soulmem_withheld'), null);
});

test('a silent recall has a sentence, and what can be done about it, instead of a list', () => {
    const page = onPage(record({ withheld: 3 }));
    assert.match(page.get('p').textContent, /called for none, or only/);
    assert.match(page.get('.soulmem_hint').textContent, /"Recalling"/);
    for (const missing of ['.soulmem_recalled_list', '.soulmem_withheld', '.soulmem_bar'])
        assert.equal(page.document.querySelector(missing), null, missing);
});

test('how it was searched is asked for once, when the user opens it', async () => {
    let asked = 0;
    const trace = { grades: [{ name: 'baseline', enough: true, why: 'small talk', ms: 2 }] };
    const page = onPage(record({ withheld: 3 }), async () => {
        asked++;
        return trace;
    });
    assert.equal(asked, 0);
    const details = page.get('details');
    await details.happen('toggle');
    await settle();
    assert.equal(asked, 1);
    assert.equal(
        page.get('.soulmem_search_steps').textContent,
        'Words and meaning: enough (2 ms)small talk',
    );
    const gone = onPage(record({ withheld: 3 }), async () => null);
    await gone.get('details').happen('toggle');
    await settle();
    assert.equal(gone.get('.soulmem_search_steps').textContent, say('recalled_gone'));
});
