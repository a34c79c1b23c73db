import assert from 'node:assert/strict';
import { test } from 'node:test';
import { slotOf } from '../../../extension_js/src/tavern/slots.js';
import { newMessage, talk } from '../fakes.mjs';
import { scene, words } from './scene.mjs';

test("the coming reply's slot is stamped when it arrives, with its trace", async () => {
    const { tavern, chatSync, id, signal } = scene({ chat: talk(4) });
    await chatSync.syncForReply({ leaveOut: 0, signal });
    chatSync.expectReply({
        chat: id(),
        index: 4,
        slot: 'm-coming',
        swipe: 0,
        fresh: true,
        present: undefined,
        trace: 't1',
        n: 2,
    });
    tavern.chat.push(newMessage('the reply'));
    chatSync.replyArrived(4, 'normal');
    assert.deepEqual(tavern.chat[4].extra?.soulmem, { id: 'm-coming', trace: 't1', n: 2 });
});

test('a reply whose event never came is stamped at the next look', async () => {
    const { tavern, chatSync, id, signal } = scene({ chat: talk(4) });
    await chatSync.syncForReply({ leaveOut: 0, signal });
    chatSync.expectReply({
        chat: id(),
        index: 4,
        slot: 'm-coming',
        swipe: 0,
        fresh: true,
        present: undefined,
    });
    tavern.chat.push(newMessage('stopped half'));
    await chatSync.syncNow();
    assert.equal(slotOf(tavern.chat[4]), 'm-coming');
});

test("the user's next message does not take the slot of a reply that never came", async () => {
    const { tavern, chatSync, id, signal } = scene({ chat: talk(4) });
    await chatSync.syncForReply({ leaveOut: 0, signal });
    chatSync.expectReply({
        chat: id(),
        index: 4,
        slot: 'm-coming',
        swipe: 0,
        fresh: true,
        present: undefined,
    });
    tavern.chat.push(newMessage('never mind', { is_user: true }));
    await chatSync.syncNow();
    assert.notEqual(slotOf(tavern.chat[4]), 'm-coming');
});

test('a new swipe keeps the slot and loses the recall of the old one', async () => {
    const { tavern, chatSync, sidecar, id, signal } = scene({ chat: talk(5) });
    await chatSync.syncNow();
    const last = tavern.chat[4];
    Object.assign(last, {
        swipe_id: 1,
        swipes: ['line 4', ''],
        mes: '',
        extra: { soulmem: { id: slotOf(last), trace: 'old', n: 5 } },
    });
    await chatSync.syncForReply({ leaveOut: 1, signal });
    assert.deepEqual(
        sidecar.storedTexts(id()),
        words(tavern.chat.slice(0, 4)),
        'the rejected swipe is gone before the recall',
    );
    chatSync.expectReply({
        chat: id(),
        index: 4,
        slot: String(slotOf(last)),
        swipe: 1,
        fresh: false,
        present: undefined,
        trace: undefined,
        n: undefined,
    });
    last.mes = 'another';
    chatSync.replyArrived(4, 'swipe');
    assert.deepEqual(Object.keys(last.extra?.soulmem ?? {}), ['id']);
    await chatSync.syncNow();
    assert.deepEqual(sidecar.storedTexts(id()), words(tavern.chat));
});

test("a swipe made while memory slept does not show the old swipe's recall", async () => {
    const { tavern, chatSync } = scene({ chat: talk(5) });
    await chatSync.syncNow();
    tavern.chat[4].extra = { soulmem: { id: slotOf(tavern.chat[4]) ?? '', trace: 'old', n: 5 } };
    chatSync.replyArrived(4, 'swipe');
    assert.equal(tavern.chat[4].extra.soulmem?.trace, undefined);
});

test('a message that has its slot already keeps it, whatever reply was expected there', async () => {
    const { tavern, chatSync, id, signal } = scene({ chat: talk(4) });
    await chatSync.syncForReply({ leaveOut: 0, signal });
    const expected = { chat: id(), index: 4, slot: 'm-coming', swipe: 0, fresh: true, trace: 't1' };
    chatSync.expectReply(expected);
    tavern.chat.push(newMessage('stamped', { extra: { soulmem: { id: 'm-own', trace: 't0' } } }));
    chatSync.replyArrived(4, 'normal');
    assert.deepEqual(tavern.chat[4].extra?.soulmem, { id: 'm-own', trace: 't0' });
});
