// The settings in the card of the shown character, changed from a page of the window.

/** @typedef {import('./browser_context.js').BrowserContext} BrowserContext */
/** @typedef {import('../tavern/identity.js').CardConfig} CardConfig */

/** The character's settings; `isOpen`: the character is in the open chat, else nothing can be changed here.
 * @param {BrowserContext} context */
export async function cardSettings(context) {
    const { app, say } = context;
    const people = await app.people.inChat();
    const person = people.find(other => other.soul === context.soul);
    const config = /** @type {CardConfig} */ (person?.config ?? {});

    /** Saves settings in the card, and sends them to the sidecar.
     * @param {CardConfig} changes @param {() => unknown} [after] */
    async function save(changes, after = () => {}) {
        if (!person) return;
        Object.assign(config, changes);
        await context.attempt(async () => {
            await app.people.configure(person, config);
            await app.people.push(await app.people.inChat());
            app.notify();
            context.showStatus(say('saved'));
            await after();
        });
    }

    return { isOpen: person !== undefined, config, save };
}
