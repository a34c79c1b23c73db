// Files and settings: what stands in the settings drawer, with a door to each part of it.

import { button, el } from '../base/dom.js';

/** @typedef {import('./browser_context.js').BrowserContext} BrowserContext */
/** @typedef {import('../base/strings.js').Key} Key */

/** A part of the drawer: its icon, its id there, its title, what it holds, and what to go there for. */
const DOORS = /** @type {const} */ ([
    ['fa-folder-open', 'soulmem_files', 'files', 'gear_files_hint', 'gear_files'],
    ['fa-id-card', 'soulmem_character', 'this_character', 'gear_character_hint', 'gear_character'],
    ['fa-sliders', 'soulmem_advanced', 'advanced', 'gear_advanced_hint', 'gear_advanced'],
]);

/** @param {BrowserContext} context @param {HTMLElement} page */
export async function settingsPage(context, page) {
    const { say } = context;
    page.append(
        ...DOORS.map(([icon, id, title, hint, open]) =>
            el('div', { class: 'soulmem_card' }, [
                el('h4', { text: say(title) }),
                el('p', { class: 'soulmem_hint', text: say(hint) }),
                button(icon, say(open), () => context.showSettings(id), {
                    data: { door: id },
                }),
            ]),
        ),
    );
}
