// Our field in the character cards: which soul a card has, and its own settings.

import { newId } from '../base/ids.js';
import { cardConfig, soulIdentity } from '../tavern/identity.js';

/** @typedef {import('../tavern/host.js').Host} Host */
/** @typedef {import('../tavern/identity.js').CardConfig} CardConfig */
/** @typedef {import('../tavern/identity.js').CardField} CardField */
/** @typedef {import('../base/settings.js').Settings} Settings */

/** @param {Pick<Host, 'cardField' | 'writeCard' | 'avatars' | 'saveSettings'>} host @param {() => Settings} settings */
export function createSoulCards(host, settings) {
    const writes = /** @type {Map<string, Promise<void>>} */ (new Map()); // the last write of each card

    /** Writes after the earlier writes of the same card. Never fails: a card that cannot be written is reported.
     * @param {string} avatar @param {CardField} field @returns {Promise<void>} */
    function write(avatar, field) {
        const written = (writes.get(avatar) ?? Promise.resolve())
            .then(() => host.writeCard(avatar, field))
            .catch(error => console.warn('[SoulMem] the card could not be written', avatar, error));
        writes.set(avatar, written);
        return written;
    }

    /** @param {string} avatar @param {string} soul */
    function register(avatar, soul) {
        if (settings().souls[avatar] === soul) return;
        settings().souls[avatar] = soul;
        host.saveSettings();
    }

    /** Saves a card's own settings. SillyTavern merges what is written into the card, so that one which is taken
     * back has to be null there.
     * @param {{avatar: string, soul: string}} person @param {CardConfig} config */
    async function configure({ avatar, soul }, config) {
        const before = Object.keys((await host.cardField(avatar))?.config ?? {});
        const values = Object.entries(config).filter(([, value]) => value !== undefined);
        const gone = before.map(key => [key, null]);
        await write(avatar, { soul, avatar, config: Object.fromEntries([...gone, ...values]) });
    }

    return {
        /** The soul of a card, made when it has none, and the card's own settings.
         * @param {string} avatar @returns {Promise<{soul: string, config: CardConfig}>} */
        async read(avatar) {
            const field = await host.cardField(avatar);
            const registry = settings().souls;
            const identity = soulIdentity(field, avatar, registry, host.avatars(), () =>
                newId('s'),
            );
            const { soul } = identity;
            const config = cardConfig(field);
            register(avatar, soul);
            if (identity.write) void write(avatar, { soul, avatar, config });
            return { soul, config };
        },
        configure,
        /** Switches remembering on or off in every card of a soul.
         * @param {string} soul @param {boolean} on */
        async setRemembering(soul, on) {
            for (const [avatar, other] of Object.entries(settings().souls)) {
                if (other !== soul || !host.avatars().has(avatar)) continue;
                const config = cardConfig(await host.cardField(avatar));
                await configure({ avatar, soul }, { ...config, enabled: on ? undefined : false });
            }
        },
        /** @param {string} from avatar @param {string} to avatar */
        renamed(from, to) {
            const { souls } = settings();
            if (!souls[from]) return;
            souls[to] = souls[from];
            delete souls[from];
            host.saveSettings();
        },
        /** @param {string} avatar */
        deleted(avatar) {
            delete settings().souls[avatar];
            host.saveSettings();
        },
    };
}
