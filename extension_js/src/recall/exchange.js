// What goes to the sidecar before a reply, and what comes back: the chat as it is now, and memories, in one request.

import { ApiError } from '../link/api.js';

/** @typedef {import('../chat/chat_sync.js').ChatSync} ChatSync */
/** @typedef {import('../chat/chat_sender.js').Carry} Carry */
/** @typedef {import('../chat/identify.js').OpenChat} OpenChat */
/** @typedef {import('../base/types.js').Ask} Ask */
/** @typedef {import('../base/types.js').RecallAnswer} RecallAnswer */
/** @typedef {import('../base/types.js').SyncAnswer} SyncAnswer */
/** @typedef {import('./recall_request.js').Asked} Asked */
/** @typedef {import('./recall_request.js').Generation} Generation */
/** @typedef {import('./recall_request.js').Question} Question */
/** @typedef {import('./recall_request.js').RecallQuestions} RecallQuestions */

/** A sync before the recall. `complete`: the sidecar has the chat as it is now.
 * @typedef {{open: OpenChat | null, complete: boolean, failure: unknown}} SyncOutcome */
/** Memories for a reply. `failure`: of the sync before.
 * @typedef {Asked & {answer: RecallAnswer, failure: unknown}} Exchanged */

const UNKNOWN = 404; // a soul or chat that the sidecar does not have

/** What a question asks, apart from the reply it is for and the time it has. @param {Question} question */
const gistOf = question =>
    JSON.stringify({ ...question, slot: null, swipe: null, time_budget_ms: null });

/** @param {object} parts
 * @param {ChatSync} parts.chatSync @param {Ask} parts.ask the sidecar @param {RecallQuestions} parts.request */
export function createExchange({ chatSync, ask, request }) {
    /** Syncs what the recall needs. A sidecar that refuses the sync still recalls with what it has.
     * @param {Generation} generation @param {Carry} carry @returns {Promise<SyncOutcome>} */
    async function syncFirst({ type, signal }, carry) {
        try {
            const leaveOut = type === 'swipe' ? 1 : 0;
            const synced = await chatSync.syncForReply({ leaveOut, signal, carry });
            const complete = Boolean(synced && !synced.result.held);
            return { open: synced?.open ?? null, complete, failure: null };
        } catch (error) {
            if (!(error instanceof ApiError) || error.kind !== 'http') throw error;
            return { open: null, complete: false, failure: error };
        }
    }

    /** Sends the chat and asks for memories. What was asked ahead is used where the question is still the same.
     * @param {Generation} generation @param {(asked: Asked) => void} [expect] called before memories are asked for
     * @param {Exchanged | null} [ahead] @returns {Promise<Exchanged | null>} null where nobody remembers */
    return async function exchange(generation, expect = () => {}, ahead = null) {
        let carried = /** @type {Exchanged | null} */ (null);

        /** Adds the question to the chat that is sent. @type {Carry} */
        async function carry(open, chat, body, signal) {
            carried = null;
            const coming = body.messages.map(message => message.slot);
            const asked = request.askedFor(generation, open, true, coming);
            const sync = () => ask('PUT', `/chats/${chat}`, body, { signal });
            if (!asked) return sync();
            expect(asked);
            try {
                const both = { sync: body, recall: asked.question };
                const answer = await ask('POST', `/chats/${chat}/recall`, both, { signal });
                if (answer.recall) carried = { ...asked, answer: answer.recall, failure: null };
                return answer.sync;
            } catch (error) {
                if (/** @type {ApiError} */ (error).status !== UNKNOWN) throw error;
                return sync();
            }
        }

        const { signal, storing, type } = generation;
        const synced =
            type !== 'quiet' && storing
                ? await syncFirst(generation, carry)
                : { open: null, complete: false, failure: null };
        if (carried) return carried;
        const open = synced.open ?? (await chatSync.identify());
        signal.throwIfAborted();
        const asked = open && request.askedFor(generation, open, synced.complete);
        if (!asked) return null;
        if (ahead && gistOf(ahead.question) === gistOf(asked.question)) {
            expect(ahead);
            return ahead;
        }
        expect(asked);
        const answer = await request.askForMemories(generation, asked.question, asked.open);
        return { ...asked, answer, failure: synced.failure };
    };
}

/** @typedef {ReturnType<typeof createExchange>} Exchange */
