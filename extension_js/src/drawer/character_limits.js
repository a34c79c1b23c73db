// Settings of one character that few change: hidden messages, what is no story, clock, budget, number of memories, digests.

import { byId, el } from '../base/dom.js';
import { bounded } from '../base/settings.js';

/** @typedef {import('../base/strings.js').Say} Say */
/** @typedef {import('../base/strings.js').Key} Key */
/** @typedef {import('../base/settings.js').Settings} Settings */
/** @typedef {import('../tavern/identity.js').CardConfig} CardConfig */
/** @typedef {{inputs: HTMLElement[], show: (config: CardConfig, general: Settings) => void,
 *   value: () => Partial<CardConfig>}} Part */

/** Periods that may get digests by themselves, and those that get them unless the card or the sidecar says otherwise. */
const PERIODS = ['hour', 'day', 'week', 'month', 'year', 'chat'];
const USUAL = PERIODS.slice(1);
const CLOCKS = /** @type {const} */ (['turns', 'story', 'wall']);

/** A choice of yes, no, or what holds for all characters.
 * @param {string} id @param {'remember_hidden' | 'whole_messages'} name in the card @returns {Part} */
function bindChoice(id, name) {
    const select = /** @type {HTMLSelectElement} */ (byId(id));
    const values = /** @type {Record<string, boolean>} */ ({ yes: true, no: false });
    return {
        inputs: [select],
        show({ [name]: own }) {
            select.value = own === undefined ? '' : own ? 'yes' : 'no';
        },
        value: () => ({ [name]: values[select.value] }),
    };
}

/** @returns {Part} */
function bindClock() {
    const select = /** @type {HTMLSelectElement} */ (byId('soulmem_card_clock'));
    return {
        inputs: [select],
        show({ clock }) {
            select.value = clock ?? '';
        },
        value: () => ({ clock: CLOCKS.find(clock => clock === select.value) }),
    };
}

/** A number that is empty where the card has none; then it shows in grey what holds for all characters.
 * @param {'budget' | 'max_items'} key of the setting for all characters
 * @param {'budget_tokens' | 'max_items'} name in the card @returns {Part} */
function bindNumber(key, name) {
    const input = /** @type {HTMLInputElement} */ (byId(`soulmem_card_${key}`));
    return {
        inputs: [input],
        show(config, general) {
            input.value = String(config[name] ?? '');
            input.setAttribute('placeholder', String(general[key]));
        },
        value: () => ({ [name]: input.value.trim() ? bounded(key, input.value) : undefined }),
    };
}

/** @param {Say} say @returns {Part} */
function bindDigests(say) {
    const general = /** @type {HTMLInputElement} */ (byId('soulmem_card_general_digest'));
    const hour = /** @type {HTMLSelectElement} */ (byId('soulmem_card_digest_from'));
    hour.replaceChildren(
        ...Array.from({ length: 24 }, (_, n) =>
            el('option', { value: String(n), text: `${String(n).padStart(2, '0')}:00` }),
        ),
    );
    const boxes = PERIODS.map(period => {
        const id = `soulmem_card_digest_${period}`;
        const box = /** @type {HTMLInputElement} */ (el('input', { id, type: 'checkbox' }));
        const text = say(/** @type {Key} */ (`period_${period}`));
        return { period, box, label: el('label', { class: 'checkbox_label', for: id }, [box, el('span', { text })]) };
    });
    byId('soulmem_card_digest').replaceChildren(...boxes.map(({ label }) => label));
    return {
        inputs: [general, hour, ...boxes.map(({ box }) => box)],
        show({ digest }) {
            general.checked = digest === undefined;
            hour.value = String(digest?.hour ?? 0);
            hour.disabled = general.checked;
            for (const { period, box } of boxes) {
                box.checked = (digest?.periods ?? USUAL).includes(period);
                box.disabled = general.checked;
            }
        },
        value() {
            const periods = boxes.filter(({ box }) => box.checked).map(({ period }) => period);
            return { digest: general.checked ? undefined : { hour: Number(hour.value), periods } };
        },
    };
}

/** @param {Say} say @returns {Part} all of them */
export function bindLimits(say) {
    const parts = [
        bindChoice('soulmem_card_hidden', 'remember_hidden'),
        bindChoice('soulmem_card_whole', 'whole_messages'),
        bindClock(),
        bindNumber('budget', 'budget_tokens'),
        bindNumber('max_items', 'max_items'),
        bindDigests(say),
    ];
    return {
        inputs: parts.flatMap(({ inputs }) => inputs),
        show: (config, general) => parts.forEach(part => part.show(config, general)),
        value: () => Object.assign({}, ...parts.map(part => part.value())),
    };
}
