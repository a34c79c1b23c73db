import assert from 'node:assert/strict';
import { test } from 'node:test';
import { offerToForget } from '../../../extension_js/src/drawer/delete_chat_dialog.js';
import { newPage } from '../dom.mjs';
import { fakeApp } from '../fake_app.mjs';
import { say } from '../texts.mjs';

/** @param {Parameters<typeof fakeApp>[0]} [about] */
async function scene(about) {
    newPage();
    const all = fakeApp({
        characters: { 'mira.png': { name: 'Mira' }, 'twin.png': { name: 'Mira' } },
        answers: {
            'GET /chats': {
                chats: [
                    { id: 'c1', title: 'Mira - now', count: 3, held: null },
                    { id: 'c2', title: 'Mira - then', count: 3, held: null },
                ],
            },
        },
        ...about,
    });
    all.tavern.settings.souls = { 'mira.png': 's1' };
    await all.app.link.check();
    offerToForget(all.app, say);
    return all;
}

test('a chat that was deleted and is remembered is offered to be forgotten', async () => {
    const { happen, pass, shown, take, user } = await scene();
    await happen('CHAT_DELETED', 'Mira - now');
    await pass(1000);
    const [[kind, offer, { onclick }]] = shown.toasts;
    assert.equal(kind, 'info');
    assert.match(offer, /Mira - now/);
    assert.doesNotMatch(offer, /then/);
    user.agrees = false;
    await onclick();
    assert.deepEqual([take('DELETE /chats/c1').length, shown.toasts.length], [0, 1]);
    user.agrees = true;
    await onclick();
    assert.deepEqual([take('DELETE /chats/c1').length, take('DELETE /chats/c2').length], [1, 0]);
    assert.equal(shown.toasts[1][0], 'success');
});

test('chats that are deleted one after another are one offer', async () => {
    const { happen, pass, shown } = await scene();
    await happen('CHAT_DELETED', 'Mira - now');
    await happen('GROUP_CHAT_DELETED', 'Mira - then');
    await pass(1000);
    assert.equal(shown.toasts.length, 1);
    assert.match(shown.toasts[0][1], /Mira - now, Mira - then/);
});

test('a chat that nothing is remembered of is no offer, nor is one while memory is off or away', async () => {
    const { happen, pass, shown, tavern, app, replies } = await scene();
    const quiet = async (/** @type {string} */ name) => {
        await happen('CHAT_DELETED', name);
        await happen('CHARACTER_DELETED', { character: { avatar: 'mira.png' } });
        await pass(1000);
        return shown.toasts.length;
    };
    await happen('CHAT_DELETED', 'Mira - never');
    await pass(1000);
    assert.equal(shown.toasts.length, 0);
    tavern.settings.enabled = false;
    assert.equal(await quiet('Mira - now'), 0);
    tavern.settings.enabled = true;
    replies['GET /health'] = Object.assign(new Error('away'), { status: 502 });
    await app.link.check();
    assert.equal(await quiet('Mira - now'), 0);
});

test('a chat of somebody without a soul is no offer', async () => {
    const { happen, pass, shown, tavern, take } = await scene();
    tavern.settings.souls = {};
    await happen('CHAT_DELETED', 'Mira - now');
    await happen('CHARACTER_DELETED', { character: { avatar: 'mira.png' } });
    await pass(1000);
    assert.deepEqual([shown.toasts.length, take('GET /chats').length], [0, 0]);
});

test('a character that was deleted is offered to be forgotten, unless another card has its soul', async () => {
    const { happen, shown, tavern, take } = await scene();
    tavern.settings.souls = { 'mira.png': 's1', 'twin.png': 's1' };
    const deleted = { character: { avatar: 'mira.png' } };
    await happen('CHARACTER_DELETED', deleted);
    assert.equal(shown.toasts.length, 0);
    tavern.settings.souls = { 'mira.png': 's1', 'twin.png': 's2' };
    await happen('CHARACTER_DELETED', deleted);
    assert.match(shown.toasts[0][1], /Mira/);
    await shown.toasts[0][2].onclick();
    assert.equal(take('DELETE /souls/s1').length, 1);
    tavern.settings.souls = { 'mira.png': 's9' };
    await happen('CHARACTER_DELETED', deleted);
    assert.equal(shown.toasts.length, 2, 'the sidecar does not know this soul');
});

test('what cannot be forgotten says why', async () => {
    const { happen, pass, shown, replies } = await scene();
    replies['DELETE /chats/c1'] = new Error('the disk is full');
    await happen('CHAT_DELETED', 'Mira - now');
    await pass(1000);
    await shown.toasts[0][2].onclick();
    assert.deepEqual([shown.toasts[1][0], /disk is full/.test(shown.toasts[1][1])], ['error', true]);
});
