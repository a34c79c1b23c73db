import assert from 'node:assert/strict';
import { test } from 'node:test';
import { el } from '../../../extension_js/src/base/dom.js';
import { markedNodes } from '../../../extension_js/src/widgets/marked_text.js';
import { newPage } from '../dom.mjs';

newPage();

/** @param {readonly (Node | string)[]} nodes @returns {any} */
const shown = nodes => el('div', {}, nodes);

test('asterisks become emphasis, those without a partner stay', () => {
    const text = shown(markedNodes(['*She waits* and **counts** 2 * 3.']));
    assert.equal(text.querySelector('em').textContent, 'She waits');
    assert.equal(text.querySelector('strong').textContent, 'counts');
    assert.equal(text.textContent, 'She waits and counts 2 * 3.');
});

test('emphasis reaches over a part that has blurred', () => {
    const mask = el('span', { class: 'soulmem_gone', text: 'xxx' });
    const text = shown(markedNodes(['He *took ', mask, ' home* then.']));
    assert.equal(text.querySelector('em').textContent, 'took xxx home');
});

test('who speaks is set apart at the beginning of lines, but not within them', () => {
    const lines = ['Alice: We met at noon: late.', '米拉: 好。', "Hans de Vries: 'Tis so.", 'Unit 7: Ready.'];
    const text = shown(markedNodes([lines.join('\n')]));
    const names = [...text.querySelectorAll('.soulmem_speaker')].map(name => name.textContent);
    assert.deepEqual(names, ['Alice:', '米拉:', 'Hans de Vries:', 'Unit 7:']);
    assert.equal(text.textContent, lines.join('\n'));
});

for (const line of [
    '12:30 it rang',
    'http://example.org',
    'She looked up and said: Go.',
    'After a while, Wren: gone.',
    'one thing: nobody came',
    '她抬起头说：走吧。',
]) {
    test(`no speaker in ${JSON.stringify(line)}`, () => {
        const text = shown(markedNodes([line]));
        assert.equal(text.querySelectorAll('.soulmem_speaker').length, 0);
    });
}

test('after a blurred part the same line goes on, and the next line has its speaker', () => {
    const mask = el('span', { class: 'soulmem_gone', text: 'xxx' });
    const text = shown(markedNodes([mask, 'late: too late.\nBob: No.']));
    const names = text.querySelectorAll('.soulmem_speaker');
    assert.deepEqual([...names].map((/** @type {any} */ name) => name.textContent), ['Bob:']);
    assert.equal(text.textContent, 'xxxlate: too late.\nBob: No.');
});
