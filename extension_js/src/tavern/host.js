// What is SillyTavern doing, and how is it told? The only module that touches its context.
//
// Stable ids and classes for tests: see ../README.md.

import { shielded, unshieldPrompt } from './macro_shield.js';

/** @typedef {import('../base/types.js').StMessage} StMessage */
/** @typedef {import('../base/types.js').ChatRecord} ChatRecord */
/** @typedef {import('../base/types.js').Injection} Injection */
/** @typedef {import('./identity.js').CardField} CardField */
/** @typedef {{avatar: string, name: string, muted: boolean}} Member */

/** SillyTavern's names of the events heard here. Not every version has all of them.
 * @typedef {'APP_READY' | 'CHAT_CHANGED' | 'CHAT_RENAMED' | 'CHAT_DELETED' | 'GROUP_CHAT_DELETED' | 'CHARACTER_RENAMED' | 'CHARACTER_DUPLICATED' | 'CHARACTER_DELETED'
 *   | 'MESSAGE_SENT' | 'MESSAGE_RECEIVED' | 'MESSAGE_EDITED' | 'MESSAGE_UPDATED' | 'MESSAGE_DELETED' | 'MESSAGE_SWIPED' | 'MESSAGE_SWIPE_DELETED'
 *   | 'GENERATION_STARTED' | 'GENERATION_STOPPED' | 'GENERATION_ENDED' | 'CHARACTER_MESSAGE_RENDERED' | 'USER_MESSAGE_RENDERED' | 'MORE_MESSAGES_LOADED'
 *   | 'CHAT_COMPLETION_PROMPT_READY' | 'GENERATE_AFTER_COMBINE_PROMPTS' | 'GROUP_UPDATED' | 'CHARACTER_EDITED' | 'WORLD_INFO_ACTIVATED'} EventName */

const FOLDER =
    new URL('../..', import.meta.url).pathname.split('/').slice(0, -2).at(-1) ?? 'SoulMem';

/** Worlds that are linked beside the card's own; SillyTavern's context does not tell them.
 * @param {string} file of the card, without ending @returns {Promise<string[]>} */
async function additionalWorlds(file) {
    try {
        const path = '/scripts/world-info.js';
        const { world_info } = await import(path);
        return (
            world_info?.charLore?.find((/** @type {any} */ one) => one.name === file)?.extraBooks ??
            []
        );
    } catch {
        return []; // a SillyTavern that keeps them elsewhere
    }
}

/** @param {string} text @returns {string} as HTML that shows it */
const escaped = text => text.replace(/[&<>"']/g, sign => `&#${sign.charCodeAt(0)};`);

/** @param {() => any} getContext SillyTavern.getContext */
export function createHost(getContext) {
    const ctx = getContext;

    /** @param {string} avatar @returns {number} position in SillyTavern's list, or -1 */
    const indexOf = avatar =>
        ctx().characters.findIndex((/** @type {any} */ card) => card.avatar === avatar);

    /** @returns {any} the open group or null */
    const group = () =>
        ctx().groupId
            ? (ctx().groups.find((/** @type {any} */ one) => one.id === ctx().groupId) ?? null)
            : null;

    /** Everybody in the open chat, in order. @returns {Member[]} */
    function members() {
        const { characters, characterId } = ctx();
        const open = group();
        const avatars = open
            ? open.members
            : characterId === undefined
              ? []
              : [characters[characterId]?.avatar];
        return avatars.flatMap((/** @type {string} */ avatar) => {
            const card = characters[indexOf(avatar)];
            return card
                ? [
                      {
                          avatar,
                          name: card.name,
                          muted: Boolean(open?.disabled_members?.includes(avatar)),
                      },
                  ]
                : [];
        });
    }

    return {
        folder: decodeURIComponent(FOLDER),
        members,
        group,

        /** @param {EventName} name @param {(...args: any[]) => unknown} handler must return at once: SillyTavern waits for it */
        on(name, handler) {
            const event = ctx().eventTypes[name];
            if (event) ctx().eventSource.on(event, handler);
        },

        /** @returns {StMessage[]} the live array */
        chat: () => ctx().chat,
        /** @returns {string | null} file name without ending, or the group chat's id; null when no chat is open */
        chatName: () => ctx().getCurrentChatId() || null,
        /** @returns {Record<string, any>} live; never keep it across a chat change */
        metadata: () => ctx().chatMetadata,
        /** @returns {Partial<ChatRecord> | undefined} */
        record: () => ctx().chatMetadata.soulmem,
        /** @param {ChatRecord} record */
        setRecord(record) {
            ctx().chatMetadata.soulmem = record;
        },
        /** @returns {Promise<void>} one save of the whole chat file, which SillyTavern does anyway after each reply */
        saveChat: () => ctx().saveChat(),
        /** @returns {boolean} a reply is being made */
        busy: () => document.body.dataset.generating === 'true',

        /** Whose reply is being made. @returns {Member | null} */
        speaker() {
            const { characters, characterId } = ctx();
            const card = characterId === undefined ? undefined : characters[characterId];
            return card
                ? (members().find(one => one.avatar === card.avatar) ?? {
                      avatar: card.avatar,
                      name: card.name,
                      muted: false,
                  })
                : null;
        },
        /** @returns {string} the user's name */
        persona: () => ctx().name1,
        /** @returns {boolean} narrators count as chat messages in the prompt */
        narratorsCount: () => ctx().mainApi !== 'openai',

        /** @returns {Set<string>} */
        avatars: () => new Set(ctx().characters.map((/** @type {any} */ card) => card.avatar)),
        /** Our field of a card; a card that is only listed so far is loaded first.
         * @param {string} avatar @returns {Promise<CardField | undefined>} */
        async cardField(avatar) {
            const index = indexOf(avatar);
            if (ctx().characters[index]?.shallow) await ctx().unshallowCharacter(String(index));
            return ctx().characters[index]?.data?.extensions?.soulmem;
        },
        /** @param {string} avatar @param {CardField} field */
        async writeCard(avatar, field) {
            const index = indexOf(avatar);
            if (index >= 0) await ctx().writeExtensionField(index, 'soulmem', field);
        },

        /** @returns {Record<string, any>} the live object stored under our name */
        stored() {
            ctx().extensionSettings.soulmem ??= {};
            return ctx().extensionSettings.soulmem;
        },
        saveSettings: () => ctx().saveSettingsDebounced(),
        /** @returns {boolean} Vector Storage recalls chat messages as well */
        vectorsRecall: () =>
            Boolean(ctx().extensionSettings.vectors?.enabled_chats) &&
            !ctx().extensionSettings.disabledExtensions?.includes('vectors'),
        /** @returns {Record<string, string>} */
        headers: () => ctx().getRequestHeaders(),
        page: () => ({
            loopback: ['127.0.0.1', 'localhost', '[::1]'].includes(location.hostname),
            secure: window.isSecureContext,
            origin: location.origin,
        }),

        /** @param {readonly Injection[]} injections */
        inject(injections) {
            for (const { key, text, position, depth, role } of injections)
                ctx().setExtensionPrompt(key, text, position, depth, false, role);
        },
        /** @param {readonly string[]} keys */
        clear(keys) {
            for (const key of keys)
                if (ctx().extensionPrompts[key]) ctx().setExtensionPrompt(key, '', -1, 0);
        },
        /** @param {string} text @returns {Promise<number>} */
        countTokens: text => ctx().getTokenCountAsync(text),

        /** The user's connection profiles. @returns {{id: string, name: string}[]} */
        profiles: () =>
            (ctx().extensionSettings.connectionManager?.profiles ?? []).map(
                (/** @type {any} */ one) => ({
                    id: String(one.id),
                    name: String(one.name ?? one.id),
                }),
            ),
        /** Asks a language model through the user's connection: the profile chosen for it, or the current one.
         * @param {{system: string, user: string, max_tokens: number}} call @returns {Promise<string>} */
        async complete({ system, user, max_tokens }) {
            const messages = (/** @type {(text: string) => string} */ change) => [
                { role: 'system', content: change(system) },
                { role: 'user', content: change(user) },
            ];
            const {
                extensionSettings,
                ConnectionManagerRequestService,
                generateRaw,
                eventSource,
                eventTypes,
            } = ctx();
            const profile = extensionSettings.soulmem?.llm_profile;
            if (
                profile &&
                ConnectionManagerRequestService &&
                extensionSettings.connectionManager?.profiles?.some(
                    (/** @type {any} */ one) => one.id === profile,
                )
            ) {
                return String(
                    (
                        await ConnectionManagerRequestService.sendRequest(
                            profile,
                            messages(text => text),
                            max_tokens,
                        )
                    )?.content ?? '',
                ); // runs no macros
            }
            const ready = [
                eventTypes?.CHAT_COMPLETION_PROMPT_READY,
                eventTypes?.GENERATE_AFTER_COMBINE_PROMPTS,
            ].filter(Boolean);
            for (const event of ready)
                (eventSource.makeLast ?? eventSource.on).call(eventSource, event, unshieldPrompt); // behind template extensions
            try {
                return String(
                    (await generateRaw({
                        prompt: messages(shielded),
                        responseLength: max_tokens,
                        trimNames: false,
                    })) ?? '',
                );
            } finally {
                for (const event of ready) eventSource.removeListener(event, unshieldPrompt);
            }
        },
        /** What the prompt surely holds beside the chat, its macros resolved: the speaker's card, the persona, the author's note.
         * @returns {string[]} */
        cardTexts() {
            const { getCharacterCardFields, chatMetadata, substituteParams } = ctx();
            const card = getCharacterCardFields?.() ?? {};
            const note = chatMetadata.note_prompt;
            const texts = [
                card.description,
                card.personality,
                card.scenario,
                card.persona,
                card.system,
                card.jailbreak,
                card.charDepthPrompt,
                card.mesExamples,
            ];
            return [
                ...texts,
                note && substituteParams ? substituteParams(String(note)) : '',
            ].filter(text => typeof text === 'string' && text);
        },
        /** @param {string} text of a card or a world @returns {string} with its macros resolved, those that change something left alone */
        resolved: text => {
            const { name1, name2 } = ctx();
            return text
                .replace(/\{\{user\}\}|<user>/gi, () => name1)
                .replace(/\{\{char\}\}|<(?:bot|char)>/gi, () => name2);
        },

        /** @param {string} english @param {string} key @returns {string} in the user's language */
        translate: (english, key) => ctx().translate(english, key),
        /** @returns {string} the language of the page, as dates need it */
        locale() {
            const told = ctx().getCurrentLocale?.();
            return typeof told === 'string' && Intl.DateTimeFormat.supportedLocalesOf([told]).length
                ? told
                : navigator.language;
        },
        /** @param {string} name of a template beside this module's folder @returns {Promise<string>} its translated HTML */
        template: name =>
            ctx().renderExtensionTemplateAsync(
                `third-party/${decodeURIComponent(FOLDER)}`,
                `extension_js/${name}`,
            ),
        /** @param {Element} content @param {string} closeLabel @param {{large?: boolean, mayClose?: () => Promise<boolean>}} [options]
         * @returns {{closed: Promise<unknown>, close: () => unknown}} */
        popup(content, closeLabel, { large = false, mayClose } = {}) {
            const { Popup, POPUP_TYPE } = ctx();
            const popup = new Popup(content, POPUP_TYPE.TEXT, '', {
                okButton: closeLabel,
                wide: true,
                large,
                allowVerticalScrolling: true,
                leftAlign: true,
                onClosing: mayClose ?? null,
            });
            return { closed: popup.show(), close: () => popup.completeCancelled() };
        },
        /** Names of the worlds linked to a character: its own, and the additional ones. @param {string} avatar @returns {Promise<string[]>} */
        async worldsOf(avatar) {
            const index = indexOf(avatar);
            if (ctx().characters[index]?.shallow) await ctx().unshallowCharacter(String(index));
            const own = ctx().characters[index]?.data?.extensions?.world;
            const more = await additionalWorlds(avatar.replace(/\.[^.]+$/, ''));
            return [...new Set([own, ...more])].filter(name => typeof name === 'string' && name);
        },
        /** @param {Element} content @param {string} yes @param {string} no @returns {Promise<boolean>} */
        async ask(content, yes, no) {
            const { Popup, POPUP_TYPE, POPUP_RESULT } = ctx();
            const popup = new Popup(content, POPUP_TYPE.CONFIRM, '', {
                okButton: yes,
                cancelButton: no,
                leftAlign: true,
            });
            return (await popup.show()) === POPUP_RESULT.AFFIRMATIVE;
        },
        /** @param {string} question as text: chat names may hold anything @returns {Promise<boolean>} */
        async confirm(question) {
            const { Popup, POPUP_RESULT } = ctx();
            return (
                (await Popup.show.confirm('SoulMem', escaped(question))) ===
                POPUP_RESULT.AFFIRMATIVE
            );
        },
        /** @param {string} question as text @param {string} [yes] on the button @returns {Promise<string | null>} what was typed; null when cancelled */
        prompt: async (question, yes) =>
            (await ctx().Popup.show.input(
                'SoulMem',
                escaped(question),
                '',
                yes ? { okButton: yes } : {},
            )) ?? null,
        /** Shows a message of the open chat, loading what is above the shown part. @param {number} index */
        showMessage: index => ctx().executeSlashCommandsWithOptions(`/chat-jump ${index}`),
        /** Opens another chat of the open character. @param {string} name @returns {Promise<unknown>} */
        openChat: name => ctx().openCharacterChat(name),
        /** @param {'info' | 'success' | 'warning' | 'error'} kind @param {string} text
         * @param {{timeOut?: number, extendedTimeOut?: number, onclick?: () => unknown}} [options] of toastr */
        toast: (kind, text, options) =>
            /** @type {any} */ (globalThis).toastr?.[kind](text, 'SoulMem', {
                escapeHtml: true,
                ...options,
            }),

        /** @param {string} name @param {() => string} handler @param {string} description */
        registerMacro(name, handler, description) {
            const { macros, registerMacro } = ctx();
            if (macros?.register) macros.register(name, { handler, description });
            else registerMacro?.(name, handler, description);
        },
        /** @param {string} name @param {(text: string) => Promise<string>} run @param {string} help @param {string} argument */
        registerCommand(name, run, help, argument) {
            const { SlashCommandParser, SlashCommand, SlashCommandArgument, ARGUMENT_TYPE } = ctx();
            SlashCommandParser.addCommandObject(
                SlashCommand.fromProps({
                    name,
                    callback: (/** @type {unknown} */ _named, /** @type {unknown} */ text) =>
                        run(String(text ?? '')),
                    returns: 'text',
                    helpString: help,
                    unnamedArgumentList: [
                        SlashCommandArgument.fromProps({
                            description: argument,
                            typeList: [ARGUMENT_TYPE.STRING],
                            isRequired: false,
                        }),
                    ],
                }),
            );
        },
    };
}

/** @typedef {ReturnType<typeof createHost>} Host */
