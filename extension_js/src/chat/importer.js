// Imports a character's past chats, card and worlds: each file is a job of the sidecar that can be cancelled.

import { createSidecarJob } from '../link/sidecar_job.js';

/** @typedef {import('../base/types.js').Ask} Ask */
/** @typedef {import('../tavern/tavern_files.js').TavernFiles} TavernFiles */
/** @typedef {'card' | 'world_info' | 'st_chat'} Format */
/** A file to import. `from`: the chat it was branched from.
 * @typedef {{format: Format, name: string, from: string | null}} Source */
/** What an import would come to. `disabled`, `instructions`: entries that are switched off, and that hold orders to the
 * model or code; `failed`: names of files that cannot be imported.
 * @typedef {{messages: number, added: number, changed: number, memories: number, names: number, minutes: number,
 *   chats: number, worlds: number, disabled: number, instructions: number, failed: string[]}} Quote */
/** Progress: within the file `done` of `total`. @typedef {{file: number, files: number, name: string, done: number, total: number}} Step */
/** For whom to import. `leaveOut`: the open chat, which is read as it is played.
 * @typedef {{soul: string, avatar: string, persona: string, leaveOut: string | null}} ImportFor */
/** @typedef {import('../link/sidecar_job.js').SidecarJob} SidecarJob */

/** @param {SidecarJob} job */
const isImported = job => job.state === 'done' && !job.result.held;

/** @param {TavernFiles} files @param {Ask} ask the sidecar @param {(ms: number) => Promise<unknown>} [wait] */
export function createImporter(files, ask, wait) {
    const runJob = createSidecarJob(ask, wait);

    /** @param {Source} source @param {ImportFor} target @param {AbortSignal} signal @returns {Promise<string>} */
    function read({ format, name }, { avatar }, signal) {
        if (format === 'card') return files.card(avatar, signal);
        if (format === 'world_info') return files.world(name, signal);
        return files.chat(avatar, name, signal);
    }

    /** @param {Source} source @param {string} text @param {ImportFor} target @param {boolean} dryRun */
    const bodyOf = ({ format, name }, text, { soul, persona }, dryRun) => ({
        soul,
        format,
        name,
        text,
        persona,
        dry_run: dryRun,
    });

    /** @param {ImportFor} target @returns {Promise<Source[]>} card, worlds, past chats */
    async function sourcesOf({ avatar, leaveOut }) {
        const [chats, worlds] = await Promise.all([files.chats(avatar), files.worlds(avatar)]);
        const pastChats = chats.filter(name => name !== leaveOut);
        return [
            { format: 'card', name: avatar, from: null },
            ...worlds.map(name => ({
                format: /** @type {const} */ ('world_info'),
                name,
                from: null,
            })),
            ...pastChats.map(name => ({
                format: /** @type {const} */ ('st_chat'),
                name,
                from: null,
            })),
        ];
    }

    /** Lists the files and what importing them would come to. Changes nothing.
     * @param {ImportFor} target @param {(step: Step) => void} progress @param {AbortSignal} signal
     * @returns {Promise<{sources: Source[], quote: Quote}>} */
    async function preflight(target, progress, signal) {
        const sources = await sourcesOf(target);
        const quote = emptyQuote();
        quote.worlds = sources.filter(source => source.format === 'world_info').length;
        const readable = /** @type {Source[]} */ ([]);
        for (const [index, source] of sources.entries()) {
            progress(stepOf(index, sources));
            const text = await read(source, target, signal);
            const job = await runJob(bodyOf(source, text, target, true), () => undefined, signal);
            if (!isImported(job)) {
                quote.failed.push(source.name);
                continue;
            }
            const isChat = source.format === 'st_chat';
            readable.push(isChat ? { ...source, from: branchedFrom(text) } : source);
            addToQuote(quote, isChat, job.result);
        }
        return { sources: parentsFirst(readable), quote };
    }

    /** Imports the files. @param {readonly Source[]} sources of the preflight @param {ImportFor} target
     * @param {(step: Step) => void} progress @param {AbortSignal} signal
     * @returns {Promise<{messages: number, memories: number, failed: string[]}>} */
    async function run(sources, target, progress, signal) {
        const imported = { messages: 0, memories: 0, failed: /** @type {string[]} */ ([]) };
        for (const [index, source] of sources.entries()) {
            const step = stepOf(index, sources);
            progress(step);
            const text = await read(source, target, signal);
            const body = bodyOf(source, text, target, false);
            const showProgress = (/** @type {SidecarJob} */ seen) =>
                progress({ ...step, ...seen.progress });
            const job = await runJob(body, showProgress, signal);
            if (!isImported(job)) imported.failed.push(source.name);
            else if (source.format === 'st_chat') imported.messages += changesIn(job.result);
            else imported.memories += changesIn(job.result);
        }
        return imported;
    }

    return { preflight, run };
}

/** @returns {Quote} */
const emptyQuote = () => ({
    messages: 0,
    added: 0,
    changed: 0,
    memories: 0,
    names: 0,
    minutes: 0,
    chats: 0,
    worlds: 0,
    disabled: 0,
    instructions: 0,
    failed: [],
});

/** @param {{added: number, changed: number}} result of a job */
const changesIn = result => result.added + result.changed;

/** @param {Quote} quote is changed @param {boolean} isChat @param {any} result of a dry run */
function addToQuote(quote, isChat, result) {
    quote.minutes += result.minutes;
    if (isChat) {
        quote.chats++;
        quote.messages += result.messages;
        quote.added += result.added;
        quote.changed += result.changed;
    } else {
        quote.memories += changesIn(result);
        quote.names += result.names;
        quote.disabled += result.disabled ?? 0;
        quote.instructions += result.instructions ?? 0;
    }
}

/** @param {number} index @param {readonly Source[]} sources @returns {Step} at the beginning of a file */
const stepOf = (index, sources) => ({
    file: index + 1,
    files: sources.length,
    name: sources[index].name,
    done: 0,
    total: 0,
});

/** @param {string} text of a chat file @returns {string | null} name of the chat it was branched from */
export function branchedFrom(text) {
    try {
        const header = JSON.parse(text.slice(0, text.indexOf('\n') + 1 || undefined));
        const parent = header.chat_metadata?.main_chat;
        return typeof parent === 'string' && parent ? parent : null;
    } catch {
        return null;
    }
}

/** Chats before their branches: a branch shares messages with its parent.
 * @param {readonly Source[]} sources @returns {Source[]} */
export function parentsFirst(sources) {
    const out = /** @type {Source[]} */ ([]);
    let waiting = [...sources];
    while (waiting.length) {
        const names = new Set(waiting.map(source => source.name));
        const free = waiting.filter(source => source.from === null || !names.has(source.from));
        if (free.length === 0) return [...out, ...waiting]; // they are branches of each other
        out.push(...free);
        waiting = waiting.filter(source => !free.includes(source));
    }
    return out;
}
