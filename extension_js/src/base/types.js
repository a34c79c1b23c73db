// Types that several modules share. No code.

/** A line that tells something lasting of somebody.
 * @typedef {{id: string, kind: 'fact' | 'promise' | 'secret' | 'gift' | 'like' | 'date', about: string,
 *   speaker: string | null, quote: string, memory: string, slot?: string | null, said_at: string, location: string | null,
 *   until: string | null, kept?: boolean | null, permanent?: boolean, sure?: number}} KnownThing
 *   `sure`: 0..1, how clearly it tells something lasting; `kept`: of a promise, null while open */

/** @typedef {import('./strings.js').Phrase} Phrase */
/** What did not work, in the words of the sidecar. @typedef {{message: string, phrase?: Phrase}} Trouble */

/** A message as SillyTavern keeps it, with the fields that are read here.
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

/** What the extension writes on a message.
 * @typedef {object} Stamp
 * @property {string} [id] the message's slot
 * @property {string[]} [present] souls that witnessed it, when not all of the founding cast did
 * @property {string} [trace] the recall behind a reply
 * @property {number} [n] how many memories that recall sent
 * @property {true} [off] the user had the message forgotten: nobody witnessed it
 * @property {Record<string, string>} [notes] soul to the note that the user had made of the message
 */

/** What the extension writes into the metadata of a chat.
 * @typedef {object} ChatRecord
 * @property {string} chat id
 * @property {string} name chat file for which the id was minted
 * @property {string} owner soul of the character, or `group:<id>`
 * @property {Fork} [parent] the chat it was branched from
 * @property {string[]} [souls] of everybody who was ever in the chat
 * @property {string[]} [cast] souls of the founding members
 * @property {boolean} [off] the user had the chat forgotten; it is not stored
 * @property {string} [intent] what the character means to do, as the user wrote it
 */

/** @typedef {{chat: string, fork_slot: string}} Fork */

/** The open chat, as far as it is known.
 * @typedef {object} ChatState
 * @property {string | null} chat id; null when none is open or it is not identified yet
 * @property {Quarantine | null} quarantine messages that vanished together and are kept until the user decides
 * @property {boolean} syncing
 * @property {{done: number, total: number} | null} reading messages stored, of all, while some are missing
 * @property {boolean} paused the user stopped the reading of this chat
 * @property {Trouble | null} error of the last sync
 */

/** Sends a request to the sidecar. `timeout` in ms; a request with `keepalive` outlives the page; the answer to one
 * with `raw` is text.
 * @typedef {{signal?: AbortSignal, timeout?: number, keepalive?: boolean, raw?: boolean}} AskOptions */
/** @typedef {(method: string, path: string, body?: unknown, options?: AskOptions) => Promise<any>} Ask */

/** One message of a chat as `PUT /v1/chats` takes it, with its text.
 * @typedef {object} Entry
 * @property {string} slot
 * @property {string} hash
 * @property {'user' | 'character' | 'narrator' | 'system'} role
 * @property {string} speaker
 * @property {string} sent_at
 * @property {string} [story_at] time in the story, where the message states it
 * @property {boolean} hidden
 * @property {number} swipe
 * @property {string[] | null} present
 * @property {string} text
 * @property {string} [story] what the prompt shows of it, where that differs from the text
 */

/** A chat as it should be on the sidecar.
 * @typedef {object} Target
 * @property {string} chat id
 * @property {string[]} souls
 * @property {string} title
 * @property {string} persona
 * @property {Fork | null} parent
 * @property {Entry[]} entries
 */

/** A removal that waits for the user. @typedef {{reason: string, count: number}} Quarantine */
/** @typedef {{needs_text: string[], applied: boolean, added: number, changed: number, removed: number, held: Quarantine | null}} SyncAnswer */

/** A recalled memory.
 * @typedef {object} Memory
 * @property {string} id
 * @property {string} kind
 * @property {string} text
 * @property {number} score
 * @property {number} hops
 * @property {boolean} permanent
 * @property {string} why
 * @property {{id: string, label: string, edge: string | null}[]} path
 * @property {Source[]} sources
 * @property {number} age_turns
 * @property {number} visibility
 * @property {boolean} [pushed] it came by itself
 */

/** A message that a memory rests on. @typedef {{chat: string, slot: string}} Source */

/** A memory in a list.
 * @typedef {object} ListedMemory
 * @property {string} id
 * @property {string} kind
 * @property {string} text
 * @property {string[]} tags
 * @property {number} importance
 * @property {boolean} permanent
 * @property {boolean} locked
 * @property {'this' | 'all'} timelines
 * @property {string} state
 * @property {number} revision
 * @property {Source[]} sources
 * @property {string} [happened] when it took place
 * @property {number} [strength] 0..1
 * @property {string | null} [last_used] when it was recalled last
 * @property {string} [reads_now] with masks for what has blurred
 * @property {number} [visibility] 0..1
 * @property {string} [scene] id of the first line of its scene, of a line of a chat
 */

/** A relation of two concepts. `from`, `to`: their ids; `valid_from`, `valid_to`: since when and until when it holds,
 * as far as that is known.
 * @typedef {{id: string, from: string, to: string, verb?: string, strength: number, confidence?: number,
 *   valid_from?: string, valid_to?: string}} Relation */
/** A fact as lists show it, with the relation that it tells. @typedef {ListedMemory & {edges: Relation[]}} Fact */
/** A trigger, what sets it off and what it sets off; without `trigger` an action by itself.
 * @typedef {{trigger: string | null, situations: ListedMemory[],
 *   actions: {memory: ListedMemory, probability: number | null}[]}} StoredHabit */

/** How clear a memory is. `fades`: whether any part of it does; `gone_in`: turns until nothing of it is told, null
 * when that never comes.
 * @typedef {{visibility: number, fades?: boolean, gone_in?: number | null, permanent?: boolean, locked?: boolean}} Clarity */
/** A part of a text that fades as one; `start` and `end` in code points.
 * @typedef {{text: string, gist: string, visibility: number, start: number, end: number}} Unit */
/** Words of a text that outlast what stands around them.
 * @typedef {{text: string, kind: 'spontaneous' | 'forced', visibility: number}} Anchor */
/** A memory now and some turns later. `leaves`: by then it is in the bin.
 * @typedef {object} FadingMemory
 * @property {string} id
 * @property {string} [kind]
 * @property {string} text
 * @property {number} importance 0..1
 * @property {string} reads_then as a prompt will tell it
 * @property {number} visibility
 * @property {number} visibility_then
 * @property {boolean} leaves
 */

/** A memory with what belongs to it, as far as it is shown.
 * @typedef {object} MemoryDetail
 * @property {'chat' | 'user' | 'card' | 'model'} origin
 * @property {boolean} in_doubt
 * @property {string} created
 * @property {number} strength
 * @property {number} uses
 * @property {string | null} last_used
 * @property {boolean} [fades] whether any part of it does
 * @property {number | null} [gone_in] turns until nothing of it is told; null when that never comes
 * @property {string | null} [reworded] what a model made of it; its own text is kept
 * @property {Unit[]} [units] of the rewording where there is one
 * @property {{participants?: {name: string, kind: string}[], concept_type?: string}} [fields] those of its kind; of `participants` the first is the speaker, if anybody speaks
 * @property {Anchor[]} [anchors]
 * @property {{kind: 'reasoning' | 'status' | 'markup' | 'code' | 'picture' | 'out_of_character' | 'rest',
 *   characters: number}[]} [left_out] of its message, because it is no story
 */
/** @typedef {ListedMemory & MemoryDetail} WholeMemory */

/** The fields of a memory that a change touched. @typedef {Record<string, any> | null} ChangedFields */

/** @typedef {object} AuditEntry
 * @property {string} id
 * @property {string} at
 * @property {'user' | 'lead' | 'archivist' | 'engine' | 'import'} actor
 * @property {string} action
 * @property {string} target
 * @property {ChangedFields} before
 * @property {ChangedFields} after
 * @property {string} source
 * @property {string} reason
 * @property {Phrase} [reason_phrase]
 * @property {boolean} [undone]
 */

/** @typedef {{changes: string[], memories: string[], edges: number, skipped: {target: string, field: string}[]}} UndoResult */
/** A deletion that a language model asks for.
 * @typedef {{request: string, soul: string, memory: string, actor: string, reason: string, quote: string, at: string, state: string}} DeletionRequest */
/** @typedef {{id: string, title: string, count: number, held: Quarantine | null}} ChatHead */

/** @typedef {object} Job
 * @property {string} job id
 * @property {string} kind
 * @property {string} soul
 * @property {string} at
 * @property {'queued' | 'running' | 'done' | 'failed' | 'cancelled'} state
 * @property {{done: number, total: number, unit: string}} progress
 * @property {any} result
 * @property {string | null} error
 * @property {Phrase} [error_phrase]
 */

/** What language model calls cost. `failed`: calls without use.
 * @typedef {object} Usage
 * @property {number} calls
 * @property {number} failed
 * @property {number} prompt_tokens
 * @property {number} answer_tokens
 * @property {number} seconds
 * @property {number} memories written
 */
/** Work that is put off after failures. `again`: the latest time of the next try.
 * @typedef {{chat: string, work: string, reason: string, reason_phrase?: Phrase, attempts: number,
 *   again: string}} DeferredWork */
/** @typedef {object} UsageLedger
 * @property {Record<string, Usage>} totals by kind of work
 * @property {Usage} this_hour
 * @property {{calls: number, tokens: number, memories: number, minutes: number}} most_an_hour
 * @property {{calls: number, minutes: number | null}} due
 * @property {DeferredWork[]} parked
 * @property {string | null} down why the model could not be reached
 * @property {Phrase} [down_phrase]
 */

/** `scene` stands above the first item of a scene: "46 days ago:".
 * @typedef {{memory: string, text: string, tokens: number, scene?: string | null}} BlockItem */
/** A part of the prompt.
 * @typedef {object} Block
 * @property {string} section
 * @property {'in_prompt' | 'in_chat'} position
 * @property {number | null} depth
 * @property {string} role
 * @property {string} text
 * @property {number} tokens
 * @property {BlockItem[]} items
 */
/** @typedef {object} RecallAnswer
 * @property {string} trace
 * @property {Memory[]} memories
 * @property {Block[]} blocks
 * @property {number} tokens
 * @property {boolean} timed_out
 * @property {Record<string, number>} took_ms
 * @property {number} [withheld] more memories that would have fitted, but were not called for
 */

/** A text to hand to SillyTavern. `position`: -1 nowhere (macro only), 0 in the prompt, 1 in the chat, 2 before the prompt.
 * @typedef {{key: string, text: string, position: number, depth: number, role: number}} Injection */

/** Where the user wants memories. `auto` follows the sidecar: what is stable high up, what changes at a low depth.
 * @typedef {'auto' | 'in_chat' | 'in_prompt' | 'before_prompt' | 'macro'} Position */

/** Why a recall failed; `kind` and `code` as in ApiError.
 * @typedef {{kind?: string, code?: string, message: string}} RecallFailure */
/** One recall, kept for the view of recalled memories.
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
 * @property {string[]} trimmed ids of the memories that did not fit
 * @property {boolean} [nowhere] the user places memories by a macro that the prompt did not hold
 * @property {Record<string, number>} item_tokens tokens by memory id; SillyTavern's own count where it was needed
 * @property {number} tokens
 * @property {number | null} budget null when it is not known any more
 * @property {boolean} timed_out
 * @property {Record<string, number>} took_ms
 * @property {number} [withheld] more memories that would have fitted, but were not called for
 * @property {RecallFailure | null} error
 */

/** What the wanted model for recall lacks on the sidecar's computer, and where it can come from.
 * @typedef {object} EmbedderOrigin
 * @property {'nothing' | 'weights' | 'library'} lack
 * @property {string} hub address of the model hub
 * @property {boolean} own_hub whether the user chose this address
 * @property {string} package that carries the model; empty if none does
 * @property {string | null} job that fetches it now
 */

/** @typedef {object} Health
 * @property {'starting' | 'ok' | 'degraded'} status
 * @property {string} version
 * @property {{major: number, minor: number}} api
 * @property {{state: string, model: string, dim: number, fallback: boolean}} [embedder]
 * @property {{state: string, detail?: string | null, detail_phrase?: Phrase}} [store]
 * @property {{state: string, model: string | null, calls_this_hour?: number, tokens_this_hour?: number}} [llm]
 * @property {{soul: string, memory: string}[]} [core_left_out] permanent memories that the last prompt had no room for
 * @property {number} [pending] messages and memories that are not searchable by meaning yet
 * @property {{soul: string, name: string, memories: number, of: number | null}[]} [opening] souls whose memories are being read
 * @property {number} [bin_days]
 * @property {string[]} [notes]
 * @property {(Phrase | null)[]} [note_phrases] one for each note
 */

export {};
