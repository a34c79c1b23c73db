// What is known of somebody, as quotes: what was said, by whom, when; what a later line ended is struck through.

import { el } from '../base/dom.js';
import { memoryPages } from './memory_pages.js';
import { pressRow } from './press_row.js';

/** @typedef {import('../pages/browser_context.js').BrowserContext} BrowserContext */
/** @typedef {import('../base/types.js').KnownThing} KnownThing */

/** @param {BrowserContext} context @param {string} about a name or a concept @param {number} size of a page
 * @param {string} none what stands there without any */
export function knownQuotes(context, about, size, none) {
    const { say, memoryApi } = context;
    return memoryPages({
        fetch: async (/** @type {string | null} */ cursor) => {
            const page = await memoryApi.known(context.soul, about, size, cursor);
            return { rows: page.known, cursor: page.cursor };
        },
        draw: row,
        more: say('more'),
        none,
        attempt: context.attempt,
    });

    /** @param {KnownThing} thing */
    function row(thing) {
        const when = context.localTime(thing.said_at);
        const said = thing.speaker
            ? say('known_said', { who: thing.speaker, when })
            : say('known_told', { when });
        const until = thing.until
            ? say('people_until', { when: context.localTime(thing.until) })
            : '';
        return pressRow(
            { class: 'soulmem_item', data: { thing: thing.id } },
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
            () => context.show('memories', thing.memory),
        );
    }
}
