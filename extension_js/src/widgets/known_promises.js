// The promises that a character knows of: open ones, kept ones, and those that were broken or taken back.

import { el } from '../base/dom.js';
import { iconButton, knownRow } from './known_quotes.js';
import { pagesOf } from './memory_pages.js';
import { paged } from './paging.js';

/** @typedef {import('../pages/browser_context.js').BrowserContext} BrowserContext */
/** @typedef {import('../base/types.js').KnownThing} KnownThing */

const READ = 100;
const DRAWN = 8; // at once, of a kind

/** Whether nobody kept it, broke it or said otherwise later. @param {KnownThing} thing */
export const isOpen = ({ until, kept = null }) => !until && kept === null;

/** @param {KnownThing[]} things @param {string | null} cursor of promises that were not read
 * @returns {string | number} their number, with a plus where there may be more */
const counted = ({ length }, cursor) => (cursor === null ? length : `${length}+`);

/** How a promise ended is said by the user, beside its quote. Empty where nothing was promised.
 * @param {BrowserContext} context @returns {Promise<HTMLElement>} */
export async function knownPromises(context) {
    const { say, memoryApi } = context;
    const place = el('div', { id: 'soulmem_her_promises' });
    await draw();
    return place;

    async function draw() {
        const { known, cursor } = await memoryApi.known(context.soul, { kind: 'promise' }, READ, null);
        const open = known.filter(isOpen);
        const kept = known.filter(thing => thing.kept === true);
        const over = known.filter(thing => thing.kept !== true && !open.includes(thing));
        const parts = await Promise.all([
            open.length
                ? listOf(open).then(list => el('div', { data: { promises: 'open' } }, [list]))
                : el('p', { class: 'soulmem_hint', text: say('promises_none_open') }),
            folded('kept', 'promises_kept', kept, cursor),
            folded('over', 'promises_over', over, cursor),
        ]);
        const head = el('h4', { text: say('promises_open', { n: counted(open, cursor) }) });
        place.replaceChildren(...(known.length ? [head, ...parts.filter(part => part !== null)] : []));
    }

    /** @param {string} part @param {'promises_kept' | 'promises_over'} key @param {KnownThing[]} things
     * @param {string | null} cursor of promises that were not read */
    async function folded(part, key, things, cursor) {
        if (!things.length) return null;
        return el('details', { class: 'soulmem_more', data: { promises: part } }, [
            el('summary', { text: say(key, { n: counted(things, cursor) }) }),
            await listOf(things),
        ]);
    }

    /** @param {KnownThing[]} things */
    function listOf(things) {
        return paged({
            fetch: pagesOf(things, DRAWN),
            draw: thing => knownRow(context, thing, toolsOf(thing)),
            more: say('more'),
            none: '',
            attempt: context.attempt,
        });
    }

    /** @param {KnownThing} thing */
    function toolsOf(thing) {
        /** @param {string} icon @param {'promise_kept' | 'promise_broken' | 'promise_reopen'} label @param {boolean | null} kept */
        const tool = (icon, label, kept) =>
            iconButton(icon, say(label), () => context.attempt(() => tell(thing, kept)), `soulmem_${label}`);
        if (typeof thing.kept === 'boolean') return [tool('fa-rotate-left', 'promise_reopen', null)];
        const kept = tool('fa-check', 'promise_kept', true);
        return isOpen(thing) ? [kept, tool('fa-xmark', 'promise_broken', false)] : [kept];
    }

    /** @param {KnownThing} thing @param {boolean | null} kept */
    async function tell({ memory }, kept) {
        await memoryApi.sayKept(memory, kept);
        await draw();
    }
}
