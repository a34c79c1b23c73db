// The character card of a soul in this SillyTavern.

/** The avatar file of the soul's card; undefined where this SillyTavern has none.
 * @param {import('../app.js').App} app @param {string} soul @returns {string | undefined} */
export function avatarOf(app, soul) {
    const present = app.host.avatars();
    const cards = Object.entries(app.settings().souls);
    return cards.find(([avatar, other]) => other === soul && present.has(avatar))?.[0];
}
