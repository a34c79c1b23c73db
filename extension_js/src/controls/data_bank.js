// A source of SillyTavern's data bank: what the character of the open chat remembers, as a text file.

import { fileNameOf } from '../base/file_name.js';
import { createMemoryApi } from '../link/memory_api.js';
import { askedSoul } from '../recall/asked_soul.js';
import { neutralise } from '../recall/inject.js';
import { errorTextOf, WordedError } from '../widgets/error_text.js';

/** @typedef {import('../app.js').App} App */
/** @typedef {import('../base/strings.js').Say} Say */
/** @typedef {import('../base/strings.js').Key} Key */
/** @typedef {import('../base/types.js').ListedMemory} ListedMemory */

/** Kinds in the file, in this order, behind the facts; names and triggers alone say nothing. */
const KINDS = ['note', 'digest', 'summary', 'abstract_episode', 'episode', 'action'];
const MOST_FACTS = 300; // each is asked for by itself
const PAGES = 40; // of each kind, at 30 memories a page

/** @param {App} app @param {Say} say */
export function registerDataBankSource(app, say) {
    const memoryApi = createMemoryApi(app.link.ask);

    /** @param {string} soul @param {string} kind @returns {Promise<ListedMemory[]>} */
    async function allOf(soul, kind) {
        const all = /** @type {ListedMemory[]} */ ([]);
        let cursor = /** @type {string | null} */ (null);
        for (let page = 0; page < PAGES; page++) {
            const answer = await memoryApi.list(soul, { kind }, cursor);
            all.push(...answer.memories);
            cursor = answer.cursor;
            if (!cursor) break;
        }
        return all;
    }

    /** Texts of the facts about everybody who is known. @param {string} soul @returns {Promise<string[]>} */
    async function factsOf(soul) {
        const { people } = await memoryApi.people(soul);
        const ids = [...new Set(people.flatMap(person => person.facts ?? []))].slice(0, MOST_FACTS);
        const facts = await Promise.all(ids.map(id => memoryApi.read(id).catch(() => null)));
        return facts.flatMap(fact => (fact ? [fact.text] : []));
    }

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
            const parts = part('fact', await factsOf(asked.soul));
            for (const kind of KINDS) {
                const memories = await allOf(asked.soul, kind);
                parts.push(...part(kind, memories.map(memory => memory.text)));
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
