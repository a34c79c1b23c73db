// The page of changes: what was done to the memories and by whom, and how to undo it.

import { button, el } from '../base/dom.js';
import { auditItem, undoChanges } from '../widgets/audit_entry.js';
import { isUndoable } from '../widgets/audit_text.js';
import { paged } from '../widgets/paging.js';

/** @typedef {import('./browser_context.js').BrowserContext} BrowserContext */
/** @typedef {import('../base/types.js').AuditEntry} AuditEntry */
/** @typedef {import('../base/strings.js').Key} Key */

/** Actions on one memory, which can be opened; others concern a recall, a search or what was deleted for good. */
const MEMORY_ACTIONS = new Set([
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
const SPAN_HOURS = { hour: 1, day: 24, week: 168 };
const HOUR = 3_600_000; // ms
const MAX_COUNTED = 1000; // entries that are counted for the question

/** @param {Date} date @returns {string} value for a datetime-local field */
const fieldValue = date =>
    new Date(date.getTime() - date.getTimezoneOffset() * 60_000).toISOString().slice(0, 16);

/** @param {string} id @param {string} label for screen readers
 * @param {readonly {value: string, text: string}[]} options */
const selectOf = (id, label, options) =>
    /** @type {HTMLSelectElement} */ (
        el(
            'select',
            { id, class: 'text_pole margin0', 'aria-label': label },
            options.map(option => el('option', option)),
        )
    );

/** @param {BrowserContext} context @param {HTMLElement} page */
export async function changesPage(context, page) {
    const { say, memoryApi } = context;
    const which = selectOf('soulmem_changes_of', say('changes_automatic'), [
        { value: 'automatic', text: say('changes_automatic') },
        { value: 'all', text: say('changes_all') },
    ]);
    const span = selectOf(
        'soulmem_span',
        say('undo_since'),
        SPANS.map(name => ({ value: name, text: say(/** @type {Key} */ (`span_${name}`)) })),
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
    moment.value = fieldValue(new Date(Date.now() - HOUR));
    const place = el('div', {});
    const undo = button('fa-rotate-left', say('undo_since'), undoSince, {
        id: 'soulmem_undo_since',
    });
    page.append(
        el('div', { class: 'soulmem_filters' }, [which, span, moment, undo]),
        el('small', { class: 'soulmem_hint', text: say('changes_hint') }),
        place,
    );

    async function list() {
        const jobs = /** @type {Set<string>} */ (new Set());
        const all = which.value === 'all';
        /** @param {AuditEntry} entry */
        function draw(entry) {
            if (!all && !isUndoable(entry)) return null;
            return auditItem(context, entry, { undone: list, open: opening(entry), jobs });
        }
        const entries = await paged({
            fetch: async cursor => {
                const answer = await memoryApi.audit(context.soul, cursor);
                return { rows: answer.audit, cursor: answer.cursor };
            },
            draw,
            more: say('more'),
            none: say(all ? 'changes_none' : 'changes_none_automatic'),
            attempt: context.attempt,
        });
        place.replaceChildren(entries);
    }

    /** @param {AuditEntry} entry @returns {(() => unknown) | undefined} shows its memory */
    const opening = entry =>
        MEMORY_ACTIONS.has(entry.action) ? () => context.show('memories', entry.target) : undefined;

    /** @returns {Date} from which on changes are undone; invalid when none is chosen */
    function chosenTime() {
        if (span.value === 'moment') return new Date(moment.value);
        const hours = SPAN_HOURS[/** @type {keyof typeof SPAN_HOURS} */ (span.value)];
        return new Date(Date.now() - hours * HOUR);
    }

    async function undoSince() {
        const time = chosenTime();
        if (Number.isNaN(time.getTime())) return context.showStatus(say('since_unreadable'));
        const since = time.toISOString();
        let count = 0;
        let isMore = false;
        const isCounted = await context.attempt(async () => {
            const { audit, cursor } = await memoryApi.audit(context.soul, null, since, MAX_COUNTED);
            const automatic = audit.filter(entry => entry.actor !== 'user' && isUndoable(entry));
            count = automatic.length;
            isMore = cursor !== null;
        });
        if (!isCounted) return;
        if (count === 0 && !isMore) return context.showStatus(say('undo_nothing'));
        const n = isMore ? `${count}+` : count;
        const question = say('undo_since_question', { n, when: context.localTime(since) });
        await undoChanges(context, { since }, question, list);
    }

    which.addEventListener('change', () => void context.attempt(list));
    span.addEventListener('change', () => {
        moment.hidden = span.value !== 'moment';
    });
    await list();
}
