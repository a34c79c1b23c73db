// How does one entry of the audit look, and how is it taken back?

import { button, el } from '../base/dom.js';
import { deed, difference, fieldWords, isUndoable, jobOf, textIn } from './audit_text.js';

/** @typedef {import('../pages/browser_context.js').Desk} Desk */
/** @typedef {import('../base/types.js').AuditEntry} AuditEntry */
/** @typedef {import('../link/memory_api.js').What} What */

/** @param {Desk} desk @param {AuditEntry} entry
 * @param {{undone: () => unknown, reuse?: (text: string) => unknown, open?: () => unknown, jobs?: Set<string>}} about
 * `reuse` takes an earlier wording over; `open` shows the memory; `jobs` that have their button already */
export function entryItem(desk, entry, { undone, reuse, open, jobs }) {
    const { say } = desk;
    const before = entry.before?.text,
        after = entry.after?.text;
    const job = jobOf(entry);
    const isFirst = job !== null && jobs !== undefined && !jobs.has(job);
    if (isFirst) jobs.add(job);
    const actions = [
        isUndoable(entry)
            ? button(
                  'fa-rotate-left',
                  say('undo'),
                  () => takeBack(desk, { change: entry.id }, say('undo_question'), undone),
                  { class: 'soulmem_undo' },
              )
            : null,
        isFirst && isUndoable(entry)
            ? button(
                  'fa-clock-rotate-left',
                  say('undo_job'),
                  () => takeBack(desk, { job }, say('undo_job_question'), undone),
                  { class: 'soulmem_undo_job' },
              )
            : null,
        reuse && before !== undefined && after !== undefined
            ? button('fa-pen', say('reuse'), () => desk.attempt(() => reuse(before)), {
                  class: 'soulmem_reuse',
              })
            : null,
        open
            ? button('fa-magnifying-glass', say('show_memory'), open, { class: 'soulmem_show' })
            : null,
    ].filter(one => one !== null);
    return el(
        'li',
        {
            class: entry.undone ? 'soulmem_entry soulmem_entry_undone' : 'soulmem_entry',
            data: { entry: entry.id, action: entry.action, actor: entry.actor },
        },
        [
            el('div', { class: 'soulmem_recalled_head' }, [
                el('b', { text: deed(entry, say) }),
                el('small', {
                    class: 'soulmem_recalled_facts',
                    text: [entry.undone ? say('entry_undone') : '', desk.when(entry.at)]
                        .filter(Boolean)
                        .join(' · '),
                }),
            ]),
            before !== undefined && after !== undefined
                ? wording(before, after)
                : textIn(entry) !== null && !reuse
                  ? el('div', { class: 'soulmem_item_text', text: textIn(entry) ?? '' })
                  : null,
            ...fieldWords(entry, say).map(text => el('div', { text })),
            entry.reason && entry.action !== 'undo'
                ? el('div', {
                      class: 'soulmem_hint',
                      text: say('reason', { reason: entry.reason }),
                  })
                : null,
            actions.length ? el('div', { class: 'soulmem_row' }, actions) : null,
        ],
    );
}

/** @param {string} before @param {string} after */
function wording(before, after) {
    const { start, gone, come, end } = difference(before, after);
    return el('div', { class: 'soulmem_item_text soulmem_wording' }, [
        start,
        gone ? el('del', { text: gone }) : null,
        come ? el('ins', { text: come }) : null,
        end,
    ]);
}

/** Asks, undoes, and says what came of it. @param {Desk} desk @param {What} what @param {string} question @param {() => unknown} done */
export async function takeBack(desk, what, question, done) {
    const { say, memories } = desk;
    if (!(await desk.app.host.confirm(question))) return;
    await desk.attempt(async () => {
        const { changes, skipped } = await memories.undo(desk.soul, what);
        if (changes.length === 0) desk.tell(say('undo_nothing'), false);
        else
            desk.tell(
                say(skipped.length ? 'undone_but' : 'undone', {
                    n: changes.length,
                    kept: skipped.length,
                }),
            );
        await done();
    });
}
