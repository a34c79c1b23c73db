// The picture of the map: people as portraits, what happened written along the lines between them.

import { onPress } from '../../base/dom.js';
import { moveFocus, svg } from '../../widgets/svg.js';

/** Somebody on the map. `picture`: address of the portrait; `open`: where the list has the person
 * @typedef {{id: string, name: string, names: string[], x: number, y: number, picture?: string,
 *   concept: string | null, episodes: number, spot?: 'place' | 'scene'}} HeartNode `spot`: nobody */
/** `gold`: of whom the last reply's memories tell
 * @typedef {{from: string, to: string, text: string, memory: string, weight: number, clear: number,
 *   gold: boolean}} HeartLine */
/** @typedef {{nodes: HeartNode[], lines: HeartLine[], title: string, nameOf: (line: HeartLine) => string,
 *   choose: (chosen: HeartNode | HeartLine, from: HTMLElement) => unknown}} Drawn */

export const HER = 'her'; // no ids of concepts
export const YOU = 'you';

/** Sizes of the picture on a desk and on a phone, in px of the picture. `written`: lines whose words show at once */
const WIDE = { width: 1200, height: 600, margin: 48, middle: 40, person: 27, letter: 13, written: 14 };
const NARROW = { width: 400, height: 600, margin: 34, middle: 31, person: 20, letter: 11, written: 6 };
const ROWS = 2; // of words beside a line
const SLIM = 0.54; // width of a letter as a share of its height; of a sign of Chinese 1
const LEAST = 70; // px of a line that has room for words

/** @param {string} text @param {number} letter px @returns {number} px */
const lengthOf = (text, letter) =>
    letter * Array.from(text).reduce((sum, sign) => sum + (sign > '\u2e7f' ? 1 : SLIM), 0);

/** The text in rows no longer than this, what has no room cut off. @param {string} text @param {number} room px
 * @param {number} letter px @returns {string[]} */
export function rowsOf(text, room, letter) {
    const rows = [''];
    for (const word of text.match(/[\u2e80-\uffff]|[^\s\u2e80-\uffff]+|\s+/gu) ?? []) {
        const last = rows.length - 1;
        if (lengthOf(rows[last] + word.trim(), letter) <= room) rows[last] += word;
        else if (last < ROWS - 1 && rows[last]) rows.push(word.trim());
        else {
            rows[last] = `${rows[last].trim()}…`;
            break;
        }
    }
    return rows.map(row => row.trim()).filter(Boolean);
}

/** Two letters for somebody without a picture. @param {string} name */
const initials = name =>
    /^[\u2e80-\uffff]/.test(name)
        ? Array.from(name).slice(0, 2).join('')
        : name
              .split(/\s+/)
              .slice(0, 2)
              .map(word => Array.from(word)[0])
              .join('');

/** @param {Drawn} about @param {boolean} isNarrow @returns {SVGElement} */
export function heartPicture({ nodes, lines, title, nameOf, choose }, isNarrow) {
    const size = isNarrow ? NARROW : WIDE;
    const places = new Map(nodes.map(node => [node.id, placeOf(node)]));
    const rank = (/** @type {HeartLine} */ line) => 2 * Number(isBetween(line)) + Number(line.gold);
    const inOrder = [...lines].sort((one, other) => rank(other) - rank(one));
    const written = new Set(legible(inOrder).slice(0, size.written));
    const drawn = svg(
        'svg',
        {
            viewBox: `0 0 ${size.width} ${size.height}`,
            class: 'soulmem_heart',
            role: 'group',
            'aria-label': title,
        },
        [
            svg('clipPath', { id: 'soulmem_heart_round', clipPathUnits: 'objectBoundingBox' }, [
                svg('circle', { cx: 0.5, cy: 0.5, r: 0.5 }),
            ]),
            svg('text', { class: 'soulmem_heart_title', x: 14, y: 26, 'aria-hidden': 'true' }, [title]),
            // Gold last, so that it lies above the others
            ...inOrder.reverse().map(lineGroup),
            ...nodes.map(personGroup),
        ],
    );
    drawn.addEventListener('keydown', moveFocus);
    return drawn;

    /** @param {HeartNode} node */
    function placeOf({ id, x, y }) {
        const { width, height, margin, middle, person } = size;
        // The two in the middle stand across the longer side, so that few lines pass behind one of them
        const [across, down] = isNarrow ? [x, y] : [y, x];
        return {
            x: Math.round(margin + across * (width - 2 * margin)),
            y: Math.round(margin + down * (height - 2 * margin)),
            r: id === HER || id === YOU ? middle : person,
        };
    }

    /** @param {HeartNode | HeartLine} chosen @param {{x: number, y: number}} place @param {string} label
     * @param {Record<string, string | undefined>} about @param {SVGElement[]} children */
    function pressed(chosen, { x, y }, label, about, children) {
        const isFirst = /** @type {HeartNode} */ (chosen).id === HER;
        const group = svg(
            'g',
            {
                ...about,
                // One stop of the Tab key; arrow keys go on from there
                tabindex: isFirst ? 0 : -1,
                role: 'button',
                'aria-label': label,
                'data-x': Math.round(x),
                'data-y': Math.round(y),
            },
            [svg('title', {}, [label]), ...children],
        );
        const element = /** @type {HTMLElement} */ (/** @type {unknown} */ (group));
        onPress(element, () => choose(chosen, element));
        return group;
    }

    /** @param {HeartLine} line */
    function lineGroup(line) {
        const from = places.get(line.from) ?? placeOf(nodes[0]);
        const to = places.get(line.to) ?? placeOf(nodes[0]);
        const ends = { x1: from.x, y1: from.y, x2: to.x, y2: to.y };
        const about = {
            class: 'soulmem_heart_line',
            'data-line': line.memory,
            'data-gold': line.gold ? 'true' : undefined,
            'data-quiet': written.has(line) ? undefined : 'true',
            style: `--soulmem_seen: ${Math.round(100 * line.clear)}%`,
        };
        const middle = { x: (from.x + to.x) / 2, y: (from.y + to.y) / 2 };
        return pressed(line, middle, nameOf(line), about, [
            svg('line', { class: 'soulmem_heart_reach', ...ends }),
            svg('line', { class: 'soulmem_heart_stroke', ...ends, 'stroke-width': (1 + 5 * line.weight).toFixed(1) }),
            ...words(line),
        ]);
    }

    /** Whether a line joins the two in the middle. @param {HeartLine} line */
    function isBetween({ from, to }) {
        return from === HER && to === YOU;
    }

    /** Where the words of a line stand: between the two in the middle below them, else along the line.
     * @param {HeartLine} line */
    function wordsOf(line) {
        const { letter, width } = size;
        const from = places.get(line.from) ?? placeOf(nodes[0]);
        const to = places.get(line.to) ?? placeOf(nodes[0]);
        const isMiddle = isBetween(line);
        const across = Math.hypot(to.x - from.x, to.y - from.y);
        const room = isMiddle ? width * 0.36 : across - from.r - to.r - letter;
        if (room < LEAST) return null;
        // Nobody reads upside down
        const [left, right] = from.x <= to.x ? [from, to] : [to, from];
        // Between the rims of the two portraits
        const share = (left.r + (across - left.r - right.r) / 2) / across;
        return {
            rows: rowsOf(line.text, room, letter),
            angle: isMiddle ? 0 : Math.atan2(right.y - left.y, right.x - left.x),
            x: left.x + share * (right.x - left.x),
            y: isMiddle ? Math.max(from.y, to.y) : left.y + share * (right.y - left.y),
            top: isMiddle ? from.r + 3 * letter : -0.5 * letter,
            step: letter * (isMiddle ? 1.25 : 1.8),
        };
    }

    /** Those of the lines whose words cross nobody and no words of an earlier one. @param {HeartLine[]} some */
    function legible(some) {
        const { letter } = size;
        const taken = [...places.values()].flatMap(({ x, y, r }) => [{ x, y, r }, { x, y: y + r + letter, r: letter }]);
        return some.filter(line => {
            const at = wordsOf(line);
            if (!at) return false;
            const spots = at.rows.flatMap((row, place) => {
                const half = lengthOf(row, letter) / 2;
                const down = at.top + place * at.step - letter / 3;
                const count = Math.max(2, Math.ceil((2 * half) / letter));
                return Array.from({ length: count }, (_, i) => {
                    const along = -half + ((i + 0.5) * 2 * half) / count;
                    const [cos, sin] = [Math.cos(at.angle), Math.sin(at.angle)];
                    return { x: at.x + along * cos - down * sin, y: at.y + along * sin + down * cos, r: letter / 2 };
                });
            });
            const isFree = spots.every(one =>
                taken.every(other => Math.hypot(one.x - other.x, one.y - other.y) >= one.r + other.r),
            );
            if (isFree) taken.push(...spots);
            return isFree;
        });
    }

    /** What happened. @param {HeartLine} line */
    function words(line) {
        const at = wordsOf(line);
        if (!at) return [];
        const degrees = ((at.angle * 180) / Math.PI).toFixed(1);
        return at.rows.map((row, place) =>
            svg(
                'text',
                {
                    transform: `translate(${at.x.toFixed(1)} ${at.y.toFixed(1)}) rotate(${degrees})`,
                    y: at.top + place * at.step,
                    'font-size': size.letter,
                    'text-anchor': 'middle',
                },
                [row],
            ),
        );
    }

    /** A circle for somebody, a diamond for a place, a card for a scene. @param {HeartNode} node @param {string} style */
    function outline(node, style) {
        const { x, y, r } = placeOf(node);
        if (!node.spot) return svg('circle', { class: style, cx: x, cy: y, r });
        const [across, down] = node.spot === 'place' ? [0.5, 0.5] : [0.65, 0.45];
        const turned = node.spot === 'place' ? { transform: `rotate(45 ${x} ${y})` } : {};
        const size = { x: x - across * r, y: y - down * r, width: 2 * across * r, height: 2 * down * r, rx: 3 };
        return svg('rect', { class: style, ...size, ...turned });
    }

    /** @param {HeartNode} node */
    function personGroup(node) {
        const { x, y, r } = placeOf(node);
        const isGold = lines.some(line => line.gold && [line.from, line.to].includes(node.id));
        const about = {
            class: 'soulmem_heart_person',
            'data-node': node.id,
            'data-spot': node.spot,
            'data-gold': isGold ? 'true' : undefined,
        };
        const face = node.picture
            ? svg('image', {
                  href: node.picture,
                  x: x - r,
                  y: y - r,
                  width: 2 * r,
                  height: 2 * r,
                  preserveAspectRatio: 'xMidYMid slice',
                  'clip-path': 'url(#soulmem_heart_round)',
              })
            : svg('text', { class: 'soulmem_heart_initials', x, y, 'font-size': r * 0.8, 'text-anchor': 'middle' }, [
                  initials(node.name),
              ]);
        const [short = ''] = rowsOf(node.name, 6 * r, size.letter);
        return pressed(node, { x, y }, node.name, about, [
            outline(node, 'soulmem_heart_ground'),
            ...(node.spot ? [] : [face]),
            outline(node, 'soulmem_heart_ring'),
            svg('text', { x, y: y + r + size.letter + 2, 'font-size': size.letter + 1, 'text-anchor': 'middle' }, [
                short,
            ]),
        ]);
    }
}
