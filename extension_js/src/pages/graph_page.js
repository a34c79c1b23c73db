// The page "Graph": what hangs together around the character or a memory, drawn as SVG, with a list that says the same.

import { button, el, onPress } from '../base/dom.js';
import { queryOf } from '../link/memory_api.js';
import { clarityOf, readingNodes } from '../widgets/faded_text.js';
import { kindToggles } from '../widgets/kind_toggles.js';
import { kindLabel } from '../widgets/memory_badges.js';
import { pressRow } from '../widgets/press_row.js';
import { moveFocus, svg } from '../widgets/svg.js';
import { twoColumns } from '../widgets/two_columns.js';

/** @typedef {import('./browser_context.js').BrowserContext} BrowserContext */
/** @typedef {import('../base/strings.js').Key} Key */
/** @typedef {import('../base/types.js').ListedMemory & {x: number, y: number}} GraphNode */
/** @typedef {{id: string, from: string, to: string, kind: string, strength: number, verb?: string}} GraphEdge */

const WIDTH = 800;
const NARROW = 400; // of a phone, so that dots and letters keep their size
const HEIGHT = 520;
const REACH = 20; // px around a dot that a finger hits
const LAST_RECALL = 'last recall'; // no id: those have no spaces
const MARGIN = 40;
const MOST = 60; // memories that are drawn
const MOST_OF_WAY = 40; // memories of the last recall's way
const HOPS = 2;
const LABEL = 18; // characters of a label

/** @param {string} text */
const short = text => (text.length > LABEL ? `${text.slice(0, LABEL - 1)}…` : text);

/** How a memory reads now. @param {GraphNode} node */
const textOf = ({ text, reads_now: reads }) => reads ?? text;

/** How much of a memory can still be told, 0..1; of a name, how present it is. @param {GraphNode} node */
const seen = ({ kind, strength = 1, visibility = 1 }) => (kind === 'concept' ? strength : visibility);

/** @param {string} from @param {string} to */
const pairOf = (from, to) => [from, to].sort().join(' ');

/** The memories by which the last recall of this page went, and the steps between them.
 * @param {BrowserContext} context */
function lastWay({ app, soul }) {
    const memories = /** @type {Set<string>} */ (new Set());
    const steps = /** @type {Set<string>} */ (new Set());
    const record = app.recaller.last();
    if (!record || record.soul !== soul) return { memories, steps };
    for (const { id, path } of record.memories) {
        if (!record.sent.includes(id)) continue;
        const stops = [...new Set([...path.map(step => step.id), id])];
        for (const [place, stop] of stops.entries()) {
            memories.add(stop);
            if (place) steps.add(pairOf(stops[place - 1], stop));
        }
    }
    return { memories, steps };
}

/** @param {BrowserContext} context @param {HTMLElement} page @param {string} [around] a memory */
export async function graphPage(context, page, around) {
    const { say, app } = context;
    const { columns, list, show } = twoColumns(say('back'));
    const center = /** @type {HTMLSelectElement} */ (
        el('select', { id: 'soulmem_graph_center', class: 'text_pole margin0', 'aria-label': say('graph_center') })
    );
    const place = el('div', { class: 'soulmem_graph_place' });
    const names = el('ul', { class: 'soulmem_list soulmem_graph_list' });
    const toggles = kindToggles(say, say('graph_kinds'), redraw);
    const words = /** @type {HTMLDetailsElement} */ (
        el('details', { class: 'soulmem_graph_words' }, [
            el('summary', { text: say('graph_as_list') }),
            names,
        ])
    );
    words.addEventListener('toggle', drawWords);
    list.append(
        el('p', { class: 'soulmem_hint', text: say('graph_hint') }),
        el('div', { class: 'soulmem_filters' }, [center]),
        toggles.element,
        place,
        words,
    );
    page.append(columns);
    const way = lastWay(context);
    center.append(
        el('option', { value: '', text: say('graph_all') }),
        ...(way.memories.size ? [el('option', { value: LAST_RECALL, text: say('graph_last_recall') })] : []),
    );
    let width = WIDTH;
    let focus = around ?? '';
    let nodes = /** @type {GraphNode[]} */ ([]);
    let edges = /** @type {GraphEdge[]} */ ([]);
    center.addEventListener('change', () => {
        focus = center.value;
        void context.attempt(draw);
    });
    await draw();
    await offerPeople(); // after the picture: to know everybody may take longer

    async function offerPeople() {
        const { people } = await context.memoryApi.people(context.soul);
        const options = people.map((/** @type {{concept: string, name: string}} */ { concept, name }) =>
            el('option', { value: concept, text: name }),
        );
        center.append(...options);
        if (people.some((/** @type {{concept: string}} */ p) => p.concept === focus)) center.value = focus;
    }

    async function draw() {
        const isLast = focus === LAST_RECALL;
        const [start] = way.memories;
        const middle = isLast ? start : focus;
        const query = queryOf({
            soul: context.soul,
            limit: MOST,
            layout: true,
            reads: true,
            center: middle,
            hops: middle ? HOPS : '',
            also: isLast ? [...way.memories].slice(0, MOST_OF_WAY).join(',') : '',
        });
        const graph = await app.link.ask('GET', `/graph${query}`);
        ({ memories: nodes, edges } = graph);
        toggles.offer(nodes.map(({ kind }) => kind));
        redraw();
    }

    /** What was read, without the kinds that are hidden. */
    function shownNodes() {
        return nodes.filter(({ kind }) => toggles.isShown(kind));
    }

    /** Draws it; everything keeps its place. */
    function redraw() {
        const shown = shownNodes();
        const none = nodes.length ? 'graph_all_hidden' : 'graph_none';
        place.replaceChildren(
            shown.length ? picture(shown) : el('p', { class: 'soulmem_hint', text: say(none) }),
        );
        drawWords();
    }

    /** The same as a list, which most people never open. */
    function drawWords() {
        const shown = words.open ? shownNodes() : [];
        names.replaceChildren(...shown.map(node => inWords(node, shown)));
    }

    /** @param {GraphNode[]} shown */
    function picture(shown) {
        width = place.clientWidth && place.clientWidth < NARROW * 1.5 ? NARROW : WIDTH;
        const at = new Map(shown.map(node => [node.id, pointOf(node)]));
        const lines = edges.flatMap(edge => {
            const from = at.get(edge.from);
            const to = at.get(edge.to);
            if (!from || !to) return [];
            const title = svg('title', {}, [edgeText(edge)]);
            const isWay = way.steps.has(pairOf(edge.from, edge.to));
            const about = {
                'data-way': isWay ? 'true' : undefined,
                x1: from.x,
                y1: from.y,
                x2: to.x,
                y2: to.y,
                'stroke-width': (1 + 3 * Math.min(1, edge.strength)).toFixed(1),
            };
            return [svg('line', { class: 'soulmem_graph_edge', ...about }, [title])];
        });
        // Names last, so that no scene lies over their words
        const isName = (/** @type {GraphNode} */ { kind }) => kind === 'concept';
        const order = [...shown].sort((one, other) => Number(isName(one)) - Number(isName(other)));
        const dots = order.map(node => dot(node, node === shown[0]));
        const drawn = svg(
            'svg',
            {
                viewBox: `0 0 ${width} ${HEIGHT}`,
                class: 'soulmem_graph',
                role: 'group',
                'aria-label': say('graph_label', { n: shown.length }),
            },
            [svg('g', {}, lines), svg('g', {}, dots)],
        );
        drawn.addEventListener('keydown', moveFocus);
        return drawn;
    }

    /** @param {GraphNode} node */
    function pointOf(node) {
        return {
            x: Math.round(MARGIN + node.x * (width - 2 * MARGIN)),
            y: Math.round(MARGIN + node.y * (HEIGHT - 2 * MARGIN)),
        };
    }

    /** A node: its shape and colour tell its kind, its faintness how much of it has faded.
     * @param {GraphNode} node @param {boolean} isFirst */
    function dot(node, isFirst) {
        const { x, y } = pointOf(node);
        const size = node.id === focus ? 12 : 8;
        const shape =
            node.kind === 'concept'
                ? svg('circle', { cx: x, cy: y, r: size })
                : node.kind === 'action' || node.kind === 'trigger'
                  ? svg('path', {
                        d: `M${x} ${y - size} L${x + size} ${y} L${x} ${y + size} L${x - size} ${y} Z`,
                    })
                  : svg('rect', { x: x - size, y: y - size, width: 2 * size, height: 2 * size, rx: 3 });
        const reach = svg('circle', { class: 'soulmem_graph_reach', cx: x, cy: y, r: REACH });
        const isRight = x > width / 2; // its label stands to the left, inside the picture
        const side = isRight ? { x: x - size - 3, 'text-anchor': 'end' } : { x: x + size + 3 };
        const label = svg('text', { ...side, y: y + 4 }, [short(textOf(node))]);
        const name = [textOf(node), faded(node)].filter(Boolean).join(', ');
        const group = svg(
            'g',
            {
                class: 'soulmem_graph_node',
                // One stop of the Tab key; arrow keys go on from there
                tabindex: isFirst ? 0 : -1,
                role: 'button',
                'data-x': x,
                'data-y': y,
                'data-way': way.memories.has(node.id) ? 'true' : undefined,
                'aria-label': name,
                'data-kind': node.kind,
                'data-memory': node.id,
                style: `--soulmem_seen: ${Math.round(100 * seen(node))}%`,
            },
            [svg('title', {}, [name]), reach, shape, label],
        );
        const element = /** @type {HTMLElement} */ (/** @type {unknown} */ (group));
        onPress(element, () => show(detail(node), element));
        return group;
    }

    /** @param {GraphEdge} edge */
    function edgeText(edge) {
        return edge.verb ?? say(/** @type {Key} */ (`edge_${edge.kind}`));
    }

    /** How faded a memory is, in a word; empty for a clear one. @param {GraphNode} node */
    function faded(node) {
        const clarity = clarityOf({ visibility: seen(node) }, node.reads_now);
        return clarity === 'clear' ? '' : say(`clarity_${clarity}`);
    }

    /** @param {GraphNode} node @param {GraphNode[]} shown */
    function inWords(node, shown) {
        const links = edges.flatMap(edge => {
            const other = edge.from === node.id && shown.find(({ id }) => id === edge.to);
            return other ? [`${edgeText(edge)}: ${short(textOf(other))}`] : [];
        });
        return pressRow(
            { class: 'soulmem_item', data: { kind: node.kind } },
            [
                el('div', { class: 'soulmem_recalled_head' }, [
                    kindLabel(node.kind, say),
                    el('small', { class: 'soulmem_recalled_facts', text: faded(node) }),
                ]),
                el('div', { class: 'soulmem_item_text' }, readingNodes(textOf(node), say)),
                links.length ? el('small', { text: links.join(' · ') }) : null,
            ],
            item => show(detail(node), item),
        );
    }

    /** @param {GraphNode} node */
    function detail(node) {
        const start = () => {
            focus = node.id;
            center.value = '';
            return context.attempt(draw);
        };
        const go = el('div', { class: 'soulmem_row' }, [
            button('fa-crosshairs', say('graph_here'), start),
            button('fa-pen', say('try_open'), () => context.show('memories', node.id)),
        ]);
        return el('div', { class: 'soulmem_memory' }, [
            kindLabel(node.kind, say),
            el('div', { class: 'soulmem_recalled_text' }, readingNodes(textOf(node), say)),
            go,
        ]);
    }
}
