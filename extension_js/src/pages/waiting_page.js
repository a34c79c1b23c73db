// What waits for the user's word: deletions that a language model asked for, and messages that vanished all at once?

import { button, el } from '../base/dom.js';
import { vanishedView } from './quarantine_notice.js';

/** @typedef {import('./browser_context.js').Desk} Desk */
/** @typedef {import('../base/types.js').Deletion} Deletion */
/** @typedef {import('../base/types.js').ChatHead} ChatHead */
/** @typedef {import('../base/strings.js').Key} Key */

/** @param {Desk} desk @param {HTMLElement} page */
export async function waitingPage(desk, page) {
    const { say, memories, app } = desk;

    async function draw() {
        const [deletions, chats] = await Promise.all([
            memories.deletions(desk.soul),
            desk.chats(true),
        ]);
        const held = chats.filter(chat => chat.held);
        desk.counted(deletions.length + held.length);
        page.replaceChildren(
            ...(deletions.length + held.length
                ? [
                      el('ol', { class: 'soulmem_list' }, [
                          ...deletions.map(request),
                          ...held.map(loss),
                      ]),
                  ]
                : [el('p', { class: 'soulmem_hint', text: say('waiting_none') })]),
        );
    }

    /** @param {Deletion} asked */
    function request(asked) {
        /** @param {'confirm' | 'reject'} decision @param {Key} words */
        const decide = (decision, words) =>
            desk.attempt(async () => {
                await memories.decide(asked.request, decision);
                desk.tell(say(words, { days: desk.days() }));
                await draw();
            });
        return el(
            'li',
            { class: 'soulmem_entry soulmem_request', data: { request: asked.request } },
            [
                el('div', { class: 'soulmem_recalled_head' }, [
                    el('b', {
                        text: say('request_title', {
                            who: say(/** @type {Key} */ (`by_${asked.actor}`)),
                        }),
                    }),
                    el('small', { class: 'soulmem_recalled_facts', text: desk.when(asked.at) }),
                ]),
                el('div', { class: 'soulmem_item_text', text: asked.quote }),
                asked.reason
                    ? el('div', {
                          class: 'soulmem_hint',
                          text: say('reason', { reason: asked.reason }),
                      })
                    : null,
                el('div', { class: 'soulmem_row' }, [
                    button(
                        'fa-trash-can',
                        say('request_confirm'),
                        () => decide('confirm', 'binned'),
                        { class: 'soulmem_confirm' },
                    ),
                    button(
                        'fa-shield',
                        say('request_reject'),
                        () => decide('reject', 'request_kept'),
                        { class: 'soulmem_reject' },
                    ),
                ]),
            ],
        );
    }

    /** @param {ChatHead} chat */
    function loss(chat) {
        const open = app.keeper.state.chat === chat.id;
        const elsewhere = desk.isOpenCharacter()
            ? button('fa-folder-open', say('jump_elsewhere'), () =>
                  desk.attempt(() => app.host.openChat(chat.title)),
              )
            : null;
        return el('li', { class: 'soulmem_entry', data: { chat: chat.id } }, [
            el('b', { text: say('held_in', { count: chat.held?.count ?? 0, chat: chat.title }) }),
            open ? null : el('div', { class: 'soulmem_hint', text: say('held_elsewhere') }),
            open
                ? vanishedView(app, say, chat.held?.count ?? 0, () => desk.attempt(draw))
                : el('div', { class: 'soulmem_row' }, [elsewhere]),
        ]);
    }

    await draw();
}
