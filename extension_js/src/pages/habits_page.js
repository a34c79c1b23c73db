// The page "Habits": when .. the character .., made, weighed and tried by hand.

import { button, el } from '../base/dom.js';
import { memoryPages, pagesOf } from '../widgets/memory_pages.js';
import { pressRow } from '../widgets/press_row.js';
import { twoColumns } from '../widgets/two_columns.js';
import { cardHabits } from './card_habits.js';
import { habitForm, oftenText, textField } from './habit_form.js';
import { changeHabit, loadHabits, makeHabit } from './habit_graph.js';
import { recallForLine } from './line_recall.js';

/** @typedef {import('./browser_context.js').BrowserContext} BrowserContext */
/** @typedef {import('./habit_graph.js').Habit} Habit */
/** @typedef {import('./card_habits.js').Proposal} Proposal */
/** @typedef {import('../base/types.js').Memory} Memory */

const PAGE = 20; // habits drawn at once

/** @param {BrowserContext} context @param {HTMLElement} page */
export async function habitsPage(context, page) {
    const { say, app, memoryApi } = context;
    const { columns, list, show, close } = twoColumns(say('back'));
    const rows = el('div', {});
    const proposals = el('div', { 'aria-live': 'polite' });
    const tryLine = textField('soulmem_habit_try', say('habit_try_label'));
    const tried = el('div', { 'aria-live': 'polite' });
    const tryHabit = () => context.attempt(tryIt);
    list.append(
        el('p', { class: 'soulmem_hint', text: say('habit_hint') }),
        el('div', { class: 'soulmem_row' }, [
            button('fa-plus', say('habit_new'), () => show(newForm()), { id: 'soulmem_habit_new' }),
            button('fa-id-card', say('habit_from_card'), () => context.attempt(readCard), {
                id: 'soulmem_habit_card',
            }),
        ]),
        proposals,
        rows,
        el('h4', { text: say('habit_try_title') }),
        el('div', { class: 'soulmem_try' }, [
            tryLine,
            button('fa-bolt', say('habit_try_go'), tryHabit, { id: 'soulmem_habit_try_go' }),
        ]),
        tried,
        ...intentField(),
    );
    tryLine.addEventListener('keydown', event => {
        if (event.key !== 'Enter' || event.isComposing) return;
        event.preventDefault();
        void tryHabit();
    });
    page.append(columns);
    let habits = /** @type {Habit[]} */ ([]);
    await load();

    async function load() {
        habits = await loadHabits(context);
        const drawn = await memoryPages({
            fetch: pagesOf(habits, PAGE),
            draw: row,
            more: say('more'),
            none: say('habit_none'),
            attempt: context.attempt,
        });
        rows.replaceChildren(drawn);
    }

    /** @param {Habit} habit */
    function whenText({ whens }) {
        return whens.map(memory => memory.text).join(' / ');
    }

    /** @param {Habit} habit */
    function row(habit) {
        const [first] = habit.deeds;
        const lines = habit.deeds.map(({ does, often }, i) => {
            const values = { when: whenText(habit), action: does };
            const begin = say(values.when ? 'habit_sentence' : 'habit_always_so', values);
            return el('div', { class: 'soulmem_item_text' }, [
                i ? say('habit_or_sentence', { action: does }) : begin,
                ' ',
                habit.trigger
                    ? el('small', { class: 'soulmem_often', text: oftenText(often, say) })
                    : null,
            ]);
        });
        return pressRow(
            { class: 'soulmem_item', data: { memory: first.action?.id ?? '', kind: 'action' } },
            lines,
            item => show(detail(habit), item),
        );
    }

    function missing() {
        context.showStatus(say('habit_missing'), false);
    }

    /** @param {() => Promise<unknown>} work */
    async function saved(work) {
        await context.attempt(async () => {
            await work();
            close();
            context.showStatus(say('saved'));
            await load();
        });
    }

    function newForm() {
        const shown = { when: '', deeds: [], isNew: true };
        return habitForm(
            say,
            shown,
            (when, deeds) => saved(() => makeHabit(context, when, deeds)),
            missing,
        );
    }

    /** @param {Habit} habit */
    function detail(habit) {
        const shown = { when: habit.whens[0]?.text ?? '', deeds: habit.deeds, isNew: false };
        const form = habitForm(
            say,
            shown,
            (when, deeds) => saved(() => changeHabit(context, habit, when, deeds)),
            missing,
        );
        const actions = habit.deeds.flatMap(({ action }) => (action ? [action] : []));
        const bin = () =>
            context.attempt(async () => {
                for (const action of actions) await memoryApi.moveToBin(action);
                close();
                context.showStatus(say('binned', { days: context.binDays() }));
                await load();
            });
        const open = () => context.show('memories', actions[0]?.id);
        form.append(
            el('div', { class: 'soulmem_row' }, [
                button('fa-pen', say('try_open'), open),
                button('fa-trash-can', say('to_bin'), bin, { class: 'soulmem_habit_bin' }),
            ]),
        );
        return form;
    }

    /** Proposes the habits of the card that are not there yet. */
    async function readCard() {
        const stated = await cardHabits(context);
        const existing = new Set(habits.flatMap(({ deeds }) => deeds.map(({ does }) => does)));
        const fresh = (stated ?? []).filter(({ does }) => !existing.has(does));
        proposals.replaceChildren(
            el('small', {
                class: 'soulmem_hint',
                text: fresh.length
                    ? say('habit_proposals', { n: fresh.length })
                    : say(stated === null ? 'habit_no_card' : 'habit_no_proposals'),
            }),
            el('ul', { class: 'soulmem_list' }, fresh.map(proposal)),
        );
    }

    /** @param {Proposal} proposed */
    function proposal({ when, does, often }) {
        const text = say('habit_sentence', { when, action: does });
        const keep = () =>
            context.attempt(async () => {
                await makeHabit(context, when, [{ action: null, does, often }]);
                item.remove();
                context.showStatus(say('saved'));
                await load();
            });
        const item = el('li', { class: 'soulmem_item soulmem_proposal', data: { kind: 'action' } }, [
            el('div', { class: 'soulmem_item_text' }, [
                `${text} `,
                el('small', { class: 'soulmem_often', text: oftenText(often, say) }),
            ]),
            el('div', { class: 'soulmem_row' }, [
                button('fa-check', say('habit_keep'), keep, { class: 'soulmem_proposal_keep' }),
                button('fa-xmark', say('habit_drop'), () => item.remove(), {
                    class: 'soulmem_proposal_drop',
                }),
            ]),
        ]);
        return item;
    }

    async function tryIt() {
        const query = tryLine.value.trim();
        if (!query) {
            tryLine.focus();
            return;
        }
        const answer = await recallForLine(context, { query, chat: null, type: 'preview' });
        const actions = /** @type {(Memory & {fired?: boolean})[]} */ (answer.memories).filter(
            ({ kind }) => kind === 'action',
        );
        const lines = actions.map(memory =>
            el('li', { data: { fired: String(Boolean(memory.fired)) } }, [
                el('b', { text: say(memory.fired ? 'habit_fires' : 'habit_near') }),
                ` ${memory.text} `,
                el('small', { text: memory.why }),
            ]),
        );
        tried.replaceChildren(
            lines.length
                ? el('ul', { class: 'soulmem_facts' }, lines)
                : el('p', { class: 'soulmem_hint', text: say('habit_silent') }),
        );
    }

    /** What the character means to do in the open chat: it sets off habits that are named so. */
    function intentField() {
        const record = app.host.record();
        if (!record?.chat || !context.isOpenCharacter()) return [];
        const field = textField('soulmem_intent', say('habit_intent_label'), record.intent);
        field.addEventListener('change', () =>
            context.attempt(async () => {
                const open = app.host.record();
                if (open?.chat !== record.chat) return;
                const intent = field.value.trim() || undefined;
                app.host.setRecord(/** @type {import('../base/types.js').ChatRecord} */ ({ ...open, intent }));
                await app.host.saveChat();
                context.showStatus(say('saved'));
            }),
        );
        return [
            el('h4', { text: say('habit_intent') }),
            el('small', { class: 'soulmem_hint', text: say('habit_intent_hint', { macro: '{{soulmem::intent}}' }) }),
            field,
        ];
    }
}
