// The macro {{soulmem}}: what the character recalls for the coming reply, as a whole or one section of it.

/** @typedef {import('../app.js').App} App */
/** @typedef {import('../base/strings.js').Say} Say */

/** Sections as a preset names them, with the sections of the prompt that they show. */
const SECTIONS = /** @type {Record<string, string[]>} */ ({
    permanent: ['permanent'],
    summary: ['summary'],
    episodes: ['episodes'],
    facts: ['facts'],
    habits: ['self', 'impulses'],
});
const INTENT = 'intent'; // what the user wrote that the character means to do
const COUNT = 'count'; // of the memories in the prompt

/** @param {App} app @param {Say} say */
export function registerMacros({ host, recaller }, say) {
    /** @param {string} section @returns {string} empty for an unknown one */
    function textOf(section) {
        const name = section.trim().toLowerCase();
        if (!name) return recaller.text();
        if (name === INTENT) return host.resolved(host.record()?.intent ?? '');
        if (name === COUNT) return String(recaller.last()?.sent.length ?? 0);
        if (!Object.hasOwn(SECTIONS, name)) return '';
        const texts = recaller.texts();
        const shown = SECTIONS[name].map(part => texts[part]);
        return shown.filter(Boolean).join('\n');
    }
    host.registerMacro({
        name: 'soulmem',
        help: say('macro_help'),
        argumentHelp: say('macro_argument'),
        sections: [...Object.keys(SECTIONS), COUNT, INTENT],
        text: textOf,
    });
}
