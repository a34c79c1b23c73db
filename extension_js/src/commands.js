// The macro {{soulmem}} and the slash command /soulmem-recall.

import { neutralise } from './recall/inject.js';
import { lastWords } from './recall/recall_request.js';

/** @typedef {import('./app.js').App} App */
/** @typedef {import('./base/strings.js').Say} Say */
/** @typedef {import('./base/types.js').RecallAnswer} RecallAnswer */

const TIMEOUT = 15_000; // ms

/** @param {App} app @param {Say} say */
export function registerCommands(app, say) {
    const { host } = app;

    /** Memories for a query, without a change in memory. @param {string} query empty: the last messages
     * @returns {Promise<string>} */
    async function recall(query) {
        const open = await app.chatSync.identify();
        if (!open) {
            host.toast('info', say('no_chat'));
            return '';
        }
        const avatar = host.speaker()?.avatar;
        const person = open.people.find(other => other.avatar === avatar) ?? open.people[0];
        const { budget, max_items } = app.settings();
        const question = {
            soul: person.soul,
            chat: open.record.chat,
            query: query.trim() || lastWords(host.chat()),
            type: 'quiet',
            budget_tokens: budget,
            max_items,
            context_from: null,
        };
        try {
            const asked = app.link.ask('POST', '/recall', question, { timeout: TIMEOUT });
            const { memories } = /** @type {RecallAnswer} */ (await asked);
            return neutralise(memories.map(memory => memory.text).join('\n'));
        } catch (error) {
            host.toast('warning', /** @type {Error} */ (error).message);
            return '';
        }
    }

    const { recaller } = app;
    host.registerMacro('soulmem', () => recaller.text(), say('macro_help'));
    host.registerCommand('soulmem-recall', recall, say('command_help'), say('command_argument'));
}
