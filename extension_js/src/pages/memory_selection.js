// Several memories of a list at once: to the bin, kept for ever, or given a tag.

import { button, el } from '../base/dom.js';

/** @typedef {import('./browser_context.js').BrowserContext} BrowserContext */
/** @typedef {import('../base/types.js').ListedMemory} ListedMemory */

/** @param {BrowserContext} context @param {() => unknown} changed called after memories were changed */
export function createSelection(context, changed) {
    const { say, memoryApi, app } = context;
    const chosen = /** @type {Map<string, ListedMemory>} */ (new Map());
    let isOn = false;
    const count = el('span', { role: 'status' });
    const actions = el('span', { class: 'soulmem_row', hidden: '' }, [
        count,
        button('fa-trash-can', say('select_bin'), toBin, { id: 'soulmem_select_bin' }),
        button('fa-thumbtack', say('select_pin'), pin, { id: 'soulmem_select_pin' }),
        button('fa-tag', say('select_tag'), tag, { id: 'soulmem_select_tag' }),
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
            const m = chosen.size - memories.length;
            const text = m
                ? say('select_left', { n: memories.length, m })
                : say('select_done', { n: memories.length });
            context.showStatus(text);
            await changed();
        });

    async function toBin() {
        const memories = [...chosen.values()].filter(memory => !memory.permanent);
        if (!memories.length) return;
        if (!(await app.host.confirm(say('select_bin_question', { n: memories.length })))) return;
        await each(memories, memory => memoryApi.moveToBin(memory));
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
        /** Nothing is chosen any more: the list is another one. */
        forget() {
            chosen.clear();
            tell();
        },
    };
}
