// What was recalled for a message and why: the brain icon on messages and the view it opens.

import { button, el, onPress } from '../base/dom.js';
import { slotOf, stampOf } from '../tavern/slots.js';
import { kindLabel } from '../widgets/memory_badges.js';
import { verdictButtons } from './verdicts.js';

/** @typedef {import('../app.js').App} App */
/** @typedef {import('../base/strings.js').Say} Say */
/** @typedef {import('../base/types.js').Memory} Memory */
/** @typedef {import('../base/types.js').RecallAnswer} RecallAnswer */
/** @typedef {import('../base/types.js').RecallRecord} RecallRecord */
/** What the user can do with a memory in the view. @typedef {(memory: Memory) => HTMLElement | null} ActionsOf */

const FADING = 0.6; // visibility below which a memory counts as fading

/** A record from the trace that the sidecar kept. It does not say which memories were trimmed, only how many
 * were sent.
 * @param {any} trace @param {number | undefined} sent @returns {RecallRecord | null} */
export function recordOfTrace(trace, sent) {
    const answer = /** @type {RecallAnswer | undefined} */ (trace?.answer);
    if (!Array.isArray(answer?.memories)) return null;
    const { memories, blocks, tokens, timed_out, took_ms } = answer;
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
    if (memory.permanent) facts.push(say('item_permanent'));
    else if (memory.visibility < FADING) facts.push(say('item_fading'));
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
        el('div', { class: 'soulmem_recalled_text', text: memory.text }),
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
function summaryText(record, say) {
    const all = record.memories.length;
    if (record.nowhere) return say('recalled_nowhere', { all, macro: '{{soulmem}}' });
    return say(record.budget === null ? 'recalled_past' : 'recalled_summary', {
        sent: record.sent.length,
        all,
        tokens: record.tokens,
        budget: record.budget ?? 0,
        ms: Math.round(record.took_ms.total ?? 0),
    });
}

/** The view of one recall. @param {RecallRecord} record @param {string} name of who recalled @param {Say} say
 * @param {ActionsOf} [actionsOf] */
export function recalledView(record, name, say, actionsOf) {
    const { memories, trimmed, budget, tokens } = record;
    const isTrimmed = (/** @type {Memory} */ memory) => Number(trimmed.includes(memory.id));
    const ordered = [...memories].sort((a, b) => isTrimmed(a) - isTrimmed(b));
    const items = ordered.map(memory => memoryItem(record, memory, say, actionsOf));
    const width = budget ? Math.min(100, (tokens / budget) * 100) : 0;
    return el('div', { class: 'soulmem_recalled', data: { trace: record.trace } }, [
        el('h3', { class: 'margin0', text: say('recalled_title', { name }) }),
        budget
            ? el('div', { class: 'soulmem_bar' }, [el('div', { style: `width: ${width}%` })])
            : null,
        el('small', { text: summaryText(record, say) }),
        items.length
            ? el('ol', { class: 'soulmem_recalled_list' }, items)
            : el('p', { text: say('recalled_none') }),
    ]);
}

/** @param {App} app @param {Say} say
 * @param {(memory: string, soul: string) => unknown} showMemory in the memory window */
export function mountRecallIcons(app, say, showMemory) {
    /** The recall behind a reply: of this page, else from the sidecar.
     * @param {string} trace @param {number} sent memories @returns {Promise<RecallRecord | null>} */
    async function recordOf(trace, sent) {
        const record = app.recaller.byTrace(trace);
        if (record) return record;
        const options = { timeout: 5000 };
        const stored = app.link.ask('GET', `/traces/${trace}`, undefined, options);
        return recordOfTrace(await stored.catch(() => null), sent);
    }

    /** @param {RecallRecord} record @returns {ActionsOf} */
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
        const view = recalledView(record, message.name ?? '', say, actionsFor(record));
        app.host.popup(view, say('recalled_close'));
    }

    /** Puts the icon on every shown message that has a trace, and removes it from all others. */
    function decorate() {
        const rows = /** @type {NodeListOf<HTMLElement>} */ (
            document.querySelectorAll('#chat .mes')
        );
        for (const row of rows) {
            const message = app.host.chat()[Number(row.getAttribute('mesid'))];
            const isWanted = Boolean(message && slotOf(message) && stampOf(message).trace);
            const icon = row.querySelector('.soulmem_recalled_button');
            if (!isWanted) icon?.remove();
            else if (!icon) row.querySelector('.mes_buttons')?.prepend(iconOf(row));
        }
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

    let frame = 0;
    const schedule = () => {
        cancelAnimationFrame(frame);
        frame = requestAnimationFrame(decorate);
    };
    const chat = document.getElementById('chat');
    if (chat) new MutationObserver(schedule).observe(chat, { childList: true });
    app.subscribe(schedule);
    schedule();
}
