import assert from 'node:assert/strict';
import { test } from 'node:test';
import { showFarMessage } from '../../../extension_js/src/pages/far_message.js';
import { newPage } from '../dom.mjs';
import { say } from '../texts.mjs';

/** A chat of which messages from `first` on are on the page. @param {number} first @param {(host: any) => unknown} [loaded] */
function hostWith(first, loaded) {
    const page = newPage('');
    const loads = /** @type {number[]} */ ([]);
    const jumps = /** @type {number[]} */ ([]);
    const notices = /** @type {(string | null)[]} */ ([]);
    const host = {
        first,
        firstShown: () => host.first,
        async showEarlier(/** @type {number} */ count) {
            loads.push(count);
            notices.push(page.get('.soulmem_far_message span').textContent);
            host.first = Math.max(0, host.first - count);
            await loaded?.({ host, page });
        },
        async showMessage(/** @type {number} */ index) {
            jumps.push(index);
        },
    };
    return { host, page, loads, jumps, notices };
}

test('what lies above is loaded in parts, and the bar says how far it is', async () => {
    const { host, page, loads, jumps, notices } = hostWith(2250);
    await showFarMessage(host, say, 100);
    assert.deepEqual(loads, [500, 500, 500, 500]);
    assert.deepEqual(jumps, [100]);
    assert.equal(notices[0], 'Loading earlier messages: 0 of 2150');
    assert.equal(notices[3], 'Loading earlier messages: 1500 of 2150');
    assert.equal(page.body.querySelectorAll('.soulmem_far_message').length, 0);
});

test('a message that is near needs no bar', async () => {
    const { host, loads, jumps } = hostWith(100);
    await showFarMessage(host, say, 0);
    assert.deepEqual([loads, jumps], [[], [0]]);
});

test('the button stops it, and the chat stays where it is', async () => {
    const { host, page, loads, jumps } = hostWith(1000, scene =>
        scene.page.get('.soulmem_far_message .menu_button').click(),
    );
    await showFarMessage(host, say, 0);
    assert.deepEqual([loads, jumps], [[500], []]);
    assert.equal(page.body.querySelectorAll('.soulmem_far_message').length, 0);
});

test('another chat that is opened meanwhile is left alone', async () => {
    const { host, loads, jumps } = hostWith(1000, scene => {
        scene.host.first = 5000;
    });
    await showFarMessage(host, say, 0);
    assert.deepEqual([loads, jumps], [[500], []]);
});
