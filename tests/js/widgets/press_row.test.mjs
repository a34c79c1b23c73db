import assert from 'node:assert/strict';
import { test } from 'node:test';
import { el } from '../../../extension_js/src/base/dom.js';
import { pressRow, withArrowRows } from '../../../extension_js/src/widgets/press_row.js';
import { newPage } from '../dom.mjs';

test('arrow keys, Home and End move the focus among the rows that show', async () => {
    const page = newPage();
    const pressed = /** @type {string[]} */ ([]);
    const names = ['first', 'hidden', 'third', 'last'];
    const items = names.map(name => pressRow({}, [name], () => pressed.push(name)));
    const list = /** @type {any} */ (el('ul', {}, items));
    page.body.append(list);
    items[1].hidden = true;
    withArrowRows(list);
    const [first, , third, last] = list.querySelectorAll('.soulmem_press');
    /** @param {any} target @param {string} key */
    const press = (target, key) => list.happen('keydown', { target, key });
    await press(first, 'ArrowDown');
    assert.equal(third.focused, 1, 'what does not show is passed over');
    await press(third, 'ArrowUp');
    await press(last, 'Home');
    assert.equal(first.focused, 2);
    await press(first, 'End');
    assert.equal(last.focused, 1);
    await press(last, 'ArrowDown');
    await press(first, 'ArrowUp');
    await press(first, 'x');
    assert.deepEqual([first.focused, third.focused, last.focused], [2, 1, 1], 'no way out');
    await first.happen('keydown', { key: 'Enter' });
    assert.deepEqual(pressed, ['first']);
});
