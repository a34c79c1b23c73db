// What did a language model make of the chats, run by run, and what does the user say to it?

import { button, el } from '../base/dom.js';
import { kindFace } from '../widgets/memory_badges.js';
import { takeBack } from '../widgets/audit_entry.js';
import { difference, RUN } from '../widgets/audit_text.js';

/** @typedef {import('./browser_context.js').Desk} Desk */
/** @typedef {import('../base/types.js').AuditEntry} AuditEntry */
/** @typedef {import('../base/strings.js').Key} Key */
/** `memory` is what is shown for it: a fact is an edge, and its subject is shown. `ends` are a fact's subject, verb and object.
 * @typedef {{id: string, memory: string, kind: string, before: string | null, text: string, ends?: [string, string, string]}} Learned */
/** `newest` is the last of its changes, by which it is kept. @typedef {{id: string, at: string, newest: string, items: Learned[]}} Run */

const LOOKED_AT = 1000; // entries of the audit
const SHOWN = 6; // memories of a run; the others at a press
const ORDER = [
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

const drawn = /** @type {WeakMap<HTMLElement, string>} */ (new WeakMap());

/** What still stands of what runs made or changed, the newest run first. What was taken back is left out.
 * @param {readonly AuditEntry[]} audit the newest first @returns {Run[]} */
export function runsOf(audit) {
    const runs = /** @type {Map<string, Run>} */ (new Map());
    const settled = /** @type {Set<string>} */ (new Set()); // targets about which something newer is known
    for (const entry of audit) {
        if (entry.action === 'undo' || entry.action === 'purge') settled.add(entry.target);
        if (entry.actor !== 'archivist' || !RUN.test(entry.source) || settled.has(entry.target))
            continue;
        for (const item of learned(entry)) {
            const run = runs.get(entry.source) ?? {
                id: entry.source,
                at: entry.at,
                newest: entry.id,
                items: [],
            };
            runs.set(entry.source, run);
            const same = run.items.find(one => one.id === item.id);
            if (!same) run.items.push(item);
            else {
                same.before = item.before; // an older change of the same run
                same.kind ||= item.kind;
            }
        }
    }
    for (const run of runs.values())
        run.items.sort((a, b) => ORDER.indexOf(a.kind) - ORDER.indexOf(b.kind));
    return [...runs.values()];
}

/** What a reader can judge of a change; links other than facts are not. @param {AuditEntry} entry @returns {Learned[]} */
function learned({ action, target, before, after }) {
    const out = /** @type {Learned[]} */ ([]);
    const isNew = action === 'create' && after?.text;
    if (isNew || (action === 'change' && before?.text !== undefined && after?.text !== undefined)) {
        out.push({
            id: target,
            memory: target,
            kind: String(after?.kind ?? ''),
            before: isNew ? null : String(before?.text),
            text: String(after?.text),
        });
    }
    for (const [id, edge] of Object.entries(
        /** @type {Record<string, any>} */ (after?.edges ?? {}),
    )) {
        if (edge?.kind !== 'relates' || !edge.source || !edge.target || before?.edges?.[id])
            continue;
        out.push({
            id,
            memory: edge.source,
            kind: 'fact',
            before: null,
            text: '',
            ends: [edge.source, String(edge.verb ?? ''), edge.target],
        });
    }
    return out;
}

/** Facts in words, by the names of their ends; one whose end is gone is left out.
 * @param {Run[]} runs @param {(memory: string) => Promise<string | null>} nameOf @returns {Promise<Run[]>} those with anything left */
export async function worded(runs, nameOf) {
    const names = /** @type {Map<string, Promise<string | null>>} */ (new Map());
    for (const { items } of runs)
        for (const one of items) if (!one.ends) names.set(one.id, Promise.resolve(one.text));
    /** @param {string} memory */
    const name = memory => {
        const known = names.get(memory) ?? nameOf(memory);
        names.set(memory, known);
        return known;
    };
    return (
        await Promise.all(
            runs.map(async run => ({
                ...run,
                items: (
                    await Promise.all(
                        run.items.map(async one => {
                            if (!one.ends) return one;
                            const [subject, verb, object] = [
                                await name(one.ends[0]),
                                one.ends[1],
                                await name(one.ends[2]),
                            ];
                            return subject && object
                                ? { ...one, text: [subject, verb, object].join(' ') }
                                : null;
                        }),
                    )
                ).filter(one => one !== null),
            })),
        )
    ).filter(run => run.items.length > 0);
}

/** @param {readonly Run[]} runs @param {string | undefined} kept @returns {{fresh: Run[], earlier: Run[]}} ids of changes sort by their order */
export const parted = (runs, kept) => ({
    fresh: runs.filter(run => !kept || run.newest > kept),
    earlier: runs.filter(run => kept && run.newest <= kept),
});

/** @param {readonly Learned[]} items @param {import('../base/strings.js').Say} say @returns {string} such as "scene 3, concept 2" */
export function counts(items, say) {
    const kinds = ORDER.filter(kind => items.some(item => item.kind === kind));
    return kinds
        .map(
            kind =>
                `${say(/** @type {Key} */ (`kind_${kind}`))} ${items.filter(item => item.kind === kind).length}`,
        )
        .join(' · ');
}

/** @param {Desk} desk @param {HTMLElement} place what did not change is not drawn anew under the user's finger */
export async function drawLearned(desk, place) {
    const { say, app, memories } = desk;
    const { audit } = await memories.audit(desk.soul, null, undefined, LOOKED_AT);
    const runs = await worded(runsOf(audit), memory =>
        memories.whole(memory).then(
            whole => whole.text,
            () => null,
        ),
    );
    const { fresh, earlier } = parted(runs, app.settings().kept[desk.soul]);
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
            fresh.length
                ? button(
                      'fa-check-double',
                      say('learned_keep', { n: total }),
                      () => desk.attempt(keepAll),
                      { id: 'soulmem_keep_all' },
                  )
                : null,
        ]),
        el('small', {
            class: 'soulmem_hint',
            text: say(
                fresh.length
                    ? 'learned_hint'
                    : earlier.length
                      ? 'learned_none_new'
                      : 'learned_none',
            ),
        }),
        el(
            'ol',
            { class: 'soulmem_list' },
            fresh.map(run => draw(run, true)),
        ),
        ...(earlier.length
            ? [
                  el('details', { class: 'soulmem_earlier' }, [
                      el('summary', { text: say('learned_earlier', { n: earlier.length }) }),
                      el(
                          'ol',
                          { class: 'soulmem_list' },
                          earlier.map(run => draw(run, false)),
                      ),
                  ]),
              ]
            : []),
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
    const more = rest.length
        ? button(
              'fa-angles-down',
              say('learned_more', { n: rest.length }),
              () => {
                  show(rest);
                  more?.remove();
              },
              { class: 'soulmem_more' },
          )
        : null;
    return el(
        'li',
        { class: 'soulmem_entry soulmem_run', data: { run: run.id, fresh: String(isFresh) } },
        [
            el('div', { class: 'soulmem_recalled_head' }, [
                el('b', { text: counts(run.items, say) }),
                el('small', { class: 'soulmem_recalled_facts', text: desk.when(run.at) }),
            ]),
            list,
            el('div', { class: 'soulmem_row' }, [
                more,
                button(
                    'fa-clock-rotate-left',
                    say('undo_job'),
                    () => takeBack(desk, { job: run.id }, say('undo_job_question'), undone),
                    { class: 'soulmem_undo_job' },
                ),
            ]),
        ],
    );
}

/** @param {Desk} desk @param {Learned} item */
function itemView(desk, item) {
    const { say } = desk;
    const text = el('span', { class: 'soulmem_wording' });
    if (item.before === null) text.append(item.text);
    else {
        const { start, gone, come, end } = difference(item.before, item.text);
        text.append(
            start,
            ...(gone ? [el('del', { text: gone })] : []),
            ...(come ? [el('ins', { text: come })] : []),
            end,
        );
    }
    return el('li', { class: 'soulmem_learned', data: { memory: item.id, kind: item.kind } }, [
        el('div', {}, [item.kind ? kindFace(item.kind, say) : null, ' ', text]),
        button(
            'fa-magnifying-glass',
            say('show_memory'),
            () => desk.show('memories', item.memory),
            { class: 'soulmem_show', title: say('show_memory') },
        ),
    ]);
}
