// What did a language model make of the chats, run by run, and what does the user say to it?

import { button, el } from './dom.js';
import { kindFace } from './faces.js';
import { difference } from './told.js';
import { takeBack } from './entry.js';

/** @typedef {import('./desk.js').Desk} Desk */
/** @typedef {import('./types.js').AuditEntry} AuditEntry */
/** @typedef {import('./strings.js').Key} Key */
/** @typedef {{memory: string, kind: string, before: string | null, text: string, gone: boolean}} Learned */
/** `newest` is the last of its changes, by which it is kept. @typedef {{id: string, at: string, newest: string, items: Learned[]}} Run */

/** Changes of quiet moments and of jobs; both are taken back by this name. */
const RUN = /^(?:idle-\d{8}T\d{6}|j[0-9a-z]{22})$/;
const LOOKED_AT = 1000; // entries of the audit
const SHOWN = 6; // memories of a run; the others at a press
const ORDER = ['episode', 'abstract_episode', 'fact', 'action', 'trigger', 'concept', 'summary', 'digest', 'note'];

const drawn = /** @type {WeakMap<HTMLElement, string>} */ (new WeakMap());

/** What still stands of what runs made or changed, the newest run first. What was taken back is left out.
 * @param {readonly AuditEntry[]} audit the newest first @returns {Run[]} */
export function runsOf(audit) {
    const runs = /** @type {Map<string, Run>} */ (new Map());
    const settled = /** @type {Set<string>} */ (new Set()); // targets about which something newer is known
    for (const entry of audit) {
        if (entry.action === 'undo' || entry.action === 'purge') settled.add(entry.target);
        if (entry.actor !== 'archivist' || !RUN.test(entry.source) || settled.has(entry.target)) continue;
        const item = learned(entry);
        if (item === null) continue;
        const run = runs.get(entry.source) ?? { id: entry.source, at: entry.at, newest: entry.id, items: [] };
        runs.set(entry.source, run);
        const same = run.items.find(one => one.memory === item.memory);
        if (!same) run.items.push(item);
        else {
            same.before = item.before; // an older change of the same run
            same.kind ||= item.kind;
        }
    }
    for (const run of runs.values()) run.items.sort((a, b) => ORDER.indexOf(a.kind) - ORDER.indexOf(b.kind));
    return [...runs.values()];
}

/** @param {AuditEntry} entry @returns {Learned | null} null for what no reader can judge, such as links */
function learned({ action, target, before, after }) {
    const item = { memory: target, kind: String(after?.kind ?? ''), before: null, text: String(after?.text ?? ''), gone: false };
    if (action === 'create') return after?.text ? item : null;
    if (action === 'change') return before?.text !== undefined && after?.text !== undefined ? { ...item, before: String(before.text) } : null;
    return null;
}

/** @param {readonly Run[]} runs @param {string | undefined} kept @returns {{fresh: Run[], earlier: Run[]}} ids of changes sort by their order */
export const parted = (runs, kept) => ({
    fresh: runs.filter(run => !kept || run.newest > kept),
    earlier: runs.filter(run => kept && run.newest <= kept),
});

/** @param {readonly Learned[]} items @param {import('./strings.js').Say} say @returns {string} such as "scene 3, concept 2" */
export function counts(items, say) {
    const kinds = ORDER.filter(kind => items.some(item => item.kind === kind));
    return kinds.map(kind => `${say(/** @type {Key} */ (`kind_${kind}`))} ${items.filter(item => item.kind === kind).length}`).join(' · ');
}

/** @param {Desk} desk @param {HTMLElement} place what did not change is not drawn anew under the user's finger */
export async function drawLearned(desk, place) {
    const { say, app, memories } = desk;
    const { audit } = await memories.audit(desk.soul, null, undefined, LOOKED_AT);
    const { fresh, earlier } = parted(runsOf(audit), app.settings().kept[desk.soul]);
    const shown = JSON.stringify([fresh, earlier]);
    if (drawn.get(place) === shown) return;
    drawn.set(place, shown);
    const again = () => drawLearned(desk, place);

    async function keepAll() {
        app.settings().kept[desk.soul] = fresh[0].newest;
        app.host.saveSettings();
        desk.tell(say('learned_kept'));
        await again();
    }

    /** @param {Run} run @param {boolean} isFresh */
    const draw = (run, isFresh) => runView(desk, run, isFresh, again);
    const total = fresh.reduce((sum, run) => sum + run.items.length, 0);
    place.replaceChildren(
        el('div', { class: 'soulmem_recalled_head' }, [
            el('h4', { class: 'margin0', text: say('learned_title') }),
            fresh.length ? button('fa-check-double', say('learned_keep', { n: total }), () => desk.attempt(keepAll), { id: 'soulmem_keep_all' }) : null,
        ]),
        el('small', { class: 'soulmem_hint', text: say(fresh.length ? 'learned_hint' : earlier.length ? 'learned_none_new' : 'learned_none') }),
        el('ol', { class: 'soulmem_list' }, fresh.map(run => draw(run, true))),
        ...(earlier.length ? [el('details', { class: 'soulmem_earlier' }, [
            el('summary', { text: say('learned_earlier', { n: earlier.length }) }), el('ol', { class: 'soulmem_list' }, earlier.map(run => draw(run, false))),
        ])] : []),
    );
}

/** @param {Desk} desk @param {Run} run @param {boolean} isFresh @param {() => unknown} undone */
function runView(desk, run, isFresh, undone) {
    const { say } = desk;
    const list = el('ul', { class: 'soulmem_learned_list' });
    /** @param {readonly Learned[]} items */
    const show = items => list.append(...items.map(item => itemView(desk, item)));
    show(run.items.slice(0, SHOWN));
    const rest = run.items.slice(SHOWN);
    const more = rest.length ? button('fa-angles-down', say('learned_more', { n: rest.length }), () => {
        show(rest);
        more?.remove();
    }, { class: 'soulmem_more' }) : null;
    return el('li', { class: 'soulmem_entry soulmem_run', data: { run: run.id, fresh: String(isFresh) } }, [
        el('div', { class: 'soulmem_recalled_head' }, [
            el('b', { text: counts(run.items, say) }), el('small', { class: 'soulmem_recalled_facts', text: desk.when(run.at) }),
        ]),
        list,
        el('div', { class: 'soulmem_row' }, [
            more, button('fa-clock-rotate-left', say('undo_job'), () => takeBack(desk, { job: run.id }, say('undo_job_question'), undone), { class: 'soulmem_undo_job' }),
        ]),
    ]);
}

/** @param {Desk} desk @param {Learned} item */
function itemView(desk, item) {
    const { say } = desk;
    const text = el('span', { class: 'soulmem_wording' });
    if (item.before === null) text.append(item.text);
    else {
        const { start, gone, come, end } = difference(item.before, item.text);
        text.append(start, ...(gone ? [el('del', { text: gone })] : []), ...(come ? [el('ins', { text: come })] : []), end);
    }
    return el('li', { class: 'soulmem_learned', data: { memory: item.memory, kind: item.kind } }, [
        el('div', {}, [item.kind ? kindFace(item.kind, say) : null, ' ', text]),
        button('fa-magnifying-glass', say('show_memory'), () => desk.show('memories', item.memory), { class: 'soulmem_show', title: say('show_memory') }),
    ]);
}
