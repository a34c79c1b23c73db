import assert from 'node:assert/strict';
import { test } from 'node:test';
import {
    derivedId,
    digestOf,
    sha256,
    textHash,
    wellFormed,
} from '../../../extension_js/src/base/hash.js';
import { sha } from '../fakes.mjs';

test('SHA-256 agrees with the platform on every padding length and on any script', () => {
    for (let length = 0; length < 200; length++)
        assert.equal(sha256('a'.repeat(length)), sha('a'.repeat(length)));
    for (const text of ['', '林月', '🐉 e\u0301', '\u0000\n', 'x'.repeat(100_000)])
        assert.equal(sha256(text), sha(text));
});

test('a hash is the first 16 digits', () => assert.equal(textHash('abc'), 'ba7816bf8f01cfea'));

test('a digest is that of the lines slot:hash:hidden', () => {
    const messages = [
        { slot: 'm1', hash: 'aa', hidden: false },
        { slot: 'm2', hash: 'bb', hidden: true },
    ];
    assert.equal(digestOf(messages), sha('m1:aa:0\nm2:bb:1\n'));
    assert.equal(digestOf([]), sha(''));
});

test('lone surrogates are replaced, pairs and everything else stay', () => {
    assert.equal(wellFormed('a\uD83D'), 'a\uFFFD');
    assert.equal(wellFormed('\uDC09b'), '\uFFFDb');
    assert.equal(wellFormed('🐉 林'), '🐉 林');
    assert.equal(wellFormed(undefined), '');
    assert.equal(
        Buffer.from(wellFormed('x\uD83Dy\uD83D\uDC09'), 'utf8').toString('utf8'),
        wellFormed('x\uD83Dy\uD83D\uDC09'),
    );
});

test("an id made of parts is the sidecar's", () => {
    // derived_id("c", "st_chat", ...) of soulmem/domain/ids.py
    assert.equal(derivedId('c', ['st_chat', 's1', 'night']), 'cf6swyg2kx2a2hjppe4q3dfie7i');
    assert.equal(derivedId('c', ['st_chat', 's1', 's2', '夜 😀']), 'chn2zpigzt6maikepicjqgh2iay');
});
