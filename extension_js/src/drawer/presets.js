// Presets: settings of the prompt for a small context, a large one, or as few tokens as can be.

import { byId, onPress } from '../base/dom.js';
import { DEFAULTS } from '../base/settings.js';

/** @typedef {import('../app.js').App} App */
/** @typedef {import('../base/strings.js').Say} Say */
/** @typedef {import('../base/settings.js').Settings} Settings */
/** @typedef {Pick<Settings, 'budget' | 'max_items' | 'restraint' | 'quiet' | 'tools' | 'sections_off'>} Preset */

/** Name of a preset to the settings that it changes; the others stay. @type {Record<string, Preset>} */
export const PRESETS = {
    // Of 4,000 to 8,000 tokens memory takes a tenth: the best few scenes
    small: {
        budget: 500,
        max_items: 4,
        restraint: 1.2,
        quiet: false,
        tools: false,
        sections_off: ['summary'],
    },
    standard: {
        budget: DEFAULTS.budget,
        max_items: DEFAULTS.max_items,
        restraint: DEFAULTS.restraint,
        quiet: DEFAULTS.quiet,
        tools: DEFAULTS.tools,
        sections_off: DEFAULTS.sections_off,
    },
    // From 32,000 tokens on there is room for what only may matter
    large: { budget: 3000, max_items: 16, restraint: 0.7, quiet: false, tools: false, sections_off: [] },
    // Each token is paid for: only what a message clearly calls for
    cheap: {
        budget: 300,
        max_items: 3,
        restraint: 1.6,
        quiet: false,
        tools: false,
        sections_off: ['summary', 'self'],
    },
};

/** @param {App} app @param {Say} say @param {() => unknown} drawAll draws the settings as they are now */
export function bindPresets(app, say, drawAll) {
    const select = /** @type {HTMLSelectElement} */ (byId('soulmem_preset'));

    /** @returns {string} the preset that the settings are; empty for none of them */
    function current() {
        const settings = app.settings();
        const isThis = (/** @type {[string, Preset]} */ [, preset]) =>
            Object.entries(preset).every(
                ([key, value]) =>
                    JSON.stringify(settings[/** @type {keyof Settings} */ (key)]) ===
                    JSON.stringify(value),
            );
        return Object.entries(PRESETS).find(isThis)?.[0] ?? '';
    }

    onPress(byId('soulmem_preset_apply'), () => {
        const preset = PRESETS[select.value];
        if (!preset) return;
        Object.assign(app.host.stored(), structuredClone(preset));
        app.host.saveSettings();
        app.chatSync.scheduleSync();
        drawAll();
        const { budget: tokens, max_items: n } = preset;
        app.host.toast('success', say('preset_done', { tokens, n }));
    });
    select.value = current() || select.value;
}
