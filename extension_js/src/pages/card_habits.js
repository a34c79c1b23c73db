// Habits that the character's card states, read without a language model: proposals that the user keeps or drops.

import { watchedJob } from '../link/watched_job.js';
import { createTavernFiles } from '../tavern/tavern_files.js';
import { avatarOf } from '../widgets/soul_avatar.js';

/** @typedef {import('./browser_context.js').BrowserContext} BrowserContext */
/** @typedef {{when: string, does: string, often: 'always' | 'often' | 'sometimes'}} Proposal */

/** The proposals of the card; null where this SillyTavern has no card of the soul. Nothing is stored.
 * @param {BrowserContext} context @returns {Promise<Proposal[] | null>} */
export async function cardHabits({ app, memoryApi, soul }) {
    const avatar = avatarOf(app, soul);
    if (avatar === undefined) return null;
    const text = await createTavernFiles(app.host).card(avatar);
    const body = {
        soul,
        format: 'card',
        name: avatar,
        text,
        persona: app.host.persona(),
        dry_run: true,
    };
    const { job } = await app.link.ask('POST', '/import', body, { timeout: 60_000 });
    const { result, error, state } = await watchedJob(memoryApi, job);
    if (state !== 'done') throw new Error(error ?? state);
    return result.habits ?? [];
}
