import assert from 'node:assert/strict';
import { test } from 'node:test';
import { createSay } from '../../../extension_js/src/base/strings.js';
import { quickReplies } from '../../../extension_js/src/controls/quick_replies.js';
import { drawer } from '../drawer/drawer.mjs';
import { say } from '../texts.mjs';
import { openChat } from './scene.mjs';

test('five quick replies are added by one press, or the user learns what is missing', async () => {
    const { page, shown, user } = await drawer();
    await page.get('#soulmem_quick_replies').click();
    assert.equal(shown.quickReplies.SoulMem.length, 5);
    assert.equal(shown.toasts.at(-1)?.[0], 'success');
    user.hasQuickReplies = false;
    await page.get('#soulmem_quick_replies').click();
    assert.equal(shown.toasts.at(-1)?.[0], 'warning');
});

test('the scripts use commands and named arguments that exist', async () => {
    const { shown } = await openChat();
    for (const { message, label, title } of quickReplies(say)) {
        assert.ok(label && title, message);
        const [, name, rest] = /\/(soulmem-\w+)([^|]*)/.exec(message) ?? [];
        const command = shown.registered[name];
        assert.ok(command, message);
        for (const [, key] of rest.matchAll(/(\w+)=/g)) assert.ok(key in command.named, message);
    }
});

test('a text of the page cannot end the quotes of a script', () => {
    const messages = quickReplies(createSay({}, () => 'say "it" | {{x}}')).map(reply => reply.message);
    for (const message of messages.filter(text => text.startsWith('/input'))) {
        assert.equal(message.match(/"/g)?.length, 2);
        assert.doesNotMatch(message.split('"')[1], /[|{}]/);
    }
});
