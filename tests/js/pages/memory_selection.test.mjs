import assert from 'node:assert/strict';
import { test } from 'node:test';
import { settle } from '../tavern.mjs';
import { memory, memoryWindow } from './window.mjs';

const DAYS = ['2026-01-02T10:00:00Z', '2026-01-02T09:00:00Z', '2026-01-01T09:00:00Z'];
const LISTED = DAYS.map((happened, i) =>
    memory({ id: `m${i + 1}`, text: `Line ${i + 1}.`, happened, permanent: i === 2 }),
);

async function listScene() {
    const scene = await memoryWindow({
        answers: {
            'GET /memories': { memories: LISTED, cursor: null },
            ...Object.fromEntries(LISTED.map(m => [`GET /memories/${m.id}`, m])),
            ...Object.fromEntries(LISTED.map(m => [`PATCH /memories/${m.id}`, m])),
            ...Object.fromEntries(LISTED.map(m => [`DELETE /memories/${m.id}`, {}])),
            ...Object.fromEntries(LISTED.map(m => [`POST /memories/${m.id}/restore`, m])),
        },
    });
    await scene.openPage('memories');
    return {
        ...scene,
        async choose(/** @type {number[]} */ ...places) {
            await scene.page.get('#soulmem_select').click();
            const rows = scene.page.body.querySelectorAll('.soulmem_item .soulmem_press');
            for (const place of places) await rows[place]?.click();
        },
    };
}

test('each day has its head', async () => {
    const { texts } = await listScene();
    const days = texts('.soulmem_day').map(text => text?.match(/\d+ \w+ \d+/)?.[0]);
    assert.deepEqual(days, ['2 January 2026', '1 January 2026']);
});

test('what is chosen goes to the bin, but for what is permanent', async () => {
    const { choose, page, take, user, shown } = await listScene();
    await choose(0, 2);
    assert.equal(page.get('.soulmem_select_bar').textContent.includes('2 chosen'), true);
    user.agrees = true;
    await page.get('#soulmem_select_bin').click();
    await settle();
    assert.equal(shown.questions.length, 1);
    assert.equal(take('DELETE /memories/m1').length, 1);
    assert.equal(take('DELETE /memories/m3').length, 0);
    const [, told, { onclick }] = shown.toasts.at(-1) ?? ['', '', {}];
    assert.match(told, /^1 changed, 1 left.* undo/);
    onclick();
    await settle();
    assert.equal(take('POST /memories/m1/restore').length, 1);
});

test('what is chosen gets a tag, and a second press lets it go', async () => {
    const { choose, page, take, user } = await listScene();
    await choose(0, 1, 1);
    user.types = 'home';
    await page.get('#soulmem_select_tag').click();
    await settle();
    assert.deepEqual(take('PATCH /memories/m1')[0].body.tags, ['home']);
    assert.equal(take('PATCH /memories/m2').length, 0);
});

test('without choosing, a press opens the memory', async () => {
    const { page } = await listScene();
    await page.get('.soulmem_item .soulmem_press').click();
    await settle();
    assert.equal(page.get('.soulmem_memory').dataset.memory, 'm1');
});
