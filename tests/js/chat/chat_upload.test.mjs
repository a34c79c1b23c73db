import assert from 'node:assert/strict';
import { test } from 'node:test';
import { mintSlots } from '../../../extension_js/src/tavern/slots.js';
import { snapshot } from '../../../extension_js/src/tavern/snapshot.js';
import { createChatUpload } from '../../../extension_js/src/chat/chat_upload.js';
import { fakeSidecar, newMessage, talk } from '../fakes.mjs';

/** @typedef {import('../../../extension_js/src/base/types.js').StMessage} StMessage */
/** @typedef {import('../../../extension_js/src/base/types.js').Target} Target */

/** @param {StMessage[]} chat @param {Partial<Target>} [more] @returns {Target} */
function target(chat, more = {}) {
    mintSlots(chat);
    return {
        chat: 'c1',
        souls: ['s1'],
        title: 'Chat',
        persona: 'Alice',
        parent: null,
        entries: snapshot(chat, { souls: ['s1'], cast: ['s1'] }),
        ...more,
    };
}
const words = (/** @type {StMessage[]} */ chat) => chat.map(message => message.mes);

test('a short chat arrives whole in one request', async () => {
    const sidecar = fakeSidecar();
    const chat = talk(10);
    const result = await createChatUpload(sidecar.put).send(target(chat));
    assert.deepEqual(result, {
        applied: true,
        complete: true,
        added: 10,
        changed: 0,
        removed: 0,
        held: null,
    });
    assert.deepEqual(sidecar.storedTexts('c1'), words(chat));
    assert.equal(sidecar.bodies.length, 1);
});

test('nothing is sent when nothing changed', async () => {
    const sidecar = fakeSidecar();
    const upload = createChatUpload(sidecar.put);
    const chat = talk(10);
    await upload.send(target(chat));
    const result = await upload.send(target(chat));
    assert.equal(sidecar.bodies.length, 1);
    assert.equal(result.complete, true);
});

test('a new message goes alone, on the base of the rest', async () => {
    const sidecar = fakeSidecar();
    const upload = createChatUpload(sidecar.put);
    const chat = talk(10);
    await upload.send(target(chat));
    chat.push(newMessage('eleven'));
    await upload.send(target(chat));
    const body = sidecar.bodies.at(-1);
    assert.equal(body?.base?.count, 10);
    assert.deepEqual(
        body?.messages.map(message => message.text),
        ['eleven'],
    );
    assert.deepEqual(sidecar.storedTexts('c1'), words(chat));
});

test('edits, deletions, insertions, hides and swipes all end in the same chat', async () => {
    const sidecar = fakeSidecar();
    const upload = createChatUpload(sidecar.put);
    const chat = talk(30);
    await upload.send(target(chat));
    const steps = [
        () => {
            chat[4].mes = 'edited';
        },
        () => {
            chat.splice(7, 2);
        },
        () => {
            chat.splice(3, 0, newMessage('inserted'));
        },
        () => {
            chat[5].is_system = true;
        },
        () => {
            chat[chat.length - 1].mes = 'another swipe';
        },
        () => {
            chat.length -= 3;
        },
        () => {
            [chat[1], chat[2]] = [chat[2], chat[1]];
        },
    ];
    for (const step of steps) {
        step();
        const result = await upload.send(target(chat));
        assert.equal(result.complete, true);
        assert.deepEqual(sidecar.storedTexts('c1'), words(chat));
        assert.deepEqual(
            sidecar.chats.get('c1')?.map(message => message.hidden),
            chat.map(message => Boolean(message.is_system)),
        );
    }
});

test('what the digest does not cover is sent again without being in the base', async () => {
    const sidecar = fakeSidecar();
    const upload = createChatUpload(sidecar.put);
    const chat = talk(10);
    await upload.send(target(chat));
    chat[6].name = 'Renamed';
    await upload.send(target(chat));
    const body = sidecar.bodies.at(-1);
    assert.ok((body?.base?.count ?? 0) <= 6);
    assert.equal(sidecar.chats.get('c1')?.[6].speaker, 'Renamed');
    assert.ok(
        body?.messages.every(message => message.text === undefined),
        'the sidecar has these texts',
    );
});

test('after a reload a long chat costs one request of hashes', async () => {
    const sidecar = fakeSidecar();
    const chat = talk(500);
    await createChatUpload(sidecar.put).send(target(chat));
    sidecar.bodies.length = 0;
    const result = await createChatUpload(sidecar.put).send(target(chat));
    assert.deepEqual([result.complete, result.added, sidecar.bodies.length], [true, 0, 1]);
    assert.ok(sidecar.bodies[0].messages.every(message => message.text === undefined));
});

test('a long chat is read in batches, oldest first, with progress', async () => {
    const sidecar = fakeSidecar();
    const chat = talk(450);
    const progress = /** @type {number[]} */ ([]);
    const result = await createChatUpload(sidecar.put).send(target(chat), {
        progress: done => progress.push(done),
    });
    assert.deepEqual(progress, [100, 200, 300, 400, 450]);
    assert.deepEqual([result.complete, result.added], [true, 450]);
    assert.deepEqual(sidecar.storedTexts('c1'), words(chat));
    assert.ok(
        sidecar.bodies.slice(1).every(body => body.messages.length <= 100),
        'the read part is the base',
    );
});

test('huge messages make small batches', async () => {
    const sidecar = fakeSidecar({ maxChars: 500_000 });
    const chat = talk(6).map((message, i) => ({ ...message, mes: `${i}`.repeat(300_000) }));
    assert.equal((await createChatUpload(sidecar.put).send(target(chat))).complete, true);
    assert.deepEqual(sidecar.storedTexts('c1'), words(chat));
});

test('a refusal as too large makes smaller batches', async () => {
    const sidecar = fakeSidecar({ maxChars: 50_000 });
    const chat = talk(40).map((message, i) => ({ ...message, mes: `${i} `.repeat(3000) }));
    assert.equal((await createChatUpload(sidecar.put).send(target(chat))).complete, true);
    assert.deepEqual(sidecar.storedTexts('c1'), words(chat));
});

test('when a reply waits only the last exchanges are sent, and the rest is read later', async () => {
    const sidecar = fakeSidecar();
    const upload = createChatUpload(sidecar.put);
    const chat = talk(300);
    const first = await upload.send(target(chat), { urgent: true });
    assert.equal(first.complete, false);
    assert.deepEqual(sidecar.storedTexts('c1'), words(chat).slice(-20));
    assert.equal((await upload.send(target(chat))).complete, true);
    assert.deepEqual(sidecar.storedTexts('c1'), words(chat));
});

test('a reading that pauses goes on where it was', async () => {
    const sidecar = fakeSidecar();
    const upload = createChatUpload(sidecar.put);
    const chat = talk(300);
    assert.equal((await upload.send(target(chat), { pause: () => true })).complete, false);
    assert.equal(sidecar.storedTexts('c1').length, 100);
    sidecar.bodies.length = 0;
    assert.equal((await upload.send(target(chat))).complete, true);
    assert.equal(
        sidecar.bodies.flatMap(body => body.messages).filter(message => message.text !== undefined)
            .length,
        200,
    );
});

test('a reading that was cancelled resumes on a fresh page without sending texts twice', async () => {
    const sidecar = fakeSidecar();
    const chat = talk(300);
    const stop = new AbortController();
    await assert.rejects(
        createChatUpload(sidecar.put).send(target(chat), {
            signal: stop.signal,
            progress: done => {
                if (done >= 200) stop.abort();
            },
        }),
    );
    sidecar.bodies.length = 0;
    await createChatUpload(sidecar.put).send(target(chat));
    assert.equal(
        sidecar.bodies.flatMap(body => body.messages).filter(message => message.text !== undefined)
            .length,
        100,
    );
    assert.deepEqual(sidecar.storedTexts('c1'), words(chat));
});

test('when the sidecar lost its data the base is refused and everything is sent', async () => {
    const sidecar = fakeSidecar();
    const upload = createChatUpload(sidecar.put);
    const chat = talk(10);
    await upload.send(target(chat));
    sidecar.chats.clear();
    sidecar.texts.clear();
    chat.push(newMessage('next'));
    assert.equal((await upload.send(target(chat))).complete, true);
    assert.deepEqual(sidecar.storedTexts('c1'), words(chat));
});

test('a text the sidecar let go of is sent when it asks', async () => {
    const sidecar = fakeSidecar();
    const upload = createChatUpload(sidecar.put);
    const chat = talk(10);
    await upload.send(target(chat));
    sidecar.texts.delete(target(chat).entries[3].hash);
    chat[2].is_system = true;
    assert.equal((await upload.send(target(chat))).complete, true);
    assert.deepEqual(sidecar.storedTexts('c1'), words(chat));
});

test('a mass removal is held until it is confirmed', async () => {
    const sidecar = fakeSidecar();
    const upload = createChatUpload(sidecar.put);
    const chat = talk(40);
    await upload.send(target(chat));
    const rest = chat.slice(0, 5);
    const result = await upload.send(target(rest));
    assert.deepEqual([result.complete, result.held?.count], [false, 35]);
    assert.equal(sidecar.storedTexts('c1').length, 40);
    assert.equal((await upload.send(target(rest))).held?.count, 35, 'held until the word comes');
    const confirmed = await upload.send(target(rest), { confirm: true });
    assert.deepEqual([confirmed.complete, confirmed.removed], [true, 35]);
    assert.deepEqual(sidecar.storedTexts('c1'), words(rest));
});

test('an emptied chat is told, too', async () => {
    const sidecar = fakeSidecar();
    const upload = createChatUpload(sidecar.put);
    await upload.send(target(talk(5)));
    await upload.send(target([]));
    assert.deepEqual(sidecar.storedTexts('c1'), []);
});

test('an unknown parent is left out rather than losing the chat', async () => {
    const sidecar = fakeSidecar({ parents: [] });
    const chat = talk(5);
    const result = await createChatUpload(sidecar.put).send(
        target(chat, { parent: { chat: 'gone', fork_slot: 'm1' } }),
    );
    assert.equal(result.complete, true);
    assert.equal(sidecar.bodies.at(-1)?.parent, null);
});

test('a refusal with no remedy is raised after one try', async () => {
    let tries = 0;
    const put = async () => {
        tries++;
        throw Object.assign(new Error('no'), {
            code: 'unprocessable',
            status: 422,
            field: 'messages[0].slot',
        });
    };
    await assert.rejects(createChatUpload(put).send(target(talk(2))), { code: 'unprocessable' });
    assert.equal(tries, 1);
});

test('a sidecar that asks for the same texts for ever is given up', async () => {
    const put = async (/** @type {string} */ _chat, /** @type {any} */ body) => ({
        needs_text: [body.messages[0].slot],
        applied: false,
        added: 0,
        changed: 0,
        removed: 0,
        held: null,
    });
    await assert.rejects(createChatUpload(put).send(target(talk(3))), /keeps asking/);
});

test('a sync that a crash cut off is sent again: what was taken in counts once, what was not arrives', async () => {
    for (const taken of [true, false]) {
        const sidecar = fakeSidecar();
        let crashes = 0;
        const upload = createChatUpload(async (chat, body, signal) => {
            if (crashes-- !== 1) return sidecar.put(chat, body, signal);
            if (taken) await sidecar.put(chat, body, signal); // stored, and gone before it could say so
            throw Object.assign(new Error('the connection was lost'), { kind: 'network' });
        });
        const chat = talk(10);
        await upload.send(target(chat));
        chat.push(newMessage('eleven'));
        chat[3].mes = 'edited';
        crashes = 1;
        await assert.rejects(upload.send(target(chat)));
        const result = await upload.send(target(chat));
        assert.equal(result.complete, true);
        assert.equal(result.added, taken ? 0 : 1);
        assert.deepEqual(sidecar.storedTexts('c1'), words(chat));
    }
});
