import assert from 'node:assert/strict';
import { test } from 'node:test';
import {
    mountRecallIcons,
    recalledView,
    recordOfTrace,
} from '../../../extension_js/src/pages/recalled_view.js';
import { newPage } from '../dom.mjs';
import { fakeApp } from '../fake_app.mjs';
import { say } from '../texts.mjs';
import { newMessage } from '../fakes.mjs';
import { settle } from '../tavern.mjs';

/** A recalled memory. @param {object} [about] @returns {any} */
const recalled = about => ({
    id: 'm1',
    kind: 'note',
    text: 'The key hangs behind the clock.',
    score: 1,
    hops: 0,
    permanent: false,
    why: 'the words "key"',
    path: [],
    sources: [],
    age_turns: 3,
    visibility: 1,
    ...about,
});

/** @param {object} [about] @returns {any} */
const record = about => ({
    trace: 't1',
    type: 'normal',
    soul: 's1',
    speaker: 'Mira',
    chat: 'c1',
    memories: [recalled({}), recalled({ id: 'm2', text: 'Ben is tall.' })],
    blocks: [],
    sent: ['m2'],
    trimmed: ['m1'],
    item_tokens: { m2: 7 },
    tokens: 7,
    budget: 70,
    timed_out: false,
    took_ms: { total: 12.6 },
    error: null,
    ...about,
});

/** @param {object} [about] @returns {any} the view of a recall */
function viewOf(about) {
    newPage();
    return recalledView(record(about), 'Mira', say);
}
/** @param {any} view @param {string} selectors @returns {string[]} */
const texts = (view, selectors) =>
    view.querySelectorAll(selectors).map((/** @type {any} */ element) => element.textContent);

test('what was sent comes first, with its tokens, and what did not fit says so', () => {
    const view = viewOf();
    assert.deepEqual(
        view.querySelectorAll('li').map((/** @type {any} */ item) => [
            item.dataset.memory,
            item.dataset.state,
        ]),
        [
            ['m2', 'sent'],
            ['m1', 'trimmed'],
        ],
    );
    const [sent, trimmed] = texts(view, '.soulmem_recalled_facts');
    assert.match(sent, /in the prompt.*7/);
    assert.match(trimmed, /^did not fit · /);
    assert.doesNotMatch(trimmed, /tokens/);
    assert.match(texts(view, 'small')[0], /1.*2.*7.*70.*13/);
    assert.equal(view.querySelector('.soulmem_bar div').getAttribute('style'), 'width: 10%');
});

test('the age, permanence and fading of a memory are told', () => {
    const facts = (/** @type {object} */ about) =>
        texts(viewOf({ memories: [recalled(about)], sent: ['m1'] }), '.soulmem_recalled_facts')[0];
    assert.match(facts({ age_turns: 0 }), /just now/);
    assert.doesNotMatch(facts({ age_turns: 1 }), /just now/);
    assert.match(facts({ visibility: 0.5 }), /blurred/);
    assert.doesNotMatch(facts({ visibility: 0.6 }), /blurred/);
    assert.match(facts({ visibility: 0.9, text: "She saw xxx(someone)." }), /blurred/);
    assert.match(facts({ permanent: true, visibility: 0.1 }), /permanent/i);
    assert.doesNotMatch(facts({ permanent: true, visibility: 0.1 }), /blurred/);
});

test('a path is shown when it has more than its end', () => {
    const paths = (/** @type {string[] | undefined} */ labels) => {
        const path = labels?.map(label => ({ id: label, label, edge: null }));
        return texts(viewOf({ memories: [recalled({ path })] }), '.soulmem_path span');
    };
    assert.deepEqual(paths(undefined), []);
    assert.deepEqual(paths(['Ben']), []);
    assert.deepEqual(paths(['Ben', 'clock']), ['Ben', 'clock']);
});

test('a recall of the past has no budget, one that was placed nowhere says so, an empty one, too', () => {
    const past = viewOf({ budget: null });
    assert.equal(past.querySelector('.soulmem_bar'), null);
    assert.match(texts(past, 'small')[0], /^1 of 2 memories in the prompt, 7 tokens, 13 ms/);
    const nowhere = viewOf({ nowhere: true });
    assert.match(texts(nowhere, 'small')[0], /\{\{soulmem\}\}/);
    assert.match(texts(nowhere, '.soulmem_recalled_facts')[1], /^not placed/);
    const empty = viewOf({ memories: [], sent: [], trimmed: [] });
    assert.deepEqual(texts(empty, 'p'), [say('recalled_none')]);
    assert.deepEqual(texts(viewOf(), 'p'), []);
});

test('the trace that the sidecar kept becomes a record; without an answer there is none', () => {
    const items = [{ memory: 'm1', text: '', tokens: 5 }];
    const trace = {
        type: 'swipe',
        soul: 's1',
        answer: { ...record(), memories: [recalled(), recalled({ id: 'm2' })], blocks: [{ items }] },
    };
    const past = recordOfTrace(trace, 1);
    assert.deepEqual(
        [past?.sent, past?.trimmed, past?.item_tokens, past?.type, past?.budget],
        [['m1'], ['m2'], { m1: 5 }, 'swipe', null],
    );
    const unknown = recordOfTrace(trace, undefined);
    assert.deepEqual([unknown?.sent, unknown?.trimmed], [['m1', 'm2'], []]);
    for (const none of [null, undefined, {}, { answer: {} }])
        assert.equal(recordOfTrace(none, 1), null);
});

const PAGE = `<div id="chat">
<div class="mes" mesid="0"><div class="mes_buttons"></div></div>
<div class="mes" mesid="1"><div class="mes_buttons"></div></div>
<div class="mes" mesid="7"><div class="mes_buttons"></div></div>
</div>`;

/** A chat whose second message was written with memories. */
async function chatOnPage() {
    const page = newPage(PAGE);
    const slot = (/** @type {string} */ letter) => `m${letter.repeat(20)}`;
    const scene = fakeApp({
        chat: [
            newMessage('Hello.', { extra: { soulmem: { id: slot('a') } } }),
            newMessage('The key.', { extra: { soulmem: { id: slot('b'), trace: 't1', n: 1 } } }),
        ],
    });
    await scene.app.link.check();
    const opened = /** @type {string[][]} */ ([]);
    mountRecallIcons(scene.app, say, (...where) => opened.push(where));
    page.drawFrames();
    const icons = () =>
        page.body
            .querySelectorAll('.mes')
            .filter(row => row.querySelector('.soulmem_recalled_button'))
            .map(row => row.getAttribute('mesid'));
    return { ...scene, page, opened, icons };
}

test('a message with a recall has an icon; when the recall goes so does the icon', async () => {
    const { icons, page, tavern, app } = await chatOnPage();
    assert.deepEqual(icons(), ['1']);
    page.change();
    app.notify();
    assert.equal(page.drawFrames(), 1, 'once for all changes');
    assert.equal(page.body.querySelectorAll('.soulmem_recalled_button').length, 1);
    tavern.chat[1].extra = { soulmem: { trace: 't1' } };
    page.change();
    page.drawFrames();
    assert.deepEqual(icons(), [], 'a message without a slot');
});

test('the icon opens what was recalled: of this page, else from the sidecar, else it is gone', async () => {
    const { page, shown, replies, take, opened, app } = await chatOnPage();
    const press = async () => {
        await page.get('.soulmem_recalled_button').click();
        await settle();
    };
    await press();
    assert.equal(shown.popups.length, 0);
    assert.equal(shown.toasts[0][0], 'info');
    const memories = [recalled(), recalled({ id: 'm2', kind: 'fact' })];
    replies['GET /traces/t1'] = { soul: 's1', answer: { ...record(), memories } };
    await press();
    assert.equal(shown.popups[0].content.querySelectorAll('.soulmem_recalled_item').length, 2);
    assert.equal(page.body.querySelectorAll('.soulmem_show').length, 1, 'a fact is no memory');
    await page.get('.soulmem_show').click();
    assert.deepEqual(opened, [['m1', 's1']]);
    take('GET /traces/t1');
    app.recaller.byTrace = () => record({ memories });
    await press();
    assert.equal(take('GET /traces/t1').length, 0);
    assert.equal(shown.popups.length, 2);
});

test('a message that has gone meanwhile opens nothing', async () => {
    const { page, shown, tavern } = await chatOnPage();
    const icon = page.get('.soulmem_recalled_button');
    tavern.chat.pop();
    await icon.click();
    assert.deepEqual([shown.popups, shown.toasts], [[], []]);
});

test('a verdict is given, can be taken back, and says why it could not be given', async () => {
    const { page, replies, take, shown } = await chatOnPage();
    replies['GET /traces/t1'] = { soul: 's1', answer: { ...record(), memories: [recalled()] } };
    await page.get('.soulmem_recalled_button').click();
    replies['POST /feedback'] = { change: 'c5' };
    const verdicts = ['stronger', 'not_now', 'never_here', 'wrong'];
    for (const verdict of verdicts) assert.ok(page.get(`.soulmem_verdict_${verdict}`).title);
    await page.get('.soulmem_verdict_wrong').click();
    assert.deepEqual(take('POST /feedback')[0].body, {
        trace: 't1',
        memory: 'm1',
        verdict: 'wrong',
    });
    assert.equal(page.body.querySelector('.soulmem_verdict_wrong'), null);
    await page.get('.soulmem_verdict_undo').click();
    assert.deepEqual(take('POST /undo')[0].body, { soul: 's1', change: 'c5' });
    assert.ok(page.get('.soulmem_verdict_wrong'));
    replies['POST /feedback'] = new Error('the disk is full');
    await page.get('.soulmem_verdict_wrong').click();
    assert.match(shown.toasts[0][1], /disk is full/);
});

test('below what was recalled one can think longer about the message before the reply', async () => {
    const { page, replies, take, opened } = await chatOnPage();
    replies['GET /traces/t1'] = { soul: 's1', chat: 'c1', answer: { ...record(), memories: [] } };
    await page.get('.soulmem_recalled_button').click();
    assert.equal(page.get('.soulmem_deep_question').value, 'Hello.');
    replies['POST /jobs'] = { job: 'j1' };
    const answer = { trace: 't2', memories: [recalled()] };
    const result = { answer, steps: [], calls: 0, ended: 'exhausted', failure: null };
    replies['GET /jobs/j1'] = { job: 'j1', state: 'done', progress: {}, result };
    await page.get('.soulmem_deep_go').click();
    await settle();
    const [{ body }] = take('POST /jobs');
    assert.deepEqual([body.soul, body.arguments], ['s1', { query: 'Hello.', language: 'en', chat: 'c1' }]);
    await page.get('.soulmem_verdict_wrong').click();
    assert.equal(take('POST /feedback')[0].body.trace, 't2');
    await page.get('.soulmem_show').click();
    assert.deepEqual(opened, [['m1', 's1']]);
});

test('a memory that came by itself says so, another does not', () => {
    const memories = [recalled({ pushed: true }), recalled({ id: 'm2', pushed: false })];
    const view = viewOf({ memories, sent: ['m1', 'm2'] });
    const said = view
        .querySelectorAll('.soulmem_recalled_item')
        .map((/** @type {any} */ { dataset, textContent }) => [
            dataset.memory,
            textContent.includes(say('item_pushed')),
        ]);
    assert.deepEqual(Object.fromEntries(said), { m1: true, m2: false });
});
