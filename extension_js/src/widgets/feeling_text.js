// A feeling in words of the user's language.

/** @typedef {import('../base/strings.js').Say} Say */
/** @typedef {import('../base/strings.js').Key} Key */

/** The feelings that the sidecar reads from texts; a model may name others. */
const NAMED = ['joy', 'sadness', 'anger', 'fear', 'disgust', 'surprise', 'love', 'irritation'];
const STRONG = 60; // intensity in percent
const WEAK = 35;

/** @param {{label: string, intensity: number}} feeling @param {Say} say @returns {string} */
export function feelingText({ label, intensity }, say) {
    const name = NAMED.includes(label) ? say(/** @type {Key} */ (`feeling_${label}`)) : label;
    const percent = Math.round(100 * intensity); // of a mean of many, as each of them is told
    if (percent >= STRONG) return say('feeling_strong', { name });
    return percent < WEAK ? say('feeling_weak', { name }) : name;
}
