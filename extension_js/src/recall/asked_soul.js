// Whose memory a command or a tool asks, and in which chat.

/** @typedef {import('../app.js').App} App */

/** The one who speaks next, else the first member; null without a chat.
 * @param {Pick<App, 'host' | 'chatSync'>} app @returns {Promise<{soul: string, chat: string, name: string} | null>} */
export async function askedSoul({ host, chatSync }) {
    const open = await chatSync.identify();
    if (!open) return null;
    const avatar = host.speaker()?.avatar;
    const person = open.people.find(other => other.avatar === avatar) ?? open.people[0];
    return person ? { soul: person.soul, chat: open.record.chat, name: person.name } : null;
}
