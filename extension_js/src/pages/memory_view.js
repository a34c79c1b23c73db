// What is known of one memory, and what can the user do with it?

import { button, el } from '../base/dom.js';
import { entryItem } from '../widgets/audit_entry.js';
import { badges, kindFace } from '../widgets/memory_badges.js';
import { paged } from '../widgets/paging.js';
import { sourcesView } from '../widgets/memory_sources.js';

/** @typedef {import('./browser_context.js').Desk} Desk */
/** @typedef {import('../base/types.js').Whole} Whole */

const PERCENT = 100;
const BINNED = ['bin', 'retracted', 'forgotten']; // by the user, with its messages, by time

/** @param {Desk} desk @param {string} id @param {(changed: boolean) => void} leave back to the list
 * @returns {Promise<HTMLElement>} */
export async function memoryView(desk, id, leave) {
    const { say, memories } = desk;
    let changed = false;
    let unsaved = () => false;
    desk.mayLeave = async () => !unsaved() || desk.app.host.confirm(say('unsaved_question'));
    const view = el('div', { class: 'soulmem_memory', data: { memory: id } });

    /** @param {string | null} [draft] words the user has not saved yet */
    async function draw(draft = null) {
        const memory = await memories.whole(id);
        const [sources, history] = await Promise.all([
            sourcesView(desk, memory),
            paged({
                fetch: cursor =>
                    memories
                        .history(id, cursor)
                        .then(answer => ({ rows: answer.audit, cursor: answer.cursor })),
                draw: entry =>
                    entryItem(desk, entry, { undone: () => redraw(), reuse: text => redraw(text) }),
                more: say('more'),
                none: say('history_none'),
                attempt: desk.attempt,
            }),
        ]);
        view.replaceChildren(
            el('div', { class: 'soulmem_row' }, [
                button('fa-arrow-left', say('back'), goBack, { id: 'soulmem_back' }),
                kindFace(memory.kind, say),
                ...badges(memory, say, desk.leftOut()),
            ]),
            ...(BINNED.includes(memory.state) ? [restoring(memory)] : editing(memory, draft)),
            el('small', { class: 'soulmem_hint', text: factsOf(memory) }),
            el('h4', { text: say('sources') }),
            sources,
            el('h4', { text: say('history') }),
            history,
        );
    }

    async function goBack() {
        if (await desk.mayLeave()) leave(changed);
    }

    /** @param {string | null} [draft] */
    const redraw = draft => {
        changed = true;
        return draw(draft);
    };

    /** @param {Whole} memory */
    function factsOf(memory) {
        return [
            say('fact_importance', { n: Math.round(memory.importance * PERCENT) }),
            say('fact_strength', { n: Math.round(memory.strength * PERCENT) }),
            memory.uses && memory.last_used
                ? say('fact_uses', { n: memory.uses, when: desk.when(memory.last_used) })
                : say('fact_never_used'),
            say('fact_created', { when: desk.when(memory.created) }),
            say(/** @type {import('../base/strings.js').Key} */ (`origin_${memory.origin}`)),
        ].join(' · ');
    }

    /** @param {Whole} memory @param {string | null} draft @returns {HTMLElement[]} */
    function editing(memory, draft) {
        const text = /** @type {HTMLTextAreaElement} */ (
            el('textarea', {
                id: 'soulmem_text',
                class: 'text_pole',
                rows: '4',
                'aria-label': say('text'),
            })
        );
        text.value = draft ?? memory.text;
        unsaved = () => text.value.trim() !== memory.text;
        const save = button(
            'fa-floppy-disk',
            say('save'),
            () => change({ text: text.value.trim() }),
            { id: 'soulmem_save' },
        );
        const offer = () => {
            save.hidden = text.value.trim() === memory.text || !text.value.trim();
        };
        text.addEventListener('input', offer);
        offer();

        /** What was changed elsewhere meanwhile is shown; words being written stay. @param {Record<string, unknown>} what */
        async function change(what) {
            const mine = text.value.trim() === memory.text ? null : text.value;
            await desk.attempt(async () => {
                try {
                    await memories.change(memory, what);
                } catch (error) {
                    if (/** @type {{code?: string}} */ (error).code !== 'conflict') throw error;
                    await redraw(mine);
                    throw error;
                }
                desk.tell(say('saved'));
                await redraw('text' in what ? null : mine);
            });
        }

        const spot = memory.sources[0];
        return [
            text,
            el('div', { class: 'soulmem_row' }, [
                save,
                button(
                    'fa-thumbtack',
                    say(memory.permanent ? 'permanent_off' : 'permanent_on'),
                    () => change({ permanent: !memory.permanent }),
                    { id: 'soulmem_permanent', 'aria-pressed': memory.permanent },
                ),
                button(
                    memory.locked ? 'fa-lock-open' : 'fa-lock',
                    say(memory.locked ? 'lock_off' : 'lock_on'),
                    () => change({ locked: !memory.locked }),
                    { id: 'soulmem_lock', 'aria-pressed': memory.locked },
                ),
                memory.timelines === 'this'
                    ? button('fa-globe', say('timelines_all'), () => change({ timelines: 'all' }), {
                          id: 'soulmem_timelines',
                      })
                    : spot && memory.origin === 'user'
                      ? button(
                            'fa-code-branch',
                            say('timelines_this'),
                            () => change({ timelines: 'this', ...spot }),
                            { id: 'soulmem_timelines' },
                        )
                      : null,
                memory.in_doubt
                    ? button('fa-check', say('doubt_off'), () => change({ in_doubt: false }), {
                          id: 'soulmem_doubt',
                      })
                    : null,
                button('fa-trash-can', say('to_bin'), () => bin(memory), { id: 'soulmem_to_bin' }),
            ]),
            memory.in_doubt
                ? el('small', { class: 'soulmem_hint', text: say('hint_doubt') })
                : null,
            el('small', {
                class: 'soulmem_hint',
                text: say(
                    memory.permanent || memory.locked
                        ? 'hint_protected'
                        : memory.origin === 'chat' || memory.origin === 'model'
                          ? 'hint_derived'
                          : 'hint_yours',
                ),
            }),
        ].filter(part => part !== null);
    }

    /** @param {Whole} memory */
    function restoring(memory) {
        return el('div', {}, [
            el('div', { class: 'soulmem_item_text', text: memory.text }),
            el('div', { class: 'soulmem_row' }, [
                button(
                    'fa-trash-arrow-up',
                    say('restore'),
                    () =>
                        desk.attempt(async () => {
                            await memories.restore(id);
                            await redraw();
                        }),
                    { class: 'soulmem_restore' },
                ),
            ]),
        ]);
    }

    /** A permanent memory goes only when its protection is named. @param {Whole} memory */
    async function bin(memory) {
        if (
            memory.permanent &&
            !(await desk.typed(say('permanent_word'), 'permanent_question', say('to_bin')))
        )
            return;
        if (await desk.attempt(() => memories.bin(memory))) {
            desk.tell(say('binned', { days: desk.days() }));
            leave(true);
        }
    }

    await draw();
    return view;
}
