// The messages that a memory rests on, with buttons that lead to them.

import { button, el } from '../base/dom.js';

/** @typedef {import('../pages/browser_context.js').BrowserContext} BrowserContext */
/** @typedef {import('../base/types.js').ListedMemory} ListedMemory */
/** @typedef {import('../base/types.js').Source} Source */

const SHOWN = 10;
const QUOTE_CHARACTERS = 160;

/** @param {BrowserContext} context @param {ListedMemory} memory @returns {Promise<HTMLElement>} */
export async function sourcesView(context, memory) {
    const { say, app } = context;
    if (memory.sources.length === 0) {
        return el('p', { class: 'soulmem_hint', text: say(memory.kind === 'concept' ? 'sources_name' : 'sources_none') });
    }
    const titles = new Map((await context.chats()).map(chat => [chat.id, chat.title]));

    /** @param {string} icon @param {string} label @param {() => Promise<void>} jump */
    const jumpButton = (icon, label, jump) =>
        button(icon, label, () => context.attempt(jump), { class: 'soulmem_jump' });

    /** @param {Source} source @param {number} index of its message in the open chat */
    function openChatLine(source, index) {
        const { name = '', mes = '' } = app.host.chat()[index];
        const text = `${name}: ${mes.slice(0, QUOTE_CHARACTERS)}`;
        return [
            el('span', { class: 'soulmem_quote_text', text }),
            jumpButton('fa-comment-dots', say('jump'), () => context.jump(source)),
        ];
    }

    /** @param {Source} source in a chat that is not open, or not stored any more */
    function otherChatLine(source) {
        const title = titles.get(source.chat);
        if (title === undefined) {
            return [el('span', { class: 'soulmem_quote_text', text: say('source_gone') })];
        }
        const text = say('source_elsewhere', { chat: title });
        const canOpen = title !== app.host.chatName() && context.isOpenCharacter();
        const jump = () => context.jump(source, title);
        return [
            el('span', { class: 'soulmem_quote_text', text }),
            canOpen ? jumpButton('fa-folder-open', say('jump_elsewhere'), jump) : null,
        ];
    }

    /** @param {Source} source */
    function line(source) {
        const index = context.indexOf(source);
        return el('li', {}, index >= 0 ? openChatLine(source, index) : otherChatLine(source));
    }

    const more = memory.sources.length - SHOWN;
    return el('div', {}, [
        el('ul', { class: 'soulmem_sources' }, memory.sources.slice(0, SHOWN).map(line)),
        more > 0
            ? el('small', { class: 'soulmem_hint', text: say('sources_more', { n: more }) })
            : null,
    ]);
}
