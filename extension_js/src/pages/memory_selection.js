// Several memories of a list at once: to the bin, kept for ever, given a tag, or restored.

import { button, el } from '../base/dom.js';

/** @typedef {import('./browser_context.js').BrowserContext} BrowserContext */
/** @typedef {import('../base/types.js').ListedMemory} ListedMemory */

/** @param {BrowserContext} context @param {() => unknown} changed called after memories were changed
 * @param {boolean} [areBinned] the list is of the bin, from which they can only be restored */
export function createSelection(context, changed, areBinned = false) {
    const { say, memoryApi, app } = context;
    const chosen = /** @type {Map<string, ListedMemory>} */ (new Map());
    let isOn = false;
    const count = el('span', { role: 'status' });
    const actions = el('span', { class: 'soulmem_row', hidden: '' }, [
        count,
        ...(areBinned
            ? [button('fa-trash-arrow-up', say('restore'), restore, { id: 'soulmem_select_restore' })]
            : [
                  button('fa-trash-can', say('select_bin'), toBin, { id: 'soulmem_select_bin' }),
                  button('fa-thumbtack', say('select_pin'), pin, { id: 'soulmem_select_pin' }),
                  button('fa-tag', say('select_tag'), tag, { id: 'soulmem_select_tag' }),
              ]),
    ]);
    const toggle = button('fa-list-check', say('select_start'), () => turn(!isOn), {
        id: 'soulmem_select',
        'aria-pressed': 'false',
    });
    const bar = el('div', { class: 'soulmem_row soulmem_select_bar' }, [toggle, actions]);

    /** @param {boolean} on */
    function turn(on) {
        isOn = on;
        toggle.setAttribute('aria-pressed', String(on));
        const label = toggle.querySelector('span');
        if (label) label.textContent = say(on ? 'select_stop' : 'select_start');
        actions.hidden = !on;
        if (!on) void changed();
        tell();
    }

    function tell() {
        count.textContent = say('select_chosen', { n: chosen.size });
    }

    /** A press on a row: it is chosen while choosing is on, else `open` runs.
     * @param {ListedMemory} memory @param {HTMLElement} row @param {() => unknown} open */
    function press(memory, row, open) {
        if (!isOn) return context.attempt(open);
        const isChosen = !chosen.has(memory.id);
        if (isChosen) chosen.set(memory.id, memory);
        else chosen.delete(memory.id);
        row.classList.toggle('soulmem_chosen', isChosen);
        row.querySelector('.soulmem_press')?.setAttribute('aria-pressed', String(isChosen));
        tell();
    }

    /** Runs `change` on each that is chosen, and says how many were changed.
     * @param {ListedMemory[]} memories @param {(memory: ListedMemory) => Promise<unknown>} change */
    const each = (memories, change) =>
        context.attempt(async () => {
            for (const memory of memories) await change(memory);
            context.showStatus(say('select_done', { n: memories.length }));
            await changed();
        });

    function restore() {
        return each([...chosen.values()], ({ id }) => memoryApi.restore(id));
    }

    function toBin() {
        return forgetAll([...chosen.values()]);
    }

    /** Moves those to the bin that are not permanent, if the user agrees; a click takes it back.
     * @param {readonly ListedMemory[]} all */
    async function forgetAll(all) {
        const memories = all.filter(memory => !memory.permanent);
        const n = memories.length;
        if (!n || !(await app.host.confirm(say('select_bin_question', { n })))) return;
        const takeBack = () =>
            context.attempt(async () => {
                for (const { id } of memories) await memoryApi.restore(id);
                await changed();
            });
        await context.attempt(async () => {
            for (const memory of memories) await memoryApi.moveToBin(memory);
            const left = all.length > n ? say('select_left', { n, m: all.length - n }) : say('select_binned', { n });
            app.host.toast('success', `${left} ${say('click_to_undo')}`, { onclick: () => void takeBack() });
            await changed();
        });
    }

    function pin() {
        return patch(() => ({ permanent: true }));
    }

    async function tag() {
        const word = chosen.size
            ? (await app.host.prompt(say('select_tag_question')))?.trim()
            : undefined;
        if (!word) return;
        await patch(({ tags }) => ({ tags: [...new Set([...tags, word])] }));
    }

    /** @param {(memory: ListedMemory) => Record<string, unknown>} changesOf */
    async function patch(changesOf) {
        if (!chosen.size) return;
        await each([...chosen.values()], async ({ id }) => {
            const whole = await memoryApi.read(id);
            await memoryApi.change(whole, changesOf(whole));
        });
    }

    tell();
    return {
        bar,
        press,
        forgetAll,
        /** Nothing is chosen any more: the list is another one. */
        forget() {
            chosen.clear();
            tell();
        },
    };
}
