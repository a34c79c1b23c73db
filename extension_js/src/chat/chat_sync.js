// Keeps the open chat stored in the sidecar: when to send, one send at a time, replies before reading.

import { createQueue } from '../base/queue.js';
import { createChatSender } from './chat_sender.js';
import { createChatState, NO_CHAT } from './chat_state.js';
import { createForgetting } from './forgetting.js';
import { createPromptStories } from './prompt_stories.js';
import { createIdentifier } from './identify.js';
import { createReplyStamp } from './reply_stamp.js';

/** @typedef {import('../tavern/host.js').Host} Host */
/** @typedef {import('./chat_sender.js').ChatSender} ChatSender */
/** @typedef {import('./chat_sender.js').Carry} Carry */
/** @typedef {import('./people.js').People} People */
/** @typedef {import('../base/types.js').Ask} Ask */
/** @typedef {import('../base/types.js').Trouble} Trouble */
/** @typedef {import('./chat_upload.js').UploadResult} UploadResult */

const BUSY_RETRY = 500; // ms until the next look whether the reply is finished
const BUSY_POLL = 50; // ms between looks while a read waits for a reply

/** Sends batch after batch until all is stored, quarantined, or another chat is open. Between batches it waits
 * for replies. @param {Host} host @param {() => ReturnType<ChatSender['send']>} sendBatch @param {AbortSignal} signal
 * @returns {Promise<UploadResult | null>} null when nothing may be sent */
async function sendAll(host, sendBatch, signal) {
    for (;;) {
        const sent = await sendBatch();
        if (!sent || sent.result.complete || sent.result.held) return sent?.result ?? null;
        if (sent.open.name !== host.chatName()) return sent.result;
        do await new Promise(resolve => setTimeout(resolve, BUSY_POLL));
        while (host.busy() && !signal.aborted);
    }
}

/** @param {object} parts
 * @param {Host} parts.host @param {People} parts.people @param {Ask} parts.ask
 * @param {(avatar: string) => Promise<string[]>} parts.chatNames names of a character's chats
 * @param {() => void} parts.changed called after each change of the state
 * @param {() => boolean} [parts.readOnly] the user wants nothing new remembered
 * @param {import('../tavern/regex_guard.js').RegexGuard} [parts.guard] of the player's regexes */
export function createChatSync(parts) {
    const { host, people, ask, chatNames, changed, readOnly = () => false, guard } = parts;
    const state = createChatState();
    const inTurn = createQueue();
    const replyStamp = createReplyStamp(host);
    const identifier = createIdentifier({ host, people, ask, chatNames, state, replyStamp });
    const mayStore = () => !readOnly() && !host.record()?.off;
    let waitingReplies = 0;
    let running = 0; // syncs in the background
    let timer = /** @type {ReturnType<typeof setTimeout> | undefined} */ (undefined);
    let reading = new AbortController();
    const replyWaits = () => waitingReplies > 0;
    const stories = createPromptStories({ host, guard });
    const sender = createChatSender({
        stories,
        ...{ host, people, ask, identifier, state, changed, mayStore, replyWaits },
    });

    /** @param {unknown} error of a send that was not cancelled */
    function noteError(error) {
        const trouble = /** @type {Trouble & {code?: string}} */ (error);
        const { code } = trouble;
        state.error = trouble;
        if (code === 'not_found' || code === 'unprocessable') sender.reset();
    }

    /** Syncs in the background, to the end.
     * @param {{confirm?: boolean}} [options] @returns {Promise<UploadResult | null>} null when nothing may be sent */
    async function syncNow({ confirm = false } = {}) {
        clearTimeout(timer);
        if (reading.signal.aborted) reading = new AbortController();
        const { signal } = reading;
        running++;
        state.syncing = true;
        changed();
        try {
            const sendBatch = () => inTurn(() => sender.send({ confirm, signal }));
            return await sendAll(host, sendBatch, signal);
        } catch (error) {
            if (!signal.aborted) noteError(error);
            throw error;
        } finally {
            running--;
            state.syncing = running > 0;
            changed();
        }
    }

    /** Syncs soon, but not while a reply is generated. A further call starts the delay again.
     * @param {number} [delay] ms */
    function scheduleSync(delay = 800) {
        clearTimeout(timer);
        timer = setTimeout(() => {
            if (host.busy()) return scheduleSync(BUSY_RETRY);
            const untouched = host.chat().length < 2 && !host.record();
            if (!host.chatName() || untouched || state.paused) return;
            syncNow().catch(error => console.debug('[SoulMem] sync:', error.message));
        }, delay);
    }

    /** Before a reply: sends only what the recall needs, ahead of any reading.
     * @param {{leaveOut: number, signal: AbortSignal, carry?: Carry}} options */
    async function syncForReply({ leaveOut, signal, carry }) {
        waitingReplies++;
        try {
            return await inTurn(() => sender.send({ urgent: true, leaveOut, signal, carry }));
        } catch (error) {
            if (!signal.aborted) noteError(error);
            throw error;
        } finally {
            waitingReplies--;
        }
    }

    return {
        ...createForgetting({
            host,
            people,
            ask,
            identifier,
            sender,
            state,
            inTurn,
            changed,
            syncNow,
        }),
        state,
        mayStore,
        syncNow,
        syncForReply,
        scheduleSync,
        identify: identifier.identify,
        presence: identifier.presence,
        expectReply: replyStamp.expect,
        reset: sender.reset,
        /** Whether a regex of the player threw or hung on a message. */
        regexFailed: stories.hasFailed,
        /** Slots of the open chat that the sidecar has. @returns {Set<string>} */
        storedSlots: () => new Set(sender.storedSlots(state.chat)),
        /** Whether the sidecar has any message of the open chat. */
        isStored: () => sender.storedSlots(state.chat).length > 0,
        /** A reply arrived. @param {number} index @param {string} type SillyTavern's word for why it was generated */
        replyArrived(index, type) {
            replyStamp.arrived(state.chat, index, type);
            if (state.chat) identifier.markSaved(state.chat); // SillyTavern saves after a reply
        },
        /** @param {string} from @param {string} to chat names, with or without the file's ending */
        chatRenamed(from, to) {
            identifier.renamed(from, to);
            scheduleSync(300);
        },
        /** Another chat was opened, or none. */
        chatClosed() {
            Object.assign(state, NO_CHAT);
        },
        /** The user stops the reading of this chat; `readAll` goes on with it. */
        cancelReading() {
            state.paused = true;
            reading.abort();
            changed();
        },
        readAll() {
            state.paused = false;
            return syncNow();
        },
        confirmRemoval: () => syncNow({ confirm: true }),
    };
}

/** @typedef {ReturnType<typeof createChatSync>} ChatSync */
