// The page of decisions: deletions that a language model asks for, and messages that vanished at once.

import { button, el } from '../base/dom.js';
import { quarantineView } from './quarantine_notice.js';

/** @typedef {import('./browser_context.js').BrowserContext} BrowserContext */
/** @typedef {import('../base/types.js').DeletionRequest} DeletionRequest */
/** @typedef {import('../base/types.js').ChatHead} ChatHead */
/** @typedef {import('../base/strings.js').Key} Key */

/** @param {BrowserContext} context @param {HTMLElement} page */
export async function waitingPage(context, page) {
    const { say, memoryApi } = context;

    async function draw() {
        const requests = memoryApi.deletionRequests(context.soul);
        const [deletions, chats] = await Promise.all([requests, context.chats(true)]);
        const quarantined = chats.filter(chat => chat.held);
        context.showWaitingCount(deletions.length + quarantined.length);
        const items = [
            ...deletions.map(request => requestItem(context, request, draw)),
            ...quarantined.map(chat => quarantineItem(context, chat, draw)),
        ];
        const nothing = () => el('p', { class: 'soulmem_hint', text: say('waiting_none') });
        page.replaceChildren(items.length ? el('ol', { class: 'soulmem_list' }, items) : nothing());
    }

    await draw();
}

/** @param {BrowserContext} context @param {DeletionRequest} request @param {() => Promise<void>} decided */
function requestItem(context, request, decided) {
    const { say, memoryApi } = context;
    /** @param {'confirm' | 'reject'} decision @param {Key} text of the result */
    const decide = (decision, text) =>
        context.attempt(async () => {
            await memoryApi.decide(request.request, decision);
            context.showStatus(say(text, { days: context.binDays() }));
            await decided();
        });
    const who = say(/** @type {Key} */ (`by_${request.actor}`));
    const { reason } = request;
    const data = { request: request.request };
    return el('li', { class: 'soulmem_entry soulmem_request', data }, [
        el('div', { class: 'soulmem_recalled_head' }, [
            el('b', { text: say('request_title', { who }) }),
            el('small', { class: 'soulmem_recalled_facts', text: context.localTime(request.at) }),
        ]),
        el('div', { class: 'soulmem_item_text', text: request.quote }),
        reason ? el('div', { class: 'soulmem_hint', text: say('reason', { reason }) }) : null,
        el('div', { class: 'soulmem_row' }, [
            button('fa-trash-can', say('request_confirm'), () => decide('confirm', 'binned'), {
                class: 'soulmem_confirm',
            }),
            button('fa-shield', say('request_reject'), () => decide('reject', 'request_kept'), {
                class: 'soulmem_reject',
            }),
        ]),
    ]);
}

/** @param {BrowserContext} context @param {ChatHead} chat @param {() => Promise<void>} decided */
function quarantineItem(context, chat, decided) {
    const { say, app } = context;
    const count = chat.held?.count ?? 0;
    const title = el('b', { text: say('held_in', { count, chat: chat.title }) });
    const data = { chat: chat.id };
    if (app.chatSync.state.chat === chat.id) {
        const view = quarantineView(app, say, count, () => context.attempt(decided));
        return el('li', { class: 'soulmem_entry', data }, [title, view]);
    }
    const open = () => context.attempt(() => app.host.openChat(chat.title));
    const actions = context.isOpenCharacter()
        ? [button('fa-folder-open', say('jump_elsewhere'), open)]
        : [];
    return el('li', { class: 'soulmem_entry', data }, [
        title,
        el('div', { class: 'soulmem_hint', text: say('held_elsewhere') }),
        el('div', { class: 'soulmem_row' }, actions),
    ]);
}
