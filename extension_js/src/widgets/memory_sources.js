// Which messages does a memory rest on, and how does the user get there?

import { button, el } from '../base/dom.js';

/** @typedef {import('../pages/browser_context.js').Desk} Desk */
/** @typedef {import('../base/types.js').Listed} Listed */
/** @typedef {import('../base/types.js').Source} Source */

const SHOWN = 10;
const QUOTED = 160; // characters

/** @param {Desk} desk @param {Listed} memory @returns {Promise<HTMLElement>} */
export async function sourcesView(desk, memory) {
    const { say, app } = desk;
    if (memory.sources.length === 0)
        return el('p', { class: 'soulmem_hint', text: say('sources_none') });
    const titles = new Map((await desk.chats()).map(chat => [chat.id, chat.title]));

    /** @param {Source} source */
    function line(source) {
        const index = desk.indexOf(source);
        if (index >= 0) {
            const message = app.host.chat()[index];
            return [
                el('span', {
                    class: 'soulmem_quote_text',
                    text: `${message.name ?? ''}: ${(message.mes ?? '').slice(0, QUOTED)}`,
                }),
                button(
                    'fa-comment-dots',
                    say('jump'),
                    () => desk.attempt(() => desk.jump(source)),
                    { class: 'soulmem_jump' },
                ),
            ];
        }
        const title = titles.get(source.chat);
        return [
            el('span', {
                class: 'soulmem_quote_text',
                text:
                    title === undefined
                        ? say('source_gone')
                        : say('source_elsewhere', { chat: title }),
            }),
            title !== undefined && title !== app.host.chatName() && desk.isOpenCharacter()
                ? button(
                      'fa-folder-open',
                      say('jump_elsewhere'),
                      () => desk.attempt(() => desk.jump(source, title)),
                      { class: 'soulmem_jump' },
                  )
                : null,
        ];
    }

    const more = memory.sources.length - SHOWN;
    return el('div', {}, [
        el(
            'ul',
            { class: 'soulmem_sources' },
            memory.sources.slice(0, SHOWN).map(source => el('li', {}, line(source))),
        ),
        more > 0
            ? el('small', { class: 'soulmem_hint', text: say('sources_more', { n: more }) })
            : null,
    ]);
}
