// The open chat, its characters and their cards in SillyTavern's context.

/** @typedef {import('../base/types.js').StMessage} StMessage */
/** @typedef {import('../base/types.js').ChatRecord} ChatRecord */
/** @typedef {import('./identity.js').CardField} CardField */
/** @typedef {{avatar: string, name: string, muted: boolean}} Member */

/** Names of the worlds linked in addition to the card's own. SillyTavern's context does not have them.
 * @param {string} file of the card, without ending @returns {Promise<string[]>} */
async function additionalWorlds(file) {
    try {
        const path = '/scripts/world-info.js';
        const { world_info } = await import(path);
        const ofFile = (/** @type {any} */ entry) => entry.name === file;
        return world_info?.charLore?.find(ofFile)?.extraBooks ?? [];
    } catch {
        return []; // another version of SillyTavern keeps them elsewhere
    }
}

/** @param {() => any} getContext SillyTavern.getContext */
export function createChatAccess(getContext) {
    /** @param {string} avatar @returns {number} position in SillyTavern's list, or -1 */
    const indexOf = avatar =>
        getContext().characters.findIndex((/** @type {any} */ card) => card.avatar === avatar);

    /** A card; one that is only listed so far is loaded first.
     * @param {string} avatar @returns {Promise<any>} undefined when there is none */
    async function loadedCard(avatar) {
        const index = indexOf(avatar);
        const { characters, unshallowCharacter } = getContext();
        if (characters[index]?.shallow) await unshallowCharacter(String(index));
        return getContext().characters[index];
    }

    /** @returns {any} the open group or null */
    function group() {
        const { groupId, groups } = getContext();
        if (!groupId) return null;
        return groups.find((/** @type {any} */ other) => other.id === groupId) ?? null;
    }

    /** Everybody in the open chat, in order. @returns {Member[]} */
    function members() {
        const { characters, characterId } = getContext();
        const open = group();
        const single = characterId === undefined ? [] : [characters[characterId]?.avatar];
        const avatars = /** @type {string[]} */ (open ? open.members : single);
        return avatars.flatMap(avatar => {
            const card = characters[indexOf(avatar)];
            if (!card) return [];
            const muted = Boolean(open?.disabled_members?.includes(avatar));
            return [{ avatar, name: card.name, muted }];
        });
    }

    return {
        members,
        group,

        /** @returns {StMessage[]} the live array */
        chat: () => getContext().chat,
        /** @returns {string | null} file name without ending, or the group chat's id; null when no chat is open */
        chatName: () => getContext().getCurrentChatId() || null,
        /** @returns {Record<string, any>} live; never keep it across a chat change */
        metadata: () => getContext().chatMetadata,
        /** @returns {Partial<ChatRecord> | undefined} */
        record: () => getContext().chatMetadata.soulmem,
        /** @param {ChatRecord} record */
        setRecord(record) {
            getContext().chatMetadata.soulmem = record;
        },
        /** Saves the whole chat file, as SillyTavern does after each reply. @returns {Promise<void>} */
        saveChat: () => getContext().saveChat(),
        /** @returns {boolean} whether a reply is being generated */
        busy: () => document.body.dataset.generating === 'true',

        /** The character whose reply is being generated. @returns {Member | null} */
        speaker() {
            const { characters, characterId } = getContext();
            const card = characterId === undefined ? undefined : characters[characterId];
            if (!card) return null;
            const member = members().find(other => other.avatar === card.avatar);
            return member ?? { avatar: card.avatar, name: card.name, muted: false };
        },
        /** @returns {string} the user's name */
        persona: () => getContext().name1,

        /** @returns {Set<string>} of all characters */
        avatars: () =>
            new Set(getContext().characters.map((/** @type {any} */ card) => card.avatar)),
        /** @param {string} avatar @returns {string} address of its picture */
        portrait: avatar =>
            getContext().getThumbnailUrl?.('avatar', avatar) ??
            `/thumbnail?type=avatar&file=${encodeURIComponent(avatar)}`,
        /** The card of somebody with one of these names, in any case.
         * @param {readonly string[]} names @returns {string | undefined} its avatar */
        avatarNamed(names) {
            const wanted = new Set(names.map(name => name.toLowerCase()));
            const isWanted = (/** @type {any} */ card) => wanted.has(String(card.name).toLowerCase());
            return getContext().characters.find(isWanted)?.avatar;
        },
        /** @returns {string | undefined} address of the user's picture, where SillyTavern tells it */
        personaPortrait() {
            const { name1, powerUserSettings, getThumbnailUrl } = getContext();
            const personas = Object.entries(powerUserSettings?.personas ?? {});
            const avatar = personas.find(([, name]) => name === name1)?.[0];
            return avatar && getThumbnailUrl?.('persona', avatar);
        },
        /** Our field of a card. @param {string} avatar @returns {Promise<CardField | undefined>} */
        cardField: async avatar => (await loadedCard(avatar))?.data?.extensions?.soulmem,
        /** @param {string} avatar @param {CardField} field */
        async writeCard(avatar, field) {
            const index = indexOf(avatar);
            if (index >= 0) await getContext().writeExtensionField(index, 'soulmem', field);
        },
        /** Names of the worlds linked to a character: its own and the additional ones.
         * @param {string} avatar @returns {Promise<string[]>} */
        async worldsOf(avatar) {
            const own = (await loadedCard(avatar))?.data?.extensions?.world;
            const additional = await additionalWorlds(avatar.replace(/\.[^.]+$/, ''));
            const names = [...new Set([own, ...additional])];
            return names.filter(name => typeof name === 'string' && name);
        },

        /** Name of the world that is bound to the open chat; empty without one. @returns {string} */
        lorebookOfChat: () => String(getContext().chatMetadata?.world_info ?? ''),
        /** Files in the data bank of a character and of the open chat, on SillyTavern's server.
         * @param {string} avatar @returns {{name: string, url: string}[]} */
        dataBank(avatar) {
            const { extensionSettings, chatMetadata } = getContext();
            const lists = [
                extensionSettings.character_attachments?.[avatar],
                chatMetadata?.attachments,
            ];
            return lists
                .flatMap(list => (Array.isArray(list) ? list : []))
                .filter(file => typeof file?.url === 'string' && /^\/(?!\/)/.test(file.url))
                .map(file => ({ name: String(file.name ?? file.url), url: file.url }));
        },

        /** Index of the first message on the page; 0 where none is. @returns {number} */
        firstShown: () => Number(document.querySelector('#chat .mes')?.getAttribute('mesid') ?? 0),
        /** Puts this many of the messages above the first one on the page. @param {number} count */
        showEarlier: count => getContext().executeSlashCommandsWithOptions(`/chat-render ${count}`),
        /** Scrolls to a message of the open chat. What lies between it and the first message on the page is
         * put there in one step. @param {number} index */
        showMessage: index => getContext().executeSlashCommandsWithOptions(`/chat-jump ${index}`),
        /** Opens another chat of the open character. @param {string} name @returns {Promise<unknown>} */
        openChat: name => getContext().openCharacterChat(name),
    };
}
