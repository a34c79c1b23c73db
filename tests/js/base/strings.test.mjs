import assert from 'node:assert/strict';
import fs from 'node:fs';
import { test } from 'node:test';
import { createSay, localeKey } from '../../../extension_js/src/base/strings.js';
import { ENGLISH, say } from '../texts.mjs';

const root = new URL('../../../', import.meta.url);
const read = (/** @type {string} */ path) => fs.readFileSync(new URL(path, root), 'utf8');
const manifest = JSON.parse(read('manifest.json'));
const zh = /** @type {Record<string, string>} */ (JSON.parse(read('extension_js/i18n/zh-cn.json')));
const html = read('extension_js/settings.html');
const places = (/** @type {string} */ text) =>
    [...new Set([...text.matchAll(/\{(\w+)\}/g)].map(match => match[1]))].sort();

test('the manifest names files that exist, and Chinese for both scripts', () => {
    assert.deepEqual(Object.keys(manifest.i18n), ['zh-cn', 'zh-tw']);
    for (const path of [manifest.js, manifest.css, ...Object.values(manifest.i18n)])
        assert.ok(fs.existsSync(new URL(path, root)), path);
    assert.ok(manifest.loading_order < 100, 'before Vector Storage moves messages');
});

test('manifest and package agree on the version', () =>
    assert.equal(JSON.parse(read('package.json')).version, manifest.version));

test('every text is there in Chinese, in the same order, with the same places to fill', () => {
    assert.deepEqual(Object.keys(zh), Object.keys(ENGLISH));
    for (const [key, english] of Object.entries(ENGLISH)) {
        assert.ok(key.startsWith('soulmem.'), key);
        assert.match(zh[key], /SoulMem|[\u4e00-\u9fff]/, key);
        assert.deepEqual(places(zh[key]), places(english), key);
    }
});

test('every key of the drawer is known', () => {
    const used = [...html.matchAll(/data-i18n="(?:\[[\w-]+\])?([\w.]+)"/g)].map(match => match[1]);
    assert.ok(used.length > 30);
    for (const key of used) assert.ok(key in ENGLISH, key);
});

test('every key said in code is known, and every text is said somewhere', () => {
    const files = fs.readdirSync(new URL('extension_js/src/', root), {
        recursive: true,
        encoding: 'utf8',
    });
    const scripts = files
        .map(name => name.replaceAll('\\', '/'))
        .filter(name => name.endsWith('.js'));
    const code = scripts.map(name => read(`extension_js/src/${name}`)).join('\n') + html;
    for (const [, key] of code.matchAll(/say\(\s*'(\w+)'/g)) assert.ok(localeKey(key) in ENGLISH, key);
    for (const key of Object.keys(ENGLISH).map(name => name.replace('soulmem.', ''))) {
        const family =
            /^(state|step|kind|item|check|page|by|did|field|value|span|trouble|origin|verdict|job|stand|grade|thought|ended|clarity|often|edge|weight|feeling|way|section|header|use|sort|group|failure|phrase|make_hint|period|left_out|known|part|letter)_/.exec(
                key,
            )?.[1];
        assert.ok(
            code.includes(`'${key}'`) ||
                code.includes(`soulmem.${key}"`) ||
                (family && code.includes(`\`${family}_\${`)),
            `${key} is never said`,
        );
    }
});

test('the page of the drawer holds no text but the name', () => {
    assert.equal(html.replace(/<[^>]*>/g, '').trim(), 'SoulMem');
    assert.doesNotMatch(html, / (title|placeholder|aria-label)=/);
});

test('places are filled, unknown ones stay', () => {
    assert.equal(say('reading', { done: 3, total: 9 }), 'Read 3 of 9 messages');
    assert.match(say('position_macro'), /\{\{soulmem\}\}/);
});

test('a text of the sidecar is said by its code, and as it is where the code is not known', () => {
    const chinese = createSay(ENGLISH, (_, key) => zh[key]);
    const folder = { code: 'no_backup', text: 'there is no backup in /b', values: { folder: '/b' } };
    assert.equal(chinese.phrase(folder.text, folder), '/b 中没有备份');
    assert.equal(say.phrase(folder.text, folder), folder.text);
    const path = { path: 'text', value: '""' };
    const remedy = { code: 'value_short', text: 'is short', values: { length: 0, limit: 1 } };
    const outer = { code: 'value_refused', text: 'text is short', values: { ...path, remedy } };
    assert.equal(chinese.phrase(outer.text, outer), 'text 的值 "" 长度是 0：至少要 1');
    const newer = { ...remedy, code: 'of_a_newer_sidecar' };
    assert.equal(chinese.phrase('is short', newer), 'is short');
    const inner = { ...outer, values: { ...path, remedy: newer } };
    assert.equal(chinese.phrase(inner.text, inner), 'text 的值 "" is short');
    assert.equal(chinese.phrase('of an older sidecar'), 'of an older sidecar');
    assert.equal(chinese.phrase(null), '');
});

test('one is one and not ones', () => {
    assert.equal(say('age_turns', { n: 1 }), '1 turn ago');
    assert.equal(say('age_turns', { n: 2 }), '2 turns ago');
    assert.equal(say('undone', { n: 1 }), '1 change undone.');
    for (const text of Object.values(ENGLISH))
        assert.doesNotMatch(text, /\{(n|count)\} (messages|times|changes|turns|links|tokens)\b/);
});
