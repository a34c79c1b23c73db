// Which chat is open: finds or makes its id, writes our record into it and a slot on every message.

import { derivedId } from '../base/hash.js';
import { newId } from '../base/ids.js';
import { createQueue } from '../base/queue.js';
import { asksForParent, chatIdentity, presenceToRecord, scene } from '../tavern/identity.js';
import { lastSlot, mintSlots, slotOf } from '../tavern/slots.js';
import { NO_CHAT } from './chat_state.js';

/** @typedef {import('../tavern/host.js').Host} Host */
/** @typedef {import('./people.js').Person} Person */
/** @typedef {import('./people.js').People} People */
/** @typedef {import('./reply_stamp.js').ReplyStamp} ReplyStamp */
/** @typedef {import('../base/types.js').Ask} Ask */
/** @typedef {import('../base/types.js').ChatRecord} ChatRecord */
/** @typedef {import('../base/types.js').ChatState} ChatState */
/** @typedef {import('../base/types.js').Fork} Fork */
/** @typedef {import('../base/types.js').StMessage} StMessage */
/** @typedef {{id: string, title: string, parent: Fork | null}} ImportedChat */

/** The open chat once it is identified. `name`: the chat file without ending, or the group chat's id.
 * @typedef {{record: ChatRecord, people: Person[], name: string}} OpenChat */

/** At most so many new messages without a slot count as written just now, with the members present now.
 * More of them were written while the extension did not run. */
const JUST_WRITTEN = 4;
const IMPORTED_TIMEOUT = 5000; // ms for the question whether the chat was imported

/** @param {object} parts
 * @param {Host} parts.host @param {People} parts.people @param {Ask} parts.ask
 * @param {(avatar: string) => Promise<string[]>} parts.chatNames names of a character's chats
 * @param {ChatState} parts.state @param {ReplyStamp} parts.replyStamp */
export function createIdentifier({ host, people, ask, chatNames, state, replyStamp }) {
    const inTurn = createQueue(); // two identifications at once would mint two ids for one chat
    const unsaved = /** @type {Set<string>} */ (new Set()); // chats whose ids SillyTavern has not saved
    const renames = /** @type {Map<string, string>} */ (new Map()); // new name to old name

    /** @returns {Promise<OpenChat | null>} null when no chat with a character is open */
    async function identifyOpenChat() {
        const name = host.chatName();
        if (!name) return null;
        const members = await people.inChat();
        if (members.length === 0) return null;
        const previous = host.record();
        if (!previous && host.chat().length === 0) return null; // SillyTavern is still loading it
        const { imported, ...facts } = await factsOf(name, members, previous);
        if (host.chatName() !== name) return null;
        const { record, outcome } = chatIdentity(previous, {
            ...facts,
            lastSlot: lastSlot(host.chat()),
            mint: () => imported?.id ?? newId('c'),
        });
        if (imported?.parent && record.chat === imported.id) record.parent = imported.parent;
        if (JSON.stringify(record) !== JSON.stringify(previous)) host.setRecord(record);
        replyStamp.apply(record.chat);
        const minted = mintMissingSlots(record, members, outcome === 'same');
        if (state.chat !== record.chat) Object.assign(state, NO_CHAT, { chat: record.chat });
        if (outcome !== 'same' || minted > 2) unsaved.add(record.chat);
        return { record, people: members, name };
    }

    /** What decides the identity of the chat.
     * @param {string} name @param {readonly Person[]} members @param {Partial<ChatRecord> | undefined} previous */
    async function factsOf(name, members, previous) {
        const group = host.group();
        const owner = group ? `group:${group.id}` : members[0].soul;
        const souls = members.map(person => person.soul);
        const renamed = previous?.name !== undefined && renames.get(name) === previous.name;
        const mainChat = host.metadata().main_chat ?? null;
        const parentExists =
            asksForParent(previous, { name, mainChat, renamed }) &&
            (await chatExists(String(previous?.name), members[0].avatar, group));
        const imported = previous?.name === name ? null : await importedChat(name, souls);
        return { name, owner, souls, mainChat, renamed, parentExists, imported };
    }

    /** The chat as it was imported from its file before it was opened for the first time.
     * @param {string} name @param {readonly string[]} souls @returns {Promise<ImportedChat | null>} */
    async function importedChat(name, souls) {
        const id = derivedId('c', ['st_chat', ...[...souls].sort(), name]);
        const options = { timeout: IMPORTED_TIMEOUT };
        // Of all souls: the sidecar may not have this one yet, and a refusal is a red line on the console.
        // A failure goes on: an id minted now would stay beside the imported chat for ever.
        const answer = await ask('GET', '/chats', undefined, options);
        const chats = /** @type {ImportedChat[]} */ (answer?.chats ?? []);
        return chats.find(chat => chat.id === id && chat.title === name) ?? null;
    }

    /** Whether SillyTavern still has a chat of this name. True when in doubt: a fork loses nothing.
     * @param {string} name @param {string} avatar @param {any} group @returns {Promise<boolean>} */
    async function chatExists(name, avatar, group) {
        if (group) return group.chats.includes(name);
        const names = await chatNames(avatar).catch(() => /** @type {string[]} */ ([]));
        return names.length === 0 || names.includes(name);
    }

    /** Who to note as present on a message: nothing when it is the founding cast, or outside of groups.
     * @param {ChatRecord} record @param {readonly Person[]} members @param {StMessage} [message]
     * @returns {string[] | undefined} souls */
    function presence(record, members, message) {
        if (!host.group()) return undefined;
        const muted = new Set(members.filter(person => person.muted).map(person => person.avatar));
        const there = scene(members, muted, message?.original_avatar ?? null);
        return presenceToRecord(there, record.cast ?? []);
    }

    /** Gives every message a slot, and notes who is present on messages written just now.
     * @param {ChatRecord} record @param {readonly Person[]} members @param {boolean} isSame the chat had our record before
     * @returns {number} how many slots were minted */
    function mintMissingSlots(record, members, isSame) {
        const chat = host.chat();
        const justWritten = isSame
            ? chat.filter(message => slotOf(message) === null).length <= JUST_WRITTEN
            : chat.filter(message => message.is_user).length < 2;
        return mintSlots(chat, message =>
            justWritten ? { present: presence(record, members, message) } : {},
        );
    }

    return {
        presence,
        /** Identifies the open chat. @returns {Promise<OpenChat | null>} */
        identify: () => inTurn(identifyOpenChat),
        /** Notes that SillyTavern saves, or saved, the ids of a chat.
         * @param {string} chat @returns {boolean} whether they were unsaved until now */
        markSaved: chat => unsaved.delete(chat),
        /** @param {string} from @param {string} to chat names, with or without the file's ending */
        renamed(from, to) {
            renames.set(to.replace(/\.jsonl$/, ''), from.replace(/\.jsonl$/, ''));
        },
    };
}

/** @typedef {ReturnType<typeof createIdentifier>} Identifier */
