// What the pages of the memory window share: whose memories, messages to the user, jumps to the chat.

import { button, el } from '../base/dom.js';
import { createMemoryApi } from '../link/memory_api.js';
import { slotOf } from '../tavern/slots.js';
import { errorTextOf } from '../widgets/error_text.js';
import { localTime } from '../widgets/memory_badges.js';
import { showFarMessage } from './far_message.js';

/** @typedef {import('../app.js').App} App */
/** @typedef {import('../base/strings.js').Say} Say */
/** @typedef {import('../base/types.js').ChatHead} ChatHead */
/** @typedef {import('../base/types.js').Source} Source */
/** @typedef {'her' | 'memories' | 'recall' | 'people' | 'habits' | 'heart' | 'graph' | 'check' | 'fading' | 'work' | 'bin' | 'changes' | 'waiting' | 'settings'} Page */
/** A page, and what it showed beside its list. @typedef {{page: Page, chosen: string | undefined}} Origin */
/** @typedef {'permanent_question' | 'purge_question' | 'bin_empty_question' | 'soul_question'} WordQuestion */

const STATUS_TIME = 5000; // ms that a message stays
const DEFAULT_BIN_DAYS = 7;

/** The lines above the page: a failure with a button that tries again, and a message that goes by itself.
 * @param {App} app @param {Say} say @param {HTMLElement} content the whole window */
function createMessages(app, say, content) {
    const notice = el('div', { class: 'soulmem_notice', role: 'alert' });
    const status = el('div', { role: 'status' });
    let running = 0;

    /** Runs work. A failure is shown and can be tried again.
     * @param {() => Promise<unknown> | unknown} work @returns {Promise<boolean>} whether it succeeded */
    async function attempt(work) {
        notice.replaceChildren();
        running++;
        // An attribute that no rule for descendants names: a class would have all of them styled anew
        content.setAttribute('aria-busy', 'true');
        try {
            await work();
            return true;
        } catch (error) {
            notice.replaceChildren(
                el('i', { class: 'fa-solid fa-triangle-exclamation' }),
                el('span', { text: errorTextOf(app, error, say) }),
                button('fa-rotate', say('try_again'), () => attempt(work)),
            );
            notice.scrollIntoView({ block: 'nearest' });
            return false;
        } finally {
            running--;
            if (running === 0) content.setAttribute('aria-busy', 'false');
        }
    }

    /** Shows a message for a while. @param {string} text @param {boolean} [isDone] whether anything was done */
    function showStatus(text, isDone = true) {
        const icon = isDone ? 'fa-circle-check' : 'fa-circle-info';
        const style = isDone ? 'soulmem_said' : 'soulmem_said soulmem_not_done';
        const line = el('span', { class: style }, [el('i', { class: `fa-solid ${icon}` }), text]);
        status.replaceChildren(line);
        setTimeout(() => line.remove(), STATUS_TIME);
    }

    return { notice, status, attempt, showStatus };
}

/** @param {App} app @param {Say} say @param {HTMLElement} content the whole window
 * @param {string} soul whose memories are shown first @param {() => unknown} close the window */
export function createBrowserContext(app, say, content, soul, close) {
    const memoryApi = createMemoryApi(app.link.ask);
    const messages = createMessages(app, say, content);
    let cachedChats = /** @type {{soul: string, chats: Promise<ChatHead[]>} | null} */ (null);

    const context = {
        ...messages,
        app,
        say,
        memoryApi,
        soul,
        /** The name of the soul; set by the window. @type {() => string} */
        soulName: () => '',
        /** Shows a page, or one memory on it; set by the window. @type {(page: Page, memory?: string) => Promise<void>} */
        show: async () => {},
        /** What the page shows beside its list. */
        chosen: /** @type {string | undefined} */ (undefined),
        /** Draws the whole window anew, after souls came or went; set by the window. @type {() => Promise<void>} */
        redraw: async () => {},
        /** Whether the page may be left; asks the user when unsaved words would be lost. @type {() => Promise<boolean>} */
        mayLeave: async () => true,
        /** Shows how many things wait for the user; set by the window. @type {(count: number) => void} */
        showWaitingCount: () => {},
        /** @returns {Set<string>} ids of permanent memories that the last prompt had no room for */
        leftOut() {
            const { health } = app.link.state();
            return new Set((health?.core_left_out ?? []).map(entry => entry.memory));
        },
        /** @returns {number} days that anything stays in the bin */
        binDays: () => app.link.state().health?.bin_days ?? DEFAULT_BIN_DAYS,

        /** @param {string} iso @returns {string} */
        localTime: iso => localTime(iso, app.host.locale()),

        /** Asks the user to type a word. @param {string} word @param {WordQuestion} question
         * @param {string} yes label of the button @returns {Promise<boolean>} whether it was typed */
        async confirmTyped(word, question, yes) {
            const answer = await app.host.prompt(say(question, { word }), yes);
            if (answer === null) return false;
            const isSame = answer.trim().toLowerCase() === word.toLowerCase();
            if (!isSame) messages.showStatus(say('word_wrong', { word }), false);
            return isSame;
        },

        /** Counts what waits for the user. */
        async countWaiting() {
            const requests = memoryApi.deletionRequests(context.soul);
            const [deletions, chats] = await Promise.all([requests, context.chats(true)]);
            const quarantined = chats.filter(chat => chat.held);
            context.showWaitingCount(deletions.length + quarantined.length);
        },

        /** The chats that the soul remembers. @param {boolean} [anew] do not use the cached list
         * @returns {Promise<ChatHead[]>} */
        chats(anew = false) {
            if (anew || cachedChats?.soul !== context.soul) {
                cachedChats = { soul: context.soul, chats: memoryApi.chats(context.soul) };
            }
            cachedChats.chats.catch(() => {
                cachedChats = null;
            });
            return cachedChats.chats;
        },

        /** @param {Source} source @returns {number} index of its message in the open chat; -1 when it is not there */
        indexOf: source => app.host.chat().findIndex(message => slotOf(message) === source.slot),

        /** Closes the window and shows a message. @param {Source} source
         * @param {string} [chat] name of its chat, which is opened first */
        async jump(source, chat) {
            close();
            closeDrawer();
            if (chat !== undefined && chat !== app.host.chatName()) {
                await app.host.openChat(chat);
                await app.chatSync.identify(); // a chat that was only imported has no slots before
            }
            const index = context.indexOf(source);
            if (index < 0) app.host.toast('info', say('jump_gone'));
            else await showFarMessage(app.host, say, index);
        },

        /** Closes the window and shows a part of the settings drawer. @param {string} id of the element */
        showSettings(id) {
            close();
            openDrawer(id);
        },

        /** Whether the soul is the character of the open chat, which is no group: its other chats can be opened. */
        isOpenCharacter() {
            if (app.host.group()) return false;
            const { souls } = app.settings();
            return app.host.members().some(member => souls[member.avatar] === context.soul);
        },
    };
    return context;
}

/** Closes SillyTavern's settings, which cover the chat on a phone. */
function closeDrawer() {
    const settings = document.getElementById('rm_extensions_block');
    if (!settings?.classList.contains('openDrawer')) return;
    const toggle = document.querySelector('#extensions-settings-button .drawer-toggle');
    /** @type {HTMLElement | null} */ (toggle)?.click();
}

/** Opens SillyTavern's settings at an element of the drawer, with whatever is folded around it.
 * @param {string} id of the element */
function openDrawer(id) {
    const press = (/** @type {string} */ selector) =>
        /** @type {HTMLElement | null} */ (document.querySelector(selector))?.click();
    if (!document.getElementById('rm_extensions_block')?.classList.contains('openDrawer'))
        press('#extensions-settings-button .drawer-toggle');
    if (document.querySelector('#soulmem_drawer .inline-drawer-icon.down'))
        press('#soulmem_drawer .inline-drawer-toggle');
    const element = document.getElementById(id);
    for (let around = element; around; around = around.parentElement)
        if (around.matches('details')) around.setAttribute('open', '');
    element?.scrollIntoView({ block: 'center' });
    const first = /** @type {HTMLElement | null | undefined} */ (element?.querySelector('summary, input, select'));
    (first ?? element)?.focus();
}

/** @typedef {ReturnType<typeof createBrowserContext>} BrowserContext */
