// What do the pages of the memory window share: whose memories, how a failure is shown, where a message is?

import { button, el } from '../base/dom.js';
import { createMemories } from '../link/memory_api.js';
import { when } from '../widgets/memory_badges.js';
import { slotOf } from '../tavern/slots.js';
import { troubleOf } from '../widgets/error_text.js';

/** @typedef {import('../app.js').App} App */
/** @typedef {import('../base/strings.js').Say} Say */
/** @typedef {import('../base/types.js').ChatHead} ChatHead */
/** @typedef {import('../base/types.js').Source} Source */
/** @typedef {'memories' | 'work' | 'bin' | 'changes' | 'waiting'} Page */

const SAID = 5000; // ms

/** @param {App} app @param {Say} say @param {HTMLElement} content the whole window @param {string} soul @param {() => unknown} close the window */
export function createDesk(app, say, content, soul, close) {
    const memories = createMemories(app.link.ask);
    const notice = el('div', { class: 'soulmem_notice', role: 'alert' });
    const said = el('div', { role: 'status' });
    let heads = /** @type {{soul: string, chats: Promise<ChatHead[]>} | null} */ (null);

    const desk = {
        app,
        say,
        memories,
        notice,
        said,
        soul,
        /** Shows a page, or one memory on it; set by the window. @type {(page: Page, memory?: string) => Promise<void>} */
        show: async () => {},
        /** Draws the whole window anew, when other souls are there than before. @type {() => Promise<void>} */
        again: async () => {},
        /** Whether what is being written may be left; asks the user when it would be lost. @type {() => Promise<boolean>} */
        mayLeave: async () => true,
        /** Ids of permanent memories that the last prompt had no room for. */
        leftOut: () =>
            new Set((app.link.state().health?.core_left_out ?? []).map(one => one.memory)),
        /** How long anything lies in the bin. */
        days: () => app.link.state().health?.bin_days ?? 7,
        /** @type {(waiting: number) => void} */
        counted: () => {},

        /** Does something; a failure is told in words with what helps, and can be tried again.
         * @param {() => Promise<unknown> | unknown} work @returns {Promise<boolean>} whether it went well */
        async attempt(work) {
            notice.replaceChildren();
            content.classList.add('soulmem_working');
            try {
                await work();
                return true;
            } catch (error) {
                notice.replaceChildren(
                    el('i', { class: 'fa-solid fa-triangle-exclamation' }),
                    el('span', { text: troubleOf(app, error, say) }),
                    button('fa-rotate', say('try_again'), () => desk.attempt(work)),
                );
                notice.scrollIntoView({ block: 'nearest' });
                return false;
            } finally {
                content.classList.remove('soulmem_working');
            }
        },

        /** @param {string} iso @returns {string} */
        when: iso => when(iso, app.host.locale()),

        /** What came of it, for a while. @param {string} words @param {boolean} [done] whether anything was done */
        tell(words, done = true) {
            const line = el(
                'span',
                { class: done ? 'soulmem_said' : 'soulmem_said soulmem_not_done' },
                [
                    el('i', { class: `fa-solid ${done ? 'fa-circle-check' : 'fa-circle-info'}` }),
                    words,
                ],
            );
            said.replaceChildren(line);
            setTimeout(() => line.remove(), SAID);
        },

        /** Has the user typed the word? @param {string} word @param {'permanent_question' | 'purge_question' | 'bin_empty_question' | 'soul_question'} question @param {string} yes on the button
         * @returns {Promise<boolean>} */
        async typed(word, question, yes) {
            const answer = await app.host.prompt(say(question, { word }), yes);
            if (answer === null) return false;
            const same = answer.trim().toLowerCase() === word.toLowerCase();
            if (!same) desk.tell(say('word_wrong', { word }), false);
            return same;
        },

        /** Counts what waits for the user's word. */
        async count() {
            const [deletions, chats] = await Promise.all([
                memories.deletions(desk.soul),
                desk.chats(true),
            ]);
            desk.counted(deletions.length + chats.filter(chat => chat.held).length);
        },

        /** The chats that the soul remembers. @param {boolean} [anew] @returns {Promise<ChatHead[]>} */
        chats(anew = false) {
            if (anew || heads?.soul !== desk.soul)
                heads = { soul: desk.soul, chats: memories.chats(desk.soul) };
            heads.chats.catch(() => {
                heads = null;
            });
            return heads.chats;
        },

        /** Where in the open chat a source is; -1 when it is not there. @param {Source} source */
        indexOf: source => app.host.chat().findIndex(message => slotOf(message) === source.slot),

        /** Closes the window and shows the message. @param {Source} source @param {string} [chat] its name, to open it first */
        async jump(source, chat) {
            close();
            closeDrawer();
            if (chat !== undefined && chat !== app.host.chatName()) await app.host.openChat(chat);
            const index = desk.indexOf(source);
            if (index < 0) app.host.toast('info', say('jump_gone'));
            else await app.host.showMessage(index);
        },

        /** Is it one of the characters of the open chat, and no group? Then their other chats can be opened from here. */
        isOpenCharacter: () =>
            !app.host.group() &&
            app.host.members().some(member => app.settings().souls[member.avatar] === desk.soul),
    };
    return desk;
}

/** SillyTavern's settings lie over the chat on a phone. */
function closeDrawer() {
    if (document.getElementById('rm_extensions_block')?.classList.contains('openDrawer')) {
        /** @type {HTMLElement | null} */ (
            document.querySelector('#extensions-settings-button .drawer-toggle')
        )?.click();
    }
}

/** @typedef {ReturnType<typeof createDesk>} Desk */
