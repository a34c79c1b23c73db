// What the player does with a message of the open chat: has it kept as a note, kept for good, or forgotten.

import { createMemoryApi } from '../link/memory_api.js';
import { presentAt } from '../tavern/snapshot.js';
import { slotOf, stampAllSwipes, stampOf } from '../tavern/slots.js';
import { WordedError } from '../widgets/error_text.js';

/** @typedef {import('../app.js').App} App */
/** @typedef {import('../base/types.js').StMessage} StMessage */
/** @typedef {import('../base/strings.js').Say} Say */
/** @typedef {import('../chat/identify.js').OpenChat} OpenChat */
/** A note of a message: made now, or made permanent now, or as it was before.
 * @typedef {{id: string, change: 'made' | 'pinned' | 'none'}} KeptNote */
/** What was done, in words, and how to take it back. `memories`: the notes that there are now.
 * @typedef {{text: string, memories: string[], undo: () => Promise<unknown>}} Done */

/** Of what the player had remembered: its names do not blur, and nothing prunes it. */
export const IMPORTANCE = 0.7;
const SHOWN = 80; // characters of a message in what is said of it

/** @param {string} text */
const shortened = text => (text.length > SHOWN ? `${text.slice(0, SHOWN)}…` : text);

/** The words of a message that are selected on the page; empty when none of it are.
 * @param {number} index @returns {string} */
export function selectedWords(index) {
    const selection = globalThis.getSelection?.();
    const text = selection?.toString().trim() ?? '';
    if (!text || !selection?.anchorNode) return '';
    const row = document.querySelector(`#chat .mes[mesid="${index}"] .mes_text`);
    return row?.contains(selection.anchorNode) ? text : '';
}

/** @param {App} app @param {Say} say */
export function createKeptMessages(app, say) {
    const { host, chatSync } = app;
    const memoryApi = createMemoryApi(app.link.ask);

    /** A message of the open chat, with its slot. Fails, in words, when there is none.
     * @param {number} index @returns {Promise<{open: OpenChat, message: StMessage, slot: string}>} */
    async function find(index) {
        const open = await chatSync.identify();
        if (!open) throw new WordedError(say('no_chat'));
        const message = host.chat()[index];
        const slot = slotOf(message);
        if (!message || !slot) throw new WordedError(say('no_message', { n: index }));
        return { open, message, slot };
    }

    /** Souls that witnessed a message and remember. @param {OpenChat} open @param {StMessage} message */
    function witnesses({ record, people }, message) {
        const souls = record.souls ?? [];
        const present = presentAt(message, souls, record.cast ?? []) ?? souls;
        const wanted = people.filter(person => person.config.enabled !== false);
        return wanted.filter(person => present.includes(person.soul));
    }

    /** Stores the chat and its characters, so that a note can name its message. @param {OpenChat} open
     * @param {string} slot @returns {Promise<{chat?: string, slot?: string}>} nothing where the chat is not stored */
    async function placeOf(open, slot) {
        await app.people.push(open.people);
        if (!chatSync.mayStore()) return {};
        await chatSync.syncNow();
        return chatSync.storedSlots().has(slot) ? { chat: open.record.chat, slot } : {};
    }

    /** Takes the mark of a forgotten message away, or sets it. @param {StMessage} message @param {boolean} isOff */
    async function mark(message, isOff) {
        stampAllSwipes(message, { off: isOff || undefined });
        await host.saveChat();
        if (chatSync.mayStore()) await chatSync.syncNow();
        app.notify();
    }

    /** A note, also one in the bin; null where there is none any more. @param {string} id */
    const noteOf = id =>
        memoryApi.read(id).catch(error => {
            if (error.code !== 'not_found') throw error;
            return null;
        });

    /** Moves a note to the bin. @param {string} id @param {boolean} permanent @returns {Promise<unknown>} */
    const bin = (id, permanent) =>
        memoryApi.moveToBin({ id, permanent }).catch(error => {
            if (error.code !== 'not_found') throw error; // the player binned it before
        });

    /** The note of a message for one soul, kept for good where that is wanted.
     * @param {string} soul @param {string | undefined} id of the note that there is
     * @param {Record<string, unknown>} note @returns {Promise<KeptNote>} */
    async function keepFor(soul, id, note) {
        const before = id ? await noteOf(id) : null;
        if (!before || before.state !== 'active') {
            const made = await memoryApi.create({ ...note, soul });
            return { id: made.id, change: 'made' };
        }
        if (!note.permanent || before.permanent) return { id: before.id, change: 'none' };
        await memoryApi.keepForEver(before.id);
        return { id: before.id, change: 'pinned' };
    }

    /** A note is as it was before `keepFor`. @param {KeptNote} kept @param {boolean} permanent */
    async function takeBack({ id, change }, permanent) {
        if (change === 'made') await bin(id, permanent);
        if (change === 'pinned') {
            await memoryApi.change(await memoryApi.read(id), { permanent: false });
        }
    }

    /** Makes a note of a message, or of some words of it, for everybody who was there.
     * @param {number} index
     * @param {{permanent?: boolean, words?: string, about?: Record<string, unknown>}} [options] `about`: more of a
     *   new note, such as its tags
     * @returns {Promise<Done>} */
    async function keep(index, { permanent = false, words = '', about = {} } = {}) {
        const { open, message, slot } = await find(index);
        const { off: wasOff = false, notes: before } = stampOf(message);
        if (wasOff) await mark(message, false);
        const text = words || (message.mes ?? '').trim();
        if (!text) throw new WordedError(say('message_empty', { n: index }));
        const people = witnesses(open, message);
        if (people.length === 0) throw new WordedError(say('nobody_there'));
        const content = {
            kind: 'note',
            text: message.name ? `${message.name}: ${text}` : text,
            importance: IMPORTANCE,
            permanent,
            timelines: 'all',
            ...about,
            ...(await placeOf(open, slot)),
        };
        const kept = /** @type {KeptNote[]} */ ([]);
        for (const { soul } of people) {
            kept.push(await keepFor(soul, words ? undefined : before?.[soul], content));
        }
        if (!words) {
            const notes = Object.fromEntries(people.map(({ soul }, i) => [soul, kept[i].id]));
            stampAllSwipes(message, { notes });
            await host.saveChat();
        }
        const values = {
            name: people.map(person => person.name).join(', '),
            text: shortened(text),
        };
        return {
            text: say(permanent ? 'message_pinned' : 'message_kept', values),
            memories: kept.map(({ id }) => id),
            async undo() {
                for (const note of kept) await takeBack(note, permanent);
                if (!words) stampAllSwipes(message, { notes: before });
                if (wasOff) await mark(message, true);
                else await host.saveChat();
            },
        };
    }

    /** Nobody remembers a message any more: what rests on it alone goes, and so do notes of it.
     * @param {number} index @returns {Promise<Done>} */
    async function forget(index) {
        const { message } = await find(index);
        const { notes = {} } = stampOf(message);
        const all = await Promise.all(Object.values(notes).map(noteOf));
        const active = all.flatMap(memory => (memory?.state === 'active' ? [memory] : []));
        const isPinned = active.some(({ permanent }) => permanent);
        if (isPinned && !(await host.confirm(say('message_pinned_question')))) {
            throw new WordedError(say('message_stays'));
        }
        for (const { id, permanent } of active) await bin(id, permanent);
        await mark(message, true);
        return {
            text: say('message_forgotten', { text: shortened(message.mes ?? '') }),
            memories: [],
            async undo() {
                for (const { id } of active) await memoryApi.restore(id);
                await mark(message, false);
            },
        };
    }

    return { keep, forget };
}

/** @typedef {ReturnType<typeof createKeptMessages>} KeptMessages */
