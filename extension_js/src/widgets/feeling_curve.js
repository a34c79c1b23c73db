// What the character felt over time: a curve from the first scene to the last, and the same in words.

import { el } from '../base/dom.js';
import { feelingText } from './feeling_text.js';
import { pressRow } from './press_row.js';
import { svg } from './svg.js';

/** @typedef {import('../pages/browser_context.js').BrowserContext} BrowserContext */
/** Scenes that follow each other. `balance`: -1 all unpleasant to 1 all pleasant; `memory`: where the feeling was
 * strongest.
 * @typedef {{from: string, to: string, balance: number, feeling: {label: string, intensity: number} | null,
 *   memory: string | null}} Stretch */

const WIDTH = 600; // stretched over the place there is
const HEIGHT = 100;
const MIDDLE = HEIGHT / 2;
const MARGIN = 4; // so that the line is whole at its highest
const DAY = 86_400_000; // ms

/** @param {BrowserContext} context @param {readonly Stretch[]} stretches of equally many scenes, the earliest first
 * @returns {HTMLElement | null} null where there is nothing to draw: too few scenes, or nothing was felt */
export function feelingCurve(context, stretches) {
    const { say, app } = context;
    const felt = stretches.filter(({ feeling }) => feeling);
    if (stretches.length < 2 || felt.length === 0) return null;
    const [first, last] = [stretches[0], stretches[stretches.length - 1]];
    const isShort = Date.parse(last.to) - Date.parse(first.from) < DAY;
    const dates = new Intl.DateTimeFormat(app.host.locale(), {
        dateStyle: 'medium',
        ...(isShort && { timeStyle: 'short' }),
    });
    const dateOf = (/** @type {string} */ iso) => dates.format(new Date(iso));
    const timeOf = (/** @type {Stretch} */ { from, to }) =>
        dates.formatRange(new Date(from), new Date(to));

    /** @param {Stretch} stretch */
    const inWords = ({ feeling }) => (feeling ? feelingText(feeling, say) : '');

    /** The most pleasant and the most unpleasant stretch, as far as there is any. */
    function summary() {
        const byBalance = [...felt].sort((one, other) => one.balance - other.balance);
        const [worst, best] = [byBalance[0], byBalance[byBalance.length - 1]];
        const parts = [say('curve_span', { from: dateOf(first.from), to: dateOf(last.to) })];
        if (best.balance > 0)
            parts.push(say('curve_best', { when: timeOf(best), label: inWords(best) }));
        if (worst.balance < 0)
            parts.push(say('curve_worst', { when: timeOf(worst), label: inWords(worst) }));
        return parts.join(' ');
    }

    const rows = joined(felt, inWords).map(stretch =>
        pressRow({ class: 'soulmem_felt' }, [`${timeOf(stretch)}: ${inWords(stretch)}`], () =>
            context.show('memories', stretch.memory ?? undefined),
        ),
    );
    return el('div', { class: 'soulmem_curve_card' }, [
        el('div', { class: 'soulmem_curve' }, [
            el('small', { 'aria-hidden': true, text: say('curve_pleasant') }),
            el('small', { 'aria-hidden': true, text: say('curve_unpleasant') }),
            picture(stretches, summary()),
        ]),
        el('div', { class: 'soulmem_curve_dates', 'aria-hidden': true }, [
            el('small', { text: dateOf(first.from) }),
            el('small', { text: dateOf(last.to) }),
        ]),
        el('details', { class: 'soulmem_curve_words' }, [
            el('summary', { text: say('graph_as_list') }),
            el('ul', { class: 'soulmem_facts' }, rows),
        ]),
    ]);
}

/** Neighbours of which the words say the same are one stretch. @param {readonly Stretch[]} felt
 * @param {(stretch: Stretch) => string} inWords */
function joined(felt, inWords) {
    const out = /** @type {Stretch[]} */ ([]);
    for (const stretch of felt) {
        const last = out.pop();
        if (last && inWords(last) === inWords(stretch)) out.push({ ...last, to: stretch.to });
        else out.push(...(last ? [last] : []), stretch);
    }
    return out;
}

/** @param {readonly Stretch[]} stretches @param {string} label */
function picture(stretches, label) {
    // Words tell how strong a feeling was; the curve tells how it changed, and fills its height
    const most = Math.max(...stretches.map(({ balance }) => Math.abs(balance))) || 1;
    const points = stretches.map(({ balance }, place) => {
        const x = (place * WIDTH) / (stretches.length - 1);
        const y = MIDDLE - (balance / most) * (MIDDLE - MARGIN);
        return `${x.toFixed(1)},${y.toFixed(1)}`;
    });
    return svg(
        'svg',
        {
            viewBox: `0 0 ${WIDTH} ${HEIGHT}`,
            preserveAspectRatio: 'none',
            role: 'img',
            'aria-label': label,
        },
        [
            svg('line', { class: 'soulmem_curve_middle', x1: 0, y1: MIDDLE, x2: WIDTH, y2: MIDDLE }),
            svg('polygon', {
                class: 'soulmem_curve_area',
                points: [`0,${MIDDLE}`, ...points, `${WIDTH},${MIDDLE}`].join(' '),
            }),
            svg('polyline', { class: 'soulmem_curve_line', points: points.join(' ') }),
        ],
    );
}
