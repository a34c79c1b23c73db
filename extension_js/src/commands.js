// What can be typed: the {{soulmem}} macro and /soulmem-recall.

import { neutralise } from './recall/inject.js';
import { lastWords } from './recall/recaller.js';

/** @typedef {import('./app.js').App} App */
/** @typedef {import('./base/strings.js').Say} Say */
/** @typedef {import('./base/types.js').Memory} Memory */

/** @param {App} app @param {Say} say */
export function registerCommands(app, say) {
    app.host.registerMacro('soulmem', () => app.recaller.text(), say('macro_help'));
    app.host.registerCommand(
        'soulmem-recall',
        async text => {
            const open = await app.keeper.identify();
            if (!open) {
                app.host.toast('info', say('no_chat'));
                return '';
            }
            const avatar = app.host.speaker()?.avatar;
            const person = open.people.find(one => one.avatar === avatar) ?? open.people[0];
            try {
                const answer = await app.link.ask(
                    'POST',
                    '/recall',
                    {
                        soul: person.soul,
                        chat: open.record.chat,
                        query: text.trim() || lastWords(app.host.chat()),
                        type: 'quiet',
                        budget_tokens: app.settings().budget,
                        max_items: app.settings().max_items,
                        context_from: null,
                    },
                    { timeout: 15_000 },
                );
                return neutralise(
                    answer.memories.map((/** @type {Memory} */ memory) => memory.text).join('\n'),
                );
            } catch (error) {
                app.host.toast('warning', /** @type {Error} */ (error).message);
                return '';
            }
        },
        say('command_help'),
        say('command_argument'),
    );
}
