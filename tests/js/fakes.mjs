// A sidecar that keeps the contract's rules of `PUT chats`, and messages as SillyTavern makes them.

import { createHash } from 'node:crypto';

/** @typedef {import('../../extension_js/src/base/types.js').StMessage} StMessage */
/** @typedef {{slot: string, hash: string, hidden: boolean, text?: string, present?: string[] | null, speaker?: string, swipe?: number}} Sent */
/** @typedef {{souls: string[], messages: Sent[], base: {count: number, digest: string} | null, parent: {chat: string, fork_slot: string} | null, confirm_removal: boolean, title: string, persona: string}} Body */

/** @param {string} text */
export const sha = text => createHash('sha256').update(text, 'utf8').digest('hex');

/** @param {string} code @param {number} status @param {string} [field] */
export const refusal = (code, status, field) =>
    Object.assign(new Error(code), { code, status, field, kind: 'http' });

const FIELDS = [
    'slot',
    'hash',
    'role',
    'speaker',
    'sent_at',
    'story_at',
    'hidden',
    'swipe',
    'present',
    'text',
    'story',
];

/** @param {{maxChars?: number, parents?: string[]}} [limits] */
export function fakeSidecar({ maxChars = Infinity, parents } = {}) {
    const chats = /** @type {Map<string, Sent[]>} */ (new Map());
    const texts = /** @type {Map<string, string>} */ (new Map());
    const bodies = /** @type {Body[]} */ ([]);

    /** @param {string} chat @param {object} sent @param {AbortSignal} [signal] */
    async function put(chat, sent, signal) {
        signal?.throwIfAborted();
        const body = /** @type {Body} */ (structuredClone(sent));
        bodies.push(body);
        const old = chats.get(chat) ?? [];
        if (body.messages.reduce((size, { text }) => size + (text?.length ?? 0), 0) > maxChars)
            throw refusal('too_large', 413);
        if (parents && body.parent && !parents.includes(body.parent.chat))
            throw refusal('unprocessable', 422, 'parent.chat');
        const head = old.slice(0, body.base?.count ?? 0);
        const digest = sha(
            head.map(({ slot, hash, hidden }) => `${slot}:${hash}:${hidden ? 1 : 0}\n`).join(''),
        );
        if (body.base && (head.length !== body.base.count || digest !== body.base.digest))
            throw refusal('conflict', 409, 'base');
        const slots = new Set(head.map(({ slot }) => slot));
        for (const message of body.messages) {
            const unknown = Object.keys(message).find(key => !FIELDS.includes(key));
            if (unknown) throw refusal('unprocessable', 422, unknown);
            if (slots.has(message.slot)) throw refusal('unprocessable', 422, 'slot');
            slots.add(message.slot);
            if (message.text !== undefined && sha(message.text).slice(0, 16) !== message.hash)
                throw refusal('unprocessable', 422, 'hash');
        }
        const nothing = {
            needs_text: /** @type {string[]} */ ([]),
            applied: false,
            added: 0,
            changed: 0,
            removed: 0,
            held: null,
        };
        const needs = body.messages
            .filter(message => message.text === undefined && !texts.has(message.hash))
            .map(({ slot }) => slot);
        if (needs.length) return { ...nothing, needs_text: needs };
        for (const { hash, text } of body.messages) if (text !== undefined) texts.set(hash, text);
        const next = [...head, ...body.messages.map(({ text: _text, ...rest }) => rest)];
        const removed = old.filter(({ slot }) => !slots.has(slot)).length;
        if (old.length >= 20 && removed * 2 > old.length && !body.confirm_removal)
            return { ...nothing, held: { reason: 'mass_removal', count: removed } };
        const before = new Map(old.map(({ slot, hash }) => [slot, hash]));
        chats.set(chat, next);
        return {
            ...nothing,
            applied: true,
            added: next.filter(({ slot }) => !before.has(slot)).length,
            changed: next.filter(({ slot, hash }) => before.has(slot) && before.get(slot) !== hash)
                .length,
            removed,
        };
    }
    /** @param {string} chat what it holds, as texts */
    const storedTexts = chat => (chats.get(chat) ?? []).map(({ hash }) => texts.get(hash));
    return { put, storedTexts, chats, texts, bodies };
}

let clock = Date.UTC(2026, 0, 1);

/** @param {string} mes @param {Partial<StMessage>} [more] @returns {StMessage} */
export function newMessage(mes, more = {}) {
    clock += 60_000;
    return {
        name: more.is_user ? 'Alice' : 'Mira',
        is_user: false,
        is_system: false,
        send_date: new Date(clock).toISOString(),
        mes,
        extra: {},
        ...more,
    };
}

/** @param {number} count @returns {StMessage[]} user and character in turn */
export const talk = count =>
    Array.from({ length: count }, (_, i) => newMessage(`line ${i}`, { is_user: i % 2 === 1 }));
