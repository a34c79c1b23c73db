import assert from 'node:assert/strict';
import fs from 'node:fs';
import { test } from 'node:test';
import { createSay, EN, localeKey } from '../../../extension_js/src/base/strings.js';

const root = new URL('../../../', import.meta.url);
const read = (/** @type {string} */ path) => fs.readFileSync(new URL(path, root), 'utf8');
const manifest = JSON.parse(read('manifest.json'));
const zh = /** @type {Record<string, string>} */ (JSON.parse(read('extension_js/i18n/zh-cn.json')));
const html = read('extension_js/settings.html');
const places = (/** @type {string} */ text) =>
    [...text.matchAll(/\{(\w+)\}/g)].map(match => match[1]).sort();

test('the manifest names files that exist, and Chinese for both scripts', () => {
    assert.deepEqual(Object.keys(manifest.i18n), ['zh-cn', 'zh-tw']);
    for (const path of [manifest.js, manifest.css, ...Object.values(manifest.i18n)])
        assert.ok(fs.existsSync(new URL(path, root)), path);
    assert.ok(manifest.loading_order < 100, 'before Vector Storage moves messages');
});

test('manifest and package agree on the version', () =>
    assert.equal(JSON.parse(read('package.json')).version, manifest.version));

test('every text is there in Chinese, with the same places to fill, and nothing else is', () => {
    assert.deepEqual(Object.keys(zh).sort(), Object.keys(EN).map(localeKey).sort());
    for (const [key, english] of Object.entries(EN)) {
        const chinese = zh[localeKey(key)];
        assert.match(chinese, /SoulMem|[\u4e00-\u9fff]/, key);
        assert.deepEqual(places(chinese), places(english), key);
    }
});

test('every key of the drawer is known, and its English is what the page shows untranslated', () => {
    const used = [...html.matchAll(/data-i18n="(?:\[\w+\])?soulmem\.(\w+)"/g)].map(
        match => match[1],
    );
    assert.ok(used.length > 30);
    for (const key of used) assert.ok(key in EN, key);
    for (const [, key, text] of html.matchAll(/data-i18n="soulmem\.(\w+)"[^>]*>([^<]*)</g)) {
        assert.equal(
            text.replace('\\{{', '{{'),
            /** @type {Record<string, string>} */ (EN)[key],
            key,
        );
    }
    for (const [, title, key] of html.matchAll(
        /title="([^"]*)" data-i18n="\[title\]soulmem\.(\w+)"/g,
    ))
        assert.equal(title, /** @type {Record<string, string>} */ (EN)[key], key);
});

test('every key said in code is known, and every text is said somewhere', () => {
    const files = fs.readdirSync(new URL('extension_js/src/', root), {
        recursive: true,
        encoding: 'utf8',
    });
    const scripts = files
        .map(name => name.replaceAll('\\', '/'))
        .filter(name => name.endsWith('.js') && name !== 'base/strings.js');
    const code = scripts.map(name => read(`extension_js/src/${name}`)).join('\n') + html;
    for (const [, key] of code.matchAll(/say\(\s*'(\w+)'/g)) assert.ok(key in EN, key);
    for (const key of Object.keys(EN)) {
        const family =
            /^(state|step|kind|item|check|page|by|did|field|value|span|trouble|origin|verdict|job|stand|grade|thought|ended|clarity|often|edge|weight|feeling|way|section|header|use|sort|group)_/.exec(
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

test('no text is written in the drawer that cannot be translated', () => {
    const bare = html
        .replace(/<[a-z0-9]+[^>]*data-i18n="soulmem[^>]*>[^<]*/g, '')
        .replace(/<[^>]*>/g, '')
        .replace(/SoulMem/g, '')
        .trim();
    assert.equal(bare, '');
});

test('places are filled, unknown ones stay', () => {
    const say = createSay(english => english);
    assert.equal(say('reading', { done: 3, total: 9 }), 'Read 3 of 9 messages');
    assert.match(say('position_macro'), /\{\{soulmem\}\}/);
});

test('one is one and not ones', () => {
    const say = createSay(text => text);
    assert.equal(say('age_turns', { n: 1 }), '1 turn ago');
    assert.equal(say('age_turns', { n: 2 }), '2 turns ago');
    assert.equal(say('undone', { n: 1 }), '1 change undone.');
    for (const text of Object.values(EN))
        assert.doesNotMatch(text, /\{(n|count)\} (messages|times|changes|turns|links|tokens)\b/);
});
