// The question of a recall: for which character and reply, and what the model still sees.

import { newId } from '../base/ids.js';
import { slotOf } from '../tavern/slots.js';
import { budgetFor } from './inject.js';

/** @typedef {import('../tavern/host.js').Host} Host */
/** @typedef {import('../chat/chat_sync.js').ChatSync} ChatSync */
/** @typedef {import('../chat/identify.js').OpenChat} OpenChat */
/** @typedef {import('../chat/people.js').Person} Person */
/** @typedef {import('../chat/reply_stamp.js').PendingReply} PendingReply */
/** @typedef {import('./last_prompts.js').LastPrompts} LastPrompts */
/** @typedef {import('../base/types.js').Ask} Ask */
/** @typedef {import('../base/settings.js').Settings} Settings */
/** @typedef {import('../base/types.js').RecallAnswer} RecallAnswer */
/** @typedef {import('../base/types.js').StMessage} StMessage */

/** One recall while it runs. `deadline`: ms since the epoch; `storing`: the open chat may be stored.
 * @typedef {{type: string, contextSize: number, signal: AbortSignal, deadline: number, storing: boolean}} Generation */

/** A question and whose reply it is for.
 * @typedef {{open: OpenChat, person: Person, reply: PendingReply | null, question: Question}} Asked */
/** The body of `POST /recall`.
 * @typedef {{soul: string, chat: string, slot?: string, swipe?: number, query: string | null, type: string,
 *   budget_tokens: number, max_items: number, context_from: string | null, context_texts: string[],
 *   language: 'en' | 'zh', time_budget_ms: number}} Question */

const TRIM_TIME = 150; // ms kept back for counting tokens
const QUERY_MESSAGES = 3;
const QUERY_CHARACTERS = 4000;
const QUESTION_CHARACTERS = 2000; // of a deep search

/** The last messages as a query. @param {readonly StMessage[]} chat */
export const lastWords = chat =>
    chat
        .filter(message => !message.is_system)
        .slice(-QUERY_MESSAGES)
        .map(message => message.mes ?? '')
        .join('\n')
        .slice(-QUERY_CHARACTERS);

/** The text of the last message: a question, and what is asked of a sidecar that does not have the chat. Among
 * older messages in one text the newest line would be drowned. @param {readonly StMessage[]} chat @returns {string} */
export const lastMessage = chat =>
    chat.filter(message => !message.is_system).at(-1)?.mes?.slice(-QUESTION_CHARACTERS) ?? '';

/** The language of reasons: that of the page, as far as there are reasons in it.
 * @param {string} locale @returns {'en' | 'zh'} */
export const reasonLanguage = locale => (locale.toLowerCase().startsWith('zh') ? 'zh' : 'en');

/** @param {object} parts
 * @param {Host} parts.host @param {ChatSync} parts.chatSync @param {Ask} parts.ask the sidecar
 * @param {() => Settings} parts.settings @param {LastPrompts} parts.prompts */
export function createRecallRequest({ host, chatSync, ask, settings, prompts }) {
    /** The slot and swipe that the reply will have. Null for texts that are not added to the chat.
     * @param {OpenChat} open @param {string} type @returns {PendingReply | null} */
    function nextReply(open, type) {
        if (type === 'quiet' || type === 'impersonate') return null;
        const messages = host.chat();
        const chat = open.record.chat;
        const last = messages.at(-1);
        const slot = slotOf(last);
        if ((type === 'swipe' || type === 'continue') && last && slot) {
            const swipe = last.swipe_id ?? 0;
            return {
                chat,
                index: messages.length - 1,
                slot,
                swipe,
                fresh: false,
                present: undefined,
            };
        }
        const speaker = { original_avatar: host.speaker()?.avatar };
        const present = chatSync.presence(open.record, open.people, speaker);
        return { chat, index: messages.length, slot: newId('m'), swipe: 0, fresh: true, present };
    }

    /** What a reply may get: the card's limits, else those for all characters, within the context.
     * @param {Person['config']} config @param {number} contextSize tokens */
    const limitsOf = (config, contextSize) => ({
        budget_tokens: budgetFor(config.budget_tokens ?? settings().budget, contextSize),
        max_items: config.max_items ?? settings().max_items,
    });

    /** @param {OpenChat} open @returns {Person | undefined} the character whose reply is generated */
    function speakerOf(open) {
        const avatar = host.speaker()?.avatar;
        return open.people.find(person => person.avatar === avatar) ?? open.people[0];
    }

    /** The chat up to what the reply answers: one that is continued answers what stood before it.
     * @param {string} type */
    function answered(type) {
        const chat = host.chat();
        return type === 'continue' && !chat.at(-1)?.is_user ? chat.slice(0, -1) : chat;
    }

    /** @param {Generation} generation @param {OpenChat} open @param {Person} person
     * @param {PendingReply | null} reply @param {boolean} complete the sidecar has the chat as it is now
     * @param {readonly string[]} [coming] slots that it gets with this question @returns {Question} */
    function questionOf(generation, open, person, reply, complete, coming = []) {
        const { type, contextSize, deadline, storing } = generation;
        const chat = open.record.chat;
        const stored = new Set([...chatSync.storedSlots(), ...coming]);
        const border = complete || !storing ? prompts.contextFrom(chat, contextSize, stored) : null;
        return {
            soul: person.soul,
            chat,
            ...(reply && storing && { slot: reply.slot, swipe: reply.swipe }),
            query: complete ? null : lastMessage(answered(type)),
            ...(open.record.intent && { intent: host.resolved(open.record.intent) }),
            type,
            ...limitsOf(person.config, contextSize),
            context_from: border,
            context_texts: prompts.contextTexts(chat, border),
            language: reasonLanguage(host.locale()),
            time_budget_ms: Math.max(100, Math.round(deadline - Date.now() - TRIM_TIME)),
        };
    }

    /** What is asked for the next reply. Null where nobody remembers.
     * @param {Generation} generation @param {OpenChat} open @param {boolean} complete @param {readonly string[]} [coming]
     * @returns {Asked | null} */
    function askedFor(generation, open, complete, coming) {
        const person = speakerOf(open);
        if (!person || person.config.enabled === false) return null;
        const reply = nextReply(open, generation.type);
        const question = questionOf(generation, open, person, reply, complete, coming);
        return { open, person, reply, question };
    }

    /** Asks for memories. A chat that is not stored is registered first when the sidecar does not know it.
     * @param {Generation} generation @param {object} question @param {OpenChat} open
     * @returns {Promise<RecallAnswer>} */
    async function askForMemories({ storing, signal }, question, open) {
        const attempt = () => ask('POST', '/recall', question, { signal });
        if (storing) return attempt();
        return attempt().catch(async error => {
            if (error.code !== 'not_found') throw error;
            await chatSync.registerChat(open);
            return attempt();
        });
    }

    return { askedFor, askForMemories, limitsOf };
}

/** @typedef {ReturnType<typeof createRecallRequest>} RecallQuestions */
