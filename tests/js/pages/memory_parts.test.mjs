import assert from 'node:assert/strict';
import { test } from 'node:test';
import { settle } from '../tavern.mjs';
import { entry, memory, memoryWindow } from './window.mjs';

const TEXT = 'Al: Kaelith hid a key, and it rained.';
const UNITS = [
    { text: 'Kaelith hid a key', gist: 'a deed', visibility: 0.3, start: 4, end: 21, stability: 9 },
    { text: 'and it rained', gist: '', visibility: 0.8, start: 23, end: 36, stability: 9 },
];
const FADED = {
    text: TEXT,
    origin: 'chat',
    reads_now: 'Al: xxx(a deed), and it rained.',
    visibility: 0.5,
    fades: true,
    gone_in: 480,
    units: UNITS,
    anchors: [{ text: 'a key', kind: 'spontaneous', visibility: 0.9, stability: 9 }],
};

/** The window with one memory open. @param {object} [about] of the memory */
async function memoryOpen(about) {
    const scene = await memoryWindow({
        answers: { 'GET /memories/m1': memory({ ...FADED, ...about }) },
    });
    await scene.open('memories', 'm1');
    return scene;
}

test('a faded memory reads as it is remembered, the original is one press away', async () => {
    const { page, texts } = await memoryOpen();
    assert.equal(page.get('#soulmem_reads').textContent, FADED.reads_now);
    assert.deepEqual(texts('.soulmem_gist'), ['xxx(a deed)']);
    assert.deepEqual(texts('.soulmem_fading'), ['and it rained']);
    assert.deepEqual(texts('.soulmem_clarity'), ['blurred · gone in about 500 turns']);
    const original = page.get('.soulmem_original');
    assert.equal(original.hidden, true);
    assert.equal(page.get('#soulmem_text').value, TEXT);
    await page.get('#soulmem_original').click();
    assert.equal(original.hidden, false);
    assert.equal(page.get('#soulmem_original').getAttribute('aria-expanded'), 'true');
    await page.get('#soulmem_original').click();
    assert.equal(original.hidden, true);
});

test('what reads as it was told shows its text alone, and words not saved open the original', async () => {
    const { page, texts } = await memoryOpen({ reads_now: TEXT, visibility: 1 });
    assert.equal(page.body.querySelector('#soulmem_reads'), null);
    assert.equal(page.get('#soulmem_text').value, TEXT);
    assert.match(texts('.soulmem_clarity')[0], /^clear/);
    const faded = await memoryOpen();
    await faded.page.get('#soulmem_text').change('Other words.', 'input');
    await faded.page.get('#soulmem_lock').click();
    assert.equal(faded.page.get('.soulmem_original').hidden, false);
    assert.equal(faded.page.get('#soulmem_text').value, 'Other words.');
});

test('a rewording is said to be one', async () => {
    const reworded = { reworded: 'Al: Someone hid things.', reads_now: 'Al: Someone hid things.' };
    const { page, texts } = await memoryOpen({ ...reworded, units: [] });
    assert.match(texts('.soulmem_memory .soulmem_hint').join(), /language model has put into words/);
    assert.equal(page.get('#soulmem_text').value, TEXT);
});

test('selected words are kept long or short, and let go', async () => {
    const { page, take, texts } = await memoryOpen();
    const field = page.get('#soulmem_text');
    Object.assign(field, { selectionStart: 3, selectionEnd: 4 });
    await page.get('#soulmem_anchor_spontaneous').click();
    assert.equal(texts('.soulmem_not_done').length, 1, 'nothing is selected');
    assert.equal(page.get('.soulmem_original').hidden, false, 'where it can be selected');
    Object.assign(field, { selectionStart: 4, selectionEnd: 12 });
    await page.get('#soulmem_anchor_forced').click();
    const first = { text: 'a key', kind: 'spontaneous' };
    assert.deepEqual(take('PATCH /memories/m1')[0].body, {
        anchors: [first, { text: 'Kaelith', kind: 'forced' }],
        revision: 3,
    });
    Object.assign(page.get('#soulmem_text'), { selectionStart: 16, selectionEnd: 21 });
    await page.get('#soulmem_anchor_forced').click();
    assert.deepEqual(take('PATCH /memories/m1')[0].body.anchors, [{ ...first, kind: 'forced' }]);
    await page.get('.soulmem_anchor_drop').click();
    assert.deepEqual(take('PATCH /memories/m1')[0].body.anchors, []);
});

test('words that are not saved cannot be kept', async () => {
    const { page, take, texts } = await memoryOpen();
    await page.get('#soulmem_text').change('Kaelith lost it.', 'input');
    Object.assign(page.get('#soulmem_text'), { selectionStart: 8, selectionEnd: 15 });
    await page.get('#soulmem_anchor_spontaneous').click();
    assert.equal(take('PATCH /memories/m1').length, 0);
    assert.equal(texts('.soulmem_not_done').length, 1);
});

test('the gist of a part is changed, the others stay as they are', async () => {
    const { page, take } = await memoryOpen();
    const fields = page.body.querySelectorAll('.soulmem_gist_field');
    assert.deepEqual(
        fields.map(field => field.value),
        ['a deed', ''],
    );
    await fields[1].change(' bad weather ');
    await settle();
    assert.deepEqual(take('PATCH /memories/m1')[0].body.units, [
        { text: 'Kaelith hid a key', gist: 'a deed', start: 4, end: 21 },
        { text: 'and it rained', gist: 'bad weather', start: 23, end: 36 },
    ]);
});

test('what is protected, and what comes without parts, has no parts to change', async () => {
    for (const about of [{ permanent: true }, { locked: true }, { reads_now: undefined }]) {
        const { page } = await memoryOpen(about);
        assert.equal(page.body.querySelector('#soulmem_anchor_forced'), null);
        assert.equal(page.body.querySelector('.soulmem_gists'), null);
    }
});

test('the history shows a rewording beside the original, and takes it back', async () => {
    const reworded = 'Al: Somebody hid a key, and it rained.';
    const made = entry({
        actor: 'archivist',
        before: { fading: { m1: null } },
        after: { fading: { m1: { reworded } } },
    });
    const scene = await memoryWindow({
        answers: {
            'GET /memories/m1': memory({ ...FADED, reworded, reads_now: reworded, units: [] }),
            'GET /memories/m1/history': { audit: [made], cursor: null },
            'POST /undo': { changes: ['c1'], skipped: [], memories: ['m1'], edges: 0 },
        },
    });
    await scene.open('memories', 'm1');
    assert.deepEqual(scene.texts('.soulmem_wording del'), ['Kaelith']);
    assert.deepEqual(scene.texts('.soulmem_wording ins'), ['Somebody']);
    await scene.page.get('.soulmem_undo').click();
    await settle();
    assert.deepEqual(scene.take('POST /undo')[0].body, { soul: 's1', change: 'c1' });
});

test('what of the message is no story is named below the memory', async () => {
    const left_out = [
        { kind: 'status', characters: 154 },
        { kind: 'reasoning', characters: 80 },
    ];
    const { page } = await memoryOpen({ left_out });
    const told = 'Left out, as it is no story: status block (154 characters), reasoning (80 characters).';
    assert.equal(page.get('#soulmem_left_out').textContent, told);
    const whole = await memoryOpen({ left_out: [] });
    assert.equal(whole.page.body.querySelector('#soulmem_left_out'), null);
});
