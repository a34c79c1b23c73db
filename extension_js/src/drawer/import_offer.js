// What an import of a file would do, in numbers and words: what comes, what is left out, and why.

import { el } from '../base/dom.js';

/** @typedef {import('../base/strings.js').Key} Key */
/** @typedef {import('../base/strings.js').Say} Say */
/** Memories and messages of an import, counted.
 * @typedef {object} Counts
 * @property {number} memories that are new
 * @property {number} messages that are new
 * @property {number} changed memories that follow the file
 * @property {number} removed memories that the file does not have any more
 * @property {number} unlinked of the memories those of chats that are not known
 * @property {number} absent left out: their messages are not in memory
 * @property {number} kept left as they are: the user changed or binned them
 * @property {number} disabled left out: switched off in the other extension
 * @property {number} instructions entries with orders to the model or code, which are left out
 * @property {number} broken parts that cannot be read */
/** A file that may be imported, with what a dry run of it came to.
 * @typedef {{body: Record<string, unknown>, name: string, counts: Counts}} Offer */

/** What is told below the files, where there is some of it.
 * @type {readonly (readonly [keyof Counts, Key])[]} */
const REMARKS = [
    ['changed', 'files_changed'],
    ['removed', 'files_removed'],
    ['unlinked', 'files_unlinked'],
    ['absent', 'files_absent'],
    ['kept', 'files_kept'],
    ['disabled', 'files_disabled'],
    ['instructions', 'files_instructions'],
    ['broken', 'files_broken'],
];

/** @param {any} result of an import, dry or not @returns {Counts} */
export const countsOf = result => ({
    memories: result.added ?? result.memories ?? 0,
    messages: result.messages ?? 0,
    changed: result.changed ?? 0,
    removed: result.removed ?? 0,
    unlinked: result.unlinked ?? 0,
    absent: result.absent ?? 0,
    kept: result.kept ?? 0,
    disabled: result.disabled ?? 0,
    instructions: result.instructions ?? 0,
    broken: result.broken?.length ?? 0,
});

/** Whether an import would do anything. @param {Counts} counts */
export const doesSomething = ({ memories, messages, changed, removed }) =>
    memories + messages + changed + removed > 0;

/** What is left out of these files, what changes, and why. @param {readonly Offer[]} offers @param {Say} say
 * @returns {string[]} sentences */
export function remarksOn(offers, say) {
    const total = (/** @type {keyof Counts} */ part) =>
        offers.reduce((sum, { counts }) => sum + counts[part], 0);
    return REMARKS.map(([part, key]) => ({ n: total(part), key }))
        .filter(({ n }) => n > 0)
        .map(({ n, key }) => say(key, { n }));
}

/** What would be imported. @param {readonly Offer[]} offers all files that were looked into
 * @param {string} name of the character @param {Say} say */
export function offerView(offers, name, say) {
    const some = offers.filter(({ counts }) => doesSomething(counts));
    const rows = some.map(({ name: file, counts }) =>
        say(counts.messages ? 'files_offer_chats' : 'files_offer', {
            name: file,
            n: counts.memories,
            messages: counts.messages,
        }),
    );
    if (some.length > 1) rows.push(say('files_once'));
    rows.push(...remarksOn(offers, say), say('files_safe'));
    return el('div', { class: 'soulmem_quote', id: 'soulmem_files_quote' }, [
        el('h3', { text: say('files_question', { name }) }),
        el(
            'ul',
            {},
            rows.map(text => el('li', { text })),
        ),
    ]);
}
