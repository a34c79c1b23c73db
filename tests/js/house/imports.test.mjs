// The floors of extension_js/src: which folder may import which, and that no modules import each other in a circle.

import assert from 'node:assert/strict';
import fs from 'node:fs';
import path from 'node:path';
import { test } from 'node:test';
import { fileURLToPath } from 'node:url';

const SOURCE = fileURLToPath(new URL('../../../extension_js/src/', import.meta.url));

/** From the lowest floor up. Folders of one floor do not import each other. */
const FLOORS = [
    ['base'],
    ['tavern', 'link'],
    ['chat', 'widgets'],
    ['recall'],
    ['pages'],
    ['controls'],
    ['drawer'],
    ['app.js', 'commands.js', 'hooks.js'],
    ['controls.js'],
    ['start.js'],
];
const STATEMENT = /^(?:import|export)\b[^;'"]*?['"](\.[^'"]+)['"]/gm;

/** Every module with the modules of this extension that it imports, as paths below `src`. */
const imports = new Map(
    fs
        .readdirSync(SOURCE, { recursive: true, encoding: 'utf8' })
        .map(name => name.replaceAll('\\', '/'))
        .filter(name => name.endsWith('.js'))
        .map(name => {
            const text = fs.readFileSync(path.join(SOURCE, name), 'utf8');
            const imported = [...text.matchAll(STATEMENT)].map(match =>
                path.posix.join(path.posix.dirname(name), match[1]),
            );
            return [name, imported];
        }),
);

/** @param {string} name of a module below `src` @returns {string} its folder, or its own name */
const roomOf = name => name.split('/')[0];

/** @param {string} name of a module below `src` @returns {number} its floor, -1 for an unknown folder */
const floorOf = name => FLOORS.findIndex(rooms => rooms.includes(roomOf(name)));

test('every module stands on a floor, and every folder of the list is there', () => {
    for (const name of imports.keys()) assert.ok(floorOf(name) >= 0, name);
    const rooms = new Set([...imports.keys()].map(roomOf));
    assert.deepEqual([...rooms].sort(), FLOORS.flat().sort());
});

test('a module imports only from its own folder and from lower floors', () => {
    for (const [name, imported] of imports) {
        for (const other of imported) {
            assert.ok(imports.has(other), `${name} imports ${other}, which is not there`);
            const falls = floorOf(other) < floorOf(name) || roomOf(other) === roomOf(name);
            assert.ok(falls, `${name} imports ${other}`);
        }
    }
});

test('no modules import each other in a circle', () => {
    const done = new Set();
    /** @param {string} name @param {readonly string[]} trail modules that led here */
    function walk(name, trail) {
        assert.ok(!trail.includes(name), [...trail, name].join(' -> '));
        if (done.has(name)) return;
        for (const other of imports.get(name) ?? []) walk(other, [...trail, name]);
        done.add(name);
    }
    for (const name of imports.keys()) walk(name, []);
});

test('only the two entries import from app.js and commands.js', () => {
    for (const [name, imported] of imports) {
        if (name === 'start.js' || name === 'controls.js') continue;
        for (const other of imported) assert.ok(!FLOORS[7].includes(other), `${name} -> ${other}`);
    }
});

test('SillyTavern waits for the entry alone, and the window is loaded when it is opened', () => {
    const entry = fs.readFileSync(path.join(SOURCE, '../index.js'), 'utf8');
    assert.deepEqual([...entry.matchAll(STATEMENT)], []);
    const loaded = new Set();
    /** @param {string} name */
    function load(name) {
        if (loaded.has(name)) return;
        loaded.add(name);
        for (const other of imports.get(name) ?? []) load(other);
    }
    load('start.js');
    assert.deepEqual([...loaded].filter(name => /^(?:pages|controls)\//.test(name)), []);
    load('controls.js');
    const pages = [...loaded].filter(name => /^pages\/\w+_page\.js$/.test(name));
    assert.deepEqual(pages, []);
});
