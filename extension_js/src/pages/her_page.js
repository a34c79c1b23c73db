// The first page of the memory window: how the character is, what it holds, what it will lose.

import { button, el, onPress } from '../base/dom.js';
import { mirrored } from '../base/settings.js';
import { lastMessage } from '../recall/recall_request.js';
import { chipRow } from '../widgets/chip_row.js';
import { readingNodes } from '../widgets/faded_text.js';
import { feelingText } from '../widgets/feeling_text.js';
import { knownQuotes } from '../widgets/known_quotes.js';
import { recalledParts } from '../widgets/recalled_parts.js';
import { cardSettings } from './card_settings.js';
import { fadingRow } from './fading_page.js';
import { feelingCurve } from './feeling_curve.js';
import { forgettingDial } from './forgetting_dial.js';
import { summaryText } from './recalled_view.js';

/** @typedef {import('./browser_context.js').BrowserContext} BrowserContext */
/** @typedef {import('./browser_context.js').Page} Page */
/** @typedef {import('../base/types.js').Memory} Memory */
/** @typedef {import('../base/types.js').RecallRecord} RecallRecord */
/** @typedef {{memories: number, permanent: number, today: number, habits: number,
 *   felt: {label: string, intensity: number, memory: string, text: string} | null}} Overview */

const AHEAD = 500; // turns that "fades next" looks ahead
const FADING = 5; // shown of it
const QUOTES = 5; // of what is known of the player, drawn at once
/** Words for how much comes up, by their place on the dial of recalling. */
const RECALLING = /** @type {const} */ (['silent', 'natural', 'talkative']);

/** @param {BrowserContext} context @param {HTMLElement} page */
export async function herPage(context, page) {
    const { say, app, memoryApi } = context;
    const overview = /** @type {Overview} */ (await memoryApi.overview(context.soul));
    if (overview.memories === 0) {
        page.append(
            el('p', { text: say('her_empty') }),
            el('p', { class: 'soulmem_hint', text: say('her_empty_hint') }),
        );
        return;
    }
    const next = el('div', { id: 'soulmem_her_fades' });
    const known = count('…', say('her_people', { n: 0 }), 'people');
    const quotes = el('div', { id: 'soulmem_her_knows' });
    const dial = el('div', {});
    const recalling = el('div', {});
    const curve = el('div', { id: 'soulmem_her_curve' });
    const left = el('div', {}, [
        el('div', { class: 'soulmem_counts' }, [
            count(overview.memories, say('her_memories', { n: overview.memories }), 'memories'),
            count(overview.permanent, say('her_permanent'), 'memories'),
            count(overview.today, say('her_today'), 'memories'),
            known,
            count(overview.habits, say('her_habits', { n: overview.habits }), 'habits'),
        ]),
        ...feelingOf(overview),
        curve,
        dial,
        recalling,
    ]);
    const right = el('div', {}, [
        el('h4', { text: say('her_knows') }),
        quotes,
        el('h4', { text: say('her_last_reply') }),
        ...lastReply(app.recaller.last()),
        el('h4', { text: say('fading_next') }),
        next,
    ]);
    page.append(el('div', { class: 'soulmem_halves' }, [left, right]));
    // What takes longer comes when it is there, each by itself; to know everybody takes longest
    await Promise.all([
        drawCurve(),
        recallingChoice(context).then(choice => recalling.replaceWith(choice)),
        forgettingDial(context, () => context.attempt(drawFading), { isWhole: false }).then(
            whole => dial.replaceWith(whole),
        ),
        drawFading(),
        drawQuotes(),
    ]);
    await countPeople();

    async function drawQuotes() {
        const who = app.host.persona();
        quotes.replaceChildren(await knownQuotes(context, who, QUOTES, say('known_none')));
    }

    async function drawCurve() {
        const { stretches } = await memoryApi.feelings(context.soul);
        const drawn = feelingCurve(context, stretches);
        if (drawn) curve.replaceChildren(el('h4', { text: say('her_curve') }), drawn);
    }

    async function countPeople() {
        const { people } = await memoryApi.people(context.soul);
        const [number, words] = known.children;
        number.textContent = String(people.length);
        words.textContent = say('her_people', { n: people.length });
    }

    /** A count is a door to what is counted. @param {number | string} n @param {string} text
     * @param {Page} to */
    function count(n, text, to) {
        const card = el('div', { class: 'soulmem_count_card', tabindex: '0', role: 'button' }, [
            el('b', { text: String(n) }),
            el('span', { text }),
        ]);
        onPress(card, () => context.show(to));
        return card;
    }

    /** @param {Overview} overview */
    function feelingOf({ felt }) {
        if (!felt) return [];
        const card = el('div', { class: 'soulmem_card soulmem_press', tabindex: '0', role: 'button' }, [
            el('b', { text: feelingText(felt, say) }),
            el('span', { class: 'soulmem_quote_text' }, [' “', ...readingNodes(felt.text, say), '”']),
            el('small', { class: 'soulmem_hint', text: say('her_feels_hint') }),
        ]);
        onPress(card, () => context.show('memories', felt.memory));
        return [el('h4', { text: say('her_feels') }), card];
    }

    /** What came to mind for the last reply of this page. @param {RecallRecord | null} record */
    function lastReply(record) {
        if (!record || record.soul !== context.soul) {
            return [el('p', { class: 'soulmem_hint', text: say('her_no_reply') })];
        }
        const items = record.memories
            .filter(memory => record.sent.includes(memory.id))
            .map(memory => recalledRow(record, memory));
        const lookAgain = () => context.show('recall', lastMessage(app.host.chat().slice(0, -1)));
        return [
            el('small', { class: 'soulmem_hint', text: summaryText(record, say) }),
            el('ol', { class: 'soulmem_recalled_list' }, items),
            record.withheld
                ? button('fa-eye', say('her_withheld', { n: record.withheld }), lookAgain, {
                      id: 'soulmem_her_withheld',
                  })
                : null,
        ];
    }

    /** @param {RecallRecord} record @param {Memory} memory */
    function recalledRow(record, memory) {
        const tokens = record.item_tokens[memory.id];
        const facts = tokens === undefined ? [] : [say('try_words', { n: tokens })];
        const about = { class: 'soulmem_recalled_item', data: { kind: memory.kind } };
        return el('li', about, recalledParts(memory, facts, say));
    }

    async function drawFading() {
        const fresh = await memoryApi.fading(context.soul, { turns: AHEAD }, null);
        fill(fresh.memories);
    }

    /** @param {import('../base/types.js').FadingMemory[]} memories */
    function fill(memories) {
        const rows = memories.slice(0, FADING).map(memory => fadingRow(context, memory));
        next.replaceChildren(
            rows.length
                ? el('ol', { class: 'soulmem_list' }, rows)
                : el('p', { class: 'soulmem_hint', text: say('fading_none') }),
            button('fa-hourglass-half', say('her_all_fading'), () => context.show('fading'), {
                id: 'soulmem_her_all_fading',
            }),
        );
    }
}

/** How much comes up in replies: three words, saved in the card. @param {BrowserContext} context */
async function recallingChoice(context) {
    const { say, app } = context;
    const { isOpen, config, save } = await cardSettings(context);
    const restraint = config.restraint ?? app.settings().restraint;
    const choices = chipRow(
        {
            name: 'recalling',
            label: say('her_recalling'),
            words: RECALLING.map(word => [word, say(`dial_${word}`)]),
            chosen: RECALLING[Math.round(mirrored('restraint', restraint))],
            isDisabled: !isOpen,
        },
        word => {
            const place = RECALLING.findIndex(other => other === word);
            return save({ restraint: mirrored('restraint', place) });
        },
    );
    return el('div', { class: 'soulmem_card' }, [
        el('h4', { class: 'margin0', text: say('her_recalling') }),
        choices,
        el('small', { class: 'soulmem_hint', text: say('restraint_hint') }),
    ]);
}
