// Which soul does each character of the chat have, and does the sidecar know it?

import { soulIdentity } from '../tavern/identity.js';
import { newId } from '../base/ids.js';

/** @typedef {import('../tavern/host.js').Host} Host */
/** @typedef {import('../tavern/host.js').Member} Member */
/** @typedef {import('../tavern/identity.js').CardConfig} CardConfig */
/** @typedef {import('../base/settings.js').Settings} Settings */
/** @typedef {Member & {soul: string, config: CardConfig}} Person */
/** @typedef {(method: string, path: string, body?: unknown, options?: {signal?: AbortSignal, timeout?: number, keepalive?: boolean}) => Promise<any>} Ask */

/** @param {Pick<Host, 'members' | 'cardField' | 'writeCard' | 'avatars' | 'saveSettings' | 'persona'>} host
 * @param {() => Settings} settings
 * @param {Ask} ask the sidecar */
export function createPeople(host, settings, ask) {
    const pushed = /** @type {Map<string, string>} */ (new Map()); // soul to what was last told of it
    let gone = /** @type {Map<string, string> | null} */ (null); // souls in the sidecar's bin, with their names; null: to be asked
    const writes = /** @type {Map<string, Promise<void>>} */ (new Map());

    /** @param {string} avatar @param {import('../tavern/identity.js').CardField} field */
    function write(avatar, field) {
        const queued = (writes.get(avatar) ?? Promise.resolve()).then(() =>
            host.writeCard(avatar, field),
        );
        writes.set(
            avatar,
            queued.catch(error =>
                console.warn('[SoulMem] the card could not be written', avatar, error),
            ),
        );
    }

    /** @param {string} avatar @param {string} soul */
    function register(avatar, soul) {
        if (settings().souls[avatar] === soul) return;
        settings().souls[avatar] = soul;
        host.saveSettings();
    }

    /** @param {Member} member @returns {Promise<Person>} */
    async function personOf(member) {
        const field = await host.cardField(member.avatar);
        const { soul, write: stale } = soulIdentity(
            field,
            member.avatar,
            settings().souls,
            host.avatars(),
            () => newId('s'),
        );
        register(member.avatar, soul);
        const config = gone?.has(soul)
            ? { ...field?.config, enabled: false }
            : (field?.config ?? {});
        if (stale)
            write(member.avatar, { soul, avatar: member.avatar, config: field?.config ?? {} });
        return { ...member, soul, config };
    }

    /** Everybody in the open chat, souls made where they were missing. @returns {Promise<Person[]>} */
    const present = () => Promise.all(host.members().map(personOf));

    /** Which souls the user has had forgotten: telling the sidecar of one would bring it back. Asked once. @param {AbortSignal} [signal] */
    async function look(signal) {
        if (gone) return;
        const { souls } = await ask('GET', '/souls?state=bin', undefined, { signal });
        gone = new Map(
            souls.map((/** @type {{id: string, name: string}} */ one) => [one.id, one.name]),
        );
    }

    /** Switches remembering on or off in every card of a soul. @param {string} soul @param {boolean} on */
    async function remember(soul, on) {
        for (const [avatar, known] of Object.entries(settings().souls)) {
            if (known !== soul || !host.avatars().has(avatar)) continue;
            const { enabled: _enabled, ...config } = (await host.cardField(avatar))?.config ?? {};
            write(avatar, { soul, avatar, config: on ? config : { ...config, enabled: false } });
            await writes.get(avatar);
        }
    }

    /** Tells the sidecar of souls that are new or changed, but of none that was forgotten.
     * @param {readonly Person[]} people @param {AbortSignal} [signal] @param {(person: Person) => boolean} [whom] the others lend their names only */
    async function push(people, signal, whom = () => true) {
        await look(signal);
        const names = [...new Set([...people.map(person => person.name), host.persona()])].filter(
            Boolean,
        );
        await Promise.all(
            people
                .filter(person => !gone?.has(person.soul) && whom(person))
                .map(async person => {
                    const body = {
                        name: person.name || person.avatar,
                        names: names.map(name => ({ name, aliases: [] })),
                        config: {
                            forgetting: person.config.forgetting ?? settings().forgetting,
                            scope: person.config.scope ?? settings().scope,
                        },
                    };
                    const told = JSON.stringify(body);
                    if (pushed.get(person.soul) === told) return;
                    await ask('PUT', `/souls/${person.soul}`, body, { signal });
                    pushed.set(person.soul, told);
                }),
        );
    }

    /** Saves a card's own settings. @param {Person} person @param {CardConfig} config */
    async function configure(person, config) {
        const kept = Object.fromEntries(
            Object.entries(config).filter(([, value]) => value !== undefined),
        );
        write(person.avatar, { soul: person.soul, avatar: person.avatar, config: kept });
        await writes.get(person.avatar);
    }

    return {
        present,
        push,
        configure,
        look,
        /** @param {string} soul */
        isGone: soul => gone?.has(soul) ?? false,
        /** The forgotten ones that can still be had back. @returns {Promise<{id: string, name: string}[]>} */
        async forgotten() {
            gone = null;
            await look();
            return [.../** @type {Map<string, string>} */ (/** @type {unknown} */ (gone))].map(
                ([id, name]) => ({ id, name }),
            );
        },
        /** Puts a whole soul into the sidecar's bin; its cards remember nothing more, also when the bin is emptied.
         * @param {{id: string, name: string}} soul */
        async forget({ id, name }) {
            await ask('DELETE', `/souls/${id}?confirm=${encodeURIComponent(name)}`);
            pushed.delete(id);
            gone?.set(id, name);
            await remember(id, false);
        },
        /** Brings it back. @param {{id: string, name: string}} soul */
        async revive({ id, name }) {
            await ask('PUT', `/souls/${id}`, { name });
            pushed.delete(id);
            gone?.delete(id);
            await remember(id, true);
        },
        /** The sidecar may have forgotten (another data folder): tell everything again. */
        forgetPushed() {
            pushed.clear();
            gone = null;
        },
        /** @param {string} from avatar @param {string} to avatar */
        renamed(from, to) {
            const { souls } = settings();
            if (souls[from]) {
                souls[to] = souls[from];
                delete souls[from];
                host.saveSettings();
            }
        },
        /** @param {string} avatar */
        deleted(avatar) {
            delete settings().souls[avatar];
            host.saveSettings();
        },
    };
}

/** @typedef {ReturnType<typeof createPeople>} People */
