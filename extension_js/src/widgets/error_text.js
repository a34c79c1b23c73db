// What does a failure mean to the user, and what helps?

import { stepText } from '../link/health_checks.js';

/** @typedef {import('../app.js').App} App */
/** @typedef {import('../link/link.js').LinkState} LinkState */
/** @typedef {import('../base/strings.js').Say} Say */
/** @typedef {import('../base/strings.js').Key} Key */
/** @typedef {import('../link/api.js').ApiError} ApiError */

const KNOWN = [
    'not_found',
    'conflict',
    'confirmation_required',
    'forbidden',
    'unprocessable',
    'too_large',
    'busy',
];

/** @param {unknown} error @param {LinkState} link @param {Parameters<typeof stepText>[1]} facts @param {Say} say @returns {string} words with the remedy */
export function troubleText(error, link, facts, say) {
    const { kind, code, message } = /** @type {ApiError} */ (error);
    if (kind === 'timeout') return say('trouble_slow');
    if (kind === 'network' || code === 'sidecar_down')
        return [say('trouble_away'), link.via ? '' : stepText(link, facts, say)]
            .filter(Boolean)
            .join(' ');
    if (KNOWN.includes(code)) return say(/** @type {Key} */ (`trouble_${code}`), { message });
    return say('trouble_other', { message: message ?? String(error) });
}

/** What a step's words may need. @param {App} app */
export const facts = app => ({
    folder: `data/…/extensions/${app.host.folder}`,
    origin: app.host.page().origin,
    url: app.settings().url,
    held: app.keeper.state.held?.count ?? 0,
    notes: app.link.state().health?.notes,
});

/** @param {App} app @param {unknown} error @param {Say} say @returns {string} words with the remedy, as things stand */
export const troubleOf = (app, error, say) => troubleText(error, app.link.state(), facts(app), say);
