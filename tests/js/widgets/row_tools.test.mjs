import assert from 'node:assert/strict';
import { test } from 'node:test';
import { el } from '../../../extension_js/src/base/dom.js';
import { withTools } from '../../../extension_js/src/widgets/row_tools.js';
import { fakeApp } from '../fake_app.mjs';
import { newPage } from '../dom.mjs';

test('a long press opens the tools, a short one does not', async () => {
    newPage();
    const { pass } = fakeApp();
    const row = /** @type {any} */ (withTools(el('li'), [el('span', { text: 'tool' })]));
    await row.happen('pointerdown');
    await row.happen('pointerup');
    await pass(1000);
    assert.equal(row.classList.contains('soulmem_held_open'), false);
    await row.happen('pointerdown');
    await pass(1000);
    assert.equal(row.classList.contains('soulmem_held_open'), true);
});

test('a long press of the mouse, which selects words, opens nothing and leaves the context menu alone', async () => {
    newPage();
    const { pass } = fakeApp();
    const row = /** @type {any} */ (withTools(el('li'), [el('span', { text: 'tool' })]));
    let prevented = 0;
    const preventDefault = () => prevented++;
    await row.happen('pointerdown', { pointerType: 'mouse' });
    await pass(1000);
    await row.happen('click', { preventDefault });
    await row.happen('contextmenu', { preventDefault });
    assert.equal(row.classList.contains('soulmem_held_open'), false);
    assert.equal(prevented, 0);
});
