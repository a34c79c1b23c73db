import assert from 'node:assert/strict';
import { test } from 'node:test';
import {
    clarityBar,
    clarityOf,
    laterNodes,
    readingNodes,
    roundTurns,
} from '../../../extension_js/src/widgets/faded_text.js';
import { newPage } from '../dom.mjs';
import { say } from '../texts.mjs';

newPage();

/** Each piece as its class and its words. @param {(Node | string)[]} nodes */
const pieces = nodes =>
    nodes.map(node =>
        typeof node === 'string'
            ? ['', node]
            : [/** @type {any} */ (node).className.replace('soulmem_', ''), node.textContent],
    );

/** @param {string} text @param {string} words @param {number} visibility */
const unit = (text, words, visibility) => {
    const start = Array.from(text.slice(0, text.indexOf(words))).length;
    return { text: words, gist: '', visibility, start, end: start + Array.from(words).length };
};

test('masks are told apart from words, with their gist or without, in both scripts', () => {
    assert.deepEqual(pieces(readingNodes('Al: xxx(someone) hid xxx.', say)), [
        ['speaker', 'Al:'],
        ['', ' '],
        ['gist', 'xxx(someone)'],
        ['', ' hid '],
        ['gone', 'xxx'],
        ['', '.'],
    ]);
    assert.deepEqual(pieces(readingNodes('xxx（有人）在树下。', say)), [
        ['gist', 'xxx（有人）'],
        ['', '在树下。'],
    ]);
    assert.deepEqual(pieces(readingNodes('All is clear.', say)), [['', 'All is clear.']]);
});

test('words that fade but are still told are fainter, also behind a mask and behind an emoji', () => {
    const text = '🦊: Kaelith hid a key, and it rained, and it rained.';
    const units = [
        unit(text, 'Kaelith hid a key', 0.3),
        unit(text, 'Kaelith', 0.2),
        unit(text, 'and it rained.', 0.7),
    ];
    assert.deepEqual(
        pieces(readingNodes('🦊: xxx(a deed), and it rained, and it rained.', say, text, units)),
        [
            ['', '🦊: '],
            ['gist', 'xxx(a deed)'],
            ['', ', and it rained, '],
            ['fading', 'and it rained.'],
        ],
    );
});

test('nothing of the text is lost or doubled, whatever the units are', () => {
    const text = 'One two three four five six seven.';
    for (let start = 0; start < text.length; start += 3) {
        for (const visibility of [0, 0.5, 0.7, 1]) {
            const units = [
                { text: '', gist: '', visibility, start, end: start + 9 },
                { text: '', gist: '', visibility: 0.8, start: start + 4, end: 99 },
            ];
            for (const reads of [text, 'One xxx(numbers) seven.', 'Something else.']) {
                const words = pieces(readingNodes(reads, say, text, units)).map(([, word]) => word);
                assert.equal(words.join(''), reads);
            }
        }
    }
});

test('a text of which nothing clear is left says so in words', () => {
    /** @param {string} reads */
    const later = reads => pieces(laterNodes(reads, say)).map(([, words]) => words);
    for (const reads of ['Al: *…* …', 'xxx.', '沈青禾：…', '…'])
        assert.deepEqual(later(reads), ['nothing clear is left to tell']);
    const texts = ['Al: *something about tea.* …', 'Al: xxx(someone)', '沈青禾：…茶…', 'At seven …'];
    for (const reads of texts)
        assert.equal(later(reads).join(''), reads.replace(/\*/g, ''));
});

test('a memory of which words are hidden is not clear, however visible the rest is', () => {
    assert.equal(clarityOf({ visibility: 0.9 }), 'clear');
    assert.equal(clarityOf({ visibility: 0.9 }, 'I saw xxx(someone).'), 'blurred');
    assert.equal(clarityOf({ visibility: 0.59 }), 'blurred');
    assert.equal(clarityOf({ visibility: 0.25 }), 'blurred');
    assert.equal(clarityOf({ visibility: 0.24 }), 'almost_gone');
});

test('the bar says in words how clear it is and when it is gone', () => {
    /** @param {object} about @returns {any} */
    const bar = about => clarityBar({ visibility: 0.42, fades: true, gone_in: 312.7, ...about }, say);
    assert.equal(bar({}).textContent, 'blurred · gone in about 300 turns');
    assert.equal(bar({}).dataset.state, 'blurred');
    assert.match(bar({ gone_in: 1 }).textContent, /gone in about 1 turn$/);
    assert.match(bar({ gone_in: null }).textContent, /some words stay$/);
    assert.match(bar({ fades: false, gone_in: null }).textContent, /does not fade$/);
    for (const protection of [{ permanent: true }, { locked: true }])
        assert.match(bar({ visibility: 1, ...protection }).textContent, /clear · never fades$/);
});

test('turns are rounded as people say them', () => {
    assert.deepEqual([0.2, 7.4, 33, 148, 312, 1949, 2600].map(roundTurns), [
        1, 7, 30, 150, 300, 1900, 3000,
    ]);
});
