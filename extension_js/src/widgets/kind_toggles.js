// Chips that show and hide kinds of memories.

import { el } from '../base/dom.js';
import { kindLabel } from './memory_badges.js';

/** @typedef {import('../base/strings.js').Say} Say */

/** @param {Say} say @param {string} label for screen readers @param {() => unknown} changed called after a kind was
 *   shown or hidden */
export function kindToggles(say, label, changed) {
    const hidden = /** @type {Set<string>} */ (new Set());
    const element = el('div', {
        class: 'soulmem_row soulmem_kind_toggles',
        role: 'group',
        'aria-label': label,
    });

    /** @param {string} kind */
    function toggle(kind) {
        const chip = el(
            'button',
            {
                type: 'button',
                class: 'soulmem_chip',
                'aria-pressed': String(!hidden.has(kind)),
                data: { kind },
            },
            [kindLabel(kind, say)],
        );
        chip.addEventListener('click', () => {
            if (!hidden.delete(kind)) hidden.add(kind);
            chip.setAttribute('aria-pressed', String(!hidden.has(kind)));
            changed();
        });
        return chip;
    }

    return {
        element,
        /** Offers these kinds; one alone is no choice, unless it is hidden. @param {Iterable<string>} kinds */
        offer(kinds) {
            const offered = [...new Set(kinds)].sort();
            const isChoice = offered.length > 1 || offered.some(kind => hidden.has(kind));
            element.replaceChildren(...(isChoice ? offered.map(toggle) : []));
        },
        /** @param {string} kind */
        isShown: kind => !hidden.has(kind),
    };
}
