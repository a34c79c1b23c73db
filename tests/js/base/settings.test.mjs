import assert from 'node:assert/strict';
import { test } from 'node:test';
import {
    addressOf,
    bounded,
    DEFAULTS,
    mirrored,
    repair,
} from '../../../extension_js/src/base/settings.js';

test('nothing stored means the defaults', () => assert.deepEqual(repair({}), DEFAULTS));

test('the stored object itself is repaired, so that SillyTavern saves what is used', () => {
    const stored = { budget: 900 };
    assert.equal(repair(stored), /** @type {any} */ (stored));
    assert.equal(repair(stored).budget, 900);
});

test('values that make no sense become defaults, out of bounds are clipped', () => {
    const settings = repair(
        /** @type {any} */ ({
            budget: 1e9,
            depth: -3,
            time_budget: 'soon',
            route: 'pigeon',
            position: null,
            url: 'javascript:1',
            souls: [1],
            forgetting: 1.26,
            restraint: 2.5,
            max_items: '7',
        }),
    );
    assert.deepEqual(
        [
            settings.budget,
            settings.depth,
            settings.time_budget,
            settings.route,
            settings.position,
            settings.url,
            settings.souls,
            settings.forgetting,
            settings.restraint,
            settings.max_items,
        ],
        [8000, 0, 2000, 'auto', 'auto', DEFAULTS.url, {}, 1.26, 2, 7],
    );
});

test('the defaults are not shared between users of the module', () => {
    repair({}).souls.a = 's1';
    assert.deepEqual(repair({}).souls, {});
});

test('an emptied field is the default, not zero', () =>
    assert.equal(bounded('depth', ''), DEFAULTS.depth));

test('a mirrored dial has silence on the left, and its value comes back from its place', () => {
    assert.equal(mirrored('restraint', 2), 0);
    assert.equal(mirrored('restraint', DEFAULTS.restraint), 1);
    for (const value of [0, 0.1, 0.7, 1.3, 2])
        assert.equal(mirrored('restraint', mirrored('restraint', value)), value);
});

test('an address is completed, and nonsense is none', () => {
    for (const [typed, meant] of /** @type {const} */ ([
        ['127.0.0.1:8732', 'http://127.0.0.1:8732'],
        [' localhost:8731 ', 'http://localhost:8731'],
        ['http://box:1', 'http://box:1'],
        ['https://a.example', 'https://a.example'],
        ['[::1]:8731', 'http://[::1]:8731'],
        ['192.168.1.7', 'http://192.168.1.7'],
    ]))
        assert.equal(addressOf(typed), meant);
    for (const typed of [
        '',
        'javascript:1',
        'ftp://a.example',
        'not an address',
        'http://',
        'http://me:pw@a.example',
        7,
        null,
    ])
        assert.equal(addressOf(typed), null);
});

test('a chosen profile stays, and one that is no text is none', () => {
    assert.equal(repair({ llm_profile: 'p2' }).llm_profile, 'p2');
    for (const wrong of [7, null, {}])
        assert.equal(repair(/** @type {any} */ ({ llm_profile: wrong })).llm_profile, '');
});
