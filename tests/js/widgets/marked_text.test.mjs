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
    const text = shown(markedNodes(['Alice: We met at noon: late.\n米拉：好。']));
    const names = text.querySelectorAll('.soulmem_speaker');
    assert.deepEqual([...names].map(name => name.textContent), ['Alice:', '米拉：']);
    assert.equal(text.textContent, 'Alice: We met at noon: late.\n米拉：好。');
});

test('a number or an address names no speaker', () => {
    const text = shown(markedNodes(['12:30 it rang\nhttp://example.org']));
    assert.equal(text.querySelectorAll('.soulmem_speaker').length, 0);
});

test('after a blurred part the same line goes on, and the next line has its speaker', () => {
    const mask = el('span', { class: 'soulmem_gone', text: 'xxx' });
    const text = shown(markedNodes([mask, 'late: too late.\nBob: No.']));
    const names = text.querySelectorAll('.soulmem_speaker');
    assert.deepEqual([...names].map((/** @type {any} */ name) => name.textContent), ['Bob:']);
    assert.equal(text.textContent, 'xxxlate: too late.\nBob: No.');
});
