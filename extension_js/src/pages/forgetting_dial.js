// The dial of one character's forgetting, with one of its own memories as it would read later.

import { el } from '../base/dom.js';
import { bounded } from '../base/settings.js';
import { laterNodes, readingNodes } from '../widgets/faded_text.js';
import { cardSettings } from './card_settings.js';

/** @typedef {import('./browser_context.js').BrowserContext} BrowserContext */
/** @typedef {import('../base/types.js').FadingMemory} FadingMemory */
/** @typedef {import('../base/strings.js').Key} Key */
/** @typedef {import('../base/strings.js').Say} Say */
/** @typedef {import('../tavern/identity.js').CardConfig} CardConfig */

const LATER = [300, 900]; // turns
const DRAGGING_PAUSE = 200; // ms without a movement before the example is asked for
const CANDIDATES = 30; // memories of which one is the example
const GOOD_LENGTH = 90; // characters of an example: short enough for a phone, long enough to lose parts

/** @param {FadingMemory[]} memories @returns {FadingMemory | undefined} the one whose length fits best */
function exampleOf(memories) {
    const off = (/** @type {FadingMemory} */ memory) => Math.abs(memory.text.length - GOOD_LENGTH);
    return [...memories].sort((a, b) => off(a) - off(b))[0];
}

/** The example: as it reads today and later, at the place where the dial stands.
 * @param {BrowserContext} context @param {() => number} forgetting where the dial stands */
function createExample({ say, memoryApi, soul }, forgetting) {
    const place = el('div', { id: 'soulmem_example', class: 'soulmem_example', 'aria-live': 'polite' });
    let example = /** @type {string | null} */ (null);
    let draws = 0;

    /** @param {string} when @param {(Node | string)[]} text */
    const line = (when, text) =>
        el('div', { class: 'soulmem_example_line' }, [el('small', { text: when }), el('span', {}, text)]);

    async function choose() {
        const turns = LATER[LATER.length - 1];
        // whatever the dial says now, at a human's forgetting there is something to see
        const options = { turns, forgetting: 1, limit: CANDIDATES };
        const { memories } = await memoryApi.fading(soul, options, null);
        example = exampleOf(memories)?.id ?? null;
    }

    async function draw() {
        const own = ++draws;
        if (example === null) await choose();
        if (example === null) {
            place.replaceChildren(el('small', { class: 'soulmem_hint', text: say('example_none') }));
            return;
        }
        const memory = example;
        const ages = LATER.map(turns => ({ turns, forgetting: forgetting(), memory }));
        const answers = await Promise.all(ages.map(age => memoryApi.fading(soul, age, null)));
        if (own !== draws) return; // the dial was moved meanwhile
        const rows = answers.map(({ memories }) => memories[0]).filter(Boolean);
        if (!rows.length) return;
        place.replaceChildren(
            line(say('example_today'), readingNodes(rows[0].text, say)),
            ...rows.map((row, i) => line(say('example_later', { n: LATER[i] }), laterNodes(row.reads_then, say))),
        );
    }

    return { place, draw };
}

/** The switches beside the dial.
 * @param {Say} say @param {CardConfig} config @param {boolean} isDisabled
 * @param {(changes: CardConfig) => unknown} save @returns {HTMLElement[]} */
function switches(say, config, isDisabled, save) {
    /** @param {Key} name @param {Key} hint @param {boolean} isOn
     * @param {(on: boolean) => CardConfig} changes */
    function row(name, hint, isOn, changes) {
        const id = `soulmem_${name}`;
        const box = /** @type {HTMLInputElement} */ (el('input', { id, type: 'checkbox' }));
        box.checked = isOn;
        box.disabled = isDisabled;
        box.addEventListener('change', () => void save(changes(box.checked)));
        return el('label', { class: 'checkbox_label', for: id }, [
            box,
            el('span', {}, [
                say(name),
                el('small', { class: 'soulmem_hint', text: say(hint) }),
            ]),
        ]);
    }
    return [
        row('fades', 'fades_hint', config.fades !== false, on => ({ fades: on ? undefined : false })),
        row('masks', 'masks_hint', config.masks === 'seed', on => ({ masks: on ? 'seed' : undefined })),
        row('knows_it_forgets', 'knows_it_forgets_hint', config.knows_it_forgets === true, on => ({
            knows_it_forgets: on ? true : undefined,
        })),
        row('hybrid', 'hybrid_hint', config.decay === 'hybrid', on => ({
            decay: on ? 'hybrid' : undefined,
        })),
        row('rewords', 'rewords_hint', config.rewords !== false, on => ({
            rewords: on ? undefined : false,
        })),
    ];
}

/** @param {BrowserContext} context @param {() => unknown} changed called after a setting was changed
 * @param {{isWhole?: boolean}} [options] `isWhole`: the switches are unfolded
 * @returns {Promise<HTMLElement>} */
export async function forgettingDial(context, changed, { isWhole = true } = {}) {
    const { say, app } = context;
    const { isOpen, config, save: saveConfig } = await cardSettings(context);
    const dial = /** @type {HTMLInputElement} */ (
        el('input', {
            id: 'soulmem_fading_dial',
            type: 'range',
            min: '0',
            max: '2',
            step: '0.1',
            list: 'soulmem_dial_marks',
            'aria-label': say('fading_dial'),
        })
    );
    dial.value = String(config.forgetting ?? app.settings().forgetting);
    const example = createExample(context, () => bounded('forgetting', dial.value));

    /** @param {CardConfig} changes */
    const save = changes => saveConfig(changes, () => Promise.all([example.draw(), changed()]));

    let timer = /** @type {ReturnType<typeof setTimeout> | undefined} */ (undefined);
    dial.addEventListener('input', () => {
        clearTimeout(timer);
        timer = setTimeout(() => void context.attempt(example.draw), DRAGGING_PAUSE);
    });
    dial.addEventListener('change', () => void save({ forgetting: bounded('forgetting', dial.value) }));
    dial.disabled = !isOpen;

    const ends = ['dial_elephant', 'dial_human', 'dial_goldfish'].map(key =>
        el('span', { text: say(/** @type {import('../base/strings.js').Key} */ (key)) }),
    );
    const view = el('div', { class: 'soulmem_card soulmem_forgetting' }, [
        el('h4', { class: 'margin0', text: say('fading_dial') }),
        el('div', { class: 'soulmem_dial' }, [
            dial,
            el('small', { class: 'soulmem_dial_ends' }, ends),
        ]),
        example.place,
        isOpen ? null : el('small', { class: 'soulmem_hint', text: say('fading_elsewhere') }),
        el('details', { class: 'soulmem_more', open: isWhole ? '' : undefined }, [
            el('summary', { text: say('fading_more') }),
            ...switches(say, config, !isOpen, save),
        ]),
    ]);
    void context.attempt(example.draw); // the page need not wait for it
    return view;
}
