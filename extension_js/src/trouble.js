// What does a failure mean to the user, and what helps?

import { stepText } from './checks.js';

/** @typedef {import('./link.js').LinkState} LinkState */
/** @typedef {import('./strings.js').Say} Say */
/** @typedef {import('./strings.js').Key} Key */
/** @typedef {import('./api.js').ApiError} ApiError */

const KNOWN = ['not_found', 'conflict', 'confirmation_required', 'forbidden', 'unprocessable', 'too_large', 'busy'];

/** @param {unknown} error @param {LinkState} link @param {Parameters<typeof stepText>[1]} facts @param {Say} say @returns {string} words with the remedy */
export function troubleText(error, link, facts, say) {
    const { kind, code, message } = /** @type {ApiError} */ (error);
    if (kind === 'timeout') return say('trouble_slow');
    if (kind === 'network' || code === 'sidecar_down') return [say('trouble_away'), link.via ? '' : stepText(link, facts, say)].filter(Boolean).join(' ');
    if (KNOWN.includes(code)) return say(/** @type {Key} */ (`trouble_${code}`), { message });
    return say('trouble_other', { message: message ?? String(error) });
}
