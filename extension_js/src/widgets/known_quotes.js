// What is known of somebody, as quotes: what was said, by whom, when, where; what a later line ended is struck through.
// Beside each stand a pin and a way to correct it.

import { button, el } from '../base/dom.js';
import { memoryPages } from './memory_pages.js';
import { pressRow } from './press_row.js';

/** @typedef {import('../pages/browser_context.js').BrowserContext} BrowserContext */
/** @typedef {import('../base/types.js').KnownThing} KnownThing */

/** A button that shows its icon alone.
 * @param {string} icon @param {string} label @param {() => unknown} run @param {string} style */
export const iconButton = (icon, label, run, style) =>
    button(icon, label, run, { class: `soulmem_icon_only ${style}`, title: label, 'aria-label': label });

/** @param {BrowserContext} context @param {KnownThing} thing
 * @returns {HTMLElement} a button that keeps its memory for ever, and lets go of it at the next press */
function pinButton(context, { memory, permanent: isPinned = false }) {
    const { say, memoryApi, attempt } = context;
    const pin = iconButton('fa-thumbtack', say('thing_pin'), () => attempt(turn), 'soulmem_thing_pin');
    pin.setAttribute('aria-pressed', String(isPinned));

    async function turn() {
        if (isPinned) await memoryApi.change(await memoryApi.read(memory), { permanent: false });
        else await memoryApi.keepForEver(memory);
        isPinned = !isPinned;
        pin.setAttribute('aria-pressed', String(isPinned));
        context.showStatus(say(isPinned ? 'try_forever_done' : 'thing_unpinned'));
    }
    return pin;
}

/** @param {BrowserContext} context @param {string} about a name or a concept @param {number} size of a page
 * @param {string} none what stands there without any @param {string} [kind] only things told as this
 * @param {string} [without] nothing told as this */
export function knownQuotes(context, about, size, none, kind = '', without = '') {
    const { say, memoryApi } = context;
    return memoryPages({
        fetch: async (/** @type {string | null} */ cursor) => {
            const page = await memoryApi.known(context.soul, { about, kind }, size, cursor);
            return { rows: page.known, cursor: page.cursor };
        },
        draw: thing => (thing.kind === without ? null : knownRow(context, thing)),
        more: say('more'),
        none,
        attempt: context.attempt,
    });
}

/** @param {BrowserContext} context @param {KnownThing} thing
 * @param {readonly HTMLElement[]} [tools] before the pin */
export function knownRow(context, thing, tools = []) {
    const { say } = context;
    const when = context.localTime(thing.said_at);
    const said = thing.speaker
        ? say('known_said', { who: thing.speaker, when })
        : say('known_told', { when });
    const until = thing.until ? say('people_until', { when: context.localTime(thing.until) }) : '';
    const correct = () => context.show('memories', thing.memory);
    const item = pressRow(
        { class: 'soulmem_item soulmem_thing', data: { thing: thing.id } },
        [
            el('span', { class: 'soulmem_badge', text: say(`known_${thing.kind}`) }),
            el('span', {
                class: thing.until ? 'soulmem_fact_ended' : 'soulmem_quote_text',
                text: ` “${thing.quote}”`,
            }),
            el('small', {
                class: 'soulmem_recalled_facts',
                text: ` ${[said, thing.location, until].filter(Boolean).join(' · ')}`,
            }),
        ],
        correct,
    );
    item.append(
        ...tools,
        pinButton(context, thing),
        iconButton('fa-pen', say('thing_correct'), correct, 'soulmem_thing_correct'),
    );
    return item;
}
