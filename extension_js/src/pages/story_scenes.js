// Scenes of the story: the lines of a scene, as the sidecar tells them apart, are one card, which reads from top to bottom.

import { button, el } from '../base/dom.js';

/** @typedef {import('./browser_context.js').BrowserContext} BrowserContext */
/** @typedef {import('../base/types.js').ListedMemory} ListedMemory */
/** @typedef {{rows: ListedMemory[], cursor: string | null}} Page */

const SPEAKER = /^([^:：\n]{1,40})[:：]\s/;

/** A scene while it is drawn. `id`: of its first line; `from`, `to`: ms.
 * @typedef {{id: string, from: number, to: number, memories: ListedMemory[], who: Set<string>, list: HTMLElement,
 *   head: HTMLElement}} Scene */

/** Pages that end where a scene does. @param {(cursor: string | null) => Promise<Page>} fetch
 * @returns {(cursor: string | null) => Promise<Page>} */
export function wholeScenes(fetch) {
    let begun = /** @type {readonly ListedMemory[]} */ ([]); // lines of the scene that the next page goes on with
    return async cursor => {
        let rows = begun;
        let next = cursor;
        do {
            const page = await fetch(next);
            rows = [...rows, ...page.rows];
            next = page.cursor;
        } while (next !== null && rows.every(({ scene }) => scene && scene === rows[0].scene));
        const last = next !== null && rows.at(-1)?.scene;
        const end = last ? rows.findLastIndex(({ scene }) => scene !== last) + 1 : rows.length;
        begun = rows.slice(end);
        return { rows: rows.slice(0, end), cursor: next };
    };
}

/** Draws the memories of a day one after the other, in either order of time.
 * @param {BrowserContext} context @param {(memory: ListedMemory) => HTMLElement} row
 * @param {(memories: readonly ListedMemory[]) => unknown} forget all lines of a scene
 * @returns {(memory: ListedMemory) => HTMLElement | null} null for a line of the scene before */
export function sceneDrawer({ say, app }, row, forget) {
    let scene = /** @type {Scene | null} */ (null);
    const clock = (/** @type {number} */ time) =>
        new Date(time).toLocaleTimeString(app.host.locale(), { timeStyle: 'short' });

    /** @param {Scene} drawn */
    function showHead({ from, to, who, memories, head }) {
        const [begin, end] = [clock(from), clock(to)];
        const facts = [
            begin === end ? begin : `${begin} – ${end}`,
            [...who].join(', '),
            say('scene_lines', { n: memories.length }),
        ];
        head.textContent = facts.filter(Boolean).join(' · ');
    }

    return memory => {
        const time = Date.parse(memory.happened ?? '');
        if (!memory.scene || Number.isNaN(time)) return row(memory);
        const isNew = memory.scene !== scene?.id;
        if (!scene || isNew) {
            const head = el('small', { class: 'soulmem_scene_head' });
            const list = el('ol', { class: 'soulmem_list' });
            scene = { id: memory.scene, from: time, to: time, memories: [], who: new Set(), list, head };
        }
        // The newest may come first: a scene is read in its own order all the same
        if (time < scene.to) scene.list.prepend(row(memory));
        else scene.list.append(row(memory));
        scene.from = Math.min(scene.from, time);
        scene.to = Math.max(scene.to, time);
        scene.memories.push(memory);
        const speaker = SPEAKER.exec(memory.text)?.[1];
        if (speaker) scene.who.add(speaker);
        showHead(scene);
        if (!isNew) return null;
        const { head, list, memories } = scene;
        const label = { class: 'soulmem_icon_only soulmem_scene_forget', title: say('scene_forget') };
        const away = button('fa-trash-can', say('scene_forget'), () => forget(memories), {
            ...{ ...label, 'aria-label': say('scene_forget') },
        });
        return el('li', { class: 'soulmem_scene' }, [el('div', { class: 'soulmem_scene_bar' }, [head, away]), list]);
    };
}
