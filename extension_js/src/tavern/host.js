// SillyTavern as the extension uses it. Only the host modules touch SillyTavern's context.

import { createChatAccess } from './host_chat.js';
import { createPromptAccess } from './host_prompt.js';
import { createRegexAccess } from './prompt_regexes.js';
import { createPageAccess } from './host_page.js';
import { createScriptAccess } from './host_scripts.js';

/** SillyTavern's names of the events used here. Not every version has all of them.
 * @typedef {'APP_READY' | 'CHAT_CHANGED' | 'CHAT_RENAMED' | 'CHAT_DELETED' | 'GROUP_CHAT_DELETED'
 *   | 'CHARACTER_RENAMED' | 'CHARACTER_DUPLICATED' | 'CHARACTER_DELETED' | 'CHARACTER_EDITED'
 *   | 'MESSAGE_SENT' | 'MESSAGE_RECEIVED' | 'MESSAGE_EDITED' | 'MESSAGE_UPDATED' | 'MESSAGE_DELETED'
 *   | 'MESSAGE_SWIPED' | 'MESSAGE_SWIPE_DELETED' | 'MORE_MESSAGES_LOADED'
 *   | 'GENERATION_STARTED' | 'GENERATION_STOPPED' | 'GENERATION_ENDED'
 *   | 'CHARACTER_MESSAGE_RENDERED' | 'USER_MESSAGE_RENDERED' | 'GROUP_UPDATED' | 'WORLD_INFO_ACTIVATED'
 *   | 'CHAT_COMPLETION_PROMPT_READY' | 'GENERATE_AFTER_COMBINE_PROMPTS'} EventName */

/** @typedef {import('./host_chat.js').Member} Member */

/** @param {() => any} getContext SillyTavern.getContext */
export function createHost(getContext) {
    return {
        ...createChatAccess(getContext),
        ...createPromptAccess(getContext),
        ...createPageAccess(getContext),
        ...createScriptAccess(getContext),
        ...createRegexAccess(getContext),

        /** @param {EventName} name
         * @param {(...args: any[]) => unknown} handler must return at once: SillyTavern waits for it */
        on(name, handler) {
            const { eventTypes, eventSource } = getContext();
            if (eventTypes[name]) eventSource.on(eventTypes[name], handler);
        },
        /** @returns {Record<string, any>} the live object of our settings */
        stored() {
            getContext().extensionSettings.soulmem ??= {};
            return getContext().extensionSettings.soulmem;
        },
        /** Removes our settings; they come back with the next look at them. */
        dropStored() {
            delete getContext().extensionSettings.soulmem;
        },
        saveSettings: () => getContext().saveSettingsDebounced(),
        /** @returns {boolean} whether Vector Storage recalls chat messages as well */
        vectorsRecall() {
            const { vectors, disabledExtensions } = getContext().extensionSettings;
            return Boolean(vectors?.enabled_chats) && !disabledExtensions?.includes('vectors');
        },
        /** @returns {Record<string, string>} headers for requests to SillyTavern's server */
        headers: () => getContext().getRequestHeaders(),
    };
}

/** @typedef {ReturnType<typeof createHost>} Host */
