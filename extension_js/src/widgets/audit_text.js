// An entry of the audit in words, and whether it can be undone.

/** @typedef {import('../base/types.js').AuditEntry} AuditEntry */
/** @typedef {import('../base/strings.js').Say} Say */
/** @typedef {import('../base/strings.js').Key} Key */

/** What lies between two wordings. `removed` and `added` are what differs.
 * @typedef {{start: string, removed: string, added: string, end: string}} TextDifference */

const UNDOABLE_ACTIONS = new Set(['create', 'change', 'bin', 'restore', 'learn', 'feedback']);
/** Ids of jobs and of background runs: all changes of one can be undone together. */
export const RUN_ID = /^(?:idle-\d{8}T\d{6}|j[0-9a-z]{22})$/;
/** The fields that are shown when they change, in this order. A change of the text is shown as a difference. */
const FIELDS = /** @type {const} */ ([
    'permanent',
    'locked',
    'timelines',
    'importance',
    'tags',
    'state',
]);
/** Values that have a text of their own. */
const NAMED_VALUES = new Set([
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

/** Whether `POST undo` would undo an entry, by the sidecar's rules: automatic changes, and the user's verdicts.
 * @param {AuditEntry} entry */
export function isUndoable(entry) {
    const { undone, action, actor, before, after } = entry;
    if (undone || !UNDOABLE_ACTIONS.has(action)) return false;
    if (actor === 'user' && action !== 'feedback') return false;
    if (JSON.stringify(before) === JSON.stringify(after)) return false; // nothing is left to take back
    return action === 'create' ? after !== null : before !== null; // else its text was deleted for good
}

/** @param {AuditEntry} entry @returns {string | null} the job or background run it belongs to */
export const jobOf = entry =>
    RUN_ID.test(entry.source) && entry.actor !== 'user' ? entry.source : null;

/** @param {unknown} value of a field @param {Say} say */
function valueText(value, say) {
    if (Array.isArray(value)) return value.length ? value.join(', ') : '–';
    if (typeof value === 'number') return `${Math.round(100 * value)} %`; // a share, such as importance
    const name = String(value);
    return NAMED_VALUES.has(name) ? say(/** @type {Key} */ (`value_${name}`)) : name;
}

/** @param {AuditEntry} entry @param {Say} say @returns {string[]} each changed field: "locked: no → yes" */
export function fieldTexts({ before, after }, say) {
    if (before === null || after === null) return [];
    const isChanged = (/** @type {string} */ name) =>
        name in after && JSON.stringify(before[name]) !== JSON.stringify(after[name]);
    return FIELDS.filter(isChanged).map(name => {
        const label = say(/** @type {Key} */ (`field_${name}`));
        return `${label}: ${valueText(before[name], say)} → ${valueText(after[name], say)}`;
    });
}

/** What a model made of the memory before and after; undefined where it is the same.
 * @param {AuditEntry} entry @returns {{before: string | null, after: string | null} | undefined} */
export function rewordingOf({ before, after, target }) {
    const wordings = [before, after].map(fields => fields?.fading?.[target]?.reworded ?? null);
    return wordings[0] === wordings[1] ? undefined : { before: wordings[0], after: wordings[1] };
}

/** @param {AuditEntry} entry @returns {string} what was done, as it is called in the texts */
function deedOf(entry) {
    const { before, after, action } = entry;
    const fields = Object.keys({ ...before, ...after });
    if (action !== 'change') return action;
    if (rewordingOf(entry)) return 'reword';
    if (fields.every(name => name === 'edges')) return 'link';
    return fields.every(name => name === 'fading' || name === 'edges') ? 'fade' : action;
}

/** @param {AuditEntry} entry @param {Say} say @returns {string} who did what */
export function actionText(entry, say) {
    const { before, after, actor } = entry;
    const links = Object.keys({ ...before?.edges, ...after?.edges }).length;
    const who = say(/** @type {Key} */ (`by_${actor}`));
    const deed = deedOf(entry);
    if (deed === 'learn' && !links) return `${who}: ${say('did_learn_no_link')}`;
    return `${who}: ${say(/** @type {Key} */ (`did_${deed}`), { n: links })}`;
}

/** @param {AuditEntry} entry @returns {string | null} the memory's text in the entry */
export const textOf = entry => entry.after?.text ?? entry.before?.text ?? null;

/** Where two texts differ. Never cuts a word or a pair of surrogates.
 * @param {string} before @param {string} after @returns {TextDifference} */
export function textDifference(before, after) {
    const a = unitsOf(before);
    const b = unitsOf(after);
    const shorter = Math.min(a.length, b.length);
    let start = 0; // units that are the same at the beginning
    while (start < shorter && a[start] === b[start]) start++;
    let end = 0; // units that are the same at the end
    while (end < shorter - start && a[a.length - 1 - end] === b[b.length - 1 - end]) end++;
    return {
        start: a.slice(0, start).join(''),
        removed: a.slice(start, a.length - end).join(''),
        added: b.slice(start, b.length - end).join(''),
        end: a.slice(a.length - end).join(''),
    };
}

/** Words of alphabets, single characters of everything else. @param {string} text */
const unitsOf = text =>
    text.match(/[\p{Script=Latin}\p{Script=Cyrillic}\p{Script=Greek}\p{N}]+|[^]/gu) ?? [];
