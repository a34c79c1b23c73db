// The part "Map" of the page "People": the map of the character's heart, with a list that says the same.

import { button, el } from '../../base/dom.js';
import { fileNameOf } from '../../base/file_name.js';
import { clarityOf, readingNodes } from '../../widgets/faded_text.js';
import { pressRow } from '../../widgets/press_row.js';
import { portraitNamed, portraitOf } from '../../widgets/soul_avatar.js';
import { lastReplyRecord } from '../recalled_view.js';
import { imageOf } from './heart_image.js';
import { HER, YOU, heartPicture } from './heart_picture.js';

/** @typedef {import('../browser_context.js').BrowserContext} BrowserContext */
/** @typedef {import('../../base/types.js').KnownThing} KnownThing */
/** @typedef {import('./heart_picture.js').HeartNode} HeartNode */
/** @typedef {import('./heart_picture.js').HeartLine} HeartLine */
/** What the sidecar says; `first` null for the character
 * @typedef {{people: {concept: string, name: string, aliases: string[], episodes: number, x: number, y: number}[],
 *   lines: {first: string | null, second: string, text: string, memory: string, weight: number, clear: number}[],
 *   middle: [number, number][], you: string | null,
 *   spots?: {id: string, name: string, began: string | null, memories: number, x: number, y: number}[]}} Heart */

const NARROW = 600; // px of the page
const KNOWN = 100; // things known of the player that are looked at
/** Kinds of known things, the weightiest first. */
const WEIGHTY = ['secret', 'promise', 'gift', 'like', 'date', 'fact'];

/** Whether a text names somebody. @param {string} text @param {readonly string[]} names */
const isNamed = (text, names) =>
    names.some(name => {
        const literal = name.replace(/[\\^$.*+?()[\]{}|]/g, '\\$&');
        const edge = /^[\u2e80-\uffff]/.test(name) ? '' : '[\\p{L}\\p{N}]';
        const pattern = edge ? `(?<!${edge})${literal}(?!${edge})` : literal;
        return name !== '' && new RegExp(pattern, 'iu').test(text);
    });

/** The weightiest thing known of the player. @param {KnownThing[]} known @returns {KnownThing | undefined} */
const weightiest = known => WEIGHTY.flatMap(kind => known.filter(thing => thing.kind === kind))[0];

/** @param {BrowserContext} context @param {Heart} heart @returns {HeartNode[]} the character first, then the player */
function nodesOf({ app, soul, soulName }, { people, middle, you, spots = [] }) {
    const player = people.find(({ concept }) => concept === you);
    const persona = app.host.persona();
    const two = [
        { id: HER, name: soulName(), names: [], concept: null, picture: portraitOf(app, soul) },
        {
            id: YOU,
            name: persona,
            names: [persona, ...(player ? [player.name, ...player.aliases] : [])],
            concept: you,
            picture: app.host.personaPortrait(),
        },
    ].map((node, place) => ({ ...node, x: middle[place][0], y: middle[place][1], episodes: 0 }));
    const others = people
        .filter(person => person !== player)
        .map(({ name, aliases, ...person }) => {
            const names = [name, ...aliases];
            return { ...person, id: person.concept, name, names, picture: portraitNamed(app, names) };
        });
    const date = /** @type {const} */ ({ day: 'numeric', month: 'short' });
    const day = (/** @type {string} */ iso) => new Date(iso).toLocaleString(app.host.locale(), date);
    const days = spots.map(({ began }) => began && day(began));
    /** A scene that is not the only one of its day has its time. @param {string} iso */
    const when = iso =>
        days.filter(other => other === day(iso)).length < 2
            ? day(iso)
            : new Date(iso).toLocaleString(app.host.locale(), { ...date, hour: 'numeric', minute: '2-digit' });
    const round = spots.map(({ name, began, memories, ...spot }) => ({
        ...spot,
        name: began ? [when(began), name].filter(Boolean).join(' · ') : name,
        names: began ? [] : [name],
        concept: null,
        episodes: memories,
        spot: /** @type {'scene' | 'place'} */ (began ? 'scene' : 'place'),
    }));
    return [...two, ...others, ...round];
}

/** The lines, gold where the texts, which came to mind for the last reply, tell of them.
 * @param {Heart} heart @param {HeartNode[]} nodes @param {KnownThing | undefined} known of the player
 * @param {{id: string, text: string}[]} recalled @returns {HeartLine[]} */
function linesOf(heart, nodes, known, recalled) {
    const idOf = (/** @type {string | null} */ end) => (end === null ? HER : end === heart.you ? YOU : end);
    const lines = heart.lines.map(line => {
        const [from, to] = [idOf(line.first), idOf(line.second)];
        return from === YOU ? { ...line, from: to, to: from } : { ...line, from, to };
    });
    const others = lines.filter(({ from, to }) => from !== HER || to !== YOU);
    const own = lines.find(line => !others.includes(line)) ?? { from: HER, to: YOU, weight: 0.5, clear: 1 };
    const said = known && { text: `${known.speaker ? `${known.speaker}: ` : ''}${known.quote}`, memory: known.memory };
    const named = recalled.map(({ text }) => nodes.filter(({ names }) => isNamed(text, names)).map(({ id }) => id));
    const isTold = (/** @type {string} */ from, /** @type {string} */ to) =>
        named.some(ids =>
            // The player speaks in most memories, so one that names anybody else is not about the player
            from !== HER ? ids.includes(from) && ids.includes(to) : to === YOU ? ids.join() === YOU : ids.includes(to),
        );
    const all = /** @type {HeartLine[]} */ ('text' in own || said ? [{ ...own, ...said }, ...others] : others);
    return all.map(line => ({
        ...line,
        gold: recalled.some(({ id }) => id === line.memory) || isTold(line.from, line.to),
    }));
}

/** @param {BrowserContext} context @param {HTMLElement} page */
export const heartPage = (context, page) => drawHeart(context, page, false);

/** @param {BrowserContext} context @param {HTMLElement} page @param {boolean} withSpots also places and scenes */
async function drawHeart(context, page, withSpots) {
    const { say, app, memoryApi, soul } = context;
    const you = app.host.persona();
    const [heart, known, record] = await Promise.all([
        /** @type {Promise<Heart>} */ (memoryApi.heart(soul, you, withSpots)),
        memoryApi.known(soul, { about: you, state: 'now' }, KNOWN, null),
        lastReplyRecord(app).catch(() => null),
    ]);
    const isHers = record && (!record.soul || record.soul === soul);
    const recalled = isHers ? record.memories.filter(({ id }) => record.sent.includes(id)) : [];
    const nodes = nodesOf(context, heart);
    const lines = linesOf(heart, nodes, weightiest(known.known), recalled);
    if (!lines.length) {
        page.replaceChildren(el('p', { class: 'soulmem_hint', text: say('heart_none') }));
        return;
    }
    const title = say('heart_title', { who: context.soulName() });
    const panel = el('div', { class: 'soulmem_heart_panel', 'aria-live': 'polite' });
    const picture = heartPicture({ nodes, lines, title, nameOf, choose }, page.clientWidth < NARROW);
    const gold = nodes.slice(1).filter(({ id }) => lines.some(line => line.gold && line.to === id));
    const spots = el('button', {
        id: 'soulmem_heart_spots',
        type: 'button',
        class: 'soulmem_chip',
        'aria-pressed': String(withSpots),
        text: say('heart_spots'),
    });
    spots.addEventListener('click', () =>
        context.attempt(async () => {
            await drawHeart(context, page, !withSpots);
            /** @type {HTMLElement | null} */ (page.querySelector('#soulmem_heart_spots'))?.focus();
        }),
    );
    const hasSpots = nodes.some(({ spot }) => spot);
    page.replaceChildren(
        el('div', { class: 'soulmem_row' }, [spots]),
        picture,
        el('p', {
            class: 'soulmem_hint',
            text: [
                say('heart_hint'),
                withSpots ? say(hasSpots ? 'heart_spots_hint' : 'heart_spots_none') : '',
                gold.length ? say('heart_gold', { names: gold.map(({ name }) => name).join(', ') }) : '',
            ].join(' '),
        }),
        panel,
        button('fa-image', say('heart_save'), save, { id: 'soulmem_heart_save' }),
        el('details', { class: 'soulmem_graph_words' }, [
            el('summary', { text: say('graph_as_list') }),
            el('ul', { class: 'soulmem_list soulmem_heart_list' }, lines.map(lineRow)),
        ]),
    );

    /** @param {HeartLine} line */
    function endsOf({ from, to }) {
        return [from, to].map(end => nodes.find(({ id }) => id === end)?.name ?? '').join(' – ');
    }

    /** How clear it is, and whether it came to mind, in words. @param {HeartLine} line */
    function stateOf(line) {
        const clarity = say(`clarity_${clarityOf({ visibility: line.clear }, line.text)}`);
        return [clarity, line.gold ? say('heart_came') : ''].filter(Boolean).join(' · ');
    }

    /** @param {HeartLine} line */
    function nameOf(line) {
        return `${endsOf(line)}: ${line.text} (${stateOf(line)})`;
    }

    /** A line in words, which opens its memory. @param {HeartLine} line */
    function lineRow(line) {
        return pressRow(
            { class: 'soulmem_item', data: { memory: line.memory } },
            [
                el('div', { class: 'soulmem_recalled_head' }, [
                    el('b', { text: endsOf(line) }),
                    el('small', { class: 'soulmem_recalled_facts', text: stateOf(line) }),
                ]),
                el('div', {}, readingNodes(line.text, say)),
            ],
            () => context.show('memories', line.memory),
        );
    }

    /** Shows below the picture what is behind a line, or all lines of somebody.
     * @param {HeartNode | HeartLine} chosen @param {HTMLElement} from */
    function choose(chosen, from) {
        for (const other of picture.querySelectorAll('[aria-pressed]')) other.removeAttribute('aria-pressed');
        from.setAttribute('aria-pressed', 'true');
        const isLine = 'memory' in chosen;
        const some = isLine ? [chosen] : lines.filter(({ from: first, to }) => [first, to].includes(chosen.id));
        const shown = nodes.filter(({ id, concept }) => concept && (isLine ? [chosen.from, chosen.to] : [chosen.id]).includes(id));
        const scenes = isLine || !chosen.episodes ? '' : say('people_episodes', { n: chosen.episodes });
        panel.replaceChildren(
            el('h3', { class: 'margin0', text: isLine ? endsOf(chosen) : chosen.name }),
            ...(scenes ? [el('small', { text: scenes })] : []),
            el('ul', { class: 'soulmem_list' }, some.map(lineRow)),
            el('div', { class: 'soulmem_row' }, [
                ...(isLine ? [button('fa-pen', say('try_open'), () => context.show('memories', chosen.memory))] : []),
                ...shown.map(({ name, concept }) =>
                    button('fa-user', say('heart_person', { name }), () => context.show('people', concept ?? undefined), {
                        class: 'soulmem_heart_open',
                    }),
                ),
            ]),
        );
        panel.scrollIntoView({ block: 'nearest' });
    }

    async function save() {
        const { content, ending } = await imageOf(picture);
        app.host.download(fileNameOf(title, ending), content);
    }
}
