// What the modules hand to each other. Types only.

/** A message as SillyTavern keeps it (the fields read here).
 * @typedef {object} StMessage
 * @property {string} [name]
 * @property {boolean} [is_user]
 * @property {boolean | string | null} [is_system]
 * @property {string | number | Date} [send_date]
 * @property {string} [mes]
 * @property {StExtra} [extra]
 * @property {number} [swipe_id]
 * @property {string[]} [swipes]
 * @property {({extra?: StExtra} | undefined)[]} [swipe_info]
 * @property {string} [original_avatar]
 */

/** @typedef {{type?: string, tool_invocations?: unknown, soulmem?: Stamp} & Record<string, any>} StExtra */

/** What we keep on a message: `id` is its slot; `present` the souls that witnessed it when not all of the founding cast did;
 * `trace` and `n` the recall behind the reply and how many memories it sent.
 * @typedef {{id?: string, present?: string[], trace?: string, n?: number}} Stamp */

/** What we keep in the chat's metadata: `chat` is its uuid, `name` the file it was minted for, `owner` the soul or group;
 * `off` the user had it forgotten, and it is remembered no more.
 * @typedef {{chat: string, name: string, owner: string, parent?: Fork, souls?: string[], cast?: string[], off?: boolean}} ChatRecord */

/** @typedef {{chat: string, fork_slot: string}} Fork */

/** One message of a snapshot, as `PUT /v1/chats` takes it, text included.
 * @typedef {object} Entry
 * @property {string} slot
 * @property {string} hash
 * @property {'user' | 'character' | 'narrator' | 'system'} role
 * @property {string} speaker
 * @property {string} sent_at
 * @property {string} [story_at] what time it is in the story, where the message tells it
 * @property {boolean} hidden
 * @property {number} swipe
 * @property {string[] | null} present
 * @property {string} text
 */

/** A chat as it should be on the sidecar.
 * @typedef {{chat: string, souls: string[], title: string, persona: string, parent: Fork | null, entries: Entry[]}} Target */

/** @typedef {{reason: string, count: number}} Held */
/** @typedef {{needs_text: string[], applied: boolean, added: number, changed: number, removed: number, held: Held | null}} SyncAnswer */

/** @typedef {object} Memory
 * @property {string} id
 * @property {string} kind
 * @property {string} text
 * @property {number} score
 * @property {number} hops
 * @property {boolean} permanent
 * @property {string} why
 * @property {{id: string, label: string, edge: string | null}[]} path
 * @property {{chat: string, slot: string}[]} sources
 * @property {number} age_turns
 * @property {number} visibility
 */

/** @typedef {{chat: string, slot: string}} Source */
/** A memory in a list. @typedef {{id: string, kind: string, text: string, tags: string[], importance: number, permanent: boolean, locked: boolean,
 *   timelines: 'this' | 'all', state: string, revision: number, sources: Source[]}} Listed */
/** A memory with what belongs to it (the fields shown).
 * @typedef {Listed & {origin: 'chat' | 'user' | 'card' | 'model', in_doubt: boolean, created: string, strength: number, uses: number, last_used: string | null}} Whole */

/** @typedef {Record<string, any> | null} Told the fields of a memory that a change touched */
/** @typedef {{id: string, at: string, actor: 'user' | 'lead' | 'archivist' | 'engine' | 'import', action: string, target: string, before: Told, after: Told,
 *   source: string, reason: string, undone?: boolean}} AuditEntry */
/** @typedef {{changes: string[], memories: string[], edges: number, skipped: {target: string, field: string}[]}} Undone */
/** @typedef {{request: string, soul: string, memory: string, actor: string, reason: string, quote: string, at: string, state: string}} Deletion */
/** @typedef {{id: string, title: string, count: number, held: Held | null}} ChatHead */

/** @typedef {{job: string, kind: string, soul: string, at: string, state: 'queued' | 'running' | 'done' | 'failed' | 'cancelled',
 *   progress: {done: number, total: number, unit: string}, result: any, error: string | null}} Job */
/** @typedef {{calls: number, failed: number, prompt_tokens: number, answer_tokens: number, seconds: number, memories: number}} Spent */
/** @typedef {{chat: string, work: string, reason: string, attempts: number, again: string}} Parked */
/** @typedef {{totals: Record<string, Spent>, this_hour: Spent, most_an_hour: {calls: number, tokens: number, memories: number, minutes: number},
 *   due: {calls: number, minutes: number | null}, parked: Parked[], down: string | null}} Ledger */

/** @typedef {{memory: string, text: string, tokens: number}} BlockItem */
/** @typedef {{section: string, position: 'in_prompt' | 'in_chat', depth: number | null, role: string, text: string, tokens: number, items: BlockItem[]}} Block */
/** @typedef {{trace: string, memories: Memory[], blocks: Block[], tokens: number, timed_out: boolean, took_ms: Record<string, number>}} RecallAnswer */

/** One text to hand to SillyTavern. `position`: -1 nowhere (macro only), 0 in the prompt, 1 in the chat, 2 before the prompt.
 * @typedef {{key: string, text: string, position: number, depth: number, role: number}} Injection */

/** What a recall came to, kept for the view.
 * @typedef {object} RecallRecord
 * @property {string} trace
 * @property {string} type
 * @property {string | null} slot
 * @property {number | null} swipe
 * @property {string} soul
 * @property {string} speaker
 * @property {string} chat
 * @property {Memory[]} memories
 * @property {Block[]} blocks
 * @property {string[]} sent ids of the memories that went into the prompt
 * @property {string[]} trimmed ids of those that did not fit
 * @property {boolean} [nowhere] the user places them by a macro that the prompt did not hold
 * @property {Record<string, number>} item_tokens tokens by memory id, by SillyTavern's own count where it was needed
 * @property {number} tokens
 * @property {number | null} budget null when it is not known any more
 * @property {boolean} timed_out
 * @property {Record<string, number>} took_ms
 * @property {string | null} error
 */

/** @typedef {object} Health
 * @property {'starting' | 'ok' | 'degraded'} status
 * @property {string} version
 * @property {{major: number, minor: number}} api
 * @property {{state: string, model: string, dim: number, fallback: boolean}} [embedder]
 * @property {{state: string, detail?: string | null}} [store]
 * @property {{state: string, model: string | null, calls_this_hour?: number, tokens_this_hour?: number}} [llm]
 * @property {{soul: string, memory: string}[]} [core_left_out] permanent memories that the last recall had no room for
 * @property {number} [pending]
 * @property {number} [bin_days]
 * @property {string[]} [notes]
 */

export {};
