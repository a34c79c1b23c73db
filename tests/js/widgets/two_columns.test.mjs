import assert from 'node:assert/strict';
import { test } from 'node:test';
import { twoColumns } from '../../../extension_js/src/widgets/two_columns.js';
import { el } from '../../../extension_js/src/base/dom.js';
import { newPage } from '../dom.mjs';

test('the chosen one stands beside the list until it is closed', () => {
    newPage();
    let closed = 0;
    const { columns, list, show, close, isOpen } = twoColumns('Back', { closed: () => closed++ });
    const row = el('div', { tabindex: '0', text: 'a memory' });
    list.append(row);
    assert.equal(isOpen(), false);
    show(el('p', { text: 'all about it' }), row);
    assert.equal(isOpen(), true);
    assert.ok(columns.classList.contains('soulmem_has_detail'));
    assert.ok((columns.textContent ?? '').includes('all about it'));
    close();
    assert.equal(isOpen(), false);
    assert.equal((columns.textContent ?? '').includes('all about it'), false);
    assert.equal(closed, 1);
    assert.equal(/** @type {any} */ (row).focused, 1, 'the list keeps its place');
    close();
    assert.equal(closed, 1, 'what is closed is not closed again');
});

test('Escape closes the chosen one and not the window, and the row has the focus again', async () => {
    newPage();
    const { columns, list, show, isOpen } = twoColumns('Back');
    const row = el('div', { tabindex: '0', text: 'a memory' });
    list.append(row);
    let passedOn = 0;
    const escape = () => {
        const about = { key: 'Escape', stopPropagation: () => passedOn-- };
        passedOn++;
        return /** @type {any} */ (columns).happen('keydown', about);
    };
    show(el('p', { text: 'all about it' }), row);
    await escape();
    assert.deepEqual([isOpen(), passedOn], [false, 0]);
    assert.equal(/** @type {any} */ (row).focused, 1);
    await escape();
    assert.equal(passedOn, 1, 'the second one closes the window');
});
