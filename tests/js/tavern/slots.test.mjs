import assert from 'node:assert/strict';
import { test } from 'node:test';
import { lastSlot, mintSlots, slotOf, writeStamp } from '../../../extension_js/src/tavern/slots.js';
import { newMessage, talk } from '../fakes.mjs';

test('every message gets a slot of its own, once', () => {
    const chat = talk(6);
    assert.equal(mintSlots(chat), 6);
    assert.equal(new Set(chat.map(slotOf)).size, 6);
    assert.equal(mintSlots(chat), 0);
});

test('ids that were never saved are minted alike again', () => {
    const chat = talk(4);
    const unsaved = structuredClone(chat);
    mintSlots(chat);
    mintSlots(unsaved);
    assert.deepEqual(unsaved.map(slotOf), chat.map(slotOf));
});

test('an edit before the first save does not change the slot', () => {
    const [message] = talk(1);
    const edited = structuredClone(message);
    edited.mes = 'other words';
    mintSlots([message]);
    mintSlots([edited]);
    assert.equal(slotOf(edited), slotOf(message));
});

test('messages of the same minute and speaker still differ', () => {
    const chat = [1, 2, 3].map(i => newMessage(`line ${i}`, { send_date: 'June 19, 2023 2:20pm' }));
    mintSlots(chat);
    assert.equal(new Set(chat.map(slotOf)).size, 3);
});

test('of a message and its duplicate the first keeps the slot and the second loses the recall it never had', () => {
    const chat = talk(2);
    mintSlots(chat);
    writeStamp(chat[1], { trace: 't1', n: 3 });
    const slot = slotOf(chat[1]);
    chat.push(structuredClone(chat[1]));
    assert.equal(mintSlots(chat), 1);
    assert.equal(slotOf(chat[1]), slot);
    assert.notEqual(slotOf(chat[2]), slot);
    assert.equal(chat[2].extra?.soulmem?.trace, undefined);
    assert.equal(chat[1].extra?.soulmem?.trace, 't1');
});

test('all swipes of a message share its slot, so swiping back does not make a new one', () => {
    const message = newMessage('two', {
        swipe_id: 1,
        swipes: ['one', 'two'],
        swipe_info: [{ extra: {} }, { extra: {} }],
    });
    mintSlots([message]);
    const slot = slotOf(message);
    message.extra = structuredClone(message.swipe_info?.[0]?.extra); // what SillyTavern does on a swipe back
    message.swipe_id = 0;
    assert.equal(mintSlots([message]), 0);
    assert.equal(slotOf(message), slot);
});

test('a swipe whose extra was lost takes the slot of its siblings', () => {
    const message = newMessage('two', {
        swipe_id: 1,
        swipes: ['one', 'two'],
        swipe_info: [{ extra: { soulmem: { id: 'm-old' } } }, undefined],
    });
    assert.equal(mintSlots([message]), 0);
    assert.equal(slotOf(message), 'm-old');
});

test('an id the sidecar could not take is replaced', () => {
    const message = newMessage('x', { extra: { soulmem: { id: 'a b' } } });
    mintSlots([message]);
    assert.match(String(slotOf(message)), /^m[0-9a-f]{20}$/);
});

test('more can be written on a fresh message, and undefined removes', () => {
    const [message] = talk(1);
    mintSlots([message], () => ({ present: ['s1'] }));
    assert.deepEqual(message.extra?.soulmem?.present, ['s1']);
    writeStamp(message, { present: undefined, trace: 't' });
    assert.deepEqual(Object.keys(message.extra?.soulmem ?? {}).sort(), ['id', 'trace']);
});

test('a message without extra gets one', () => {
    const message = newMessage('x');
    delete message.extra;
    mintSlots([message]);
    assert.notEqual(slotOf(message), null);
});

test('the last slot is where a branch left its parent', () => {
    const chat = talk(3);
    mintSlots(chat);
    assert.equal(lastSlot([...chat, newMessage('new')]), slotOf(chat[2]));
    assert.equal(lastSlot(talk(2)), null);
});
