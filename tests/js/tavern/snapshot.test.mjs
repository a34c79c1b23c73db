import assert from 'node:assert/strict';
import { test } from 'node:test';
import { textHash } from '../../../extension_js/src/base/hash.js';
import { mintSlots } from '../../../extension_js/src/tavern/slots.js';
import { isHidden, roleOf, snapshot } from '../../../extension_js/src/tavern/snapshot.js';
import { newMessage } from '../fakes.mjs';

const PEOPLE = { souls: ['s1'], cast: ['s1'] };

for (const [
    what,
    message,
    role,
    hidden,
] of /** @type {[string, import('../../../extension_js/src/base/types.js').StMessage, string, boolean][]} */ ([
    ['a reply', newMessage('x'), 'character', false],
    ['a user message', newMessage('x', { is_user: true }), 'user', false],
    ['a hidden reply', newMessage('x', { is_system: true }), 'character', true],
    [
        'is_system left empty by old versions',
        newMessage('x', { is_system: '' }),
        'character',
        false,
    ],
    ['/sys', newMessage('x', { extra: { type: 'narrator' } }), 'narrator', false],
    [
        'a hidden narrator',
        newMessage('x', { is_system: true, extra: { type: 'narrator' } }),
        'narrator',
        true,
    ],
    ['/comment', newMessage('x', { is_system: true, extra: { type: 'comment' } }), 'system', false],
    ['a help page', newMessage('x', { is_system: true, extra: { type: 'help' } }), 'system', false],
    [
        'a tool call',
        newMessage('x', { is_system: true, extra: { tool_invocations: [] } }),
        'system',
        false,
    ],
])) {
    test(`${what} is ${hidden ? 'a hidden ' : ''}${role}`, () => {
        assert.equal(roleOf(message), role);
        assert.equal(isHidden(message), hidden);
    });
}

test("an entry has the contract's fields and the hash of its text", () => {
    const message = newMessage('The key\uD83D', { is_user: true, swipe_id: 2 });
    mintSlots([message]);
    const [entry] = snapshot([message], PEOPLE);
    assert.deepEqual(entry, {
        slot: message.extra?.soulmem?.id,
        hash: textHash('The key\uFFFD'),
        role: 'user',
        speaker: 'Alice',
        sent_at: message.send_date,
        hidden: false,
        swipe: 2,
        present: null,
        text: 'The key\uFFFD',
    });
});

test('an edit shows, although the message object is the same', () => {
    const message = newMessage('before');
    mintSlots([message]);
    const [before] = snapshot([message], PEOPLE);
    message.mes = 'after';
    const [after] = snapshot([message], PEOPLE);
    assert.notEqual(after.hash, before.hash);
    assert.equal(after.text, 'after');
});

test('a message without a slot is left out', () =>
    assert.deepEqual(snapshot([newMessage('x')], PEOPLE), []));

test('the founding cast is present where nothing else is noted, so a later member does not know what came before', () => {
    const chat = [
        newMessage('old'),
        newMessage('new', { extra: { soulmem: { id: 'm2', present: ['s1', 's2'] } } }),
    ];
    mintSlots(chat);
    const present = snapshot(chat, { souls: ['s1', 's2'], cast: ['s1'] }).map(
        entry => entry.present,
    );
    assert.deepEqual(present, [['s1'], null]);
});
