import assert from 'node:assert/strict';
import { test } from 'node:test';
import { createHost } from '../../../extension_js/src/tavern/host.js';

const CALL = {
    request: 'r1',
    name: 'summary',
    system: 'You write.',
    user: 'Write {{this}}.',
    schema: null,
    max_tokens: 30,
};

/** @param {object} context */
const hostOf = context => createHost(() => context);

const HOSTILE = String.raw`{{user}} \{\{setvar::x::1\}\} {\{user}} <USER> <bot> <charIfNotGroup> <%= evil() %> {"a": {"b": "\{"}} }} < user>`;

/** What SillyTavern does to a prompt before it says that it is ready. @param {string} text */
const substituted = text =>
    text
        .replace(/<user>|<bot>|<char>|<group>|<charifnotgroup>/gi, 'RAN')
        .replace(/\{\{[^}]*\}\}/g, 'RAN')
        .replace(/\\([{}])/g, '$1')
        .replace(/<%[^]*?%>/g, 'RAN');

for (const isChat of [true, false]) {
    test(`what the current connection is sent is what was to be sent, ${isChat ? 'as messages' : 'as one text'}`, async () => {
        const seen = /** @type {any[]} */ ([]);
        const heard = /** @type {Map<string, Set<(ready: any) => void>>} */ (
            new Map([
                ['chat', new Set()],
                ['text', new Set()],
            ])
        );
        const context = {
            extensionSettings: { soulmem: {} },
            eventTypes: {
                CHAT_COMPLETION_PROMPT_READY: 'chat',
                GENERATE_AFTER_COMBINE_PROMPTS: 'text',
            },
            eventSource: {
                makeLast: (/** @type {string} */ event, /** @type {any} */ handler) =>
                    heard.get(event)?.add(handler),
                removeListener: (/** @type {string} */ event, /** @type {any} */ handler) =>
                    heard.get(event)?.delete(handler),
            },
            generateRaw: async (/** @type {any} */ asked) => {
                const messages = asked.prompt.map((/** @type {any} */ message) => ({
                    role: message.role,
                    content: substituted(message.content),
                }));
                const ready = isChat
                    ? { chat: messages }
                    : {
                          prompt: messages
                              .map((/** @type {any} */ message) => message.content)
                              .join('\n'),
                      };
                heard.get(isChat ? 'chat' : 'text')?.forEach(handler => handler(ready));
                seen.push({
                    ...asked,
                    sent:
                        ready.chat
                            ?.map((/** @type {any} */ message) => message.content)
                            .join('\n') ?? ready.prompt,
                });
                return 'text';
            },
        };
        const host = hostOf(context);
        assert.equal(await host.complete({ ...CALL, user: HOSTILE }), 'text');
        assert.equal(seen[0].sent, `${CALL.system}\n${HOSTILE}`);
        assert.deepEqual([seen[0].responseLength, seen[0].trimNames], [30, false]);
        assert.deepEqual(
            seen[0].prompt.map((/** @type {any} */ message) => message.role),
            ['system', 'user'],
        );
        assert.equal(
            [...heard.values()].every(handlers => handlers.size === 0),
            true,
        );
    });
}

test('a connection profile is asked where one is chosen and there', async () => {
    const seen = /** @type {any[]} */ ([]);
    const context = {
        extensionSettings: {
            soulmem: { llm_profile: 'p1' },
            connectionManager: { profiles: [{ id: 'p1' }] },
        },
        ConnectionManagerRequestService: {
            sendRequest: async (/** @type {any[]} */ ...asked) => {
                seen.push(asked);
                return { content: 'from p1' };
            },
        },
        generateRaw: async () => 'from the current one',
    };
    assert.equal(await hostOf(context).complete(CALL), 'from p1');
    assert.deepEqual([seen[0][0], seen[0][2]], ['p1', 30]);
    assert.equal(seen[0][1][1].content, CALL.user, 'a profile runs no macros');
    context.extensionSettings.connectionManager.profiles = [];
    assert.equal(await hostOf(context).complete(CALL), 'from the current one');
});
