// What was done to the memories, by whom, and how is it taken back?

import { button, el } from '../base/dom.js';
import { entryItem, takeBack } from '../widgets/audit_entry.js';
import { paged } from '../widgets/paging.js';
import { isUndoable } from '../widgets/audit_text.js';

/** @typedef {import('./browser_context.js').Desk} Desk */
/** @typedef {import('../base/types.js').AuditEntry} AuditEntry */
/** @typedef {import('../base/strings.js').Key} Key */

/** These tell of one memory; the others of a recall, a search or what is gone. */
const OF_A_MEMORY = new Set([
    'create',
    'change',
    'bin',
    'restore',
    'feedback',
    'ask',
    'reject',
    'undo',
]);
const SPANS = /** @type {const} */ (['hour', 'day', 'week', 'moment']);
const HOURS = { hour: 1, day: 24, week: 168 };
const LOOKED_AT = 1000; // entries counted for the question, at most

/** @param {Date} date @returns {string} for a datetime-local field */
const local = date =>
    new Date(date.getTime() - date.getTimezoneOffset() * 60_000).toISOString().slice(0, 16);

/** @param {Desk} desk @param {HTMLElement} page */
export async function changesPage(desk, page) {
    const { say, memories } = desk;
    const which = /** @type {HTMLSelectElement} */ (
        el(
            'select',
            {
                id: 'soulmem_changes_of',
                class: 'text_pole margin0',
                'aria-label': say('changes_automatic'),
            },
            [
                el('option', { value: 'automatic', text: say('changes_automatic') }),
                el('option', { value: 'all', text: say('changes_all') }),
            ],
        )
    );
    const span = /** @type {HTMLSelectElement} */ (
        el(
            'select',
            { id: 'soulmem_span', class: 'text_pole margin0', 'aria-label': say('undo_since') },
            SPANS.map(name =>
                el('option', { value: name, text: say(/** @type {Key} */ (`span_${name}`)) }),
            ),
        )
    );
    const moment = /** @type {HTMLInputElement} */ (
        el('input', {
            id: 'soulmem_since',
            type: 'datetime-local',
            class: 'text_pole margin0',
            hidden: '',
            'aria-label': say('span_moment'),
        })
    );
    moment.value = local(new Date(Date.now() - 3_600_000));
    const place = el('div', {});
    page.append(
        el('div', { class: 'soulmem_filters' }, [
            which,
            span,
            moment,
            button('fa-rotate-left', say('undo_since'), undoSince, { id: 'soulmem_undo_since' }),
        ]),
        el('small', { class: 'soulmem_hint', text: say('changes_hint') }),
        place,
    );

    async function list() {
        const jobs = /** @type {Set<string>} */ (new Set());
        const all = which.value === 'all';
        place.replaceChildren(
            await paged({
                fetch: cursor =>
                    memories
                        .audit(desk.soul, cursor)
                        .then(answer => ({ rows: answer.audit, cursor: answer.cursor })),
                draw: entry =>
                    all || isUndoable(entry)
                        ? entryItem(desk, entry, { undone: list, open: opening(entry), jobs })
                        : null,
                more: say('more'),
                none: say(all ? 'changes_none' : 'changes_none_automatic'),
                attempt: desk.attempt,
            }),
        );
    }

    /** @param {AuditEntry} entry */
    const opening = entry =>
        OF_A_MEMORY.has(entry.action) ? () => desk.show('memories', entry.target) : undefined;

    async function undoSince() {
        const since =
            span.value === 'moment'
                ? new Date(moment.value)
                : new Date(
                      Date.now() -
                          HOURS[/** @type {keyof typeof HOURS} */ (span.value)] * 3_600_000,
                  );
        if (Number.isNaN(since.getTime())) return desk.tell(say('since_unreadable'));
        const iso = since.toISOString();
        let count = 0,
            more = false;
        const counted = await desk.attempt(async () => {
            const { audit, cursor } = await memories.audit(desk.soul, null, iso, LOOKED_AT);
            count = audit.filter(entry => entry.actor !== 'user' && isUndoable(entry)).length;
            more = cursor !== null;
        });
        if (!counted) return;
        if (count === 0 && !more) return desk.tell(say('undo_nothing'));
        await takeBack(
            desk,
            { since: iso },
            say('undo_since_question', { n: more ? `${count}+` : count, when: desk.when(iso) }),
            list,
        );
    }

    which.addEventListener('change', () => void desk.attempt(list));
    span.addEventListener('change', () => {
        moment.hidden = span.value !== 'moment';
    });
    await list();
}
