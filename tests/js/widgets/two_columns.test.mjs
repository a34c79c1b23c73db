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
