// What does an entry of the audit say, and can it be taken back?

/** @typedef {import('../base/types.js').AuditEntry} AuditEntry */
/** @typedef {import('../base/strings.js').Say} Say */
/** @typedef {import('../base/strings.js').Key} Key */

const CHANGES = new Set(['create', 'change', 'bin', 'restore', 'learn', 'feedback']);
/** Jobs, and quiet moments: all that one did is taken back by its name. */
export const RUN = /^(?:idle-\d{8}T\d{6}|j[0-9a-z]{22})$/;
/** The fields worth a word, in this order; `text` is shown as a difference instead. */
const FIELDS = /** @type {const} */ ([
    'permanent',
    'locked',
    'timelines',
    'importance',
    'tags',
    'state',
]);
const SENSES = new Set([
    'true',
    'false',
    'this',
    'all',
    'active',
    'bin',
    'retracted',
    'stale',
    'forgotten',
]);

/** Would `POST undo` take it back? As the sidecar decides: automatic changes, and the user's feedback by name.
 * @param {AuditEntry} entry */
export function isUndoable(entry) {
    if (
        entry.undone ||
        !CHANGES.has(entry.action) ||
        (entry.actor === 'user' && entry.action !== 'feedback')
    )
        return false;
    return entry.action === 'create' ? entry.after !== null : entry.before !== null; // else its words are purged
}

/** @param {AuditEntry} entry @returns {string | null} the job or the quiet moment it was part of */
export const jobOf = entry =>
    RUN.test(entry.source) && entry.actor !== 'user' ? entry.source : null;

/** @param {unknown} value @param {Say} say */
function sense(value, say) {
    if (Array.isArray(value)) return value.length ? value.join(', ') : '–';
    return SENSES.has(String(value)) ? say(/** @type {Key} */ (`value_${value}`)) : String(value);
}

/** @param {AuditEntry} entry @param {Say} say @returns {string[]} each changed field in words: "locked: no → yes" */
export function fieldWords(entry, say) {
    const { before, after } = entry;
    if (before === null || after === null) return [];
    return FIELDS.filter(
        name => name in after && JSON.stringify(before[name]) !== JSON.stringify(after[name]),
    ).map(
        name =>
            `${say(/** @type {Key} */ (`field_${name}`))}: ${sense(before[name], say)} → ${sense(after[name], say)}`,
    );
}

/** @param {AuditEntry} entry @param {Say} say @returns {string} who did what */
export function deed(entry, say) {
    const links = Object.keys({ ...entry.before?.edges, ...entry.after?.edges }).length;
    const what =
        entry.action === 'change' &&
        Object.keys({ ...entry.before, ...entry.after }).every(name => name === 'edges')
            ? 'link'
            : entry.action;
    return `${say(/** @type {Key} */ (`by_${entry.actor}`))}: ${say(/** @type {Key} */ (`did_${what}`), { n: links })}`;
}

/** @param {AuditEntry} entry @returns {string | null} the memory's text as the entry knows it */
export const textIn = entry => entry.after?.text ?? entry.before?.text ?? null;

/** Where two texts differ: the common start and end, and between them what went and what came. Never cuts a word or a pair of surrogates.
 * @param {string} before @param {string} after @returns {{start: string, gone: string, come: string, end: string}} */
export function difference(before, after) {
    const a = words(before),
        b = words(after);
    let start = 0,
        end = 0;
    while (start < a.length && start < b.length && a[start] === b[start]) start++;
    while (
        end < a.length - start &&
        end < b.length - start &&
        a[a.length - 1 - end] === b[b.length - 1 - end]
    )
        end++;
    return {
        start: a.slice(0, start).join(''),
        gone: a.slice(start, a.length - end).join(''),
        come: b.slice(start, b.length - end).join(''),
        end: a.slice(a.length - end).join(''),
    };
}

/** Words of alphabets whole, everything else sign by sign. @param {string} text */
const words = text =>
    text.match(/[\p{Script=Latin}\p{Script=Cyrillic}\p{Script=Greek}\p{N}]+|[^]/gu) ?? [];
