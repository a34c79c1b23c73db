// Buttons beside memories that lead to their message in SillyTavern.

import { el, onPress } from '../base/dom.js';

/** @typedef {import('./browser_context.js').BrowserContext} BrowserContext */
/** @typedef {import('../base/types.js').ListedMemory} ListedMemory */
/** @typedef {import('../base/types.js').Source} Source */

/** @param {BrowserContext} context */
export function createStoryJumps(context) {
    const { say, app } = context;

    /** @param {Source} source */
    async function jump(source) {
        if (context.indexOf(source) >= 0) return context.jump(source);
        const chats = await context.chats();
        const title = chats.find(({ id }) => id === source.chat)?.title;
        if (title === undefined || !context.isOpenCharacter()) {
            context.showStatus(say('jump_gone'), false);
            return;
        }
        await context.jump(source, title);
    }

    return {
        /** @param {ListedMemory} memory @returns {HTMLElement | null} nothing where no message can be shown */
        button({ sources }) {
            const [source] = sources;
            if (!source) return null;
            const isHere = source.chat === app.chatSync.state.chat;
            if (!isHere && !context.isOpenCharacter()) return null;
            const label = say(isHere ? 'jump' : 'jump_elsewhere');
            const icon = isHere ? 'fa-comment-dots' : 'fa-folder-open';
            const about = { class: 'soulmem_icon_button soulmem_row_jump', role: 'button', tabindex: '0' };
            const link = el('div', { ...about, title: label, 'aria-label': label }, [
                el('i', { class: `fa-solid ${icon}` }),
            ]);
            onPress(link, () => context.attempt(() => jump(source)));
            return link;
        },
    };
}
