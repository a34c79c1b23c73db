// Chats that are not stored: forgets the open chat, remembers it again, registers a chat without its messages.

import { NO_CHAT } from './chat_state.js';

/** @typedef {import('../tavern/host.js').Host} Host */
/** @typedef {import('./chat_sender.js').ChatSender} ChatSender */
/** @typedef {import('./chat_upload.js').UploadResult} UploadResult */
/** @typedef {import('./identify.js').Identifier} Identifier */
/** @typedef {import('./identify.js').OpenChat} OpenChat */
/** @typedef {import('./people.js').People} People */
/** @typedef {import('../base/types.js').Ask} Ask */
/** @typedef {import('../base/types.js').ChatRecord} ChatRecord */
/** @typedef {import('../base/types.js').ChatState} ChatState */

/** @param {object} parts
 * @param {Host} parts.host @param {People} parts.people @param {Ask} parts.ask
 * @param {Identifier} parts.identifier @param {ChatSender} parts.sender @param {ChatState} parts.state
 * @param {ReturnType<typeof import('../base/queue.js').createQueue>} parts.inTurn the queue of all sends
 * @param {() => void} parts.changed called after each change of the state
 * @param {() => Promise<UploadResult | null>} parts.syncNow */
export function createForgetting(parts) {
    const { host, people, ask, identifier, sender, state, inTurn, changed, syncNow } = parts;

    /** Marks the chat as forgotten and moves what it told to the bin; the mark goes when that fails.
     * @param {ChatRecord} record */
    async function forget(record) {
        host.setRecord({ ...record, off: true });
        sender.forgetChat(record.chat);
        Object.assign(state, NO_CHAT, { chat: record.chat });
        await ask('DELETE', `/chats/${record.chat}`).catch(error => {
            if (error.code === 'not_found') return; // never stored, or forgotten before
            host.setRecord(record);
            throw error;
        });
        await host.saveChat();
    }

    return {
        /** Moves the open chat, and what only it told, to the bin. It is not remembered from then on. */
        async forgetChat() {
            const open = await identifier.identify();
            if (!open) return;
            await inTurn(() => forget(open.record));
            changed();
        },
        /** Remembers a forgotten chat again, from its first message on.
         * @returns {Promise<UploadResult | null>} */
        async rememberChat() {
            const record = /** @type {ChatRecord | undefined} */ (host.record());
            if (!record) return null;
            const { off: _off, ...remembered } = record;
            host.setRecord(remembered);
            await host.saveChat();
            return syncNow();
        },
        /** Tells the sidecar of a chat that is not stored, without messages. A recall in it then sees what
         * its parent chats allow. @param {OpenChat} open */
        async registerChat({ record, people: members, name }) {
            await people.push(members);
            const { chats } = await ask('GET', '/chats');
            const isStored = (/** @type {{id: string}} */ chat) => chat.id === record.chat;
            if (chats.some(isStored)) return; // an empty list of messages would remove all it has
            await ask('PUT', `/chats/${record.chat}`, {
                souls: (record.souls ?? []).filter(soul => !people.isForgotten(soul)),
                title: name,
                persona: host.persona(),
                parent: record.parent ?? null,
                base: null,
                messages: [],
                confirm_removal: false,
            });
        },
    };
}
