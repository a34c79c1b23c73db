// Memories for the coming reply: sync, recall and inject within a time budget. A failure costs only the memories.

import { ApiError } from '../link/api.js';
import { createEarlyRecall } from './early_recall.js';
import { createExchange } from './exchange.js';
import { createLastPrompts } from './last_prompts.js';
import { createPlacement } from './placement.js';
import { createRecallRecords } from './recall_records.js';
import { createRecallRequest } from './recall_request.js';

/** @typedef {import('../tavern/host.js').Host} Host */
/** @typedef {import('../chat/chat_sync.js').ChatSync} ChatSync */
/** @typedef {import('../base/types.js').Ask} Ask */
/** @typedef {import('../base/settings.js').Settings} Settings */
/** @typedef {import('../base/types.js').RecallRecord} RecallRecord */

/** @typedef {import('./recall_request.js').Generation} Generation */
/** @typedef {import('./recall_request.js').Asked} Asked */

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
 * @param {(record: RecallRecord) => void} [parts.recalled] called with each recall */
export function createRecaller(parts) {
    const { host, chatSync, ask, settings, ready, report, recalled = () => {} } = parts;
    const records = createRecallRecords(recalled);
    const prompts = createLastPrompts(host);
    const placement = createPlacement({ host, chatSync, records, settings });
    const request = createRecallRequest({ host, chatSync, ask, settings, prompts });
    const exchange = createExchange({ chatSync, ask, request });
    const early = createEarlyRecall({ host, begin: recallAhead });
    let current = /** @type {AbortController | null} */ (null);
    let lastContextSize = 0; // tokens
    let isStopped = false; // the generation that began last was stopped before it asked for memories

    /** @param {Omit<Generation, 'storing'>} options */
    async function recall(options) {
        const { signal } = options;
        if (!(await ready())) {
            throw new ApiError('SoulMem is asleep', { kind: 'network', code: 'asleep' });
        }
        const generation = { ...options, storing: chatSync.mayStore() };
        const ahead = await early.take(signal);
        const expect = (/** @type {Asked} */ { reply }) => chatSync.expectReply(reply);
        const exchanged = await exchange(generation, expect, ahead);
        signal.throwIfAborted();
        if (!exchanged) return;
        const { open, person, reply, question, answer, failure } = exchanged;
        const budget = question.budget_tokens;
        const isPlaced = await placement.place(generation, open, person, reply, answer, budget);
        if (isPlaced && failure) throw failure;
    }

    /** Recalls before SillyTavern asks for it, with the context size of the last time.
     * @param {AbortSignal} signal */
    async function recallAhead(signal) {
        const deadline = Date.now() + settings().time_budget;
        const storing = chatSync.mayStore();
        if (!storing || !(await ready())) return null;
        const generation = { type: 'normal', contextSize: lastContextSize, signal, deadline };
        const exchanged = await exchange({ ...generation, storing });
        // SillyTavern remembers how many tokens a text has
        if (exchanged) await placement.measure(exchanged.answer, exchanged.question.budget_tokens);
        return exchanged;
    }

    /** SillyTavern calls and awaits this before each generation. Never throws, never aborts the generation.
     * @param {unknown} _chat copies of the visible messages @param {number} contextSize tokens
     * @param {unknown} _abort @param {unknown} stType */
    async function intercept(_chat, contextSize, _abort, stType) {
        current?.abort(new ApiError('another generation began', { kind: 'aborted' }));
        placement.begin();
        chatSync.expectReply(null);
        const type = recallType(stType);
        lastContextSize = contextSize;
        if (type !== 'normal') early.drop();
        const { enabled, quiet, time_budget: timeBudget } = settings();
        if (isStopped || !enabled || (type === 'quiet' && !quiet)) return;
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
        const { kind, code, message } = /** @type {Partial<ApiError>} */ (cause);
        records.addFailure(type, { kind, code, message: message ?? String(cause) });
        if (!isApiError) console.warn('[SoulMem] no memories for this reply:', cause);
    }

    return {
        intercept,
        last: records.last,
        byTrace: records.byTrace,
        text: placement.text,
        texts: placement.texts,
        notPlaced: placement.notPlaced,
        /** What a reply may get in this chat. @param {import('../tavern/identity.js').CardConfig} config of the card */
        limits: config => request.limitsOf(config, host.contextSize() || lastContextSize),
        /** Takes what was injected out of the prompt. */
        clear() {
            placement.begin();
            placement.clearText();
        },
        /** SillyTavern begins to make a reply; the message it answers may not be in the chat yet.
         * @param {unknown} stType SillyTavern's word for why it generates */
        generationStarted(stType) {
            isStopped = false;
            const isAnswer = settings().enabled && recallType(stType) === 'normal';
            if (isAnswer && lastContextSize > 0 && !host.group()) early.watch();
        },
        /** The user pressed Stop. */
        stop() {
            early.drop();
            isStopped = current === null;
            current?.abort(new ApiError('stopped', { kind: 'aborted' }));
        },
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
            early.drop();
            current?.abort(new ApiError('the chat was closed', { kind: 'aborted' }));
            placement.clearText();
        },
    };
}

/** @typedef {ReturnType<typeof createRecaller>} Recaller */
