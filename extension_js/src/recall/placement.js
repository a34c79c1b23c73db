// The memories in the prompt being made: puts them in, takes out what activated lore repeats.

import { safeDepth } from '../tavern/context_window.js';
import { injections, neutralise, PROMPT_KEYS, retrim, without } from './inject.js';
import { repeating } from './repeated_texts.js';

/** @typedef {import('../tavern/host.js').Host} Host */
/** @typedef {import('../chat/chat_sync.js').ChatSync} ChatSync */
/** @typedef {import('../chat/identify.js').OpenChat} OpenChat */
/** @typedef {import('../chat/people.js').Person} Person */
/** @typedef {import('../chat/reply_stamp.js').PendingReply} PendingReply */
/** @typedef {import('./recall_records.js').RecallRecords} RecallRecords */
/** @typedef {import('./recall_request.js').Generation} Generation */
/** @typedef {import('../base/settings.js').Settings} Settings */
/** @typedef {import('../base/types.js').RecallAnswer} RecallAnswer */
/** @typedef {import('../base/types.js').RecallRecord} RecallRecord */

/** `cut`: what lore repeats has been removed.
 * @typedef {{record: RecallRecord, depth: number, reply: PendingReply | null, cut?: boolean}} Placed */

const NEWEST_SHARE = 0.5; // of the context: kept for the newest messages and memories

/** @param {object} parts
 * @param {Host} parts.host @param {ChatSync} parts.chatSync @param {RecallRecords} parts.records
 * @param {() => Settings} parts.settings */
export function createPlacement({ host, chatSync, records, settings }) {
    let placed = /** @type {Placed | null} */ (null);
    let text = ''; // value of the macro {{soulmem}}

    /** Puts the memories into the prompt and notes what was sent.
     * @param {Generation} generation @param {OpenChat} open @param {Person} person
     * @param {PendingReply | null} reply @param {RecallAnswer} answer @param {number} budget tokens
     * @returns {Promise<boolean>} false when another chat was opened meanwhile */
    async function place({ type, contextSize, signal }, open, person, reply, answer, budget) {
        const fitted = await retrim(answer.blocks, answer.memories, budget, host.countTokens);
        signal.throwIfAborted();
        if (host.chatName() !== open.name) return false;
        const messages = type === 'swipe' ? host.chat().slice(0, -1) : host.chat();
        const { position, depth: wantedDepth } = settings();
        const depth = safeDepth(messages, wantedDepth, contextSize * NEWEST_SHARE - budget);
        host.inject(injections(answer.blocks, fitted.texts, { position, depth }));
        text = fitted.texts.filter(Boolean).join('\n');
        const trimmed = new Set(fitted.trimmed);
        const sent = answer.memories.map(memory => memory.id).filter(id => !trimmed.has(id));
        if (reply) {
            const trace = sent.length || trimmed.size ? answer.trace : undefined;
            chatSync.expectReply({ ...reply, trace, n: sent.length || undefined });
        }
        const record = {
            ...{
                trace: answer.trace,
                type,
                slot: reply?.slot ?? null,
                swipe: reply?.swipe ?? null,
            },
            ...{ soul: person.soul, speaker: person.name, chat: open.record.chat },
            ...{ memories: answer.memories, blocks: answer.blocks, sent, trimmed: fitted.trimmed },
            ...{ item_tokens: fitted.itemTokens, tokens: fitted.tokens, budget },
            ...{ timed_out: answer.timed_out, took_ms: answer.took_ms, error: null },
        };
        records.add(record);
        placed = { record, depth, reply };
        return true;
    }

    /** Ids of the sent memories whose text is in the lore, as a whole or, unless permanent, by a sentence.
     * @param {RecallRecord} record @param {readonly string[]} texts of the lore @returns {Set<string>} */
    function repeatedIn(record, texts) {
        const repeats = repeating(texts);
        const permanent = new Set(
            record.memories.filter(memory => memory.permanent).map(memory => memory.id),
        );
        const items = record.blocks.flatMap(block => block.items);
        const repeated = items.filter(
            ({ memory, text: words }) =>
                record.sent.includes(memory) && repeats(words, permanent.has(memory)),
        );
        return new Set(repeated.map(item => item.memory));
    }

    /** Removes memories that repeat the lore of the prompt being made.
     * @param {readonly string[]} texts of the lore */
    function removeRepeated(texts) {
        if (!placed || placed.cut) return;
        const { record, depth, reply } = placed;
        const repeated = repeatedIn(record, texts);
        if (repeated.size === 0) return;
        const trimmed = new Set([...record.trimmed, ...repeated]);
        const blocks = record.blocks.map(block => {
            const rest = without(block, trimmed);
            return rest === null ? null : neutralise(rest);
        });
        host.clear(PROMPT_KEYS);
        host.inject(injections(record.blocks, blocks, { position: settings().position, depth }));
        text = blocks.filter(Boolean).join('\n');
        const sent = record.sent.filter(id => !repeated.has(id));
        const saved = [...repeated].reduce((sum, id) => sum + (record.item_tokens[id] ?? 0), 0);
        const tokens = Math.max(0, record.tokens - saved);
        if (reply) {
            chatSync.expectReply({ ...reply, trace: record.trace, n: sent.length || undefined });
        }
        const shorter = { ...record, sent, trimmed: [...trimmed], tokens };
        records.add(shorter);
        placed = { record: shorter, depth, reply, cut: true };
    }

    return {
        place,
        removeRepeated,
        /** A prompt is being made: removes what was injected into the last one. */
        begin() {
            host.clear(PROMPT_KEYS);
            placed = null;
        },
        /** @returns {string} what was injected, as the macro {{soulmem}} shows it */
        text: () => text,
        clearText() {
            text = '';
        },
        /** The user places memories by the macro, and the prompt that was made does not have it. */
        placedNowhere() {
            if (!placed) return;
            const { record, reply } = placed;
            if (reply) chatSync.expectReply({ ...reply, trace: record.trace, n: undefined });
            records.add({ ...record, sent: [], nowhere: true, tokens: 0 });
        },
    };
}
