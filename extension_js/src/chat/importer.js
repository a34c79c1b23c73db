// How does everything of a character go into its memory? File by file, each a job of the sidecar that can be cancelled.

/** @typedef {import('./people.js').Ask} Ask */
/** @typedef {import('../tavern/tavern_files.js').TavernFiles} TavernFiles */
/** @typedef {'card' | 'world_info' | 'st_chat'} Format */
/** @typedef {{format: Format, name: string, from: string | null}} Source `from`: the chat it was branched from */
/** @typedef {{messages: number, added: number, changed: number, memories: number, names: number, minutes: number, chats: number, worlds: number, failed: string[]}} Quote */
/** @typedef {{file: number, files: number, name: string, done: number, total: number}} Step */
/** @typedef {{soul: string, avatar: string, persona: string, leaveOut: string | null}} About `leaveOut`: the open chat, which is read as it is played */
/** @typedef {{state: string, progress: {done: number, total: number}, result: any, error: string | null}} Job */

const POLL = 300; // ms between two looks at a job
const SENDING = 300_000; // ms that a large file may take to arrive
const ENDED = ['done', 'failed', 'cancelled'];

/** @param {TavernFiles} files @param {Ask} ask the sidecar @param {(ms: number) => Promise<unknown>} [wait] */
export function createImporter(
    files,
    ask,
    wait = ms => new Promise(resolve => setTimeout(resolve, ms)),
) {
    /** @param {Source} source @param {About} about @param {AbortSignal} signal @returns {Promise<string>} */
    function read(source, about, signal) {
        if (source.format === 'card') return files.card(about.avatar, signal);
        return source.format === 'world_info'
            ? files.world(source.name, signal)
            : files.chat(about.avatar, source.name, signal);
    }

    /** One file, to the end of its job. Aborted, the job is cancelled: what is in stays.
     * @param {Source} source @param {string} text @param {About} about @param {boolean} dryRun
     * @param {(job: Job) => void} seen @param {AbortSignal} signal @returns {Promise<Job>} */
    async function send(source, text, about, dryRun, seen, signal) {
        const body = {
            soul: about.soul,
            format: source.format,
            name: source.name,
            text,
            persona: about.persona,
            dry_run: dryRun,
        };
        signal.throwIfAborted();
        const { job } = await ask('POST', '/import', body, { timeout: SENDING });
        for (;;) {
            if (signal.aborted) await ask('DELETE', `/jobs/${job}`);
            const told = /** @type {Job} */ (await ask('GET', `/jobs/${job}`));
            seen(told);
            if (ENDED.includes(told.state)) {
                if (told.state === 'cancelled') signal.throwIfAborted();
                return told;
            }
            await wait(POLL);
        }
    }

    /** What there is, and what taking it in would come to. Changes nothing.
     * @param {About} about @param {(step: Step) => void} progress @param {AbortSignal} signal
     * @returns {Promise<{sources: Source[], quote: Quote}>} */
    async function preflight(about, progress, signal) {
        const [names, worlds] = await Promise.all([
            files.chats(about.avatar),
            files.worlds(about.avatar),
        ]);
        const sources = /** @type {Source[]} */ ([
            { format: 'card', name: about.avatar, from: null },
            ...worlds.map(name => ({
                format: /** @type {Format} */ ('world_info'),
                name,
                from: null,
            })),
            ...names
                .filter(name => name !== about.leaveOut)
                .map(name => ({ format: /** @type {Format} */ ('st_chat'), name, from: null })),
        ]);
        const quote = {
            messages: 0,
            added: 0,
            changed: 0,
            memories: 0,
            names: 0,
            minutes: 0,
            chats: 0,
            worlds: worlds.length,
            failed: /** @type {string[]} */ ([]),
        };
        const good = /** @type {Source[]} */ ([]);
        for (const [at, source] of sources.entries()) {
            progress({ file: at + 1, files: sources.length, name: source.name, done: 0, total: 0 });
            const text = await read(source, about, signal);
            const { state, result } = await send(
                source,
                text,
                about,
                true,
                () => undefined,
                signal,
            );
            if (state !== 'done' || result.held) {
                quote.failed.push(source.name);
                continue;
            }
            good.push(
                source.format === 'st_chat' ? { ...source, from: branchedFrom(text) } : source,
            );
            quote.minutes += result.minutes;
            if (source.format === 'st_chat') {
                quote.chats++;
                quote.messages += result.messages;
                quote.added += result.added;
                quote.changed += result.changed;
            } else {
                quote.memories += result.added + result.changed;
                quote.names += result.names;
            }
        }
        return { sources: parentsFirst(good), quote };
    }

    /** Takes it all in. @param {readonly Source[]} sources of the preflight @param {About} about
     * @param {(step: Step) => void} progress @param {AbortSignal} signal
     * @returns {Promise<{messages: number, memories: number, failed: string[]}>} */
    async function run(sources, about, progress, signal) {
        const done = { messages: 0, memories: 0, failed: /** @type {string[]} */ ([]) };
        for (const [at, source] of sources.entries()) {
            const step = {
                file: at + 1,
                files: sources.length,
                name: source.name,
                done: 0,
                total: 0,
            };
            progress(step);
            const text = await read(source, about, signal);
            const told = await send(
                source,
                text,
                about,
                false,
                job => progress({ ...step, ...job.progress }),
                signal,
            );
            if (told.state !== 'done' || told.result.held) done.failed.push(source.name);
            else if (source.format === 'st_chat')
                done.messages += told.result.added + told.result.changed;
            else done.memories += told.result.added + told.result.changed;
        }
        return done;
    }

    return { preflight, run };
}

/** The chat that a chat file says it was branched from. @param {string} text @returns {string | null} */
export function branchedFrom(text) {
    try {
        const from = JSON.parse(text.slice(0, text.indexOf('\n') + 1 || undefined)).chat_metadata
            ?.main_chat;
        return typeof from === 'string' && from ? from : null;
    } catch {
        return null;
    }
}

/** Chats before their branches, so that a branch finds what it shares. @param {readonly Source[]} sources @returns {Source[]} */
export function parentsFirst(sources) {
    const out = /** @type {Source[]} */ ([]);
    let waiting = [...sources];
    while (waiting.length) {
        const names = new Set(waiting.map(source => source.name));
        const free = waiting.filter(source => source.from === null || !names.has(source.from));
        out.push(...(free.length ? free : waiting)); // a circle of branches has no first one
        waiting = free.length ? waiting.filter(source => !free.includes(source)) : [];
    }
    return out;
}
