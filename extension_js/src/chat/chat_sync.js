// Is the open chat in step with the sidecar? Knows who it is, stamps its messages, and sends what changed.

import { derivedId } from '../base/hash.js';
import { asksForParent, chatIdentity, presenceToRecord, scene } from '../tavern/identity.js';
import { newId } from '../base/ids.js';
import { lastSlot, mintSlots, slotOf, stampOf, writeStamp } from '../tavern/slots.js';
import { snapshot } from '../tavern/snapshot.js';
import { createChatSync } from './chat_upload.js';
import { createUnheard } from './withheld_messages.js';

/** @typedef {import('../tavern/host.js').Host} Host */
/** @typedef {import('./people.js').Person} Person */
/** @typedef {import('./people.js').People} People */
/** @typedef {import('./people.js').Ask} Ask */
/** @typedef {import('../base/types.js').ChatRecord} ChatRecord */
/** @typedef {import('../base/types.js').Held} Held */
/** @typedef {import('../base/types.js').StMessage} StMessage */
/** @typedef {import('./chat_upload.js').SyncResult} SyncResult */

/** The reply about to be written: where it will stand, and what was recalled for it.
 * @typedef {{chat: string, index: number, slot: string, swipe: number, fresh: boolean, present: string[] | undefined, trace?: string, n?: number}} Pending */

/** What is known of the open chat.
 * @typedef {{record: ChatRecord, people: Person[], name: string}} Open */

/** @typedef {object} KeeperState
 * @property {string | null} chat
 * @property {Held | null} held
 * @property {boolean} syncing
 * @property {{done: number, total: number} | null} reading
 * @property {boolean} paused the user cancelled the reading of this chat
 * @property {string | null} error
 */

const NO_CHAT = { chat: null, held: null, reading: null, paused: false, error: null };
/** So few messages without a slot were just said, in the scene as it is; more were said while we were away. */
const LIVED = 4;
const IMPORTED_WAIT = 5000; // ms for the question whether a chat was imported
const IDLE_RETRY = 500; // ms until we look again whether the reply is finished

/** @param {Host} host @param {People} people @param {Ask} ask
 * @param {(avatar: string) => Promise<string[]>} chatNames
 * @param {() => void} changed the state changed
 * @param {() => boolean} [readOnly] the user wants nothing new remembered */
export function createKeeper(host, people, ask, chatNames, changed, readOnly = () => false) {
    const syncs = /** @type {Map<string, ReturnType<typeof createChatSync>>} */ (new Map());
    const unheard = createUnheard(ask);
    const unsaved = /** @type {Set<string>} */ (new Set()); // chats whose ids SillyTavern has not saved yet
    const renames = /** @type {Map<string, string>} */ (new Map()); // new name to old
    const state = /** @type {KeeperState} */ ({
        chat: null,
        held: null,
        syncing: false,
        reading: null,
        paused: false,
        error: null,
    });
    let pending = /** @type {Pending | null} */ (null);
    let turn = Promise.resolve(); // one sync at a time
    let naming = /** @type {Promise<unknown>} */ (Promise.resolve()); // one identification at a time, or two would mint two ids
    let urgent = 0; // replies that wait
    let running = 0; // syncs in the background
    let timer = /** @type {ReturnType<typeof setTimeout> | undefined} */ (undefined);
    let reading = new AbortController();

    /** May the open chat be remembered? */
    const writes = () => !readOnly() && !host.record()?.off;

    /** @param {string} chat */
    function syncOf(chat) {
        let sync = syncs.get(chat);
        if (!sync)
            syncs.set(
                chat,
                (sync = createChatSync((id, body, signal) =>
                    ask('PUT', `/chats/${id}`, body, { signal }),
                )),
            );
        return sync;
    }

    /** Who the open chat is; writes our record and the missing slots into it.
     * @returns {Promise<Open | null>} null when no chat with a character is open */
    function identify() {
        const named = naming.then(nameOpen);
        naming = named.catch(() => undefined);
        return named;
    }

    /** @returns {Promise<Open | null>} */
    async function nameOpen() {
        const name = host.chatName();
        if (!name) return null;
        const present = await people.present();
        if (present.length === 0) return null;
        const group = host.group();
        const owner = group ? `group:${group.id}` : present[0].soul;
        const before = host.record();
        if (!before && host.chat().length === 0) return null; // SillyTavern is still loading it
        const renamed = renames.get(name) === before?.name && before?.name !== undefined;
        const facts = { name, mainChat: host.metadata().main_chat ?? null, renamed };
        const parentExists =
            asksForParent(before, facts) &&
            (await exists(String(before?.name), present[0].avatar, group));
        const souls = present.map(person => person.soul);
        const known = before?.name === name ? null : await imported(name, souls);
        if (host.chatName() !== name) return null;
        const { record, found } = chatIdentity(before, {
            ...facts,
            owner,
            parentExists,
            lastSlot: lastSlot(host.chat()),
            souls,
            mint: () => known?.id ?? newId('c'),
        });
        if (known?.parent && record.chat === known.id) record.parent = known.parent;
        if (JSON.stringify(record) !== JSON.stringify(before)) host.setRecord(record);
        stampPending(record.chat);
        const nameless = host.chat().filter(message => slotOf(message) === null).length;
        const lived =
            found === 'same'
                ? nameless <= LIVED
                : host.chat().filter(message => message.is_user).length < 2;
        const minted = mintSlots(host.chat(), message =>
            lived ? { present: presence(record, present, message) } : {},
        );
        if (state.chat !== record.chat) Object.assign(state, NO_CHAT, { chat: record.chat });
        if (found !== 'same' || minted > 2) unsaved.add(record.chat);
        return { record, people: present, name };
    }

    /** The chat as it was imported from its file before it was ever opened.
     * @param {string} name @param {readonly string[]} souls
     * @returns {Promise<{id: string, title: string, parent: import('../base/types.js').Fork | null} | null>} */
    async function imported(name, souls) {
        const id = derivedId('c', ['st_chat', ...[...souls].sort(), name]);
        const heads = await ask('GET', `/chats?soul=${souls[0]}`, undefined, {
            timeout: IMPORTED_WAIT,
        }).then(
            list => list?.chats ?? [],
            error => {
                if (error.code === 'not_found') return []; // a soul it has not met
                throw error; // an id minted now would stand beside the imported chat for ever
            },
        );
        return (
            heads.find(
                (/** @type {{id: string, title: string}} */ head) =>
                    head.id === id && head.title === name,
            ) ?? null
        );
    }

    /** @param {string} parent @param {string} avatar @param {any} group @returns {Promise<boolean>} unsure counts as yes: a fork loses nothing */
    async function exists(parent, avatar, group) {
        if (group) return group.chats.includes(parent);
        return await chatNames(avatar).then(
            names => names.length === 0 || names.includes(parent),
            () => true,
        );
    }

    /** @param {ChatRecord} record @param {readonly Person[]} persons @param {StMessage} [message] */
    function presence(record, persons, message) {
        if (!host.group()) return undefined;
        const muted = new Set(persons.filter(person => person.muted).map(person => person.avatar));
        return presenceToRecord(
            scene(persons, muted, message?.original_avatar ?? null),
            record.cast ?? [],
        );
    }

    /** Puts the minted slot on the reply, once it is there. @param {string} chat */
    function stampPending(chat) {
        const message = pending && pending.chat === chat ? host.chat()[pending.index] : undefined;
        if (!pending || !message || message.is_user) return;
        if (pending.fresh ? slotOf(message) !== null : slotOf(message) !== pending.slot) return;
        const { slot, present, trace, n } = pending;
        writeStamp(message, pending.fresh ? { id: slot, present, trace, n } : { trace, n });
        pending = null;
    }

    /** @template T @param {() => Promise<T>} work @returns {Promise<T>} after what was started before */
    function inTurn(work) {
        const result = turn.then(work);
        turn = result.then(
            () => undefined,
            () => undefined,
        );
        return result;
    }

    /** Sends what changed. @param {object} options
     * @param {boolean} [options.urgent] @param {number} [options.leaveOut] messages at the end that are about to be replaced
     * @param {boolean} [options.confirm] @param {AbortSignal} [options.signal]
     * @returns {Promise<{open: Open, result: SyncResult} | null>} */
    async function syncOpen({ urgent: now = false, leaveOut = 0, confirm = false, signal }) {
        const open = await identify();
        if (!open || !writes()) return null;
        await people.look(signal);
        const isOff = (/** @type {Person} */ person) =>
            person.config.enabled === false || people.isGone(person.soul);
        if (open.people.every(isOff)) return null;
        if (!now && unsaved.delete(open.record.chat)) {
            // ids sent but not saved would be lost with the page
            await host.saveChat();
            if (host.chatName() !== open.name) return null;
        }
        const { record } = open;
        const chat = host.chat();
        const kept = (record.souls ?? []).filter(soul => !people.isGone(soul));
        const entries = snapshot(chat.slice(0, chat.length - leaveOut), {
            souls: kept,
            cast: record.cast ?? [],
        });
        const off = open.people.filter(isOff).map(person => person.soul);
        const target = await unheard.withhold(
            {
                chat: record.chat,
                souls: kept,
                title: open.name,
                persona: host.persona(),
                parent: record.parent ?? null,
                entries,
            },
            off,
            signal,
        );
        await people.push(
            open.people,
            signal,
            person => !off.includes(person.soul) || target.souls.includes(person.soul),
        );
        const result = await syncOf(record.chat).sync(target, {
            urgent: now,
            confirm,
            signal,
            pause: () => urgent > 0 || host.chatName() !== open.name,
            progress(done, total) {
                state.reading = done < total ? { done, total } : null;
                changed();
            },
        });
        state.held = result.held;
        state.error = null;
        if (result.complete) state.reading = null;
        return { open, result };
    }

    /** @param {unknown} error */
    function note(error) {
        const { code, message } = /** @type {{code?: string, message: string}} */ (error);
        state.error = message;
        if (code === 'not_found' || code === 'unprocessable') {
            people.forgetPushed();
            syncs.clear();
            unheard.forget();
        }
    }

    /** In the background, to the end. @param {{confirm?: boolean}} [options] @returns {Promise<SyncResult | null>} */
    async function syncNow(options = {}) {
        clearTimeout(timer);
        const own = (reading = reading.signal.aborted ? new AbortController() : reading);
        running++;
        state.syncing = true;
        changed();
        try {
            for (;;) {
                const done = await inTurn(() => syncOpen({ ...options, signal: own.signal }));
                if (!done || done.result.complete || done.result.held) return done?.result ?? null;
                if (done.open.name !== host.chatName()) return done.result;
                do await new Promise(resolve => setTimeout(resolve, 50));
                while (host.busy() && !own.signal.aborted); // a reply goes first
            }
        } catch (error) {
            if (!own.signal.aborted) note(error);
            throw error;
        } finally {
            running--;
            state.syncing = running > 0;
            changed();
        }
    }

    /** Soon, when no reply is being made; further calls start the wait anew. @param {number} [delay] ms */
    function enqueue(delay = 800) {
        clearTimeout(timer);
        timer = setTimeout(() => {
            if (host.busy()) return enqueue(IDLE_RETRY);
            const untouched = host.chat().length < 2 && !host.record();
            if (!host.chatName() || untouched || state.paused) return;
            syncNow().catch(error => console.debug('[SoulMem] sync:', error.message));
        }, delay);
    }

    /** Before a reply: only what the recall needs, ahead of any reading.
     * @param {{leaveOut: number, signal: AbortSignal}} options */
    async function syncForReply({ leaveOut, signal }) {
        urgent++;
        try {
            return await inTurn(() => syncOpen({ urgent: true, leaveOut, signal }));
        } catch (error) {
            if (!signal.aborted) note(error);
            throw error;
        } finally {
            urgent--;
        }
    }

    return {
        state,
        identify,
        syncNow,
        syncForReply,
        enqueue,
        presence,
        stampPending,
        /** @param {Pending | null} reply */
        expect(reply) {
            pending = reply;
        },
        /** The slots of the open chat that the sidecar holds. @returns {Set<string>} */
        held: () => new Set(state.chat ? syncs.get(state.chat)?.slots() : []),
        /** Does the sidecar know the open chat? */
        known: () => state.chat !== null && (syncs.get(state.chat)?.slots().length ?? 0) > 0,
        /** A reply came: stamp it, or clear what a new swipe copied from the old one. @param {number} index @param {string} type */
        received(index, type) {
            const message = host.chat()[index];
            const expected =
                pending !== null && pending.chat === state.chat && pending.index === index;
            if (state.chat) stampPending(state.chat);
            if (state.chat) unsaved.delete(state.chat); // SillyTavern saves after a reply
            if (message && type === 'swipe' && !expected && stampOf(message).trace)
                writeStamp(message, { trace: undefined, n: undefined });
        },
        /** @param {string} from @param {string} to chat names, with or without the file's ending */
        renamed(from, to) {
            renames.set(to.replace(/\.jsonl$/, ''), from.replace(/\.jsonl$/, ''));
            enqueue(300);
        },
        /** Another chat was opened, or none. */
        leave() {
            Object.assign(state, NO_CHAT);
        },
        /** The user stops the reading of this chat; it goes on at "read this chat". */
        cancelReading() {
            state.paused = true;
            reading.abort();
            changed();
        },
        readAll() {
            state.paused = false;
            return syncNow();
        },
        confirmRemoval: () => syncNow({ confirm: true }),
        writes,
        /** Puts the open chat, and what only it told, into the bin, and remembers it no more. */
        async forgetChat() {
            const open = await identify();
            if (!open) return;
            await inTurn(async () => {
                host.setRecord({ ...open.record, off: true });
                syncs.delete(open.record.chat);
                Object.assign(state, NO_CHAT, { chat: open.record.chat });
                await ask('DELETE', `/chats/${open.record.chat}`).catch(error => {
                    if (error.code === 'not_found') return; // never read, or forgotten before
                    host.setRecord(open.record);
                    throw error;
                });
                await host.saveChat();
            });
            changed();
        },
        /** Remembers a forgotten chat again: it is read from its first message on. */
        async rememberChat() {
            const record = /** @type {ChatRecord | undefined} */ (host.record());
            if (!record) return null;
            const { off: _off, ...kept } = record;
            host.setRecord(kept);
            await host.saveChat();
            return syncNow();
        },
        /** Makes a chat that is not remembered known by name alone, so that a recall in it sees what its place in the family of chats allows.
         * @param {Open} open */
        async introduce({ record, people: present, name }) {
            await people.push(present);
            const { chats } = await ask('GET', '/chats');
            if (chats.some((/** @type {{id: string}} */ head) => head.id === record.chat)) return; // no messages would mean that all are gone
            const body = {
                souls: (record.souls ?? []).filter(soul => !people.isGone(soul)),
                title: name,
                persona: host.persona(),
                parent: record.parent ?? null,
                base: null,
                messages: [],
                confirm_removal: false,
            };
            await ask('PUT', `/chats/${record.chat}`, body);
        },
        /** The sidecar changed or came back: trust nothing that was acknowledged. */
        reset() {
            people.forgetPushed();
            syncs.clear();
            unheard.forget();
        },
    };
}

/** @typedef {ReturnType<typeof createKeeper>} Keeper */
