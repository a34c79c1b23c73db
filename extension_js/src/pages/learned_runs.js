// What a language model learned from the chats, run by run, to be kept or undone.

import { button, el } from '../base/dom.js';
import { differenceView, undoChanges } from '../widgets/audit_entry.js';
import { RUN_ID } from '../widgets/audit_text.js';
import { kindLabel } from '../widgets/memory_badges.js';

/** @typedef {import('./browser_context.js').BrowserContext} BrowserContext */
/** @typedef {import('../base/types.js').AuditEntry} AuditEntry */
/** @typedef {import('../base/strings.js').Key} Key */
/** @typedef {import('../base/strings.js').Say} Say */

/** Something that a run wrote or changed.
 * @typedef {object} Learned
 * @property {string} id of the memory; of the edge for a fact
 * @property {string} memory that is opened for it: for a fact its subject
 * @property {string} kind
 * @property {string | null} before the earlier text; null for something new
 * @property {string} text
 * @property {[string, string, string]} [ends] of a fact: id of the subject, verb, id of the object
 */
/** `newest`: the last of its changes. @typedef {{id: string, at: string, newest: string, items: Learned[]}} Run */

const MAX_ENTRIES = 1000; // of the audit that are looked through
const SHOWN = 6; // memories of a run; the others after a press
const KIND_ORDER = [
    'episode',
    'abstract_episode',
    'fact',
    'action',
    'trigger',
    'concept',
    'summary',
    'digest',
    'note',
];

/** What was drawn into an element, as JSON. */
const drawnRuns = /** @type {WeakMap<HTMLElement, string>} */ (new WeakMap());

/** What runs wrote or changed, without what was undone or deleted since.
 * @param {readonly AuditEntry[]} audit the newest first @returns {Run[]} the newest first */
export function runsOf(audit) {
    const runs = /** @type {Map<string, Run>} */ (new Map());
    const removed = /** @type {Set<string>} */ (new Set()); // targets that a newer entry undid or deleted
    for (const entry of audit) {
        const { action, actor, target, source } = entry;
        if (action === 'undo' || action === 'purge') removed.add(target);
        if (actor !== 'archivist' || !RUN_ID.test(source) || removed.has(target)) continue;
        for (const item of [...textsIn(entry), ...factsIn(entry)]) {
            const run = runs.get(source) ?? {
                id: source,
                at: entry.at,
                newest: entry.id,
                items: [],
            };
            runs.set(source, run);
            addItem(run, item);
        }
    }
    const order = (/** @type {Learned} */ item) => KIND_ORDER.indexOf(item.kind);
    for (const run of runs.values()) run.items.sort((a, b) => order(a) - order(b));
    return [...runs.values()];
}

/** @param {Run} run @param {Learned} item older than the items of the run */
function addItem(run, item) {
    const newer = run.items.find(other => other.id === item.id);
    if (!newer) {
        run.items.push(item);
        return;
    }
    newer.before = item.before;
    newer.kind ||= item.kind;
}

/** The new or changed text in a change. @param {AuditEntry} entry @returns {Learned[]} one item, or none */
function textsIn({ action, target, before, after }) {
    const isNew = action === 'create' && after?.text;
    const isReworded =
        action === 'change' && before?.text !== undefined && after?.text !== undefined;
    if (!isNew && !isReworded) return [];
    const item = {
        id: target,
        memory: target,
        kind: String(after?.kind ?? ''),
        before: isNew ? null : String(before?.text),
        text: String(after?.text),
    };
    return [item];
}

/** The new facts in a change. Other links are left out: a reader cannot judge them.
 * @param {AuditEntry} entry @returns {Learned[]} */
function factsIn({ before, after }) {
    const facts = /** @type {Learned[]} */ ([]);
    const edges = /** @type {Record<string, any>} */ (after?.edges ?? {});
    for (const [id, edge] of Object.entries(edges)) {
        const isFact = edge?.kind === 'relates' && edge.source && edge.target;
        if (!isFact || before?.edges?.[id]) continue;
        const { source, target } = edge;
        const ends = /** @type {Learned['ends']} */ ([source, String(edge.verb ?? ''), target]);
        facts.push({ id, memory: source, kind: 'fact', before: null, text: '', ends });
    }
    return facts;
}

/** Gives facts a text, made of the names of their ends. A fact without one of its ends is left out.
 * @param {readonly Run[]} runs @param {(memory: string) => Promise<string | null>} readName
 * @returns {Promise<Run[]>} runs with any items */
export async function withFactTexts(runs, readName) {
    const names = /** @type {Map<string, Promise<string | null>>} */ (new Map());
    for (const item of runs.flatMap(run => run.items)) {
        if (!item.ends) names.set(item.id, Promise.resolve(item.text));
    }

    /** @param {string} memory id */
    function nameOf(memory) {
        const name = names.get(memory) ?? readName(memory);
        names.set(memory, name);
        return name;
    }

    /** @param {Learned} item @returns {Promise<Learned | null>} */
    async function withText(item) {
        if (!item.ends) return item;
        const [subjectId, verb, objectId] = item.ends;
        const subject = await nameOf(subjectId);
        const object = await nameOf(objectId);
        if (!subject || !object) return null;
        return { ...item, text: [subject, verb, object].join(' ') };
    }

    /** @param {Run} run @returns {Promise<Run>} */
    async function withTexts(run) {
        const items = await Promise.all(run.items.map(withText));
        return { ...run, items: items.filter(item => item !== null) };
    }

    const complete = await Promise.all(runs.map(withTexts));
    return complete.filter(run => run.items.length > 0);
}

/** Parts runs that are new from those the user has kept. Ids of changes sort in the order of time.
 * @param {readonly Run[]} runs @param {string | undefined} kept the newest change that was kept
 * @returns {{fresh: Run[], earlier: Run[]}} */
export const splitByKept = (runs, kept) => ({
    fresh: runs.filter(run => !kept || run.newest > kept),
    earlier: runs.filter(run => kept && run.newest <= kept),
});

/** @param {readonly Learned[]} items @param {Say} say @returns {string} such as "scene 3 · concept 2" */
export function kindCounts(items, say) {
    const parts = [];
    for (const kind of KIND_ORDER) {
        const count = items.filter(item => item.kind === kind).length;
        if (count) parts.push(`${say(/** @type {Key} */ (`kind_${kind}`))} ${count}`);
    }
    return parts.join(' · ');
}

/** Draws the runs, unless they are drawn already.
 * @param {BrowserContext} context @param {HTMLElement} place */
export async function drawRuns(context, place) {
    const { app, memoryApi } = context;
    const { audit } = await memoryApi.audit(context.soul, null, undefined, MAX_ENTRIES);
    const readName = (/** @type {string} */ memory) =>
        memoryApi.read(memory).then(
            whole => whole.text,
            () => null,
        );
    const runs = await withFactTexts(runsOf(audit), readName);
    const { fresh, earlier } = splitByKept(runs, app.settings().kept[context.soul]);
    const json = JSON.stringify([fresh, earlier]);
    if (drawnRuns.get(place) === json) return;
    drawnRuns.set(place, json);
    place.replaceChildren(...runsView(context, fresh, earlier, () => drawRuns(context, place)));
}

/** @param {BrowserContext} context @param {readonly Run[]} fresh @param {readonly Run[]} earlier
 * @param {() => Promise<void>} redraw @returns {HTMLElement[]} */
function runsView(context, fresh, earlier, redraw) {
    const { say, app } = context;

    async function keepAll() {
        app.settings().kept[context.soul] = fresh[0].newest;
        app.host.saveSettings();
        context.showStatus(say('learned_kept'));
        await redraw();
    }

    /** @param {readonly Run[]} runs @param {boolean} isFresh */
    const listOf = (runs, isFresh) =>
        el(
            'ol',
            { class: 'soulmem_list' },
            runs.map(run => runView(context, run, isFresh, redraw)),
        );
    const total = fresh.reduce((sum, run) => sum + run.items.length, 0);
    const keep = button(
        'fa-check-double',
        say('learned_keep', { n: total }),
        () => context.attempt(keepAll),
        { id: 'soulmem_keep_all' },
    );
    const nothing = earlier.length ? 'learned_none_new' : 'learned_none';
    const hint = say(fresh.length ? 'learned_hint' : nothing);
    const views = [
        el('div', { class: 'soulmem_recalled_head' }, [
            el('h4', { class: 'margin0', text: say('learned_title') }),
            fresh.length ? keep : null,
        ]),
        el('small', { class: 'soulmem_hint', text: hint }),
        listOf(fresh, true),
    ];
    if (earlier.length) {
        const summary = el('summary', { text: say('learned_earlier', { n: earlier.length }) });
        const details = [summary, listOf(earlier, false)];
        views.push(el('details', { class: 'soulmem_earlier' }, details));
    }
    return views;
}

/** @param {BrowserContext} context @param {Run} run @param {boolean} isFresh @param {() => unknown} undone */
function runView(context, run, isFresh, undone) {
    const { say } = context;
    const list = el('ul', { class: 'soulmem_learned_list' });
    /** @param {readonly Learned[]} items */
    const show = items => list.append(...items.map(item => itemView(context, item)));
    const rest = run.items.slice(SHOWN);
    show(run.items.slice(0, SHOWN));

    function showRest() {
        show(rest);
        more.remove();
    }

    const more = button('fa-angles-down', say('learned_more', { n: rest.length }), showRest, {
        class: 'soulmem_more',
    });
    const undoRun = () => undoChanges(context, { job: run.id }, say('undo_job_question'), undone);
    const undo = button('fa-clock-rotate-left', say('undo_job'), undoRun, {
        class: 'soulmem_undo_job',
    });
    const data = { run: run.id, fresh: String(isFresh) };
    return el('li', { class: 'soulmem_entry soulmem_run', data }, [
        el('div', { class: 'soulmem_recalled_head' }, [
            el('b', { text: kindCounts(run.items, say) }),
            el('small', { class: 'soulmem_recalled_facts', text: context.localTime(run.at) }),
        ]),
        list,
        el('div', { class: 'soulmem_row' }, [rest.length ? more : null, undo]),
    ]);
}

/** @param {BrowserContext} context @param {Learned} item */
function itemView(context, item) {
    const { say } = context;
    const { id, kind, before, memory } = item;
    const wording = before === null ? [item.text] : differenceView(before, item.text);
    const show = () => context.show('memories', memory);
    return el('li', { class: 'soulmem_learned', data: { memory: id, kind } }, [
        el('div', {}, [
            kind ? kindLabel(kind, say) : null,
            ' ',
            el('span', { class: 'soulmem_wording' }, wording),
        ]),
        button('fa-magnifying-glass', say('show_memory'), show, {
            class: 'soulmem_show',
            title: say('show_memory'),
        }),
    ]);
}
