// Memories for the coming reply: sync, recall and inject within a time budget. A failure costs only the memories.

import { ApiError } from '../link/api.js';
import { createLastPrompts } from './last_prompts.js';
import { createPlacement } from './placement.js';
import { createRecallRecords } from './recall_records.js';
import { createRecallRequest } from './recall_request.js';

/** @typedef {import('../tavern/host.js').Host} Host */
/** @typedef {import('../chat/chat_sync.js').ChatSync} ChatSync */
/** @typedef {import('../chat/identify.js').OpenChat} OpenChat */
/** @typedef {import('../base/types.js').Ask} Ask */
/** @typedef {import('../base/settings.js').Settings} Settings */
/** @typedef {import('../base/types.js').RecallRecord} RecallRecord */

/** @typedef {import('./recall_request.js').Generation} Generation */
/** What a sync before the recall came to. `complete`: the sidecar has the chat as it is now.
 * @typedef {{open: OpenChat | null, complete: boolean, failure: unknown}} SyncOutcome */

const TYPES = new Set(['normal', 'swipe', 'regenerate', 'continue', 'impersonate', 'quiet']);

/** @param {unknown} type SillyTavern's word for why it generates @returns {string} the contract's word */
export function recallType(type) {
    if (TYPES.has(String(type))) return String(type);
    return String(type).startsWith('append') ? 'continue' : 'normal';
}

/** @param {object} parts
 * @param {Host} parts.host @param {ChatSync} parts.chatSync @param {Ask} parts.ask the sidecar
 * @param {() => Settings} parts.settings
 * @param {() => Promise<boolean>} parts.ready whether the sidecar can be reached; may look for it
 * @param {(error: unknown) => void} parts.report how an attempt ended; null after success
 * @param {() => number} [parts.minor] minor version of the sidecar's contract
 * @param {(record: RecallRecord) => void} [parts.recalled] called with each recall */
export function createRecaller(parts) {
    const { host, chatSync, ask, settings, ready, report } = parts;
    const { minor = () => 0, recalled = () => {} } = parts;
    const records = createRecallRecords(recalled);
    const prompts = createLastPrompts(host);
    const placement = createPlacement({ host, chatSync, records, settings });
    const request = createRecallRequest({ host, chatSync, ask, settings, prompts, minor });
    let current = /** @type {AbortController | null} */ (null);

    /** Syncs what the recall needs. A sidecar that refuses the sync still recalls with what it has.
     * @param {Generation} generation @returns {Promise<SyncOutcome>} */
    async function syncFirst({ type, signal }) {
        try {
            const leaveOut = type === 'swipe' ? 1 : 0;
            const synced = await chatSync.syncForReply({ leaveOut, signal });
            const complete = Boolean(synced && !synced.result.held);
            return { open: synced?.open ?? null, complete, failure: null };
        } catch (error) {
            if (!(error instanceof ApiError) || error.kind !== 'http') throw error;
            return { open: null, complete: false, failure: error };
        }
    }

    /** @param {Omit<Generation, 'storing'>} options */
    async function recall(options) {
        const { type, signal } = options;
        if (!(await ready())) {
            throw new ApiError('SoulMem is asleep', { kind: 'network', code: 'asleep' });
        }
        const generation = { ...options, storing: chatSync.mayStore() };
        const synced =
            type !== 'quiet' && generation.storing
                ? await syncFirst(generation)
                : { open: null, complete: false, failure: null };
        const open = synced.open ?? (await chatSync.identify());
        signal.throwIfAborted();
        const person = open ? request.speakerOf(open) : undefined;
        if (!open || !person || person.config.enabled === false) return;
        const reply = request.nextReply(open, type);
        chatSync.expectReply(reply);
        const question = request.questionOf(generation, open, person, reply, synced.complete);
        const answer = await request.askForMemories(generation, question, open);
        signal.throwIfAborted();
        const budget = question.budget_tokens;
        const isPlaced = await placement.place(generation, open, person, reply, answer, budget);
        if (isPlaced && synced.failure) throw synced.failure;
    }

    /** SillyTavern calls and awaits this before each generation. Never throws, never aborts the generation.
     * @param {unknown} _chat copies of the visible messages @param {number} contextSize tokens
     * @param {unknown} _abort @param {unknown} stType */
    async function intercept(_chat, contextSize, _abort, stType) {
        current?.abort(new ApiError('another generation began', { kind: 'aborted' }));
        placement.begin();
        chatSync.expectReply(null);
        const type = recallType(stType);
        const { enabled, quiet, time_budget: timeBudget } = settings();
        if (!enabled || (type === 'quiet' && !quiet)) return;
        placement.clearText();
        const own = (current = new AbortController());
        const { signal } = own;
        const deadline = Date.now() + timeBudget;
        const timer = setTimeout(
            () => own.abort(new ApiError('the time budget is used up', { kind: 'timeout' })),
            timeBudget,
        );
        if (type !== 'quiet') prompts.begin(chatSync.state.chat);
        try {
            const aborted = new Promise((_, reject) =>
                signal.addEventListener('abort', () => reject(signal.reason), { once: true }),
            );
            await Promise.race([recall({ type, contextSize, signal, deadline }), aborted]);
            if (type !== 'quiet') prompts.begin(chatSync.state.chat);
            report(null);
        } catch (error) {
            noteFailure(type, signal.aborted ? signal.reason : error);
        } finally {
            clearTimeout(timer);
            own.abort();
            if (current === own) current = null;
        }
    }

    /** @param {string} type @param {unknown} cause */
    function noteFailure(type, cause) {
        const isApiError = cause instanceof ApiError;
        if (isApiError && cause.kind !== 'aborted' && cause.code !== 'asleep') report(cause);
        records.addFailure(type, String(cause instanceof Error ? cause.message : cause));
        if (!isApiError) console.warn('[SoulMem] no memories for this reply:', cause);
    }

    return {
        intercept,
        last: records.last,
        byTrace: records.byTrace,
        text: placement.text,
        placedNowhere: placement.placedNowhere,
        /** The user pressed Stop. */
        stop: () => current?.abort(new ApiError('stopped', { kind: 'aborted' })),
        /** SillyTavern has chosen the lore of the prompt being made: memories that repeat it are removed.
         * @param {unknown} entries of worlds */
        loreActivated(entries) {
            const active = Array.isArray(entries) ? entries : [];
            const texts = active.map(entry => host.resolved(String(entry?.content ?? '')));
            prompts.noteLore(chatSync.state.chat, texts);
            placement.removeRepeated(texts);
        },
        /** The prompt was made: notes how far back it reached. */
        promptMade: () => prompts.end(chatSync.state.chat),
        /** Another chat was opened; SillyTavern has dropped what was injected. */
        chatClosed() {
            current?.abort(new ApiError('the chat was closed', { kind: 'aborted' }));
            placement.clearText();
        },
    };
}

/** @typedef {ReturnType<typeof createRecaller>} Recaller */
