// What stands above each section of the memories in the prompt, and which sections stay out of it.

import { byId, el } from '../base/dom.js';
import { LONGEST_HEADER, SECTION_NAMES } from '../base/settings.js';

/** @typedef {import('../app.js').App} App */
/** @typedef {import('../base/strings.js').Say} Say */
/** @typedef {import('../base/strings.js').Key} Key */
/** @typedef {'built_in' | 'own' | 'none' | 'off'} Choice */

const ALWAYS = 'permanent'; // what is permanent is always in the prompt

/** @param {App} app @param {Say} say */
export function bindPromptSections(app, say) {
    /** @param {string} name of a section @returns {Choice} */
    function choiceOf(name) {
        const { headers, sections_off: off } = app.settings();
        if (off.includes(name)) return 'off';
        if (headers[name] === undefined) return 'built_in';
        return headers[name] ? 'own' : 'none';
    }

    /** @param {string} name @param {Choice} choice @param {string} text */
    function save(name, choice, text) {
        const { headers, sections_off: off } = app.settings();
        const { [name]: _before, ...others } = headers;
        const header = choice === 'own' ? text.trim() : '';
        const isGiven = choice === 'none' || (choice === 'own' && header);
        Object.assign(app.host.stored(), {
            headers: isGiven ? { ...others, [name]: header } : others,
            sections_off: [
                ...off.filter(other => other !== name),
                ...(choice === 'off' ? [name] : []),
            ],
        });
        app.host.saveSettings();
        app.chatSync.scheduleSync();
    }

    /** @param {string} name of a section */
    function row(name) {
        const id = `soulmem_section_${name}`;
        const choices = /** @type {Choice[]} */ (['built_in', 'own', 'none', 'off']);
        const offered = choices.filter(choice => name !== ALWAYS || choice !== 'off');
        const select = /** @type {HTMLSelectElement} */ (
            el(
                'select',
                { id, class: 'text_pole margin0' },
                offered.map(value =>
                    el('option', { value, text: say(/** @type {Key} */ (`header_${value}`)) }),
                ),
            )
        );
        const label = say(/** @type {Key} */ (`section_${name}`));
        const input = /** @type {HTMLInputElement} */ (
            el('input', {
                id: `${id}_text`,
                class: 'text_pole margin0',
                type: 'text',
                maxlength: LONGEST_HEADER,
                placeholder: say('header_placeholder'),
                'aria-label': label,
            })
        );
        function show() {
            select.value = choiceOf(name);
            input.value = app.settings().headers[name] ?? '';
            input.hidden = select.value !== 'own';
        }
        select.addEventListener('change', () => {
            input.hidden = select.value !== 'own';
            if (select.value !== 'own' || input.value.trim()) {
                save(name, /** @type {Choice} */ (select.value), input.value);
            }
        });
        input.addEventListener('change', () => {
            save(name, 'own', input.value);
            show();
        });
        show();
        return { show, parts: [el('label', { for: id, text: label }), el('div', {}, [select, input])] };
    }

    const rows = SECTION_NAMES.map(row);
    byId('soulmem_sections').replaceChildren(...rows.flatMap(({ parts }) => parts));
    return { draw: () => rows.forEach(({ show }) => show()) };
}
