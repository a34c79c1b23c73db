// The recall for a line that nobody said in the chat.

import { reasonLanguage } from '../recall/recall_request.js';

/** @typedef {import('./browser_context.js').BrowserContext} BrowserContext */
/** `chat`: id of the chat whose state counts; `type`: "preview" keeps no trace, "quiet" keeps one.
 * @typedef {{query: string, chat: string | null, type: 'preview' | 'quiet', mode?: string,
 *   mood?: {label: string, intensity: number}}} Line */

/** What the shown soul would recall for the line, within the limits of a reply.
 * @param {BrowserContext} context @param {Line} line
 * @returns {Promise<import('../base/types.js').RecallAnswer>} */
export const recallForLine = ({ app, soul }, line) =>
    app.link.ask('POST', '/recall', {
        soul,
        ...line,
        budget_tokens: app.settings().budget,
        max_items: app.settings().max_items,
        language: reasonLanguage(app.host.locale()),
    });
