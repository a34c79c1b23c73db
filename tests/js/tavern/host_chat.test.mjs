import assert from 'node:assert/strict';
import { test } from 'node:test';
import { createHost } from '../../../extension_js/src/tavern/host.js';
import { newPage } from '../dom.mjs';

/** SillyTavern's context with two characters. @param {object} [about] @returns {any} */
function context(about) {
    return {
        characters: [
            { avatar: 'mira.png', name: 'Mira', data: { extensions: { soulmem: { soul: 's1' } } } },
            { avatar: 'ben.png', name: 'Ben', shallow: true },
        ],
        characterId: 0,
        groupId: null,
        groups: [
            { id: 'g1', members: ['ben.png', 'gone.png', 'mira.png'], disabled_members: ['ben.png'] },
            { id: 'g2', members: ['mira.png'] },
        ],
        chat: [],
        chatMetadata: {},
        name1: 'Alice',
        name2: 'Mira',
        extensionSettings: {},
        extensionPrompts: {},
        eventTypes: { CHAT_CHANGED: 'chat_changed' },
        ...about,
    };
}
/** @param {any} facts */
const hostOf = facts => createHost(() => facts);

test('the members of a chat are its character, or those of its group whose cards exist', () => {
    const mira = { avatar: 'mira.png', name: 'Mira', muted: false };
    const alone = hostOf(context());
    assert.equal(alone.group(), null);
    assert.deepEqual(alone.members(), [mira]);
    const group = hostOf(context({ groupId: 'g1' }));
    assert.equal(group.group().id, 'g1');
    assert.deepEqual(group.members(), [{ avatar: 'ben.png', name: 'Ben', muted: true }, mira]);
    assert.deepEqual(hostOf(context({ groupId: 'g2' })).members(), [mira]);
    assert.equal(hostOf(context({ groupId: 'g9' })).group(), null);
    assert.deepEqual(hostOf(context({ characterId: undefined })).members(), []);
});

test('the speaker is who replies now, muted or not, in the group or not', () => {
    assert.deepEqual(hostOf(context({ groupId: 'g1', characterId: 1 })).speaker(), {
        avatar: 'ben.png',
        name: 'Ben',
        muted: true,
    });
    assert.deepEqual(hostOf(context({ groupId: 'g2', characterId: 1 })).speaker(), {
        avatar: 'ben.png',
        name: 'Ben',
        muted: false,
    });
    assert.equal(hostOf(context({ characterId: undefined })).speaker(), null);
    assert.equal(hostOf(context({ characterId: 7 })).speaker(), null);
});

test('a card that is only listed is loaded before its field is read', async () => {
    const loaded = /** @type {string[]} */ ([]);
    const facts = context({
        unshallowCharacter: async (/** @type {string} */ index) => {
            loaded.push(index);
            facts.characters[1] = {
                avatar: 'ben.png',
                name: 'Ben',
                data: { extensions: { soulmem: { soul: 's2' }, world: 'Harbour' } },
            };
        },
    });
    const host = hostOf(facts);
    assert.deepEqual(await host.cardField('mira.png'), { soul: 's1' });
    assert.deepEqual(loaded, []);
    assert.deepEqual(await host.cardField('ben.png'), { soul: 's2' });
    assert.deepEqual(loaded, ['1']);
    assert.equal(await host.cardField('gone.png'), undefined);
    assert.deepEqual(await host.worldsOf('ben.png'), ['Harbour']);
    assert.deepEqual(await host.worldsOf('mira.png'), []);
});

test('a card is written at its place; one that has gone is not', async () => {
    const written = /** @type {any[]} */ ([]);
    const host = hostOf(
        context({ writeExtensionField: async (/** @type {any[]} */ ...all) => written.push(all) }),
    );
    const field = /** @type {any} */ ({ soul: 's1' });
    await host.writeCard('mira.png', field);
    await host.writeCard('gone.png', field);
    assert.deepEqual(written, [[0, 'soulmem', field]]);
    assert.deepEqual([...host.avatars()], ['mira.png', 'ben.png']);
});

test('the open chat is named, written and shown through SillyTavern', async () => {
    const page = newPage();
    const done = /** @type {any[]} */ ([]);
    const note = (/** @type {string} */ what) => (/** @type {any[]} */ ...about) =>
        done.push([what, ...about]);
    const facts = context({
        getCurrentChatId: () => '',
        saveChat: note('save'),
        openCharacterChat: note('open'),
        executeSlashCommandsWithOptions: note('command'),
        saveSettingsDebounced: note('settings'),
    });
    const host = hostOf(facts);
    assert.equal(host.chatName(), null);
    facts.getCurrentChatId = () => 'Mira - now';
    assert.equal(host.chatName(), 'Mira - now');
    host.setRecord(/** @type {any} */ ({ chat: 'c1' }));
    assert.deepEqual(host.record(), { chat: 'c1' });
    await host.saveChat();
    await host.openChat('Mira - then');
    await host.showMessage(3);
    host.saveSettings();
    assert.deepEqual(done, [
        ['save'],
        ['open', 'Mira - then'],
        ['command', '/chat-jump 3'],
        ['settings'],
    ]);
    assert.equal(host.persona(), 'Alice');
    assert.equal(host.busy(), false);
    page.body.dataset.generating = 'true';
    assert.equal(host.busy(), true);
});

test('our settings are made once; an event that this SillyTavern lacks is left out', () => {
    const heard = /** @type {string[]} */ ([]);
    const facts = context({ eventSource: { on: (/** @type {string} */ name) => heard.push(name) } });
    const host = hostOf(facts);
    const stored = host.stored();
    stored.enabled = false;
    assert.equal(host.stored(), stored);
    host.on('CHAT_CHANGED', () => {});
    host.on('APP_READY', () => {});
    assert.deepEqual(heard, ['chat_changed']);
});

test('Vector Storage recalls chats when it is on for them and not disabled', () => {
    const recalls = (/** @type {object} */ extensionSettings) =>
        hostOf(context({ extensionSettings })).vectorsRecall();
    assert.equal(recalls({}), false);
    assert.equal(recalls({ vectors: { enabled_chats: false } }), false);
    assert.equal(recalls({ vectors: { enabled_chats: true } }), true);
    assert.equal(
        recalls({ vectors: { enabled_chats: true }, disabledExtensions: ['vectors'] }),
        false,
    );
    assert.equal(recalls({ vectors: { enabled_chats: true }, disabledExtensions: ['tts'] }), true);
});
