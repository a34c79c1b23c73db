// A source of SillyTavern's data bank: what the character of the open chat remembers, as a text file.

import { fileNameOf } from '../base/file_name.js';
import { createMemoryApi } from '../link/memory_api.js';
import { askedSoul } from '../recall/asked_soul.js';
import { neutralise } from '../recall/inject.js';
import { errorTextOf, WordedError } from '../widgets/error_text.js';

/** @typedef {import('../app.js').App} App */
/** @typedef {import('../base/strings.js').Say} Say */
/** @typedef {import('../base/strings.js').Key} Key */

/** Kinds in the file, in this order; names and triggers alone say nothing. */
const KINDS = ['fact', 'note', 'digest', 'summary', 'abstract_episode', 'episode', 'action'];
const MOST = 2000; // of each kind

/** @param {App} app @param {Say} say */
export function registerDataBankSource(app, say) {
    const memoryApi = createMemoryApi(app.link.ask);

    /** A heading with one line for each text; nothing without texts.
     * @param {string} kind @param {readonly string[]} texts @returns {string[]} */
    function part(kind, texts) {
        if (texts.length === 0) return [];
        const lines = texts.map(text => `- ${neutralise(text)}`);
        return [`# ${say(/** @type {Key} */ (`kind_${kind}`))}\n\n${lines.join('\n')}`];
    }

    /** @returns {Promise<File[]>} one file; none after a failure, of which the user is told */
    async function scrape() {
        try {
            const asked = await askedSoul(app);
            if (!asked) throw new WordedError(say('no_chat'));
            const parts = /** @type {string[]} */ ([]);
            for (const kind of KINDS) {
                parts.push(...part(kind, await memoryApi.texts(asked.soul, kind, MOST)));
            }
            if (parts.length === 0) throw new WordedError(say('bank_empty', { name: asked.name }));
            const content = [parts.join('\n\n')];
            return [new File(content, fileNameOf(asked.name, 'md'), { type: 'text/markdown' })];
        } catch (error) {
            app.host.toast('warning', errorTextOf(app, error, say));
            return [];
        }
    }

    app.host.registerDataBankSource({
        id: 'soulmem',
        name: 'SoulMem',
        description: say('bank_help'),
        iconClass: 'fa-solid fa-brain',
        isAvailable: async () => app.settings().enabled,
        scrape,
    });
}
