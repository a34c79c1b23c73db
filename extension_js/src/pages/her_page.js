// The page of the character: how it stands with the player, what it knows of them, its mood, what it will lose.

import { button, el, onPress } from '../base/dom.js';
import { mirrored } from '../base/settings.js';
import { chipRow } from '../widgets/chip_row.js';
import { dearest, readingNodes } from '../widgets/faded_text.js';
import { feelingCurve } from '../widgets/feeling_curve.js';
import { feelingText } from '../widgets/feeling_text.js';
import { isOpen, knownPromises } from '../widgets/known_promises.js';
import { iconButton, knownQuotes } from '../widgets/known_quotes.js';
import { portraitImage, portraitOf } from '../widgets/soul_avatar.js';
import { cardSettings } from './card_settings.js';
import { fadingRow } from './fading_page.js';
import { forgettingDial } from './forgetting_dial.js';
import { firstDay, sentenceOf, showLetter } from './letter.js';

/** @typedef {import('./browser_context.js').BrowserContext} BrowserContext */
/** @typedef {import('./browser_context.js').Page} Page */
/** @typedef {import('../base/strings.js').Key} Key */
/** @typedef {import('../base/types.js').KnownThing} KnownThing */
/** @typedef {{memories: number, permanent: number, today: number, habits: number,
 *   felt: {label: string, intensity: number, memory: string, text: string} | null}} Overview */

const AHEAD = 500; // turns that "fades next" looks ahead
const FADING = 4; // shown of it
const QUOTES = 6; // of what is known of the player, drawn at once
const COUNTED = 100; // things that are counted by kind
const PROMISE = 'promise'; // such things have a list of their own
/** Words for how much comes up, by their place on the dial of recalling. */
const RECALLING = /** @type {const} */ (['silent', 'natural', 'talkative']);

/** @param {BrowserContext} context @param {HTMLElement} page */
export async function herPage(context, page) {
    const { say, app, memoryApi } = context;
    const you = app.host.persona();
    const overview = /** @type {Overview} */ (await memoryApi.overview(context.soul));
    if (overview.memories === 0) {
        page.append(
            el('p', { text: say('her_empty') }),
            el('p', { class: 'soulmem_hint', text: say('her_empty_hint') }),
        );
        return;
    }
    const stands = el('p', { id: 'soulmem_her_stands' });
    const next = el('div', { id: 'soulmem_her_fades' });
    const people = count('…', say('her_people', { n: 0 }), 'people');
    const kinds = el('div', {});
    const quotes = el('div', { id: 'soulmem_her_knows' });
    const promises = el('div', {});
    const dial = el('div', {});
    const recalling = el('div', {});
    const curve = el('div', { id: 'soulmem_her_curve' });
    const write = () => context.attempt(() => showLetter(context, overview));
    const letter = button('fa-envelope-open-text', say('letter_button'), write, {
        id: 'soulmem_letter',
    });
    const left = el('div', {}, [
        el('div', { class: 'soulmem_recalled_head' }, [el('h4', { text: say('her_knows') }), letter]),
        kinds,
        quotes,
        promises,
        ...feelingOf(overview),
        curve,
        dial,
        recalling,
    ]);
    const right = el('div', {}, [
        el('h4', { text: say('fading_next') }),
        next,
        el('div', { class: 'soulmem_counts' }, [
            count(overview.memories, say('her_memories', { n: overview.memories }), 'memories'),
            count(overview.permanent, say('her_permanent'), 'memories'),
            count(overview.today, say('her_today'), 'memories'),
            people,
            count(overview.habits, say('her_habits', { n: overview.habits }), 'habits'),
        ]),
    ]);
    const portraits = [portraitOf(app, context.soul), app.host.personaPortrait()].filter(Boolean);
    const head = el('div', { class: 'soulmem_her_head' }, [...portraits.map(portraitImage), stands]);
    page.append(head, el('div', { class: 'soulmem_halves' }, [left, right]));
    // What takes longer comes when it is there, each by itself; to know everybody takes longest
    await Promise.all([
        drawKnown(),
        knownPromises(context).then(known => promises.replaceWith(known)),
        drawFading(),
        drawCurve(),
        recallingChoice(context).then(choice => recalling.replaceWith(choice)),
        forgettingDial(context, () => context.attempt(drawFading), { isWhole: false }).then(whole =>
            dial.replaceWith(whole),
        ),
    ]);
    await countPeople();

    /** What is known of the player, of one kind or of all. @param {string} kind */
    async function drawQuotes(kind) {
        quotes.replaceChildren(await knownQuotes(context, you, QUOTES, say('known_none'), kind, PROMISE));
    }

    async function drawKnown() {
        const asked = memoryApi.known(context.soul, { about: you }, COUNTED, null);
        const [{ known, unread }, since] = await Promise.all([asked, firstDay(context), drawQuotes('')]);
        if (unread && !known.length) {
            quotes.replaceChildren(el('p', { class: 'soulmem_hint', text: say('known_reading', { n: unread }) }));
        }
        const current = known.filter(({ until }) => !until);
        stands.textContent = standing(overview, current, since);
        const present = [...new Set(known.map(({ kind }) => kind))].filter(kind => kind !== PROMISE);
        if (present.length < 2) return;
        const counted = (/** @type {string} */ kind) => known.filter(thing => thing.kind === kind).length;
        const words = present.map(kind => /** @type {const} */ ([
            kind,
            `${say(/** @type {Key} */ (`known_${kind}`))} ${counted(kind)}`,
        ]));
        const about = { name: 'told', label: say('her_knows'), chosen: '' };
        const choose = (/** @type {string} */ kind) => context.attempt(() => drawQuotes(kind));
        kinds.replaceChildren(chipRow({ ...about, words: [['', say('known_all')], ...words] }, choose));
    }

    /** How the two stand, in one sentence.
     * @param {Overview} overview @param {KnownThing[]} known what holds now @param {string} since day of the first memory */
    function standing({ memories, felt }, known, since) {
        const who = context.soulName();
        const things = known.filter(thing => thing.kind !== PROMISE).length;
        const promises = known.filter(thing => thing.kind === PROMISE && isOpen(thing)).length;
        const clauses = [
            say(since ? 'stands_since' : 'stands_memories', { who, since, n: memories }),
            things ? say('stands_known', { you, n: things }) : '',
            promises ? say('stands_promises', { you, n: promises }) : '',
            felt ? say('stands_felt', { label: feelingText(felt, say) }) : '',
        ].filter(Boolean);
        return sentenceOf(clauses, app.host.locale());
    }

    async function drawCurve() {
        const { stretches } = await memoryApi.feelings(context.soul);
        const drawn = feelingCurve(context, stretches);
        if (drawn) curve.replaceChildren(el('h4', { text: say('her_curve') }), drawn);
    }

    /** How many are known beside the two who talk. */
    async function countPeople() {
        const talking = [you, context.soulName()].map(name => name.toLowerCase());
        const known = (await memoryApi.people(context.soul)).people;
        const n = known.filter(
            ({ name, aliases }) => ![name, ...aliases].some(other => talking.includes(other.toLowerCase())),
        ).length;
        const [number, words] = people.children;
        number.textContent = String(n);
        words.textContent = say('her_people', { n });
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

    async function drawFading() {
        const fresh = await memoryApi.fading(context.soul, { turns: AHEAD }, null);
        const rows = dearest(fresh.memories).slice(0, FADING).map(fadingWithKeep);
        next.replaceChildren(
            rows.length
                ? el('ol', { class: 'soulmem_list' }, rows)
                : el('p', { class: 'soulmem_hint', text: say('fading_none') }),
            button('fa-hourglass-half', say('her_all_fading'), () => context.show('fading'), {
                id: 'soulmem_her_all_fading',
            }),
        );
    }

    /** @param {import('../base/types.js').FadingMemory} memory */
    function fadingWithKeep(memory) {
        const keep = () =>
            context.attempt(async () => {
                await memoryApi.keepForEver(memory.id);
                context.showStatus(say('try_forever_done'));
                await drawFading();
            });
        const row = fadingRow(context, memory);
        row.classList.add('soulmem_thing');
        row.append(iconButton('fa-heart-circle-check', say('fading_keep'), keep, 'soulmem_fading_keep'));
        return row;
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
