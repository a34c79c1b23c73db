// What the player's own prompt regexes leave of a message is what is remembered of it.

import assert from 'node:assert/strict';
import { test } from 'node:test';
import { createChatUpload } from '../../../extension_js/src/chat/chat_upload.js';
import { createPromptStories } from '../../../extension_js/src/chat/prompt_stories.js';
import { createRegexAccess } from '../../../extension_js/src/tavern/prompt_regexes.js';
import { createRegexGuard } from '../../../extension_js/src/tavern/regex_guard.js';
import { runAll } from '../../../extension_js/src/tavern/regex_worker.js';
import { mintSlots } from '../../../extension_js/src/tavern/slots.js';
import { snapshot } from '../../../extension_js/src/tavern/snapshot.js';
import { fakeSidecar, newMessage } from '../fakes.mjs';

/** @typedef {import('../../../extension_js/src/base/types.js').StMessage} StMessage */
/** @typedef {import('../../../extension_js/src/tavern/prompt_regexes.js').PromptScript} PromptScript */

const PEOPLE = { souls: ['s1'], cast: ['s1'] };
const HIDE = {
    findRegex: '/<StatusBlock>[\\s\\S]*?<\\/StatusBlock>/g',
    replaceString: '',
    promptOnly: true,
    disabled: false,
    placement: [2],
};

/** A worker that runs the regexes, and never answers for a text that holds `hang`. */
function fakeWorker() {
    const worker = {
        onmessage: /** @type {((event: {data: number}) => void) | null} */ (null),
        onerror: null,
        terminate() {},
        postMessage(/** @type {any} */ task) {
            if (task.texts.some((/** @type {string} */ text) => text.includes('hang'))) return;
            queueMicrotask(() => worker.onmessage?.({ data: runAll(task) }));
        },
    };
    return worker;
}

/** @param {PromptScript[]} scripts @param {(text: string) => string} [run] */
function reader(scripts, run) {
    let failures = 0;
    const engine = {
        getRegexScripts: () => scripts,
        getRegexedString(/** @type {string} */ text, /** @type {number} */ place, /** @type {any} */ how) {
            assert.equal(how.isPrompt, true);
            const own = scripts.filter(script => script.placement?.includes(place));
            return run ? run(text) : own.reduce((left, script) => replaced(left, script), text);
        },
    };
    const context = { extensionSettings: {}, characters: [], substituteParams: String };
    const access = createRegexAccess(() => context, async () => engine);
    const guard = createRegexGuard({ open: fakeWorker, limit: 20, start: 20 });
    const parts = { host: access, failed: () => failures++, guard };
    return { stories: createPromptStories(parts), failures: () => failures };
}

/** @param {string} text @param {PromptScript} script */
function replaced(text, script) {
    const [, source, flags] = /** @type {RegExpExecArray} */ (
        /^\/([\s\S]*)\/([a-z]*)$/.exec(script.findRegex)
    );
    return text.replace(new RegExp(source, flags), script.replaceString ?? '');
}

/** @param {StMessage[]} chat @param {ReturnType<typeof createPromptStories>} stories */
async function target(chat, stories) {
    mintSlots(chat);
    await stories.prepare(chat);
    const entries = snapshot(chat, PEOPLE, stories.of);
    return { chat: 'c1', souls: ['s1'], title: 'Chat', persona: 'Alice', parent: null, entries };
}

test('what a prompt regex removes is sent as the story, and the text stays as it is', async () => {
    const { stories } = reader([HIDE]);
    const reply = newMessage('The password is marigold.<StatusBlock>Mood: calm</StatusBlock>');
    const line = { ...newMessage('No <StatusBlock>of mine</StatusBlock>'), is_user: true };
    const sidecar = fakeSidecar();
    await createChatUpload(sidecar.put).send(await target([reply, line], stories));
    const [sent, own] = /** @type {any[]} */ (sidecar.bodies[0].messages);
    assert.equal(sent.story, 'The password is marigold.');
    assert.match(sent.text, /Mood: calm/);
    assert.equal('story' in own, false); // the regex is for replies alone
});

test('a translation for the eyes changes nothing: the prompt has the message', async () => {
    const { stories } = reader([HIDE]);
    const reply = { ...newMessage('Der Schl\u00fcssel.'), extra: { display_text: 'The key.' } };
    const { entries } = await target([reply], stories);
    assert.equal(entries[0].text, 'Der Schl\u00fcssel.');
    assert.equal('story' in entries[0], false);
});

test('a changed regex is sent again, and so is its end', async () => {
    const scripts = [HIDE];
    const { stories } = reader(scripts);
    const sidecar = fakeSidecar();
    const upload = createChatUpload(sidecar.put);
    const chat = [newMessage('A key.<StatusBlock>x</StatusBlock>'), newMessage('A lamp.')];
    await upload.send(await target(chat, stories));
    await upload.send(await target(chat, stories));
    assert.equal(sidecar.bodies.length, 1);
    scripts[0] = { ...HIDE, replaceString: ' (status)' };
    await upload.send(await target(chat, stories));
    assert.equal(/** @type {any} */ (sidecar.bodies[1].messages[0]).story, 'A key. (status)');
    scripts.length = 0;
    await upload.send(await target(chat, stories));
    assert.equal('story' in sidecar.bodies[2].messages[0], false);
});

test('a regex that hangs on a message leaves that message as it is, and the others are read', async () => {
    const { stories, failures } = reader([HIDE]);
    const chat = ['one', 'a hang', 'two'].map(text =>
        newMessage(`${text}.<StatusBlock>x</StatusBlock>`),
    );
    const { entries } = await target(chat, stories);
    assert.deepEqual(entries.map(entry => entry.story), ['one.', undefined, 'two.']);
    assert.equal(failures(), 1);
    assert.equal(stories.hasFailed(), true);
    await stories.prepare(chat);
    assert.equal(failures(), 1); // it is not tried again
});

test('regexes that hang again and again are given up for what is still unread', async () => {
    const { stories, failures } = reader([HIDE]);
    const chat = Array.from({ length: 9 }, (_, n) => newMessage(`hang ${n}`));
    const { entries } = await target(chat, stories);
    assert.equal(failures(), 3);
    assert.ok(entries.every(entry => entry.story === undefined));
});

test('a regex that throws leaves the message as it is', async () => {
    const { stories } = reader([HIDE], () => {
        throw new Error('broken');
    });
    const { entries } = await target([newMessage('A key.')], stories);
    assert.equal('story' in entries[0], false);
    assert.equal(stories.hasFailed(), true);
});

test('without a prompt regex nothing is read', async () => {
    for (const scripts of [[], [{ ...HIDE, disabled: true }], [{ ...HIDE, promptOnly: false }]]) {
        const { stories } = reader(scripts, () => assert.fail('was run'));
        await stories.prepare([newMessage('A key.')]);
        assert.equal(stories.of(newMessage('A key.')), null);
    }
});
