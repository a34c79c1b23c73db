// The character card of a soul in this SillyTavern, and its portrait.

import { el } from '../base/dom.js';

/** The avatar file of the soul's card; undefined where this SillyTavern has none.
 * @param {import('../app.js').App} app @param {string} soul @returns {string | undefined} */
export function avatarOf(app, soul) {
    const present = app.host.avatars();
    const cards = Object.entries(app.settings().souls);
    return cards.find(([avatar, other]) => other === soul && present.has(avatar))?.[0];
}

/** Address of the portrait of a soul's card; undefined where this SillyTavern has none.
 * @param {import('../app.js').App} app @param {string} soul @returns {string | undefined} */
export function portraitOf(app, soul) {
    const avatar = avatarOf(app, soul);
    return avatar && app.host.portrait(avatar);
}

/** The portrait of a card that goes by one of these names. @param {import('../app.js').App} app
 * @param {readonly string[]} names @returns {string | undefined} */
export function portraitNamed({ host }, names) {
    const avatar = host.avatarNamed(names);
    return avatar && host.portrait(avatar);
}

/** A round picture; hidden without an address. @param {string | undefined} [address] @returns {HTMLImageElement} */
export function portraitImage(address) {
    const image = /** @type {HTMLImageElement} */ (el('img', { class: 'soulmem_portrait', alt: '' }));
    showPortrait(image, address);
    return image;
}

/** @param {HTMLImageElement} image @param {string | undefined} address */
export function showPortrait(image, address) {
    image.hidden = address === undefined;
    if (address !== undefined) image.setAttribute('src', address);
}
