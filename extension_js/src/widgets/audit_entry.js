// An entry of the audit on the page, with its buttons.

import { button, el } from '../base/dom.js';
import {
    actionText,
    fieldTexts,
    isUndoable,
    jobOf,
    rewordingOf,
    textDifference,
    textOf,
} from './audit_text.js';

/** @typedef {import('../pages/browser_context.js').BrowserContext} BrowserContext */
/** @typedef {import('../base/types.js').AuditEntry} AuditEntry */
/** @typedef {import('../link/memory_api.js').UndoScope} UndoScope */

/** @typedef {object} EntryOptions
 * @property {() => unknown} undone called after an undo
 * @property {(text: string) => unknown} [reuse] takes an earlier wording over
 * @property {() => unknown} [open] shows the memory
 * @property {string} [original] the memory's own wording, beside which a rewording is shown
 * @property {Set<string>} [jobs] jobs that have their button already; the entry adds its own
 */

/** @param {BrowserContext} context @param {AuditEntry} entry @param {EntryOptions} options */
export function auditItem(context, entry, options) {
    const { say } = context;
    const actions = actionsOf(context, entry, options);
    const data = { entry: entry.id, action: entry.action, actor: entry.actor };
    const facts = [entry.undone ? say('entry_undone') : '', context.localTime(entry.at)];
    const why = say.phrase(entry.reason, entry.reason_phrase);
    const reason = entry.action === 'undo' ? '' : why;
    return el(
        'li',
        { class: `soulmem_entry${entry.undone ? ' soulmem_entry_undone' : ''}`, data },
        [
            el('div', { class: 'soulmem_recalled_head' }, [
                el('b', { text: actionText(entry, say) }),
                el('small', {
                    class: 'soulmem_recalled_facts',
                    text: facts.filter(Boolean).join(' · '),
                }),
            ]),
            textView(entry, Boolean(options.reuse), options.original),
            ...fieldTexts(entry, say).map(text => el('div', { text })),
            reason ? el('div', { class: 'soulmem_hint', text: say('reason', { reason }) }) : null,
            actions.length ? el('div', { class: 'soulmem_row' }, actions) : null,
        ],
    );
}

/** The buttons of an entry. The first entry of a job has one for the whole job.
 * @param {BrowserContext} context @param {AuditEntry} entry @param {EntryOptions} options @returns {HTMLElement[]} */
function actionsOf(context, entry, { undone, reuse, open, jobs }) {
    const { say } = context;
    const buttons = [];
    const job = jobOf(entry);
    const isFirst = job !== null && jobs !== undefined && !jobs.has(job);
    if (isFirst) jobs.add(job);
    if (isUndoable(entry)) {
        const undo = () => undoChanges(context, { change: entry.id }, say('undo_question'), undone);
        buttons.push(button('fa-rotate-left', say('undo'), undo, { class: 'soulmem_undo' }));
    }
    if (isFirst && isUndoable(entry)) {
        const undo = () => undoChanges(context, { job }, say('undo_job_question'), undone);
        const about = { class: 'soulmem_undo_job' };
        buttons.push(button('fa-clock-rotate-left', say('undo_job'), undo, about));
    }
    const wording = entry.before?.text;
    if (reuse && wording !== undefined && entry.after?.text !== undefined) {
        const take = () => context.attempt(() => reuse(wording));
        buttons.push(button('fa-pen', say('reuse'), take, { class: 'soulmem_reuse' }));
    }
    if (open) {
        const about = { class: 'soulmem_show' };
        buttons.push(button('fa-magnifying-glass', say('show_memory'), open, about));
    }
    return buttons;
}

/** The memory's text: as a difference when the entry changed it.
 * @param {AuditEntry} entry @param {boolean} onlyChanges show nothing when the text is the same
 * @param {string} [original] the memory's own wording */
function textView(entry, onlyChanges, original) {
    const before = entry.before?.text;
    const after = entry.after?.text;
    if (before !== undefined && after !== undefined) {
        const about = { class: 'soulmem_item_text soulmem_wording' };
        return el('div', about, differenceView(before, after));
    }
    const rewording = rewordingOf(entry);
    if (rewording) {
        const about = { class: 'soulmem_item_text soulmem_wording' };
        const [old, now] = [rewording.before ?? original, rewording.after ?? original];
        return el('div', about, differenceView(old ?? '', now ?? ''));
    }
    const text = textOf(entry);
    if (text === null || onlyChanges) return null;
    return el('div', { class: 'soulmem_item_text', text });
}

/** Two wordings as one text with deletions and insertions. @param {string} before @param {string} after
 * @returns {(Node | string)[]} */
export function differenceView(before, after) {
    const { start, removed, added, end } = textDifference(before, after);
    const parts = /** @type {(Node | string)[]} */ ([start]);
    if (removed) parts.push(el('del', { text: removed }));
    if (added) parts.push(el('ins', { text: added }));
    return [...parts, end];
}

/** Asks the user, undoes, and shows the result.
 * @param {BrowserContext} context @param {UndoScope} scope @param {string} question @param {() => unknown} done */
export async function undoChanges(context, scope, question, done) {
    const { say } = context;
    if (!(await context.app.host.confirm(question))) return;
    await context.attempt(async () => {
        const { changes, skipped } = await context.memoryApi.undo(context.soul, scope);
        const counts = { n: changes.length, kept: skipped.length };
        if (changes.length === 0) context.showStatus(say('undo_nothing'), false);
        else context.showStatus(say(skipped.length ? 'undone_but' : 'undone', counts));
        await done();
    });
}
