// The page "People": who is known, what is known of them, how the character feels about them.

import { button, el } from '../base/dom.js';
import { readingNodes } from '../widgets/faded_text.js';
import { feelingText } from '../widgets/feeling_text.js';
import { knownQuotes } from '../widgets/known_quotes.js';
import { memoryPages, pagesOf } from '../widgets/memory_pages.js';
import { paged } from '../widgets/paging.js';
import { pressRow } from '../widgets/press_row.js';
import { portraitImage, portraitNamed, portraitOf } from '../widgets/soul_avatar.js';
import { twoColumns } from '../widgets/two_columns.js';
import { feelingCurve } from '../widgets/feeling_curve.js';

/** @typedef {import('./browser_context.js').BrowserContext} BrowserContext */
/** @typedef {{concept: string, name: string, aliases: string[], facts: string[],
 *   fact_count?: number, episodes: number,
 *   last: string | null, feeling: {label: string, intensity: number} | null}} Person */

/** @typedef {import('../base/types.js').Relation} Relation */

const SURE = 0.5; // confidence below which a fact is asked about
const BY_HAND = 0.8; // strength of a fact that the user states
const FACTS = 40; // shown of one person
const PAGE = 20; // people drawn at once
const SCENES = 6; // drawn at once
const QUOTES = 12; // of what was said of somebody, drawn at once

/** @param {string} [address] of a portrait */
const face = address => (address ? portraitImage(address) : null);

/** @param {BrowserContext} context @param {HTMLElement} page @param {string} [chosen] concept of who is shown at once */
export async function peoplePage(context, page, chosen) {
    const { say, app } = context;
    const { columns, list, show } = twoColumns(say('back'));
    const search = /** @type {HTMLInputElement} */ (
        el('input', {
            id: 'soulmem_people_search',
            class: 'text_pole margin0',
            type: 'search',
            placeholder: say('people_search'),
            'aria-label': say('people_search'),
        })
    );
    const rows = el('div', {});
    const first = el('ul', { class: 'soulmem_list' });
    list.append(el('div', { class: 'soulmem_filters' }, [search]), first, rows);
    page.append(columns);
    let people = /** @type {Person[]} */ ([]);
    search.addEventListener('input', () => void context.attempt(draw));
    const two = /** @type {const} */ ([
        [app.host.persona(), app.host.personaPortrait()],
        [await soulName(), portraitOf(app, context.soul)],
    ]);
    await load();
    const person = people.find(({ concept }) => concept === chosen);
    if (person) show(await detail(person));

    /** @param {string} who one of the two who talk @returns {Person | undefined} as the chat names them, too */
    function namedAs(who) {
        return people.find(({ name, aliases }) =>
            [name, ...aliases].some(spelling => spelling.toLowerCase() === who.toLowerCase()),
        );
    }

    /** The two who talk to each other come first. @param {string} who @param {string} [picture] */
    function speaker(who, picture) {
        return pressRow(
            { class: 'soulmem_item', data: { speaker: who } },
            [face(picture), el('b', { text: who }), el('small', { text: ` ${say('people_talks')}` })],
            item =>
                context.attempt(async () => {
                    const named = namedAs(who);
                    show(named ? await detail(named) : await talker(who), item);
                }),
        );
    }

    /** What is known of one who talks and whom nobody names. @param {string} who */
    async function talker(who) {
        return el('div', { class: 'soulmem_memory' }, [
            el('h3', { class: 'margin0', text: who }),
            el('h4', { text: say('people_facts') }),
            await knownQuotes(context, who, QUOTES, say('known_none')),
        ]);
    }

    async function load() {
        const answer = await context.memoryApi.people(context.soul);
        people = answer.people;
        const talking = two.filter(([who]) => who);
        first.replaceChildren(...talking.map(([who, picture]) => speaker(who, picture)));
        await draw();
    }

    async function draw() {
        const wanted = search.value.trim().toLowerCase();
        const talking = two.map(([who]) => who && namedAs(who));
        first.hidden = !two.some(([who]) => who?.toLowerCase().includes(wanted));
        const shown = people.filter(
            person =>
                !talking.includes(person) &&
                [person.name, ...person.aliases].some(name => name.toLowerCase().includes(wanted)),
        );
        const drawn = await memoryPages({
            fetch: pagesOf(shown, PAGE),
            draw: row,
            more: say('more'),
            none: people.length ? (wanted ? say('people_no_match') : '') : say('people_none'),
            attempt: context.attempt,
        });
        rows.replaceChildren(drawn);
    }

    /** @param {Person} person */
    function row(person) {
        const facts = person.fact_count ?? person.facts.length;
        const counted = [
            person.feeling ? feelingText(person.feeling, say) : '',
            facts ? say('people_fact_count', { n: facts }) : '',
            say('people_episodes', { n: person.episodes }),
        ];
        const last = person.last ? say('people_last', { when: context.localTime(person.last) }) : '';
        return pressRow(
            { class: 'soulmem_item', data: { person: person.concept } },
            [
                el('div', { class: 'soulmem_recalled_head' }, [
                    el('span', {}, [
                        face(portraitNamed(app, [person.name, ...person.aliases])),
                        el('b', { text: person.name }),
                    ]),
                    el('small', { class: 'soulmem_recalled_facts', text: last }),
                ]),
                el('div', {
                    class: 'soulmem_person_facts',
                    text: counted.filter(Boolean).join(' · '),
                }),
                person.aliases.length
                    ? el('small', { text: say('people_also', { names: person.aliases.join(', ') }) })
                    : null,
                namesakes(person).length
                    ? el('small', { class: 'soulmem_doubt', text: say('people_two') })
                    : null,
            ],
            item => context.attempt(async () => show(await detail(person), item)),
        );
    }

    /** @param {Person} person */
    async function detail(person) {
        context.chosen = person.concept;
        const who = await soulName();
        const [facts, quotes, scenes, felt] = await Promise.all([
            factsOf(person),
            knownQuotes(context, person.concept, QUOTES, ''),
            scenesOf(person),
            context.memoryApi.feelings(context.soul, person.concept),
        ]);
        const curve = feelingCurve(context, felt.stretches);
        return el('div', { class: 'soulmem_memory' }, [
            el('h3', { class: 'margin0', text: person.name }),
            person.feeling
                ? el('p', {
                      class: 'margin0',
                      text: say('people_feels', { who, label: feelingText(person.feeling, say) }),
                  })
                : null,
            person.last
                ? el('small', { text: say('people_last', { when: context.localTime(person.last) }) })
                : null,
            ...namesakes(person).map(other => namesakeRow(person, other)),
            el('h4', { text: say('people_facts') }),
            facts.length ? el('ul', { class: 'soulmem_facts' }, facts) : null,
            quotes,
            facts.length || quotes.querySelector('[data-thing]')
                ? null
                : el('p', { class: 'soulmem_hint', text: say('people_no_facts') }),
            el('div', { class: 'soulmem_row' }, [
                button('fa-plus', say('people_fact_new'), () => addFact(person), {
                    id: 'soulmem_fact_new',
                }),
                button('fa-link', say('people_join'), () => join(person), {
                    id: 'soulmem_people_join',
                }),
                button('fa-people-arrows', say('people_split'), () => split(person), {
                    id: 'soulmem_people_split',
                }),
                button('fa-diagram-project', say('page_graph'), () =>
                    context.show('graph', person.concept),
                ),
                button('fa-pen', say('people_edit'), () => context.show('memories', person.concept)),
            ]),
            curve && el('h4', { text: say('people_curve', { who }) }),
            curve,
            ...(scenes.querySelector('li') ? [el('h4', { text: say('people_scenes') }), scenes] : []),
        ]);
    }

    /** The facts as sentences, with since and until. @param {Person} person */
    async function factsOf(person) {
        const facts = await context.memoryApi.facts(context.soul, person.concept, FACTS);
        const known = new Set(person.facts); // a relation that gives another name is none
        return facts.filter(({ id }) => known.has(id)).map(fact => {
            const [edge] = fact.edges;
            const { valid_from: since, valid_to: until, confidence = 1 } = edge;
            const times = [
                since ? say('people_since', { when: context.localTime(since) }) : '',
                until ? say('people_until', { when: context.localTime(until) }) : '',
            ].filter(Boolean);
            const ended = until ? 'soulmem_fact_ended' : undefined;
            return el('li', { class: ended, data: { fact: fact.id } }, [
                el('span', { text: fact.text }),
                times.length ? el('small', { text: ` (${times.join(', ')})` }) : null,
                ...(confidence < SURE ? doubt(person, edge) : []),
                ...namesakes(person).map(other => moveButton(person, other, edge)),
            ]);
        });
    }

    /** The question whether a fact is true, with both answers. @param {Person} person @param {Relation} edge */
    function doubt(person, edge) {
        const answer = (/** @type {boolean} */ isTrue) => () =>
            context.attempt(async () => {
                const state = isTrue ? { strength: BY_HAND, confidence: 1 } : { strength: 0 };
                await setFacts(edge, [{ from: edge.from, ...state }]);
                await refresh(person);
            });
        return [
            el('small', { class: 'soulmem_doubt', text: ` ${say('people_doubt')} ` }),
            button('fa-check', say('people_true'), answer(true), { class: 'soulmem_fact_true' }),
            button('fa-xmark', say('people_false'), answer(false), { class: 'soulmem_fact_false' }),
        ];
    }

    /** A button that hands a fact over to the other person of the same name. @param {Person} person @param {Person} other
     * @param {Relation} edge */
    function moveButton(person, other, edge) {
        const move = () =>
            context.attempt(async () => {
                await setFacts(edge, [
                    { from: other.concept, strength: BY_HAND, confidence: 1 },
                    { from: edge.from, strength: 0 },
                ]);
                await refresh(person);
            });
        return button('fa-arrow-right', say('people_move', { name: other.name }), move, {
            class: 'soulmem_fact_move',
        });
    }

    /** Sets a fact as one of each of these subjects, in one change. Strength 0 ends it. @param {Relation} edge
     * @param {{from: string, strength: number, confidence?: number}[]} subjects */
    async function setFacts({ to, verb }, subjects) {
        const object = await context.memoryApi.read(to);
        const edges = subjects.map(subject => ({ kind: 'relates', verb, ...subject }));
        await context.memoryApi.change(object, { edges });
    }

    /** Others who go by one of the person's names. @param {Person} person @returns {Person[]} */
    function namesakes(person) {
        const own = new Set([person.name, ...person.aliases].map(name => name.toLowerCase()));
        return people.filter(
            other =>
                other.concept !== person.concept &&
                [other.name, ...other.aliases].some(name => own.has(name.toLowerCase())),
        );
    }

    /** @param {Person} person @param {Person} other of the same name */
    function namesakeRow(person, other) {
        const joinThem = () => context.attempt(() => joined(person, other));
        return el('div', { class: 'soulmem_row' }, [
            el('span', { text: say('people_namesake', { name: other.name }) }),
            button('fa-link', say('people_same'), joinThem, { class: 'soulmem_people_same' }),
        ]);
    }

    /** Tells two people of one name apart: each gets a name of its own, and both keep the old one.
     * @param {Person} person */
    async function split(person) {
        const { name } = person;
        const own = (await app.host.prompt(say('people_split_first', { name })))?.trim();
        if (!own) return;
        const other = (await app.host.prompt(say('people_split_second', { name, own })))?.trim();
        if (!other || other === own) return;
        await context.attempt(async () => {
            await context.memoryApi.split(person.concept, { name: own, other });
            context.showStatus(say('people_split_done', { own, other }));
            await refresh(person);
        });
    }

    /** The scenes in which the person is named, the latest first. @param {Person} person */
    function scenesOf(person) {
        const scenes = /** @type {const} */ ({ about: person.concept, kind: 'episode' });
        return paged({
            fetch: async cursor => {
                const answer = await context.memoryApi.list(context.soul, scenes, cursor, SCENES);
                return { rows: answer.memories, cursor: answer.cursor };
            },
            draw: memory =>
                pressRow({}, readingNodes(memory.reads_now ?? memory.text, say), () =>
                    context.show('memories', memory.id),
                ),
            more: say('more'),
            none: '',
            attempt: context.attempt,
            list: el('ul', { class: 'soulmem_facts soulmem_scenes' }),
        });
    }

    async function soulName() {
        const souls = await context.memoryApi.souls();
        return souls.find(soul => soul.id === context.soul)?.name ?? '';
    }

    /** @param {Person} person */
    async function addFact(person) {
        const { host } = app;
        const who = person.name;
        const verb = (await host.prompt(say('people_fact_verb', { who })))?.trim();
        if (!verb) return;
        const object = (await host.prompt(say('people_fact_object', { who, verb })))?.trim();
        if (!object) return;
        await context.attempt(async () => {
            const there = people.find(({ name, aliases }) => [name, ...aliases].includes(object));
            const edge = { from: person.concept, kind: 'relates', verb, strength: BY_HAND };
            if (there) {
                const whole = await context.memoryApi.read(there.concept);
                await context.memoryApi.change(whole, { edges: [edge] });
            } else {
                await context.memoryApi.create({
                    soul: context.soul,
                    kind: 'concept',
                    text: object,
                    edges: [edge],
                });
            }
            await refresh(person);
        });
    }

    /** Another name of the same one: its name becomes an alias. @param {Person} person */
    async function join(person) {
        const name = (await app.host.prompt(say('people_join_question')))?.trim();
        if (!name) return;
        const other = people.find(
            ({ concept, name: own, aliases }) =>
                concept !== person.concept && [own, ...aliases].includes(name),
        );
        if (!other) {
            context.showStatus(say('people_join_unknown', { name }), false);
            return;
        }
        await context.attempt(() => joined(person, other));
    }

    /** @param {Person} person @param {Person} other the same one */
    async function joined(person, other) {
        const whole = await context.memoryApi.read(person.concept);
        const all = new Set([...person.aliases, other.name, ...other.aliases]);
        all.delete(person.name);
        await context.memoryApi.change(whole, { fields: { aliases: [...all] } });
        context.showStatus(say('people_joined', { name: other.name, who: person.name }));
        await refresh(person);
    }

    /** @param {Person} person */
    async function refresh(person) {
        await load();
        const fresh = people.find(({ concept }) => concept === person.concept);
        if (fresh) show(await detail(fresh));
    }
}
