// The recall for a line that nobody said in the chat.

import { reasonLanguage } from '../recall/recall_request.js';
import { cardConfig } from '../tavern/identity.js';
import { avatarOf } from '../widgets/soul_avatar.js';

/** @typedef {import('./browser_context.js').BrowserContext} BrowserContext */
/** `chat`: id of the chat whose state counts; `type`: "preview" keeps no trace, "quiet" keeps one.
 * @typedef {{query: string, chat: string | null, type: 'preview' | 'quiet', mode?: string,
 *   mood?: {label: string, intensity: number}}} Line */

/** What the shown soul would recall for the line, within the limits of a reply. `budget`: of these the tokens.
 * @param {BrowserContext} context @param {Line} line
 * @returns {Promise<import('../base/types.js').RecallAnswer & {budget: number}>} */
export async function recallForLine({ app, soul }, line) {
    const avatar = avatarOf(app, soul);
    const limits = app.recaller.limits(cardConfig(avatar ? await app.host.cardField(avatar) : undefined));
    const language = reasonLanguage(app.host.locale());
    const answer = await app.link.ask('POST', '/recall', { soul, ...line, ...limits, language });
    return { ...answer, budget: limits.budget_tokens };
}
