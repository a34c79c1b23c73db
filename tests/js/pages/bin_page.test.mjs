import assert from 'node:assert/strict';
import { test } from 'node:test';
import { binnedBy } from '../../../extension_js/src/pages/bin_page.js';
import { say } from '../texts.mjs';
import { settle } from '../tavern.mjs';
import { entry, memory, memoryWindow } from './window.mjs';

test('the bin shows the latest change that led there', () => {
    const audit = [
        entry({
            id: 'c3',
            target: 'm1',
            actor: 'engine',
            action: 'bin',
            after: { state: 'forgotten' },
        }),
        entry({
            id: 'c2',
            target: 'm1',
            actor: 'user',
            action: 'restore',
            after: { state: 'active' },
        }),
        entry({ id: 'c1', target: 'm1', actor: 'user', action: 'bin', after: { state: 'bin' } }),
        entry({ id: 'c0', target: 'm2', action: 'change', after: { text: 'x' } }),
    ];
    assert.deepEqual(
        [...binnedBy(audit)].map(([memory, by]) => [memory, by.id]),
        [['m1', 'c3']],
    );
});

const AUDIT = [{ target: 'm1', actor: 'user', after: { state: 'bin' } }].map(entry);

/** The page of the bin with one memory. @param {object} [about] of the memory */
async function binOpen(about) {
    const scene = await memoryWindow({
        answers: {
            'GET /memories': { memories: [memory({ state: 'bin', ...about })], cursor: null },
            'GET /audit': { audit: AUDIT, cursor: null },
        },
    });
    await scene.open('bin');
    return scene;
}

test('a binned memory says who put it there and when, another state says what it is', async () => {
    const byHand = await binOpen();
    assert.match(byHand.texts('.soulmem_recalled_facts')[0], /^You, 1 Jan 2026/);
    const forgotten = await binOpen({ state: 'forgotten' });
    assert.match(forgotten.texts('.soulmem_recalled_facts')[0], /^forgotten, 1 Jan 2026/);
    const unknown = await binOpen({ id: 'm7' });
    assert.equal(unknown.texts('.soulmem_recalled_facts')[0], 'in the bin');
});

test('several memories of the bin are restored at once', async () => {
    const { page, take, texts, replies } = await binOpen();
    const all = ['m1', 'm2', 'm3'].map(id => memory({ id, state: 'bin' }));
    replies['GET /memories'] = { memories: all, cursor: null };
    await page.get('#soulmem_tab_bin').click();
    await settle();
    await page.get('#soulmem_select').click();
    const [first, , third] = page.body.querySelectorAll('.soulmem_list .soulmem_press');
    await first.click();
    await third.click();
    replies['GET /memories'] = { memories: [all[1]], cursor: null };
    await page.get('#soulmem_select_restore').click();
    await settle();
    assert.equal(take('POST /memories/m1/restore').length, 1);
    assert.equal(take('POST /memories/m2/restore').length, 0);
    assert.equal(take('POST /memories/m3/restore').length, 1);
    assert.equal(texts('.soulmem_list .soulmem_item_text').length, 1);
    assert.ok(texts('.soulmem_said').some(text => text.includes(say('select_done', { n: 2 }))));
});

test('a memory of the bin is restored in its place', async () => {
    const { page, take, texts } = await binOpen();
    await page.get('.soulmem_restore').click();
    assert.equal(take('POST /memories/m1/restore').length, 1);
    assert.deepEqual(texts('.soulmem_list .soulmem_item_text'), []);
    assert.equal(texts('.soulmem_list .soulmem_item').length, 1);
});

test('a memory is deleted for good only after the word, and not while a chat states it', async () => {
    const { page, take, user, texts, replies } = await binOpen();
    user.types = 'good';
    await page.get('.soulmem_purge').click();
    assert.equal(take('DELETE /memories/m1').length, 0);
    user.types = 'For good';
    replies['DELETE /memories/m1'] = Object.assign(new Error('stated'), {
        status: 409,
        code: 'conflict',
    });
    await page.get('.soulmem_purge').click();
    assert.equal(texts('.soulmem_list .soulmem_item').length, 1);
    assert.equal(texts('.soulmem_said').length, 1);
    assert.equal(texts('.soulmem_notice span').length, 0);
    replies['DELETE /memories/m1'] = new Error('the disk is full');
    await page.get('.soulmem_purge').click();
    assert.match(page.get('.soulmem_notice').textContent, /disk is full/);
    delete replies['DELETE /memories/m1'];
    await page.get('.soulmem_purge').click();
    assert.equal(texts('.soulmem_list .soulmem_item').length, 0);
    assert.equal(texts('.soulmem_said')[0], 'Deleted for good.');
});

test('the whole bin is emptied by a job that is watched to its end', async () => {
    const { page, take, user, texts, replies, pass, shown } = await binOpen();
    const job = { job: 'j1', kind: 'purge', state: 'running', progress: { done: 3, total: 9 } };
    replies['POST /jobs'] = job;
    replies['GET /jobs/j1'] = job;
    await page.get('#soulmem_empty_bin').click();
    assert.equal(take('POST /jobs').length, 0, 'without the word');
    user.types = 'for good';
    const emptying = page.get('#soulmem_empty_bin').click();
    await settle();
    assert.deepEqual(take('POST /jobs')[0].body.arguments, { confirm: 'purge' });
    assert.match(texts('.soulmem_said')[0], /3.*9/);
    replies['GET /jobs/j1'] = { ...job, state: 'done', result: { purged: 9 } };
    replies['GET /memories'] = { memories: [], cursor: null };
    await pass(500);
    await emptying;
    assert.equal(shown.toasts[0][1], 'The bin was emptied; deleted for good: 9.');
    assert.equal(page.body.querySelector('#soulmem_empty_bin'), null, 'nothing is left to empty');
});

test('a bin that could not be emptied says why; one that was stopped says nothing', async () => {
    for (const [state, kinds] of /** @type {[string, string[]][]} */ ([
        ['failed', []],
        ['cancelled', []],
    ])) {
        const { page, user, replies, texts, shown } = await binOpen();
        const job = { job: 'j1', kind: 'purge', state, error: 'the disk is full', progress: {} };
        Object.assign(replies, { 'POST /jobs': job, 'GET /jobs/j1': job });
        user.types = 'for good';
        await page.get('#soulmem_empty_bin').click();
        assert.deepEqual(shown.toasts, kinds);
        const notices = texts('.soulmem_notice span').join('');
        assert.equal(notices.includes('the disk is full'), state === 'failed');
    }
});

test('a whole character is forgotten after its name was typed', async () => {
    const { page, user, take, shown, replies } = await binOpen();
    user.types = 'Ben';
    await page.get('#soulmem_forget_soul').click();
    assert.equal(take('DELETE /souls/s1').length, 0);
    user.types = 'mira';
    replies['DELETE /souls/s1'] = new Error('the disk is full');
    await page.get('#soulmem_forget_soul').click();
    assert.match(page.get('.soulmem_notice').textContent, /disk is full/);
    assert.deepEqual(shown.toasts, []);
    take('DELETE /souls/s1');
    delete replies['DELETE /souls/s1'];
    await page.get('#soulmem_forget_soul').click();
    assert.equal(take('DELETE /souls/s1')[0].query.get('confirm'), 'Mira');
    assert.equal(shown.toasts[0][0], 'success');
    assert.equal(shown.popups.length, 2, 'the window is drawn anew');
});
