import assert from 'node:assert/strict';
import { test } from 'node:test';
import { ApiError } from '../../../extension_js/src/link/api.js';
import { slotOf } from '../../../extension_js/src/tavern/slots.js';
import { newMessage, talk } from '../fakes.mjs';
import { answer, scene } from './scene.mjs';

/** The requests that a reply waits for. @param {{requests: string[]}} world */
const waited = world =>
    world.requests.filter(path => path.startsWith('/chats/') || path === '/recall');

test('the chat and the question go to the sidecar in one request', async () => {
    const { tavern, world, sidecar, generate, injected, chatSync } = scene();
    await generate();
    assert.deepEqual(waited(world), ['/chats/ID/recall']);
    assert.equal(injected(), '[Earlier]\n- the key is under the step\n- the cake');
    assert.equal(world.asked[0].query, null, 'the sidecar has the chat by then');
    assert.equal(sidecar.bodies.at(-1)?.messages.length, 9);
    tavern.chat.push(newMessage('reply'));
    chatSync.replyArrived(9, 'normal');
    assert.equal(slotOf(tavern.chat[9]), world.asked[0].slot);
    await chatSync.syncNow();
    world.requests.length = 0;
    await generate();
    assert.deepEqual(waited(world), ['/recall'], 'the sidecar has the chat already');
});

test('a sidecar that does not have the chat gets two requests', async () => {
    const { world, generate, injected } = scene();
    world.isForgetful = true;
    await generate();
    assert.deepEqual(waited(world), ['/chats/ID/recall', '/chats/ID', '/recall']);
    assert.match(injected(), /the key/);
});

test('where messages vanished at once the sidecar is asked by the last one', async () => {
    const { tavern, world, generate, chatSync } = scene({ chat: talk(40) });
    await chatSync.syncNow();
    tavern.chat.splice(2, 30);
    world.requests.length = 0;
    await generate();
    assert.deepEqual(waited(world), ['/chats/ID/recall', '/recall']);
    assert.equal(world.asked.at(-1).query, tavern.chat.at(-1)?.mes);
});

/** A scene in which one reply was made, and Send was pressed for the next. */
async function pressedSend() {
    const parts = scene();
    await parts.generate();
    parts.world.requests.length = parts.world.asked.length = 0;
    parts.recaller.generationStarted('normal');
    parts.tavern.chat.push(newMessage('Where is the key?', { is_user: true }));
    return parts;
}

/** Waits until something holds. @param {() => boolean} condition */
async function until(condition) {
    for (let i = 0; i < 500 && !condition(); i++) await new Promise(done => setTimeout(done, 2));
    assert.ok(condition());
}

test('the recall begins while SillyTavern still saves the chat', async () => {
    const { tavern, world, generate, injected, chatSync } = await pressedSend();
    const before = injected();
    await until(() => world.asked.length === 1);
    assert.equal(injected(), before, 'nothing is injected before SillyTavern asks');
    await generate();
    assert.deepEqual(waited(world), ['/chats/ID/recall']);
    assert.match(injected(), /the key/);
    tavern.chat.push(newMessage('reply'));
    chatSync.replyArrived(tavern.chat.length - 1, 'normal');
    assert.equal(slotOf(tavern.chat.at(-1)), world.asked[0].slot);
});

test('a message that was changed after Send is recalled for as it is now', async () => {
    const { tavern, world, generate } = await pressedSend();
    await until(() => world.asked.length === 1);
    const message = tavern.chat.at(-1);
    assert.ok(message);
    message.mes = 'Where is the cake?';
    await generate();
    assert.deepEqual(waited(world), ['/chats/ID/recall', '/chats/ID/recall']);
    assert.notEqual(world.asked[0].slot, world.asked[1].slot, 'the first teaches nothing');
});

test('another context size asks again', async () => {
    const { world, generate } = await pressedSend();
    await until(() => world.asked.length === 1);
    await generate('normal', 800);
    assert.deepEqual(waited(world), ['/chats/ID/recall', '/recall']);
    assert.equal(world.asked[1].budget_tokens, 96);
});

test('a recall ahead that fails is made up for', async () => {
    const { world, generate, injected } = await pressedSend();
    const { recall } = world;
    world.recall = async () => {
        world.recall = recall;
        throw new ApiError('busy', { kind: 'http', status: 503 });
    };
    await until(() => world.asked.length >= 1);
    await generate();
    assert.match(injected(), /the key/);
});

test('Stop ends a recall ahead', async () => {
    const { world, recaller, generate } = await pressedSend();
    let isAborted = false;
    world.recall = (_body, signal) =>
        new Promise((_, reject) =>
            signal.addEventListener('abort', () => {
                isAborted = true;
                reject(new ApiError('aborted', { kind: 'aborted' }));
            }),
        );
    await until(() => world.asked.length === 1);
    recaller.stop();
    assert.ok(isAborted);
    await generate();
    assert.equal(world.asked.length, 1, 'a stopped generation asks for nothing');
    world.recall = async () => answer(['the cake']);
    recaller.generationStarted('normal');
    await generate();
    assert.equal(world.asked.length, 2);
});

for (const [what, prepare, type] of /** @type {[string, (tavern: any) => void, string][]} */ ([
    ['for a swipe', () => {}, 'swipe'],
    ['while memory is off', tavern => void (tavern.settings.enabled = false), 'normal'],
    ['while nothing may be stored', tavern => void (tavern.metadata.soulmem.off = true), 'normal'],
    ['in a group', tavern => void (tavern.group = { id: 'g', chats: [] }), 'normal'],
])) {
    test(`nothing is recalled ahead ${what}`, async () => {
        const { tavern, world, recaller, generate } = scene();
        await generate();
        const asked = world.asked.length;
        prepare(tavern);
        recaller.generationStarted(type);
        tavern.chat.push(newMessage('Where?', { is_user: true }));
        await new Promise(done => setTimeout(done, 40));
        assert.equal(world.asked.length, asked);
    });
}
