// The page "Recall": what came to mind for the last reply, and what would come for a line that was never said.

import { button, el } from '../base/dom.js';
import { lastMessage } from '../recall/recall_request.js';
import { chipRow } from '../widgets/chip_row.js';
import { clarityBar, clarityOf, readingNodes } from '../widgets/faded_text.js';
import { kindLabel } from '../widgets/memory_badges.js';
import { sourcesView } from '../widgets/memory_sources.js';
import { pressRow } from '../widgets/press_row.js';
import { recalledParts } from '../widgets/recalled_parts.js';
import { withTools } from '../widgets/row_tools.js';
import { twoColumns } from '../widgets/two_columns.js';
import { recallForLine } from './line_recall.js';
import { lastReplyRecord, summaryText } from './recalled_view.js';
import { verdictButtons } from './verdicts.js';

/** @typedef {import('./browser_context.js').BrowserContext} BrowserContext */
/** @typedef {import('../base/strings.js').Key} Key */
/** @typedef {import('../base/types.js').Memory} Memory */
/** @typedef {import('../base/types.js').RecallAnswer} RecallAnswer */
/** A memory that came to mind without being told. `cut`: why not, in the user's language.
 * @typedef {{id: string, text: string, cut: string | null, kept: boolean, score: number}} Considered */

/** Ways to try a line: how long she thinks, and in what mood. */
const WAYS = /** @type {const} */ ({
    now: {},
    careful: { mode: 'walk' },
    irritated: { mood: { label: 'irritation', intensity: 0.8 } },
});

/** @param {BrowserContext} context @param {HTMLElement} page @param {string} [first] a line to try at once */
export async function recallPage(context, page, first) {
    const { say, app, memoryApi } = context;
    const { columns, list, show, close } = twoColumns(say('back'));
    const line = /** @type {HTMLTextAreaElement} */ (
        el('textarea', {
            id: 'soulmem_try_line',
            class: 'text_pole',
            rows: '2',
            maxlength: '2000',
            placeholder: say('try_placeholder'),
            'aria-label': say('try_line'),
        })
    );
    const answerPlace = el('div', { 'aria-live': 'polite' });
    const go = () => context.attempt(ask);
    let way = /** @type {keyof typeof WAYS} */ ('now');
    const chips = chipRow(
        {
            name: 'way',
            label: say('try_as'),
            words: Object.keys(WAYS).map(name => [name, say(/** @type {Key} */ (`way_${name}`))]),
            chosen: way,
        },
        name => {
            way = /** @type {keyof typeof WAYS} */ (name);
            return go();
        },
    );
    chips.prepend(el('small', { text: say('try_as') }));
    list.append(
        el('p', { class: 'soulmem_hint', text: say('try_hint') }),
        el('div', { class: 'soulmem_try' }, [
            line,
            button('fa-wand-magic-sparkles', say('try_go'), go, { id: 'soulmem_try_go' }),
        ]),
        chips,
        answerPlace,
    );
    const replyPlace = el('div', { id: 'soulmem_last_reply' });
    list.append(replyPlace);
    page.append(columns);
    line.addEventListener('keydown', event => {
        if (event.key !== 'Enter' || event.shiftKey || event.isComposing) return;
        event.preventDefault();
        void go();
    });

    /** The recall of the line. @param {string} query @param {'preview' | 'quiet'} type */
    const recall = async (query, type) =>
        recallForLine(context, { query, chat: await openChat(), type, ...WAYS[way] });

    let asks = 0;
    let keptTrace = /** @type {Promise<string> | null} */ (null);

    /** The trace of a second recall of the line, which is stored: a preview leaves none. @param {string} query */
    function traceOf(query) {
        keptTrace ??= recall(query, 'quiet').then(({ trace }) => trace);
        keptTrace.catch(() => (keptTrace = null));
        return keptTrace;
    }

    /** The open chat, where the sidecar has it: what is known depends on it. @returns {Promise<string | null>} */
    async function openChat() {
        const { chat } = app.chatSync.state;
        const chats = await context.chats();
        return chats.some(({ id }) => id === chat) ? chat : null;
    }

    async function ask() {
        const query = line.value.trim();
        if (!query) return;
        close();
        keptTrace = null;
        const own = ++asks;
        const answer = await recall(query, 'preview');
        if (own !== asks) return; // a later line or way was asked for
        const came = answer.memories;
        const isSilent = !came.length && !answer.withheld;
        const isEmpty = isSilent && (await memoryApi.overview(context.soul)).memories === 0;
        if (own !== asks) return;
        const spent = { n: came.length, tokens: answer.tokens, budget: answer.budget };
        answerPlace.replaceChildren(
            el('p', {
                class: 'soulmem_recalled_summary',
                text: came.length ? say('try_came', spent) : say(isEmpty ? 'none_yet' : 'try_silent'),
            }),
            el(
                'ol',
                { class: 'soulmem_recalled_list' },
                came.map(memory => row(query, answer, memory)),
            ),
            ...(answer.withheld ? [withheldLine(query, answer.withheld)] : []),
        );
    }

    /** @param {string} query @param {string} memory id */
    const verdicts = (query, memory) =>
        verdictButtons(app, say, { trace: () => traceOf(query), soul: context.soul }, memory);

    /** @param {string} query @param {RecallAnswer} answer @param {Memory} memory */
    function row(query, answer, memory) {
        const items = answer.blocks.flatMap(block => block.items);
        const tokens = items.find(item => item.memory === memory.id)?.tokens ?? 0;
        const data = { memory: memory.id, kind: memory.kind };
        const clarity = memory.permanent ? 'forever' : clarityOf(memory, memory.text);
        const facts = [say(`clarity_${clarity}`), say('try_words', { n: tokens })];
        const item = pressRow(
            { class: 'soulmem_recalled_item', data },
            recalledParts(memory, facts, say),
            pressed => {
                show(detail(query, memory), pressed);
                markChosen(item);
            },
        );
        return withTools(item, [verdicts(query, memory.id), ...ownActions(memory)]);
    }

    /** @param {HTMLElement} item of the list */
    function markChosen(item) {
        for (const other of list.querySelectorAll('.soulmem_row_chosen')) {
            other.classList.remove('soulmem_row_chosen');
        }
        item.classList.add('soulmem_row_chosen');
    }

    /** @param {string} query @param {Memory} memory */
    function detail(query, memory) {
        const steps = (memory.path ?? []).map(step => el('span', { text: step.label }));
        const more = el('div', {});
        void context.attempt(async () => more.replaceChildren(...(await aboutMemory(memory))));
        return el('div', { class: 'soulmem_memory', data: { kind: memory.kind } }, [
            kindLabel(memory.kind, say),
            el('div', { class: 'soulmem_recalled_text' }, readingNodes(memory.text, say)),
            el('h4', { text: say('try_why') }),
            el('p', { class: 'margin0', text: memory.why }),
            ...(steps.length > 1
                ? [
                      el('h4', { text: say('try_path') }),
                      el('div', { class: 'soulmem_path' }, steps),
                  ]
                : []),
            verdicts(query, memory.id),
            el('div', { class: 'soulmem_row' }, ownActions(memory)),
            more,
        ]);
    }

    /** How clear the memory is, and what it rests on. @param {Memory} memory @returns {Promise<HTMLElement[]>} */
    async function aboutMemory(memory) {
        const whole = /** @type {import('../base/types.js').WholeMemory & {told?: number}} */ (
            await memoryApi.read(memory.id)
        );
        const { visibility } = whole;
        const reads = whole.reads_now ?? whole.text;
        const isBack = clarityOf(memory, memory.text) === 'clear' && reads !== memory.text;
        return [
            el('h4', { text: say('try_memory') }),
            ...(visibility === undefined
                ? []
                : [clarityBar({ ...whole, visibility }, say, reads)]),
            ...(isBack ? [el('small', { class: 'soulmem_hint', text: say('try_back') })] : []),
            ...(whole.told && whole.told > 1
                ? [el('small', { text: say('item_retold', { n: whole.told }) })]
                : []),
            ...(whole.sources ? [await sourcesView(context, whole)] : []),
        ];
    }

    /** @param {Memory} memory @returns {HTMLElement[]} */
    function ownActions(memory) {
        if (memory.kind === 'fact') return [];
        const openIt = () => context.show('memories', memory.id);
        const keep = () =>
            context.attempt(async () => {
                await memoryApi.keepForEver(memory.id);
                context.showStatus(say('try_forever_done'));
            });
        const about = { class: 'soulmem_try_forever', title: say('try_forever') };
        return [
            button('fa-pen', say('try_open'), openIt, {
                class: 'soulmem_try_open',
                title: say('try_open'),
            }),
            ...(memory.permanent ? [] : [button('fa-thumbtack', say('try_forever'), keep, about)]),
        ];
    }

    /** @param {string} query @param {number} n */
    function withheldLine(query, n) {
        const place = el('div', {});
        const showThem = () =>
            context.attempt(async () => {
                const trace = await traceOf(query);
                const { considered } = await app.link.ask('GET', `/traces/${trace}`);
                place.replaceChildren(withheldList(query, considered, n));
            });
        return el('div', { class: 'soulmem_withheld' }, [
            el('h4', { text: say('try_held_back') }),
            el('div', { class: 'soulmem_row' }, [
                el('span', { text: say('try_withheld', { n }) }),
                button('fa-eye', say('try_withheld_show'), showThem, {
                    id: 'soulmem_try_withheld',
                }),
            ]),
            place,
        ]);
    }

    /** @param {string} query @param {Considered[]} considered @param {number} n */
    function withheldList(query, considered, n) {
        const cut = considered.filter(other => !other.kept).sort((a, b) => b.score - a.score);
        return el('div', {}, [
            el('small', { class: 'soulmem_hint', text: say('try_would_bring') }),
            el(
                'ol',
                { class: 'soulmem_recalled_list' },
                cut.slice(0, n).map(other => withheldRow(query, other)),
            ),
        ]);
    }

    /** @param {string} query @param {Considered} considered */
    function withheldRow(query, { id, text, cut }) {
        const place = el('span', { class: 'soulmem_row' });
        const bring = () =>
            context.attempt(async () => {
                await memoryApi.judge(await traceOf(query), id, 'stronger');
                place.replaceChildren(
                    el('small', { class: 'soulmem_said' }, [
                        el('i', { class: 'fa-solid fa-circle-check' }),
                        say('try_brought'),
                    ]),
                );
            });
        place.append(
            button('fa-arrow-up', say('try_bring'), bring, { class: 'soulmem_try_bring' }),
            button('fa-pen', say('try_open'), () => context.show('memories', id)),
        );
        return el('li', { class: 'soulmem_recalled_item', data: { memory: id } }, [
            el('div', { class: 'soulmem_recalled_text' }, readingNodes(text, say)),
            el('div', { class: 'soulmem_recalled_head' }, [
                el('small', { class: 'soulmem_recalled_why', text: cut ?? '' }),
                place,
            ]),
        ]);
    }

    /** What came to mind for the last reply of the open chat. */
    async function drawReply() {
        const record = await lastReplyRecord(app);
        const isHers = record && (!record.soul || record.soul === context.soul);
        if (!isHers) {
            replyPlace.replaceChildren(
                el('h4', { text: say('her_last_reply') }),
                el('p', { class: 'soulmem_hint', text: say('her_no_reply') }),
            );
            return;
        }
        const items = record.memories
            .filter(memory => record.sent.includes(memory.id))
            .map(memory => repliedRow(record, memory));
        const lookAgain = () => {
            line.value = lastMessage(app.host.chat().slice(0, -1));
            return go();
        };
        replyPlace.replaceChildren(
            el('h4', { text: say('her_last_reply') }),
            el('small', { class: 'soulmem_hint', text: summaryText(record, say) }),
            el('ol', { class: 'soulmem_recalled_list' }, items),
            ...(record.withheld
                ? [
                      button('fa-eye', say('her_withheld', { n: record.withheld }), lookAgain, {
                          id: 'soulmem_her_withheld',
                      }),
                  ]
                : []),
        );
    }

    /** @param {import('../base/types.js').RecallRecord} record @param {Memory} memory */
    function repliedRow(record, memory) {
        const tokens = record.item_tokens[memory.id];
        const facts = tokens === undefined ? [] : [say('try_words', { n: tokens })];
        const item = pressRow(
            { class: 'soulmem_recalled_item', data: { memory: memory.id, kind: memory.kind } },
            recalledParts(memory, facts, say),
            () => context.show('memories', memory.id),
        );
        return withTools(item, [verdictButtons(app, say, record, memory.id), ...ownActions(memory)]);
    }

    line.value = first ?? lastMessage(app.host.chat().filter(message => message.is_user));
    if (!first) {
        line.focus();
        line.select?.(); // whoever types replaces it
    }
    await Promise.all([first ? ask() : null, drawReply()]);
}
