// The prompt in SillyTavern's context: what is in it, what is injected, and requests to a language model.

import { shielded, unshieldPrompt } from './macro_shield.js';

/** @typedef {import('../base/types.js').Injection} Injection */

/** @param {() => any} getContext SillyTavern.getContext */
export function createPromptAccess(getContext) {
    /** @returns {any[]} the user's connection profiles */
    const rawProfiles = () => getContext().extensionSettings.connectionManager?.profiles ?? [];

    /** Sends a prompt through the current connection. SillyTavern runs macros in it, so they are shielded
     * before and unshielded when the prompt is ready.
     * @param {{role: string, content: string}[]} messages @param {number} responseLength tokens @returns {Promise<string>} */
    async function generate(messages, responseLength) {
        const { generateRaw, eventSource, eventTypes } = getContext();
        const { CHAT_COMPLETION_PROMPT_READY, GENERATE_AFTER_COMBINE_PROMPTS } = eventTypes ?? {};
        const events = [CHAT_COMPLETION_PROMPT_READY, GENERATE_AFTER_COMBINE_PROMPTS].filter(
            Boolean,
        );
        for (const event of events) {
            const subscribe = eventSource.makeLast ?? eventSource.on; // behind template extensions
            subscribe.call(eventSource, event, unshieldPrompt);
        }
        const prompt = messages.map(({ role, content }) => ({ role, content: shielded(content) }));
        try {
            return String((await generateRaw({ prompt, responseLength, trimNames: false })) ?? '');
        } finally {
            for (const event of events) eventSource.removeListener(event, unshieldPrompt);
        }
    }

    return {
        /** @returns {boolean} whether narrators count as chat messages in the prompt */
        narratorsCount: () => getContext().mainApi !== 'openai',

        /** @param {readonly Injection[]} injections */
        inject(injections) {
            for (const { key, text, position, depth, role } of injections) {
                getContext().setExtensionPrompt(key, text, position, depth, false, role);
            }
        },
        /** @param {readonly string[]} keys of injections to remove */
        clear(keys) {
            for (const key of keys) {
                if (getContext().extensionPrompts[key])
                    getContext().setExtensionPrompt(key, '', -1, 0);
            }
        },
        /** @returns {number} tokens that a prompt may have; 0 where SillyTavern does not tell */
        contextSize() {
            const { mainApi, chatCompletionSettings, maxContext } = getContext();
            const of = chatCompletionSettings ?? {};
            const reply = /** @type {HTMLInputElement | null} */ (document.getElementById('amount_gen'));
            const tokens =
                mainApi === 'openai'
                    ? Number(of.openai_max_context) - Number(of.openai_max_tokens)
                    : Number(maxContext) - Number(reply?.value ?? 0);
            return tokens > 0 ? tokens : 0;
        },
        /** @param {string} text @returns {Promise<number>} */
        countTokens: text => getContext().getTokenCountAsync(text),

        /** What the prompt holds beside the chat, with macros resolved: the speaker's card, the persona, the
         * author's note. @returns {string[]} */
        cardTexts() {
            const { getCharacterCardFields, chatMetadata, substituteParams } = getContext();
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
                note && substituteParams ? substituteParams(String(note)) : '',
            ];
            return texts.filter(text => typeof text === 'string' && text);
        },
        /** A text of a card or a world with the names filled in. Macros that change something are left alone.
         * @param {string} text @returns {string} */
        resolved(text) {
            const { name1, name2 } = getContext();
            return text
                .replace(/\{\{user\}\}|<user>/gi, () => name1)
                .replace(/\{\{char\}\}|<(?:bot|char)>/gi, () => name2);
        },

        /** The user's connection profiles. @returns {{id: string, name: string}[]} */
        profiles: () =>
            rawProfiles().map(({ id, name }) => ({ id: String(id), name: String(name ?? id) })),
        /** Asks a language model through the user's connection: the profile chosen for it, or the current one.
         * @param {{system: string, user: string, max_tokens: number}} call @returns {Promise<string>} */
        async complete({ system, user, max_tokens }) {
            const { extensionSettings, ConnectionManagerRequestService } = getContext();
            const messages = [
                { role: 'system', content: system },
                { role: 'user', content: user },
            ];
            const chosen = extensionSettings.soulmem?.llm_profile;
            const exists = chosen && rawProfiles().some(profile => profile.id === chosen);
            if (!exists || !ConnectionManagerRequestService) return generate(messages, max_tokens);
            const request = ConnectionManagerRequestService.sendRequest(
                chosen,
                messages,
                max_tokens,
            );
            return String((await request)?.content ?? ''); // SillyTavern runs no macros in it
        },
    };
}
