// The slash commands that change memory, and those about its state: remember, pin, forget, read, status.

import { createMemoryApi } from '../link/memory_api.js';
import { isYes, numberOf, tagsOf } from './command_parts.js';
import { createKeptMessages, IMPORTANCE } from './kept_messages.js';
import { WordedError } from '../widgets/error_text.js';

/** @typedef {import('../app.js').App} App */
/** @typedef {import('../base/strings.js').Say} Say */
/** @typedef {import('../tavern/host_scripts.js').Command} Command */
/** @typedef {import('./command_parts.js').CommandParts} CommandParts */

const TIMELINES = ['all', 'this'];

/** @param {App} app @param {Say} say @param {CommandParts} parts @returns {Command[]} */
export function memoryCommands(app, say, parts) {
    const { host, chatSync } = app;
    const memoryApi = createMemoryApi(app.link.ask);
    const kept = createKeptMessages(app, say);

    /** @param {string | undefined} typed number of a message @returns {number} */
    function indexOf(typed) {
        const index = Number(typed);
        if (!typed?.trim() || !host.chat()[index]) {
            throw new WordedError(say('no_message', { n: typed ?? '' }));
        }
        return index;
    }

    /** A note, or a message kept as one. @param {string} text @param {Record<string, string>} named
     * @param {boolean} permanent @returns {Promise<string>} id of the note */
    const keep = (text, named, permanent) =>
        parts.forOpenChat(async ({ soul, chat, name }) => {
            const words = text.trim();
            const isHere = named.timelines === 'this';
            const about = {
                importance: numberOf(named.importance, 0, 1, IMPORTANCE),
                tags: tagsOf(named.tags),
                timelines: isHere ? 'this' : 'all',
            };
            if (named.message !== undefined) {
                const index = indexOf(named.message);
                const done = await kept.keep(index, { permanent, words, about });
                host.toast('success', done.text);
                return done.memories.join(',');
            }
            if (!words) throw new WordedError(say('remember_what'));
            await app.people.push(await app.people.inChat());
            if (isHere) await chatSync.syncNow();
            const { id } = await memoryApi.create({
                soul,
                kind: 'note',
                text: words,
                permanent,
                ...about,
                ...(isHere && { chat }),
            });
            host.toast('success', say(permanent ? 'message_pinned' : 'message_kept', { name, text: words }));
            return id;
        });

    /** @param {string} text @param {Record<string, string>} named */
    function pin(text, named) {
        if (named.memory === undefined) return keep(text, named, true);
        return parts.forOpenChat(async () => {
            const { id, text: shown } = await memoryApi.keepForEver(named.memory);
            host.toast('success', say('memory_pinned', { text: shown }));
            return id;
        });
    }

    /** @param {string} typed number of a message @param {Record<string, string>} named
     * @returns {Promise<string>} what was forgotten: the number, or the id */
    const forget = (typed, named) =>
        parts.forOpenChat(async () => {
            if (named.memory === undefined) {
                const done = await kept.forget(indexOf(typed));
                host.toast('success', done.text);
                return typed.trim();
            }
            const memory = await memoryApi.read(named.memory);
            const question = say('message_pinned_question');
            if (memory.permanent && !(await host.confirm(question))) return '';
            await memoryApi.moveToBin(memory);
            host.toast('success', say('memory_binned', { text: memory.text }));
            return memory.id;
        });

    const read = () =>
        parts.forOpenChat(async () => {
            if (!chatSync.mayStore()) throw new WordedError(say('read_not_now'));
            const result = await chatSync.readAll();
            const n = chatSync.storedSlots().size;
            if (!result?.complete) throw new WordedError(say('read_not_all', { n }));
            host.toast('success', say('read_done', { n }));
            return String(n);
        });

    /** @param {Record<string, string>} named */
    async function status(named) {
        await app.link.check();
        const { state, step, health } = app.link.state();
        const record = app.recaller.last();
        const about = {
            state,
            step,
            version: health?.version ?? null,
            model: health?.embedder?.model ?? null,
            memory_work: health?.llm?.model ?? null,
            chat: chatSync.state.chat,
            read: chatSync.storedSlots().size,
            messages: host.chat().length,
            recalled: record?.sent.length ?? 0,
            tokens: record?.tokens ?? 0,
            error: (app.link.state().error ?? chatSync.state.error)?.message ?? null,
        };
        if (named.as === 'json') return JSON.stringify(about);
        const read = say('status_read', { n: about.read, all: about.messages });
        const last = record ? say('status_last', { n: about.recalled, tokens: about.tokens }) : '';
        return [say(`state_${state}`), read, last].filter(Boolean).join('\n');
    }

    const message = parts.message();
    const writing = {
        message,
        tags: { help: say('remember_tags') },
        importance: {
            help: say('remember_importance'),
            type: /** @type {const} */ ('number'),
            fallback: String(IMPORTANCE),
        },
        timelines: {
            help: say('remember_timelines'),
            fallback: 'all',
            choices: TIMELINES.map(value => ({
                value,
                help: say(value === 'all' ? 'scope_character' : 'scope_chat'),
            })),
        },
    };

    return [
        {
            name: 'soulmem-remember',
            help: say('remember_help'),
            returns: say('returns_id'),
            examples: [
                '/soulmem-remember Alice owes Mira three coins.',
                '/soulmem-remember message=12',
                '/soulmem-remember permanent=true The inn is closed for good.',
            ],
            argument: { help: say('remember_argument') },
            named: {
                ...writing,
                permanent: { help: say('remember_permanent'), type: 'bool', fallback: 'false' },
            },
            run: (text, _isStopped, named) => keep(text, named, isYes(named.permanent)),
        },
        {
            name: 'soulmem-pin',
            help: say('pin_help'),
            returns: say('returns_id'),
            examples: ['/soulmem-pin Never speak of the fire.', '/soulmem-pin message=12'],
            argument: { help: say('remember_argument') },
            named: { ...writing, memory: parts.memory() },
            run: (text, _isStopped, named) => pin(text, named),
        },
        {
            name: 'soulmem-forget',
            help: say('forget_help'),
            returns: say('returns_forgotten'),
            examples: ['/soulmem-forget 12'],
            argument: message,
            named: { memory: parts.memory() },
            run: (typed, _isStopped, named) => forget(typed, named),
        },
        {
            name: 'soulmem-read',
            help: say('read_help'),
            returns: say('returns_count'),
            examples: ['/soulmem-read | /echo'],
            run: read,
        },
        {
            name: 'soulmem-status',
            help: say('status_help'),
            returns: say('returns_status'),
            examples: ['/soulmem-status | /echo', '/soulmem-status as=json'],
            named: { as: parts.as() },
            run: (_text, _isStopped, named) => status(named),
        },
    ];
}
