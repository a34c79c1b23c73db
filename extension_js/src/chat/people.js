// The characters of the open chat: their souls, and which of them the sidecar was told about.

import { createSoulCards } from './soul_cards.js';

/** @typedef {import('../tavern/host.js').Host} Host */
/** @typedef {import('../tavern/host.js').Member} Member */
/** @typedef {import('../tavern/identity.js').CardConfig} CardConfig */
/** @typedef {import('../base/settings.js').Settings} Settings */
/** @typedef {import('../base/types.js').Ask} Ask */
/** @typedef {Member & {soul: string, config: CardConfig}} Person */
/** @typedef {{id: string, name: string}} Soul */

/** What the user wants around the memories in the prompt; null for the sidecar's default.
 * @param {Settings} settings */
function promptOf({ headers, sections_off: off }) {
    return {
        headers: Object.keys(headers).length ? headers : null,
        sections_off: off.length ? off : null,
    };
}

/** @param {Pick<Host, 'members' | 'cardField' | 'writeCard' | 'avatars' | 'saveSettings' | 'persona'>} host
 * @param {() => Settings} settings
 * @param {Ask} ask the sidecar */
export function createPeople(host, settings, ask) {
    const cards = createSoulCards(host, settings);
    let configured = 0;
    const pushed = /** @type {Map<string, string>} */ (new Map()); // soul to the JSON that was sent last
    /** Souls in the sidecar's bin, with their names. Null until they are asked for. */
    let forgotten = /** @type {Map<string, string> | null} */ (null);

    /** @param {Member} member @returns {Promise<Person>} */
    async function personOf(member) {
        const { soul, config } = await cards.read(member.avatar);
        const isForgotten = forgotten?.has(soul);
        return { ...member, soul, config: isForgotten ? { ...config, enabled: false } : config };
    }

    /** Asks, once, which souls were forgotten: sending such a soul would bring it back.
     * @param {AbortSignal} [signal] @returns {Promise<Map<string, string>>} */
    async function loadForgotten(signal) {
        if (forgotten) return forgotten;
        const { souls } = await ask('GET', '/souls?state=bin', undefined, { signal });
        forgotten = new Map(souls.map((/** @type {Soul} */ soul) => [soul.id, soul.name]));
        return forgotten;
    }

    /** What the sidecar has to know of a soul. @param {Person} person @param {readonly string[]} names of everybody */
    function bodyOf(person, names) {
        const { forgetting, restraint, scope, ...config } = person.config;
        return {
            name: person.name || person.avatar,
            names: names.map(name => ({ name, aliases: [] })),
            config: {
                forgetting: forgetting ?? settings().forgetting,
                restraint: restraint ?? settings().restraint,
                scope: scope ?? settings().scope,
                fades: config.fades ?? null, // the sidecar's default
                knows_it_forgets: config.knows_it_forgets ?? null,
                decay: config.decay ?? null,
                push: config.push ?? null,
                weights: config.weights ?? null,
                rewords: config.rewords ?? null,
                clock: config.clock ?? null,
                budget_tokens: config.budget_tokens ?? null,
                max_items: config.max_items ?? null,
                remember_hidden: config.remember_hidden ?? null,
                masks: config.masks ?? null,
                digest: config.digest ?? null,
                whole_messages: config.whole_messages ?? null,
                ...promptOf(settings()),
            },
        };
    }

    /** Sends souls that are new or changed, except forgotten ones.
     * @param {readonly Person[]} people @param {AbortSignal} [signal]
     * @param {(person: Person) => boolean} [isWanted] of the others only the names are sent */
    async function push(people, signal, isWanted = () => true) {
        const inBin = await loadForgotten(signal);
        const all = [...people.map(person => person.name), host.persona()];
        const names = [...new Set(all)].filter(Boolean);
        const wanted = people.filter(person => !inBin.has(person.soul) && isWanted(person));
        await Promise.all(
            wanted.map(async person => {
                const body = bodyOf(person, names);
                const json = JSON.stringify(body);
                if (pushed.get(person.soul) === json) return;
                await ask('PUT', `/souls/${person.soul}`, body, { signal });
                pushed.set(person.soul, json);
            }),
        );
    }

    return {
        push,
        loadForgotten,
        /** Everybody in the open chat, with souls made where they were missing. @returns {Promise<Person[]>} */
        inChat: () => Promise.all(host.members().map(personOf)),
        /** Saves a card's own settings. @param {Person} person @param {CardConfig} config */
        async configure(person, config) {
            await cards.configure(person, config);
            configured += 1;
        },
        /** @param {string} soul @returns {boolean} whether the sidecar was told of it, and has it since */
        isSent: soul => pushed.has(soul),
        /** @returns {number} how often settings of cards were saved */
        timesConfigured: () => configured,
        avatarRenamed: cards.renamed,
        avatarDeleted: cards.deleted,
        /** @param {string} soul @returns {boolean} false also when it was not asked yet */
        isForgotten: soul => forgotten?.has(soul) ?? false,
        /** The forgotten souls that can still be restored. @returns {Promise<Soul[]>} */
        async listForgotten() {
            forgotten = null;
            return [...(await loadForgotten())].map(([id, name]) => ({ id, name }));
        },
        /** Moves a whole soul to the sidecar's bin. Its cards stop remembering, also after the bin is emptied.
         * @param {Soul} soul */
        async forget({ id, name }) {
            await ask('DELETE', `/souls/${id}?confirm=${encodeURIComponent(name)}`);
            pushed.delete(id);
            forgotten?.set(id, name);
            await cards.setRemembering(id, false);
        },
        /** Restores a forgotten soul. @param {Soul} soul */
        async revive({ id, name }) {
            await ask('PUT', `/souls/${id}`, { name });
            pushed.delete(id);
            forgotten?.delete(id);
            await cards.setRemembering(id, true);
        },
        /** The sidecar may have lost everything (another data folder): the next push sends all again. */
        resetPushed() {
            pushed.clear();
            forgotten = null;
        },
    };
}

/** @typedef {ReturnType<typeof createPeople>} People */
