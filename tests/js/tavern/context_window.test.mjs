import assert from 'node:assert/strict';
import { test } from 'node:test';
import { mintSlots, slotOf } from '../../../extension_js/src/tavern/slots.js';
import {
    contextFromCount,
    contextFromSize,
    roughTokens,
    safeDepth,
} from '../../../extension_js/src/tavern/context_window.js';
import { talk } from '../fakes.mjs';

/** @param {number} count @param {(chat: import('../../../extension_js/src/base/types.js').StMessage[]) => void} [change] */
function chat(count, change = () => {}) {
    const messages = talk(count);
    mintSlots(messages);
    change(messages);
    return messages;
}

test('the count is taken from the end of the prompt', () => {
    const messages = chat(60);
    assert.equal(contextFromCount(messages, 50, 58, true), slotOf(messages[50]));
    assert.equal(contextFromCount(messages, 0, 60, true), slotOf(messages[0]));
});

test('hidden messages are not counted, as they are in no prompt', () => {
    const messages = chat(60, all => {
        all[55].is_system = true;
    });
    assert.equal(contextFromCount(messages, 50, 60, true), slotOf(messages[49]));
});

test('a hidden stretch ends the window, so that it can be recalled', () => {
    const messages = chat(60, all =>
        all.slice(40, 45).forEach(message => {
            message.is_system = true;
        }),
    );
    assert.equal(contextFromCount(messages, 10, 60, true), slotOf(messages[45]));
    assert.equal(contextFromSize(messages, 100_000), slotOf(messages[45]));
});

test('notices of SillyTavern count for nothing', () => {
    const messages = chat(20, all =>
        all.slice(10, 14).forEach(message =>
            Object.assign(message, {
                is_system: true,
                extra: { ...message.extra, type: 'comment' },
            }),
        ),
    );
    assert.equal(contextFromCount(messages, 10, 20, true), slotOf(messages[6]));
});

test('narrators count only where the prompt counted them', () => {
    const messages = chat(20, all => Object.assign(all[15].extra ?? {}, { type: 'narrator' }));
    assert.equal(contextFromCount(messages, 10, 20, true), slotOf(messages[10]));
    assert.equal(contextFromCount(messages, 10, 20, false), slotOf(messages[9]));
});

test('by size the window is what fits three quarters of the context', () => {
    const messages = chat(100, all =>
        all.forEach(message => {
            message.mes = 'x'.repeat(376);
        }),
    ); // 100 rough tokens each
    assert.equal(contextFromSize(messages, 4000), slotOf(messages[71]));
    assert.equal(contextFromSize(messages, 1_000_000), slotOf(messages[0]));
});

test('no window without messages', () => {
    assert.equal(contextFromSize([], 4000), null);
    assert.equal(contextFromCount([], 0, 0, true), null);
});

test('a Chinese character is about a token, a Latin letter a quarter', () => {
    assert.ok(Math.abs(roughTokens('林月在灯塔下') - 12) < 1);
    assert.ok(Math.abs(roughTokens('x'.repeat(40)) - 16) < 1);
});

test('memories stand as deep as is wanted, but never above what fits', () => {
    const each = roughTokens('line 0');
    assert.equal(safeDepth(chat(60), 4, 1000), 4);
    assert.equal(safeDepth(chat(2), 4, 1000), 4, 'a short chat fits whole');
    for (const fits of [0, 1, 2, 3])
        assert.equal(
            safeDepth(
                chat(60).map(message => ({ ...message, mes: 'line 0' })),
                4,
                each * (fits + 0.5),
            ),
            fits,
        );
    assert.equal(
        safeDepth(
            chat(9, all => {
                all[8].mes = 'long '.repeat(1000);
            }),
            4,
            500,
        ),
        0,
    );
    assert.equal(
        safeDepth(
            chat(9, all => {
                Object.assign(all[8], { mes: 'long '.repeat(1000), is_system: true });
            }),
            4,
            500,
        ),
        4,
        'what is hidden takes no room',
    );
});
