// The six weights of a character: what counts when memories are ranked, drawn and forgotten.

import { byId, el } from '../base/dom.js';

/** @typedef {import('../base/strings.js').Say} Say */
/** @typedef {import('../base/strings.js').Key} Key */
/** @typedef {Record<string, number>} Weights */

/** The sidecar's defaults, in tenths: ratios, of which only the relation counts. @type {Weights} */
const DEFAULTS = { importance: 3, recency: 2, uses: 1, refractory: 2, content: 1, feedback: 1 };
const FACTORS = Object.keys(DEFAULTS);

/** @param {Say} say */
export function bindWeights(say) {
    const rows = FACTORS.map(factor => {
        const key = /** @type {Key} */ (`weight_${factor}`);
        const hint = /** @type {Key} */ (`weight_${factor}_hint`);
        const id = `soulmem_weight_${factor}`;
        const input = /** @type {HTMLInputElement} */ (
            el('input', { id, type: 'range', min: '0', max: '10', step: '0.5' })
        );
        return { factor, input, label: el('label', { for: id, text: say(key), title: say(hint) }) };
    });
    byId('soulmem_card_weights').replaceChildren(
        ...rows.flatMap(({ label, input }) => [label, input]),
    );

    return {
        inputs: rows.map(({ input }) => input),
        /** @param {Weights | undefined} own the card's shares; undefined for the sidecar's */
        show(own) {
            for (const { factor, input } of rows) {
                const tenths = own ? 10 * (own[factor] ?? 0) : DEFAULTS[factor];
                input.value = String(tenths);
            }
        },
        /** @returns {Weights | undefined} undefined where they are the sidecar's, or where nothing counts */
        value() {
            const tenths = rows.map(({ factor, input }) => [factor, Number(input.value)]);
            const isDefault = tenths.every(([factor, value]) => DEFAULTS[factor] === value);
            const isNothing = tenths.every(([, value]) => value === 0);
            if (isDefault || isNothing) return undefined;
            return Object.fromEntries(tenths.map(([factor, value]) => [factor, Number(value) / 10]));
        },
    };
}
