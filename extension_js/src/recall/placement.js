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
/** @typedef {import('../base/types.js').Block} Block */
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
    let texts = /** @type {Record<string, string>} */ ({}); // by section: values of the macro {{soulmem}}

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
        texts = textsBySection(answer.blocks, fitted.texts);
        const trimmed = new Set(fitted.trimmed);
        const sent = answer.memories.map(memory => memory.id).filter(id => !trimmed.has(id));
        if (reply) {
            // What was withheld is worth a look, too
            const isTraced = sent.length || trimmed.size || answer.withheld;
            const trace = isTraced ? answer.trace : undefined;
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
            withheld: answer.withheld ?? 0,
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
     * @param {readonly string[]} lore its texts */
    function removeRepeated(lore) {
        if (!placed || placed.cut) return;
        const { record, depth, reply } = placed;
        const repeated = repeatedIn(record, lore);
        if (repeated.size === 0) return;
        const trimmed = new Set([...record.trimmed, ...repeated]);
        const blocks = record.blocks.map(block => {
            const rest = without(block, trimmed);
            return rest === null ? null : neutralise(rest);
        });
        host.clear(PROMPT_KEYS);
        host.inject(injections(record.blocks, blocks, { position: settings().position, depth }));
        texts = textsBySection(record.blocks, blocks);
        const sent = record.sent.filter(id => !repeated.has(id));
        const tokens = Math.max(0, record.tokens - tokensOf(record, repeated));
        if (reply) {
            chatSync.expectReply({ ...reply, trace: record.trace, n: sent.length || undefined });
        }
        const shorter = { ...record, sent, trimmed: [...trimmed], tokens };
        records.add(shorter);
        placed = { record: shorter, depth, reply, cut: true };
    }

    return {
        place,
        /** Counts the tokens of memories. @param {RecallAnswer} answer @param {number} budget tokens */
        measure: ({ blocks, memories }, budget) =>
            retrim(blocks, memories, budget, host.countTokens),
        removeRepeated,
        /** A prompt is being made: removes what was injected into the last one. */
        begin() {
            host.clear(PROMPT_KEYS);
            placed = null;
        },
        /** What was injected, by section. */
        texts: () => texts,
        /** @returns {string} what was injected, as the macro {{soulmem}} shows it */
        text: () => Object.values(texts).join('\n'),
        clearText() {
            texts = {};
        },
        /** The user places memories by macros, and the prompt that was made lacks these sections.
         * @param {readonly string[]} sections */
        notPlaced(sections) {
            if (!placed) return;
            const { record, reply } = placed;
            const blocks = record.blocks.filter(block => sections.includes(block.section));
            const lost = blocks.flatMap(block => block.items);
            const lostIds = new Set(lost.map(item => item.memory));
            const sent = record.sent.filter(id => !lostIds.has(id));
            const tokens = sent.length ? record.tokens - tokensOf(record, lostIds) : 0;
            if (reply) {
                const n = sent.length || undefined;
                chatSync.expectReply({ ...reply, trace: record.trace, n });
            }
            const nowhere = sent.length === 0;
            records.add({ ...record, sent, ...(nowhere && { nowhere }), tokens });
        },
    };
}

/** @param {RecallRecord} record @param {Iterable<string>} ids of memories @returns {number} tokens of their items */
const tokensOf = (record, ids) =>
    [...ids].reduce((sum, id) => sum + (record.item_tokens[id] ?? 0), 0);

/** @param {readonly Block[]} blocks @param {readonly (string | null)[]} texts of the blocks
 * @returns {Record<string, string>} by section, in the order of the blocks */
function textsBySection(blocks, texts) {
    const bySection = /** @type {Record<string, string>} */ ({});
    for (const [index, { section }] of blocks.entries()) {
        const parts = [bySection[section], texts[index]].filter(Boolean);
        if (parts.length) bySection[section] = parts.join('\n');
    }
    return bySection;
}
