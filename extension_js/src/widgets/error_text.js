// A failure in words for the user, with what helps.

import { stepText } from '../link/health_checks.js';

/** @typedef {import('../app.js').App} App */
/** @typedef {import('../link/link.js').LinkState} LinkState */
/** @typedef {import('../link/health_checks.js').StepFacts} StepFacts */
/** @typedef {import('../base/strings.js').Say} Say */
/** @typedef {import('../base/strings.js').Key} Key */
/** @typedef {import('../base/strings.js').Phrase} Phrase */
/** @typedef {import('../base/types.js').Job} Job */
/** @typedef {import('../link/api.js').ApiError} ApiError */

/** Why something was not done, in words for the user as they are. */
export class WordedError extends Error {}

/** The error for a job that failed, in words. @param {Job} job @param {Say} say */
export const failedJob = (job, say) =>
    new WordedError(say('trouble_other', { message: jobError(job, say) }));

/** @param {{error: string | null, error_phrase?: Phrase}} job @param {Say} say @returns {string} why it failed */
export const jobError = ({ error, error_phrase: phrase }, say) => say.phrase(error, phrase);

/** The contract's codes that have a text of their own. */
const CODES = [
    'not_found',
    'conflict',
    'confirmation_required',
    'forbidden',
    'unprocessable',
    'too_large',
    'busy',
];

/** @param {unknown} error @param {LinkState} link @param {StepFacts} facts @param {Say} say @returns {string} */
export function errorText(error, link, facts, say) {
    if (error instanceof WordedError) return error.message;
    const { kind, code, phrase, message: text } = /** @type {ApiError} */ (error);
    const message = say.phrase(text, phrase);
    if (kind === 'timeout') return say('trouble_slow');
    if (kind === 'network' || code === 'sidecar_down') {
        const step = link.via ? '' : stepText(link, facts, say);
        return [say('trouble_away'), step].filter(Boolean).join(' ');
    }
    if (CODES.includes(code)) return say(/** @type {Key} */ (`trouble_${code}`), { message });
    return say('trouble_other', { message: message || String(error) });
}

/** What the text of a next step may need. @param {App} app @returns {StepFacts} */
export const stepFacts = app => ({
    folder: `data/…/extensions/${app.host.folder}`,
    origin: app.host.page().origin,
    url: app.settings().url,
    quarantined: app.chatSync.state.quarantine?.count ?? 0,
});

/** @param {App} app @param {unknown} error @param {Say} say @returns {string} for the connection as it is */
export const errorTextOf = (app, error, say) =>
    errorText(error, app.link.state(), stepFacts(app), say);
