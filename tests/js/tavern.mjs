// A SillyTavern small enough for tests: the host's interface over plain data.

import { DEFAULTS } from '../../extension_js/src/base/settings.js';

/** @typedef {import('../../extension_js/src/tavern/host.js').Host} Host */
/** @typedef {import('../../extension_js/src/base/types.js').StMessage} StMessage */
/** @typedef {import('../../extension_js/src/base/types.js').Injection} Injection */

/** What SillyTavern stores of a card's field: objects are merged, all else is replaced.
 * @param {any} old @param {any} fresh @returns {any} */
function merged(old, fresh) {
    const areObjects = [old, fresh].every(it => it && typeof it === 'object' && !Array.isArray(it));
    if (!areObjects) return fresh;
    const values = Object.entries(fresh).map(([key, value]) => [key, merged(old[key], value)]);
    return { ...old, ...Object.fromEntries(values) };
}

/** @param {{chat?: StMessage[], name?: string, characters?: Record<string, any>, open?: string[], group?: any}} [about] */
export function fakeTavern({
    chat = [],
    name = 'Mira - now',
    characters = { 'mira.png': { name: 'Mira' } },
    open = ['mira.png'],
    group = null,
} = {}) {
    const tavern = {
        chat,
        name,
        characters,
        open,
        group,
        metadata: /** @type {Record<string, any>} */ ({}),
        settings: { ...structuredClone(DEFAULTS) },
        prompts: /** @type {Map<string, Injection>} */ (new Map()),
        speaking: open[0],
        card: /** @type {string[]} */ ([]),
        busy: false,
        contextSize: 0,
        saves: 0,
        cardWrites: /** @type {[string, any][]} */ ([]),
    };
    const member = (/** @type {string} */ avatar) => ({
        avatar,
        name: tavern.characters[avatar].name,
        muted: Boolean(tavern.group?.disabled_members?.includes(avatar)),
    });
    const host = {
        chat: () => tavern.chat,
        chatName: () => tavern.name,
        metadata: () => tavern.metadata,
        record: () => tavern.metadata.soulmem,
        setRecord: (/** @type {any} */ record) => {
            tavern.metadata.soulmem = record;
        },
        saveChat: async () => {
            tavern.saves++;
        },
        busy: () => tavern.busy,
        group: () => tavern.group,
        members: () => tavern.open.map(member),
        speaker: () => member(tavern.speaking),
        persona: () => 'Alice',
        narratorsCount: () => true,
        cardTexts: () => tavern.card,
        resolved: (/** @type {string} */ text) => text.replaceAll('{{user}}', 'Alice'),
        locale: () => 'en-GB',
        portrait: (/** @type {string} */ avatar) => `/thumbnail?file=${avatar}`,
        avatarNamed: (/** @type {readonly string[]} */ names) =>
            Object.entries(tavern.characters).find(([, { name }]) => names.includes(name))?.[0],
        personaPortrait: () => undefined,
        avatars: () => new Set(Object.keys(tavern.characters)),
        cardField: async (/** @type {string} */ avatar) => tavern.characters[avatar].field,
        writeCard: async (/** @type {string} */ avatar, /** @type {any} */ field) => {
            const character = tavern.characters[avatar];
            character.field = merged(character.field, structuredClone(field));
            tavern.cardWrites.push([avatar, field]);
        },
        saveSettings: () => {},
        inject: (/** @type {Injection[]} */ all) =>
            all.forEach(injection => tavern.prompts.set(injection.key, injection)),
        clear: (/** @type {string[]} */ keys) => keys.forEach(key => tavern.prompts.delete(key)),
        contextSize: () => tavern.contextSize,
        countTokens: async (/** @type {string} */ text) => Math.ceil(text.length / 4),
    };
    return { tavern, host: /** @type {Host} */ (/** @type {unknown} */ (host)) };
}

/** Lets everything that is due happen. */
export const settle = () => new Promise(resolve => setTimeout(resolve, 5));
