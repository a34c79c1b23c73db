// The slash commands that ask memory and change nothing: recall, deep, search, why, digest.

import { createMemoryApi } from '../link/memory_api.js';
import { watchedJob } from '../link/watched_job.js';
import { recordOfTrace } from '../pages/recalled_view.js';
import { deepSearch } from '../recall/deep_search.js';
import { neutralise } from '../recall/inject.js';
import { lastMessage, lastWords, reasonLanguage } from '../recall/recall_request.js';
import { stampOf } from '../tavern/slots.js';
import { memoriesAs, numberOf, tagsOf } from './command_parts.js';
import { WordedError, failedJob } from '../widgets/error_text.js';

/** @typedef {import('../app.js').App} App */
/** @typedef {import('../base/strings.js').Say} Say */
/** @typedef {import('../base/strings.js').Key} Key */
/** @typedef {import('../base/types.js').RecallRecord} RecallRecord */
/** @typedef {import('../tavern/host_scripts.js').Command} Command */
/** @typedef {import('./command_parts.js').CommandParts} CommandParts */

const TIMEOUT = 15_000; // ms
const MOST = 50; // memories of one recall
const LISTED = 10; // results of a search
const PERIODS = ['day', 'week', 'month', 'year', 'chat'];
const KINDS = ['episode', 'abstract_episode', 'concept', 'action', 'summary', 'digest', 'note'];

/** @param {App} app @param {Say} say @param {CommandParts} parts @returns {Command[]} */
export function recallCommands(app, say, parts) {
    const { host } = app;
    const memoryApi = createMemoryApi(app.link.ask);
    const limit = { help: say('command_limit'), type: /** @type {const} */ ('number') };

    /** @param {string} query @param {Record<string, string>} named */
    const recall = (query, named) =>
        parts.forOpenChat(async ({ soul, chat }) => {
            const { budget, max_items } = app.settings();
            const question = {
                soul,
                chat,
                query: query.trim() || lastWords(host.chat()),
                type: 'quiet',
                budget_tokens: numberOf(named.budget, 1, 1_000_000, budget),
                max_items: numberOf(named.limit, 1, MOST, max_items),
                context_from: null,
                tags: tagsOf(named.tags),
                language: reasonLanguage(host.locale()),
            };
            const answer = await app.link.ask('POST', '/recall', question, { timeout: TIMEOUT });
            return memoriesAs(answer.memories, named.as);
        });

    /** @param {string} query @param {() => boolean} isUnwanted @param {Record<string, string>} named */
    const deep = (query, isUnwanted, named) =>
        parts.forOpenChat(async asked => {
            host.toast('info', say('deep_going'));
            const question = {
                ...asked,
                query: query.trim() || lastMessage(host.chat()),
                language: reasonLanguage(host.locale()),
            };
            const job = await deepSearch(memoryApi, question, { isUnwanted });
            if (job.state === 'failed') throw failedJob(job, say);
            return job.state === 'done' ? memoriesAs(job.result.answer.memories, named.as) : '';
        });

    /** @param {string} query @param {Record<string, string>} named */
    const search = (query, named) =>
        parts.forOpenChat(async ({ soul }) => {
            const filter = { q: query.trim(), kind: named.kind, tag: named.tag };
            const { memories } = await memoryApi.list(soul, filter, null);
            const most = numberOf(named.limit, 1, MOST, LISTED);
            return memoriesAs(memories.slice(0, most), named.as);
        });

    /** The recall behind a message, or the last one. @param {string} typed number of the message
     * @returns {Promise<RecallRecord | null>} */
    async function recordOf(typed) {
        if (!typed.trim()) return app.recaller.last();
        const message = host.chat()[Number(typed)];
        if (!message) throw new WordedError(say('no_message', { n: typed }));
        const { trace, n = 0 } = stampOf(message);
        if (!trace) return null;
        const record = app.recaller.byTrace(trace);
        if (record) return record;
        return recordOfTrace(await app.link.ask('GET', `/traces/${trace}`), n);
    }

    /** @param {string} typed @param {Record<string, string>} named */
    const why = (typed, named) =>
        parts.forOpenChat(async () => {
            const record = await recordOf(typed);
            if (!record?.memories.length) return named.as === 'json' ? '[]' : say('recalled_none');
            const sent = record.memories.filter(memory => record.sent.includes(memory.id));
            if (named.as === 'json') return memoriesAs(sent, 'json');
            return sent.map(({ text, why: reason }) => neutralise(`${text}\n  ${reason}`)).join('\n');
        });

    /** @param {Record<string, string>} named @param {() => boolean} isUnwanted */
    const digest = (named, isUnwanted) =>
        parts.forOpenChat(async ({ soul }) => {
            const period = named.period ?? 'day';
            const id = await memoryApi.startJob(soul, 'digest', { period });
            const job = await watchedJob(memoryApi, id, { isUnwanted });
            if (job.state === 'failed') throw failedJob(job, say);
            const { memories } = await memoryApi.list(soul, { kind: 'digest', period }, null);
            const most = numberOf(named.limit, 1, MOST, 1);
            return memoriesAs(memories.slice(0, most), named.as);
        });

    return [
        {
            name: 'soulmem-recall',
            help: say('command_help'),
            returns: say('returns_memories'),
            examples: ['/soulmem-recall the brass key | /echo', '/soulmem-recall limit=3 as=json'],
            argument: { help: say('command_argument') },
            named: {
                tags: { help: say('command_tags') },
                limit,
                budget: { help: say('command_budget'), type: 'number' },
                as: parts.as(),
            },
            run: (query, _isStopped, named) => recall(query, named),
        },
        {
            name: 'soulmem-deep',
            help: say('deep_command_help'),
            returns: say('returns_memories'),
            examples: ['/soulmem-deep Why does she avoid the mill? | /echo'],
            argument: { help: say('deep_command_argument') },
            named: { as: parts.as() },
            run: deep,
        },
        {
            name: 'soulmem-search',
            help: say('search_command_help'),
            returns: say('returns_memories'),
            examples: ['/soulmem-search limit=5 the mill | /echo', '/soulmem-search kind=note Alice'],
            argument: { help: say('search_command_argument') },
            named: {
                kind: {
                    help: say('search_command_kind'),
                    choices: KINDS.map(value => ({
                        value,
                        help: say(/** @type {Key} */ (`kind_${value}`)),
                    })),
                },
                tag: { help: say('search_command_tag') },
                limit: { ...limit, fallback: String(LISTED) },
                as: parts.as(),
            },
            run: (query, _isStopped, named) => search(query, named),
        },
        {
            name: 'soulmem-why',
            help: say('why_command_help'),
            returns: say('returns_reasons'),
            examples: ['/soulmem-why | /echo', '/soulmem-why 12'],
            argument: { ...parts.message(), help: say('why_command_argument') },
            named: { as: parts.as() },
            run: (typed, _isStopped, named) => why(typed, named),
        },
        {
            name: 'soulmem-digest',
            help: say('digest_command_help'),
            returns: say('returns_memories'),
            examples: ['/soulmem-digest period=week | /echo'],
            named: {
                period: {
                    help: say('digest_command_period'),
                    fallback: 'day',
                    choices: PERIODS.map(value => ({ value })),
                },
                limit: { ...limit, fallback: '1' },
                as: parts.as(),
            },
            run: (_text, isStopped, named) => digest(named, isStopped),
        },
    ];
}
