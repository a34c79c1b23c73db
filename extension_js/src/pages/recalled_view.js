// What was recalled for a message and why: the brain icon on messages and the view it opens.

import { button, el, onPress } from '../base/dom.js';
import { lastMessage } from '../recall/recall_request.js';
import { slotOf, stampOf } from '../tavern/slots.js';
import { clarityOf, readingNodes } from '../widgets/faded_text.js';
import { kindLabel } from '../widgets/memory_badges.js';
import { onShownMessages } from '../widgets/message_rows.js';
import { deepPanel } from './deep_panel.js';
import { verdictButtons } from './verdicts.js';

/** @typedef {import('../app.js').App} App */
/** @typedef {import('../base/strings.js').Say} Say */
/** @typedef {import('../base/types.js').Memory} Memory */
/** @typedef {import('../base/types.js').RecallAnswer} RecallAnswer */
/** @typedef {import('../base/types.js').RecallRecord} RecallRecord */
/** @typedef {import('../base/strings.js').Key} Key */
/** @typedef {import('../base/strings.js').Phrase} Phrase */
/** The trace of the recall in the view; null when it cannot be had. @typedef {() => Promise<any>} TraceOf */
/** What the user can do with a memory in the view. @typedef {(memory: Memory) => HTMLElement | null} ActionsOf */

const GRADES = ['baseline', 'expand', 'walk', 'spread', 'steady', 'none'];

/** A record from the trace that the sidecar kept. It does not say which memories were trimmed, only how many
 * were sent.
 * @param {any} trace @param {number | undefined} sent @returns {RecallRecord | null} */
export function recordOfTrace(trace, sent) {
    const answer = /** @type {RecallAnswer | undefined} */ (trace?.answer);
    if (!Array.isArray(answer?.memories)) return null;
    const { memories, blocks, tokens, timed_out, took_ms, withheld = 0 } = answer;
    const ids = memories.map(memory => memory.id);
    const items = blocks.flatMap(block => block.items);
    return {
        trace: answer.trace,
        type: trace.type ?? 'normal',
        slot: null,
        swipe: null,
        soul: trace.soul ?? '',
        speaker: '',
        chat: trace.chat ?? '',
        memories,
        blocks,
        sent: ids.slice(0, sent),
        trimmed: sent === undefined ? [] : ids.slice(sent),
        item_tokens: Object.fromEntries(items.map(item => [item.memory, item.tokens])),
        tokens,
        budget: null,
        timed_out,
        took_ms,
        withheld,
        error: null,
    };
}

/** A line about a recalled memory. @param {RecallRecord} record @param {Memory} memory @param {Say} say */
function factsText(record, memory, say) {
    const isSent = record.sent.includes(memory.id);
    const notSent = record.nowhere ? 'item_nowhere' : 'item_trimmed';
    const facts = [say(isSent ? 'item_sent' : notSent)];
    const tokens = record.item_tokens[memory.id];
    if (tokens !== undefined) facts.push(say('item_tokens', { n: tokens }));
    const age = memory.age_turns;
    facts.push(age > 0 ? say('age_turns', { n: age }) : say('age_now'));
    if (memory.pushed) facts.push(say('item_pushed'));
    if (memory.permanent) facts.push(say('item_permanent'));
    else {
        const clarity = clarityOf(memory, memory.text);
        if (clarity !== 'clear') facts.push(say(`clarity_${clarity}`));
    }
    return facts.filter(Boolean).join(' · ');
}

/** @param {RecallRecord} record @param {Memory} memory @param {Say} say @param {ActionsOf} [actionsOf] */
function memoryItem(record, memory, say, actionsOf) {
    const steps = memory.path ?? [];
    const path = steps.map(step => el('span', { text: step.label }));
    const state = record.sent.includes(memory.id) ? 'sent' : 'trimmed';
    const data = { memory: memory.id, state };
    return el('li', { class: 'soulmem_recalled_item', data }, [
        el('div', { class: 'soulmem_recalled_head' }, [
            kindLabel(memory.kind, say),
            el('small', {
                class: 'soulmem_recalled_facts',
                text: factsText(record, memory, say),
            }),
        ]),
        el('div', { class: 'soulmem_recalled_text' }, readingNodes(memory.text, say)),
        el('div', { class: 'soulmem_recalled_why' }, [
            el('i', { class: 'fa-solid fa-lightbulb' }),
            el('span', { text: memory.why }),
        ]),
        path.length > 1
            ? el('div', { class: 'soulmem_path', title: say('item_path') }, path)
            : null,
        actionsOf?.(memory),
    ]);
}

/** @param {RecallRecord} record @param {Say} say @returns {string} how much of it went into the prompt */
export function summaryText(record, say) {
    const all = record.memories.length;
    if (all === 0) {
        return record.withheld
            ? say('recalled_silent', { n: record.withheld })
            : say('recalled_none');
    }
    if (record.nowhere) return say('recalled_nowhere', { all, macro: '{{soulmem}}' });
    return say(record.budget === null ? 'recalled_past' : 'recalled_summary', {
        sent: record.sent.length,
        all,
        tokens: record.tokens,
        budget: record.budget ?? 0,
        ms: Math.round(record.took_ms.total ?? 0),
    });
}

/** The steps of a search in words, first step first, each with its reason.
 * @param {any} trace as the sidecar keeps it @param {Say} say @returns {{text: string, why: string}[]} */
export function searchSteps(trace, say) {
    const nameOf = (/** @type {string} */ grade) =>
        GRADES.includes(grade) ? say(/** @type {Key} */ (`grade_${grade}`)) : grade;
    /** @type {{name: string, enough: boolean, why: string, why_phrase?: Phrase, ms: number}[]} */
    const grades = trace.grades ?? [];
    if (grades.length === 0) return [{ text: nameOf(trace.grade), why: trace.grade_why }];
    return grades.map(({ name, enough, why, why_phrase: phrase, ms }) => {
        const verdict = say(enough ? 'search_enough' : 'search_not_enough');
        const values = { name: nameOf(name), verdict, ms: Math.round(ms * 10) / 10 };
        return { text: say('search_step', values), why: say.phrase(why, phrase) };
    });
}

/** How it was searched; asks for the trace when the user opens it.
 * @param {TraceOf} traceOf @param {Say} say */
function searchDetails(traceOf, say) {
    const steps = el('ol', { class: 'soulmem_search_steps' });
    const summary = el('summary', { text: say('search_title') });
    const details = el('details', { class: 'soulmem_search' }, [summary, steps]);
    async function fill() {
        const trace = await traceOf();
        const items = trace ? searchSteps(trace, say) : [{ text: say('recalled_gone'), why: '' }];
        const entries = items.map(({ text, why }) =>
            el('li', {}, [el('div', { text }), why ? el('small', { text: why }) : null]),
        );
        steps.replaceChildren(...entries);
    }
    details.addEventListener('toggle', () => void fill(), { once: true });
    return details;
}

/** @param {RecallRecord} record @param {Say} say @returns {HTMLElement | null} how many more came to mind */
function withheldLine(record, say) {
    if (!record.withheld || record.memories.length === 0) return null;
    const text = say('recalled_withheld', { n: record.withheld });
    return el('small', { class: 'soulmem_withheld', text, title: say('withheld_hint') });
}

/** The view of one recall. @param {RecallRecord} record @param {string} name of who recalled @param {Say} say
 * @param {ActionsOf} [actionsOf] @param {TraceOf} [traceOf] */
export function recalledView(record, name, say, actionsOf, traceOf) {
    const { memories, trimmed, budget, tokens } = record;
    const isTrimmed = (/** @type {Memory} */ memory) => Number(trimmed.includes(memory.id));
    const ordered = [...memories].sort((a, b) => isTrimmed(a) - isTrimmed(b));
    const items = ordered.map(memory => memoryItem(record, memory, say, actionsOf));
    const width = budget ? Math.min(100, (tokens / budget) * 100) : 0;
    return el('div', { class: 'soulmem_recalled', data: { trace: record.trace } }, [
        el('h3', { class: 'margin0', text: say('recalled_title', { name }) }),
        budget && items.length
            ? el('div', { class: 'soulmem_bar' }, [el('div', { style: `width: ${width}%` })])
            : null,
        el(items.length ? 'small' : 'p', {
            class: 'soulmem_recalled_summary',
            text: summaryText(record, say),
        }),
        items.length ? el('ol', { class: 'soulmem_recalled_list' }, items) : null,
        withheldLine(record, say),
        record.withheld && !items.length
            ? el('small', { class: 'soulmem_hint', text: say('withheld_hint') })
            : null,
        traceOf ? searchDetails(traceOf, say) : null,
    ]);
}

/** What the sidecar has kept of a recall; null when it cannot be had.
 * @param {App} app @param {string} trace @returns {Promise<any>} */
const keptTrace = (app, trace) =>
    app.link.ask('GET', `/traces/${trace}`, undefined, { timeout: 5000 }).catch(() => null);

/** The recall behind the last reply of the open chat: of this page, else as the sidecar keeps it. @param {App} app
 * @returns {Promise<RecallRecord | null>} */
export async function lastReplyRecord(app) {
    const last = app.recaller.last();
    if (last && !last.error) return last;
    const reply = [...app.host.chat()].reverse().find(message => stampOf(message).trace);
    const { trace, n = 0 } = reply ? stampOf(reply) : {};
    return trace ? recordOfTrace(await keptTrace(app, trace), n) : null;
}

/** @param {App} app @param {Say} say
 * @param {(memory: string, soul: string) => unknown} showMemory in the memory window */
export function mountRecallIcons(app, say, showMemory) {
    const storedTrace = (/** @type {string} */ trace) => keptTrace(app, trace);

    /** The recall behind a reply: of this page, else from the sidecar.
     * @param {string} trace @param {number} sent memories @returns {Promise<RecallRecord | null>} */
    async function recordOf(trace, sent) {
        return app.recaller.byTrace(trace) ?? recordOfTrace(await storedTrace(trace), sent);
    }

    /** @param {{trace: string, soul: string}} record @returns {ActionsOf} */
    const actionsFor = record => memory => {
        const show = () => showMemory(memory.id, record.soul);
        return el('div', { class: 'soulmem_doing' }, [
            verdictButtons(app, say, record, memory.id),
            memory.kind === 'fact'
                ? null
                : button('fa-magnifying-glass', say('show_memory'), show, {
                      class: 'soulmem_show',
                  }),
        ]);
    };

    /** @param {RecallRecord} record @param {number} index of the reply */
    function deepPanelFor({ soul, chat }, index) {
        const query = lastMessage(app.host.chat().slice(0, index));
        /** @type {import('./deep_panel.js').DeepActionsOf} */
        const actionsOf = (trace, memory) => actionsFor({ trace, soul })(memory);
        return deepPanel(app, say, { soul, chat, query }, actionsOf);
    }

    /** @param {number} index of the message */
    async function open(index) {
        const message = app.host.chat()[index];
        const { trace, n = 0 } = message ? stampOf(message) : {};
        if (!message || !trace) return;
        const record = await recordOf(trace, n);
        if (!record) {
            app.host.toast('info', say('recalled_gone'));
            return;
        }
        const traceOf = () => storedTrace(trace);
        const view = recalledView(record, message.name ?? '', say, actionsFor(record), traceOf);
        view.append(deepPanelFor(record, index));
        app.host.popup(view, say('recalled_close'));
    }

    /** Puts the icon on a message that has a trace, and removes it from others.
     * @param {HTMLElement} row @param {import('../base/types.js').StMessage | undefined} message */
    function decorate(row, message) {
        const isWanted = Boolean(message && slotOf(message) && stampOf(message).trace);
        const isTold = isWanted && app.settings().reply_line;
        drawLine(row, isTold && message ? (stampOf(message).n ?? 0) : 0);
        const icon = row.querySelector('.soulmem_recalled_button');
        if (!isWanted) icon?.remove();
        else if (!icon) row.querySelector('.mes_buttons')?.prepend(iconOf(row));
    }

    /** The line below a reply: how many memories were sent for it; no line for 0. @param {HTMLElement} row @param {number} n */
    function drawLine(row, n) {
        const shown = row.querySelector('.soulmem_reply_line');
        const text = say('reply_count', { n });
        if (n && shown?.textContent === text) return;
        shown?.remove();
        if (!n) return;
        const line = el('small', { class: 'soulmem_reply_line', tabindex: '0', role: 'button', text });
        onPress(line, () => open(Number(row.getAttribute('mesid'))));
        row.querySelector('.mes_block')?.append(line);
    }

    /** @param {HTMLElement} row of a message */
    function iconOf(row) {
        const icon = el('div', {
            class: 'mes_button soulmem_recalled_button fa-solid fa-brain interactable',
            title: say('recalled_button'),
            tabindex: '0',
            role: 'button',
        });
        onPress(icon, () => open(Number(row.getAttribute('mesid'))));
        return icon;
    }

    onShownMessages(app, decorate);
}
