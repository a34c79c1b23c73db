// Sends the open chat to the sidecar: what of it, for whom, and what the sidecar has of it already.

import { snapshot } from '../tavern/snapshot.js';
import { createChatUpload } from './chat_upload.js';
import { createWithheldMessages } from './withheld_messages.js';

/** @typedef {import('../tavern/host.js').Host} Host */
/** @typedef {import('./identify.js').Identifier} Identifier */
/** @typedef {import('./identify.js').OpenChat} OpenChat */
/** @typedef {import('./people.js').Person} Person */
/** @typedef {import('./people.js').People} People */
/** @typedef {import('../base/types.js').Ask} Ask */
/** @typedef {import('../base/types.js').ChatState} ChatState */
/** @typedef {import('../base/types.js').SyncAnswer} SyncAnswer */
/** @typedef {import('./chat_upload.js').SyncBody} SyncBody */
/** @typedef {import('./chat_upload.js').UploadResult} UploadResult */

/** Sends one request for the open chat: its body, to which more may be added.
 * @typedef {(open: OpenChat, chat: string, body: SyncBody, signal?: AbortSignal) => Promise<SyncAnswer>} Carry */

/** @typedef {object} SendOptions
 * @property {boolean} [urgent] a reply waits: only what its recall needs
 * @property {number} [leaveOut] messages at the end that are about to be replaced
 * @property {boolean} [confirm] the user confirmed the removal of quarantined messages
 * @property {AbortSignal} [signal]
 * @property {Carry} [carry] sends the requests of this call
 */

/** @param {object} parts
 * @param {Host} parts.host @param {People} parts.people @param {Ask} parts.ask
 * @param {Identifier} parts.identifier @param {ChatState} parts.state
 * @param {import('./prompt_stories.js').PromptStories} parts.stories what the prompt shows of messages
 * @param {() => void} parts.changed called after each change of the state
 * @param {() => boolean} parts.mayStore whether the open chat may be sent at all
 * @param {() => boolean} parts.replyWaits whether to stop after the current batch */
export function createChatSender(parts) {
    const { host, people, ask, identifier, state, stories, changed, mayStore, replyWaits } = parts;
    const uploads = /** @type {Map<string, ReturnType<typeof createChatUpload>>} */ (new Map());
    const withheld = createWithheldMessages(ask);

    /** @param {string} chat id */
    function uploadOf(chat) {
        const existing = uploads.get(chat);
        if (existing) return existing;
        const upload = createChatUpload((id, body, signal) =>
            ask('PUT', `/chats/${id}`, body, { signal }),
        );
        uploads.set(chat, upload);
        return upload;
    }

    const isOff = (/** @type {Person} */ person) =>
        person.config.enabled === false || people.isForgotten(person.soul);

    /** Asks SillyTavern to save new ids: ids that were sent but not saved would be lost with the page.
     * @param {OpenChat} open @returns {Promise<boolean>} false when another chat was opened meanwhile */
    async function saveIds(open) {
        if (!identifier.markSaved(open.record.chat)) return true;
        await host.saveChat();
        return host.chatName() === open.name;
    }

    /** The chat as the sidecar should have it. Tells it of souls it needs for that.
     * @param {OpenChat} open @param {number} leaveOut @param {AbortSignal} [signal] */
    async function prepare({ record, people: members, name }, leaveOut, signal) {
        await stories.prepare(host.chat());
        const chat = host.chat();
        const souls = (record.souls ?? []).filter(soul => !people.isForgotten(soul));
        const off = members.filter(isOff).map(person => person.soul);
        const whole = {
            chat: record.chat,
            souls,
            title: name,
            persona: host.persona(),
            parent: record.parent ?? null,
            entries: snapshot(
                chat.slice(0, chat.length - leaveOut),
                { souls, cast: record.cast ?? [] },
                stories.of,
            ),
        };
        const target = await withheld.withhold(whole, off, signal);
        await people.push(
            members,
            signal,
            person => !off.includes(person.soul) || target.souls.includes(person.soul),
        );
        return target;
    }

    /** Sends what changed in the open chat.
     * @param {SendOptions} options
     * @returns {Promise<{open: OpenChat, result: UploadResult} | null>} null when nothing may be sent */
    async function send({ urgent = false, leaveOut = 0, confirm = false, signal, carry }) {
        const open = await identifier.identify();
        if (!open || !mayStore()) return null;
        await people.loadForgotten(signal);
        if (open.people.every(isOff)) return null;
        if (!urgent && !(await saveIds(open))) return null;
        const target = await prepare(open, leaveOut, signal);
        const result = await uploadOf(target.chat).send(target, {
            urgent,
            confirm,
            signal,
            pause: () => replyWaits() || host.chatName() !== open.name,
            ...(carry && { put: (chat, body, by) => carry(open, chat, body, by) }),
            progress(done, total) {
                state.reading = done < total ? { done, total } : null;
                changed();
            },
        });
        state.quarantine = result.held;
        state.error = null;
        if (result.complete) state.reading = null;
        return { open, result };
    }

    return {
        send,
        /** @param {string | null} chat @returns {string[]} slots of its messages that the sidecar has */
        storedSlots: chat => (chat ? (uploads.get(chat)?.slots() ?? []) : []),
        /** The next send of a chat starts from nothing. @param {string} chat */
        forgetChat: chat => uploads.delete(chat),
        /** Every next send starts from nothing: the sidecar changed, or came back. */
        reset() {
            people.resetPushed();
            uploads.clear();
            withheld.reset();
        },
    };
}

/** @typedef {ReturnType<typeof createChatSender>} ChatSender */
