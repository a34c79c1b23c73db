// What was recalled for this message, and why? The brain icon on messages and the view it opens.

import { button, el, onPress } from '../base/dom.js';
import { kindFace } from '../widgets/memory_badges.js';
import { slotOf, stampOf } from '../tavern/slots.js';
import { verdicts } from './verdicts.js';

/** @typedef {import('../app.js').App} App */
/** @typedef {import('../base/strings.js').Say} Say */
/** @typedef {import('../base/types.js').Memory} Memory */
/** @typedef {import('../base/types.js').RecallRecord} RecallRecord */

const FADING = 0.6; // below this a memory reads as gist

/** A record from what the sidecar kept of a trace. What the client trimmed then is not known any more, save how many went in.
 * @param {any} trace @param {number | undefined} sent @returns {RecallRecord | null} */
export function recordOfTrace(trace, sent) {
    const answer = /** @type {import('../base/types.js').RecallAnswer | undefined} */ (
        trace?.answer
    );
    if (!Array.isArray(answer?.memories)) return null;
    const ids = answer.memories.map(memory => memory.id);
    const items = answer.blocks.flatMap(block => block.items);
    return {
        trace: answer.trace,
        type: trace.type ?? 'normal',
        slot: null,
        swipe: null,
        soul: trace.soul ?? '',
        speaker: '',
        chat: trace.chat ?? '',
        memories: answer.memories,
        blocks: answer.blocks,
        sent: ids.slice(0, sent),
        trimmed: sent === undefined ? [] : ids.slice(sent),
        item_tokens: Object.fromEntries(items.map(item => [item.memory, item.tokens])),
        tokens: answer.tokens,
        budget: null,
        timed_out: answer.timed_out,
        took_ms: answer.took_ms,
        error: null,
    };
}

/** What a view lets the user do with a memory. @typedef {(memory: Memory) => HTMLElement | null} Doing */

/** @param {RecallRecord} record @param {Memory} memory @param {Say} say @param {Doing} [doing] */
function item(record, memory, say, doing) {
    const sent = record.sent.includes(memory.id);
    const steps = memory.path ?? [];
    const tokens = record.item_tokens[memory.id];
    const facts = [
        say(sent ? 'item_sent' : record.nowhere ? 'item_nowhere' : 'item_trimmed'),
        tokens === undefined ? '' : say('item_tokens', { n: tokens }),
        memory.age_turns > 0 ? say('age_turns', { n: memory.age_turns }) : say('age_now'),
        memory.permanent
            ? say('item_permanent')
            : memory.visibility < FADING
              ? say('item_fading')
              : '',
    ];
    return el(
        'li',
        {
            class: 'soulmem_recalled_item',
            data: { memory: memory.id, state: sent ? 'sent' : 'trimmed' },
        },
        [
            el('div', { class: 'soulmem_recalled_head' }, [
                kindFace(memory.kind, say),
                el('small', {
                    class: 'soulmem_recalled_facts',
                    text: facts.filter(Boolean).join(' · '),
                }),
            ]),
            el('div', { class: 'soulmem_recalled_text', text: memory.text }),
            el('div', { class: 'soulmem_recalled_why' }, [
                el('i', { class: 'fa-solid fa-lightbulb' }),
                el('span', { text: memory.why }),
            ]),
            steps.length < 2
                ? null
                : el(
                      'div',
                      { class: 'soulmem_path', title: say('item_path') },
                      steps.map(step => el('span', { text: step.label })),
                  ),
            doing?.(memory),
        ],
    );
}

/** The view of one recall. @param {RecallRecord} record @param {string} name of who recalled @param {Say} say @param {Doing} [doing] */
export function recalledView(record, name, say, doing) {
    const order = [...record.memories].sort(
        (a, b) => Number(record.trimmed.includes(a.id)) - Number(record.trimmed.includes(b.id)),
    );
    const figures = {
        sent: record.sent.length,
        all: record.memories.length,
        tokens: record.tokens,
        budget: record.budget ?? 0,
        ms: Math.round(record.took_ms.total ?? 0),
    };
    const summary = record.nowhere
        ? say('recalled_nowhere', { all: figures.all, macro: '{{soulmem}}' })
        : say(record.budget === null ? 'recalled_past' : 'recalled_summary', figures);
    return el('div', { class: 'soulmem_recalled', data: { trace: record.trace } }, [
        el('h3', { class: 'margin0', text: say('recalled_title', { name }) }),
        record.budget
            ? el('div', { class: 'soulmem_bar' }, [
                  el('div', {
                      style: `width: ${Math.min(100, (record.tokens / record.budget) * 100)}%`,
                  }),
              ])
            : null,
        el('small', { text: summary }),
        record.memories.length
            ? el(
                  'ol',
                  { class: 'soulmem_recalled_list' },
                  order.map(memory => item(record, memory, say, doing)),
              )
            : el('p', { text: say('recalled_none') }),
    ]);
}

/** @param {App} app @param {Say} say @param {(memory: string, soul: string) => unknown} govern shows a memory in the window of all */
export function mountRecalled(app, say, govern) {
    /** @param {number} index of the message */
    async function open(index) {
        const message = app.host.chat()[index];
        const trace = message && stampOf(message).trace;
        if (!message || !trace) return;
        const record =
            app.recaller.byTrace(trace) ??
            recordOfTrace(
                await app.link
                    .ask('GET', `/traces/${trace}`, undefined, { timeout: 5000 })
                    .catch(() => null),
                stampOf(message).n ?? 0,
            );
        /** @type {Doing} */
        const doing = memory =>
            record &&
            el('div', { class: 'soulmem_doing' }, [
                verdicts(app, say, record, memory.id),
                memory.kind === 'fact'
                    ? null
                    : button(
                          'fa-magnifying-glass',
                          say('show_memory'),
                          () => govern(memory.id, record.soul),
                          { class: 'soulmem_show' },
                      ),
            ]);
        if (record)
            app.host.popup(
                recalledView(record, message.name ?? '', say, doing),
                say('recalled_close'),
            );
        else app.host.toast('info', say('recalled_gone'));
    }

    /** The icon on every shown message that has a trace, and only there. */
    function decorate() {
        for (const row of /** @type {NodeListOf<HTMLElement>} */ (
            document.querySelectorAll('#chat .mes')
        )) {
            const message = app.host.chat()[Number(row.getAttribute('mesid'))];
            const wanted = Boolean(message && slotOf(message) && stampOf(message).trace);
            const button = row.querySelector('.soulmem_recalled_button');
            if (!wanted) button?.remove();
            else if (!button) row.querySelector('.mes_buttons')?.prepend(brain(row));
        }
    }

    /** @param {HTMLElement} row */
    function brain(row) {
        const button = el('div', {
            class: 'mes_button soulmem_recalled_button fa-solid fa-brain interactable',
            title: say('recalled_button'),
            tabindex: '0',
            role: 'button',
        });
        onPress(button, () => open(Number(row.getAttribute('mesid'))));
        return button;
    }

    let planned = 0;
    const plan = () => {
        cancelAnimationFrame(planned);
        planned = requestAnimationFrame(decorate);
    };
    const chat = document.getElementById('chat');
    if (chat) new MutationObserver(plan).observe(chat, { childList: true });
    app.subscribe(plan);
    plan();
}
