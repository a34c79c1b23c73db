// What does the character recall before this reply? Sync, recall, inject, within a hard time budget; a failure costs nothing but the memory.

import { ApiError } from '../link/api.js';
import { budgetFor, injections, neutralise, PROMPT_KEYS, retrim, without } from './inject.js';
import { newId } from '../base/ids.js';
import { slotOf } from '../tavern/slots.js';
import { bounded, repeating } from './repeated_texts.js';
import { contextFromCount, contextFromSize, safeDepth } from '../tavern/context_window.js';

/** @typedef {import('../tavern/host.js').Host} Host */
/** @typedef {import('../chat/chat_sync.js').Keeper} Keeper */
/** @typedef {import('../chat/chat_sync.js').Open} Open */
/** @typedef {import('../chat/people.js').Ask} Ask */
/** @typedef {import('../base/settings.js').Settings} Settings */
/** @typedef {import('../base/types.js').RecallRecord} RecallRecord */
/** @typedef {import('../base/types.js').RecallAnswer} RecallAnswer */
/** @typedef {import('../base/types.js').StMessage} StMessage */

const TYPES = new Set(['normal', 'swipe', 'regenerate', 'continue', 'impersonate', 'quiet']);
const TRIM_TIME = 150; // ms kept back for counting tokens
const KEPT_RECORDS = 200;
const QUERY_MESSAGES = 3;
const NEWEST_SHARE = 0.5; // of the context that newest messages and memories surely get, whatever card and lore take

/** @type {RecallRecord} */
const NOTHING = {
    trace: '',
    type: 'normal',
    slot: null,
    swipe: null,
    soul: '',
    speaker: '',
    chat: '',
    memories: [],
    blocks: [],
    sent: [],
    trimmed: [],
    item_tokens: {},
    tokens: 0,
    budget: 0,
    timed_out: false,
    took_ms: {},
    error: null,
};

/** The last words of a chat, for when the sidecar does not have them. @param {readonly StMessage[]} chat */
export const lastWords = chat =>
    chat
        .filter(message => !message.is_system)
        .slice(-QUERY_MESSAGES)
        .map(message => message.mes ?? '')
        .join('\n')
        .slice(-4000);

/** @param {unknown} type SillyTavern's word for why it generates @returns {string} the contract's */
export const recallType = type =>
    TYPES.has(String(type))
        ? String(type)
        : String(type).startsWith('append')
          ? 'continue'
          : 'normal';

/** @param {Host} host @param {Keeper} keeper @param {Ask} ask @param {() => Settings} settings
 * @param {object} link the connection
 * @param {(signal: AbortSignal) => Promise<boolean>} link.ready is there a way to the sidecar? may look for one
 * @param {(error: unknown) => void} link.report how the attempt ended; null when well
 * @param {() => number} [link.minor] version of the contract that the sidecar keeps
 * @param {(record: RecallRecord) => void} [done] */
export function createRecaller(host, keeper, ask, settings, link, done = () => {}) {
    const records = /** @type {Map<string, RecallRecord>} */ (new Map()); // by trace
    let last = /** @type {RecallRecord | null} */ (null);
    let current = /** @type {AbortController | null} */ (null);
    let text = ''; // what {{soulmem}} stands for
    const prompts = /** @type {Map<string, number>} */ (new Map()); // chat to its length when its last prompt was made
    const borders = /** @type {Map<string, string>} */ (new Map()); // chat to the oldest message of its last prompt

    const lore = /** @type {Map<string, string[]>} */ (new Map()); // chat to the lore of its last prompt
    /** What was injected for the reply being made, to be cut when lore awakes that says the same. */
    let injected =
        /** @type {{record: RecallRecord, depth: number, reply: import('../chat/chat_sync.js').Pending | null, cut?: boolean} | null} */ (
            null
        );

    /** What the prompt holds beside the chat that the sidecar knows. The greeting only where it is in the context: once it is not, it is a memory.
     * @param {Open} open @param {string | null} border */
    function standing(open, border) {
        const first = host.chat()[0];
        const greets = first && !first.is_user && (border === null || border === slotOf(first));
        return bounded([
            ...host.cardTexts(),
            ...(greets ? [first.mes] : []),
            ...(lore.get(open.record.chat) ?? []),
        ]);
    }

    /** @param {RecallRecord} record */
    function keep(record) {
        last = record;
        if (record.trace) records.set(record.trace, record);
        for (const trace of [...records.keys()].slice(0, Math.max(0, records.size - KEPT_RECORDS)))
            records.delete(trace);
        done(record);
    }

    /** The oldest message in the context that the sidecar holds; while a long chat is being read that may be a later one.
     * @param {Open} open @param {number} contextSize @returns {string | null} */
    function contextFrom(open, contextSize) {
        const border = borderOf(open, contextSize);
        if (border === null) return null;
        const chat = host.chat();
        const held = keeper.held();
        if (held.size === 0) return border; // not synced from this page; the sidecar ignores a message it does not hold
        return (
            chat
                .slice(chat.findIndex(message => slotOf(message) === border))
                .map(slotOf)
                .find(slot => slot !== null && held.has(slot)) ?? null
        );
    }

    /** @param {Open} open @param {number} contextSize @returns {string | null} */
    function borderOf(open, contextSize) {
        const chat = host.chat();
        const border = borders.get(open.record.chat);
        if (border && chat.some(message => slotOf(message) === border)) return border;
        const noted = host.metadata().lastInContextMessageId;
        if (typeof noted === 'number' && noted < chat.length)
            return contextFromCount(chat, noted, chat.length, host.narratorsCount());
        return contextFromSize(chat, contextSize);
    }

    /** Which message the reply will be. @param {Open} open @param {string} type */
    function expectReply(open, type) {
        const chat = host.chat();
        if (type === 'quiet' || type === 'impersonate') return null;
        const last = chat.at(-1);
        const slot = slotOf(last);
        if ((type === 'swipe' || type === 'continue') && last && slot) {
            return {
                chat: open.record.chat,
                index: chat.length - 1,
                slot,
                swipe: last.swipe_id ?? 0,
                fresh: false,
                present: undefined,
            };
        }
        const present = keeper.presence(open.record, open.people, {
            original_avatar: host.speaker()?.avatar,
        });
        return {
            chat: open.record.chat,
            index: chat.length,
            slot: newId('m'),
            swipe: 0,
            fresh: true,
            present,
        };
    }

    /** @param {string} type @param {number} contextSize @param {AbortSignal} signal @param {number} deadline */
    async function recall(type, contextSize, signal, deadline) {
        if (!(await link.ready(signal)))
            throw new ApiError('SoulMem is asleep', { kind: 'network', code: 'asleep' });
        let complete = false;
        let trouble = /** @type {unknown} */ (null);
        let open = /** @type {Open | null} */ (null);
        const learns = keeper.writes();
        if (type !== 'quiet' && learns) {
            try {
                const synced = await keeper.syncForReply({
                    leaveOut: type === 'swipe' ? 1 : 0,
                    signal,
                });
                open = synced?.open ?? null;
                complete = Boolean(synced && !synced.result.held);
            } catch (error) {
                if (!(error instanceof ApiError) || error.kind !== 'http') throw error;
                trouble = error; // refused, but alive: recall with what it has
            }
        }
        open ??= await keeper.identify();
        signal.throwIfAborted();
        const speaker = host.speaker();
        const person = open?.people.find(one => one.avatar === speaker?.avatar) ?? open?.people[0];
        if (!open || !person || person.config.enabled === false) return;
        const reply = expectReply(open, type);
        keeper.expect(reply);
        const budget = budgetFor(settings().budget, contextSize);
        const border = complete || !learns ? contextFrom(open, contextSize) : null;
        const question = {
            soul: person.soul,
            chat: open.record.chat,
            ...(reply && learns && { slot: reply.slot, swipe: reply.swipe }),
            query: complete ? null : lastWords(host.chat()),
            type,
            budget_tokens: budget,
            max_items: settings().max_items,
            context_from: border,
            ...((link.minor?.() ?? 0) >= 1 && { context_texts: standing(open, border) }),
            time_budget_ms: Math.max(100, Math.round(deadline - Date.now() - TRIM_TIME)),
        };
        const recalled = () => ask('POST', '/recall', question, { signal });
        const answer = /** @type {RecallAnswer} */ (
            await (learns
                ? recalled()
                : recalled().catch(async error => {
                      if (error.code !== 'not_found') throw error;
                      await keeper.introduce(open);
                      return recalled();
                  }))
        );
        signal.throwIfAborted();
        const fitted = await retrim(answer.blocks, answer.memories, budget, host.countTokens);
        signal.throwIfAborted();
        if (host.chatName() !== open.name) return;
        const shown = type === 'swipe' ? host.chat().slice(0, -1) : host.chat();
        const depth = safeDepth(shown, settings().depth, contextSize * NEWEST_SHARE - budget);
        host.inject(
            injections(answer.blocks, fitted.texts, { position: settings().position, depth }),
        );
        text = fitted.texts.filter(Boolean).join('\n');
        const trimmed = new Set(fitted.trimmed);
        const sent = answer.memories.map(memory => memory.id).filter(id => !trimmed.has(id));
        if (reply)
            keeper.expect({
                ...reply,
                trace: sent.length || trimmed.size ? answer.trace : undefined,
                n: sent.length || undefined,
            });
        keep({
            trace: answer.trace,
            type,
            slot: reply?.slot ?? null,
            swipe: reply?.swipe ?? null,
            soul: person.soul,
            speaker: person.name,
            chat: open.record.chat,
            memories: answer.memories,
            blocks: answer.blocks,
            sent,
            trimmed: fitted.trimmed,
            item_tokens: fitted.itemTokens,
            tokens: fitted.tokens,
            budget,
            timed_out: answer.timed_out,
            took_ms: answer.took_ms,
            error: null,
        });
        if (last) injected = { record: last, depth, reply };
        if (trouble) throw trouble;
    }

    /** SillyTavern calls and awaits this before each generation. Never throws, never aborts the generation.
     * @param {unknown} _chat copies of the visible messages @param {number} contextSize tokens
     * @param {unknown} _abort @param {unknown} stType */
    async function intercept(_chat, contextSize, _abort, stType) {
        current?.abort(new ApiError('another generation began', { kind: 'aborted' }));
        host.clear(PROMPT_KEYS);
        injected = null;
        keeper.expect(null);
        const type = recallType(stType);
        if (!settings().enabled || (type === 'quiet' && !settings().quiet)) return;
        text = '';
        const own = (current = new AbortController());
        const budget = settings().time_budget;
        const deadline = Date.now() + budget;
        const timer = setTimeout(
            () => own.abort(new ApiError('the time budget is used up', { kind: 'timeout' })),
            budget,
        );
        if (type !== 'quiet' && keeper.state.chat)
            prompts.set(keeper.state.chat, host.chat().length);
        try {
            const aborted = new Promise((_, reject) =>
                own.signal.addEventListener('abort', () => reject(own.signal.reason), {
                    once: true,
                }),
            );
            await Promise.race([recall(type, contextSize, own.signal, deadline), aborted]);
            if (type !== 'quiet' && keeper.state.chat)
                prompts.set(keeper.state.chat, host.chat().length);
            link.report(null);
        } catch (error) {
            const cause = own.signal.aborted ? own.signal.reason : error;
            if (cause instanceof ApiError && cause.kind !== 'aborted' && cause.code !== 'asleep')
                link.report(cause);
            last = {
                ...NOTHING,
                type,
                error: String(cause instanceof Error ? cause.message : cause),
            };
            if (!(cause instanceof ApiError))
                console.warn('[SoulMem] no memories for this reply:', cause);
        } finally {
            clearTimeout(timer);
            own.abort();
            if (current === own) current = null;
        }
    }

    return {
        intercept,
        /** The user pressed Stop. */
        stop: () => current?.abort(new ApiError('stopped', { kind: 'aborted' })),
        last: () => last,
        text: () => text,
        /** @param {string} trace */
        byTrace: trace => records.get(trace) ?? null,
        /** SillyTavern has chosen the lore of the prompt that is being made: what it says is not told again.
         * @param {unknown} entries of worlds */
        loreAwoke(entries) {
            const texts = (Array.isArray(entries) ? entries : []).map(entry =>
                host.resolved(String(entry?.content ?? '')),
            );
            if (keeper.state.chat) lore.set(keeper.state.chat, texts);
            if (!injected || injected.cut) return;
            const { record, depth, reply } = injected;
            const repeats = repeating(texts);
            const permanent = new Set(
                record.memories.filter(memory => memory.permanent).map(memory => memory.id),
            );
            const items = record.blocks.flatMap(block => block.items);
            const gone = new Set(
                items
                    .filter(
                        item =>
                            record.sent.includes(item.memory) &&
                            repeats(item.text, permanent.has(item.memory)),
                    )
                    .map(item => item.memory),
            );
            if (gone.size === 0) return;
            const out = new Set([...record.trimmed, ...gone]);
            const left = record.blocks
                .map(block => without(block, out))
                .map(kept => (kept === null ? null : neutralise(kept)));
            host.clear(PROMPT_KEYS);
            host.inject(injections(record.blocks, left, { position: settings().position, depth }));
            text = left.filter(Boolean).join('\n');
            const sent = record.sent.filter(id => !gone.has(id));
            const tokens = [...gone].reduce((sum, id) => sum + (record.item_tokens[id] ?? 0), 0);
            if (reply)
                keeper.expect({ ...reply, trace: record.trace, n: sent.length || undefined });
            keep({
                ...record,
                sent,
                trimmed: [...out],
                tokens: Math.max(0, record.tokens - tokens),
            });
            injected = last && { record: last, depth, reply, cut: true };
        },
        /** The user places the macro, and the prompt that was made has none. */
        placedNowhere() {
            if (!injected) return;
            const { record, reply } = injected;
            if (reply) keeper.expect({ ...reply, trace: record.trace, n: undefined });
            keep({ ...record, sent: [], nowhere: true, tokens: 0 });
        },
        /** The prompt was made: note how far back it reached. */
        promptMade() {
            const chat = keeper.state.chat;
            const noted = host.metadata().lastInContextMessageId;
            const length = chat && prompts.get(chat);
            if (!chat || !length || typeof noted !== 'number') return;
            const border = contextFromCount(host.chat(), noted, length, host.narratorsCount());
            if (border) borders.set(chat, border);
        },
        /** The chat changed; nothing injected survives that. */
        forget() {
            current?.abort(new ApiError('the chat was closed', { kind: 'aborted' }));
            text = '';
        },
    };
}

/** @typedef {ReturnType<typeof createRecaller>} Recaller */
