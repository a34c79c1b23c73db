// What the slash commands share: whose memory is meant, failures in words, and arguments as typed.

import { askedSoul } from '../recall/asked_soul.js';
import { neutralise } from '../recall/inject.js';
import { errorTextOf } from '../widgets/error_text.js';

/** @typedef {import('../app.js').App} App */
/** @typedef {import('../base/strings.js').Say} Say */
/** @typedef {import('../tavern/host_scripts.js').Argument} Argument */
/** @typedef {{soul: string, chat: string, name: string}} Asked */

/** Tags as typed: separated by commas. @param {unknown} typed */
export const tagsOf = typed =>
    String(typed ?? '')
        .split(/[,，、]/)
        .map(tag => tag.trim())
        .filter(Boolean);

/** @param {string | undefined} typed */
export const isYes = typed => ['true', '1', 'on', 'yes'].includes(String(typed).toLowerCase());

/** A typed number within bounds. @param {string | undefined} typed @param {number} least @param {number} most
 * @param {number} fallback where nothing, or no number, was typed @returns {number} */
export function numberOf(typed, least, most, fallback) {
    const number = typed?.trim() ? Number(typed) : NaN;
    return Number.isFinite(number) ? Math.min(most, Math.max(least, number)) : fallback;
}

/** Memories as a command returns them, with no macro that SillyTavern would run.
 * @param {readonly {id: string, kind: string, text: string, why?: string}[]} memories
 * @param {string | undefined} as `json` for a list of objects, else one text a line */
export function memoriesAs(memories, as) {
    const rows = memories.map(({ id, kind, text, why }) => ({
        id,
        kind,
        text: neutralise(text),
        ...(why && { why }),
    }));
    return as === 'json' ? JSON.stringify(rows) : rows.map(row => row.text).join('\n');
}

/** @param {App} app @param {Say} say */
export function createCommandParts(app, say) {
    const { host } = app;
    return {
        /** @returns {Argument} how the result is returned */
        as: () => ({
            help: say('command_as'),
            fallback: 'text',
            choices: [
                { value: 'text', help: say('command_as_text') },
                { value: 'json', help: say('command_as_json') },
            ],
        }),
        /** @returns {Argument} the number of a message */
        message: () => ({
            help: say('command_message'),
            type: /** @type {const} */ ('number'),
            offered: () =>
                host
                    .chat()
                    .slice(-10)
                    .map((message, i, shown) => ({
                        value: String(host.chat().length - shown.length + i),
                        help: `${message.name ?? ''}: ${(message.mes ?? '').slice(0, 60)}`,
                    })),
        }),
        /** @returns {Argument} the id of a memory; those of the last recall are offered */
        memory: () => ({
            help: say('command_memory'),
            offered: () =>
                (app.recaller.last()?.memories ?? []).map(({ id, text }) => ({
                    value: id,
                    help: text.slice(0, 80),
                })),
        }),
        /** Runs a command for the character of the open chat. Without a chat, or after a failure, the user is told
         * and the command returns nothing.
         * @param {(asked: Asked) => Promise<string>} work @returns {Promise<string>} */
        async forOpenChat(work) {
            try {
                const asked = await askedSoul(app);
                if (asked) return await work(asked);
                host.toast('info', say('no_chat'));
            } catch (error) {
                host.toast('warning', errorTextOf(app, error, say));
            }
            return '';
        },
    };
}
/** @typedef {ReturnType<typeof createCommandParts>} CommandParts */
