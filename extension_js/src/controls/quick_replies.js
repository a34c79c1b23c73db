// A set of five quick replies that show what the slash commands can do.

import { byId, onPress } from '../base/dom.js';

/** @typedef {import('../app.js').App} App */
/** @typedef {import('../base/strings.js').Say} Say */
/** @typedef {import('../tavern/host_scripts.js').QuickReply} QuickReply */

const SET = 'SoulMem';

/** A text inside double quotes of a script. @param {string} text */
const quoted = text => text.replace(/["|{}]/g, ' ');

/** @param {Say} say @returns {QuickReply[]} */
export const quickReplies = say => [
    {
        label: say('reply_last'),
        icon: 'fa-bookmark',
        title: say('reply_last_hint'),
        message: '/soulmem-remember message={{lastMessageId}}',
    },
    {
        label: say('reply_note'),
        icon: 'fa-pen',
        title: say('reply_note_hint'),
        message: `/input "${quoted(say('reply_note_question'))}" | /soulmem-remember {{pipe}}`,
    },
    {
        label: say('reply_search'),
        icon: 'fa-magnifying-glass',
        title: say('reply_search_hint'),
        message: `/input "${quoted(say('reply_search_question'))}" | /soulmem-search limit=10 {{pipe}} | /popup`,
    },
    {
        label: say('reply_why'),
        icon: 'fa-lightbulb',
        title: say('reply_why_hint'),
        message: '/soulmem-why | /popup',
    },
    {
        label: say('reply_days'),
        icon: 'fa-book',
        title: say('reply_days_hint'),
        message: '/soulmem-digest period=day limit=3 | /popup',
    },
];

/** The button that adds the set. @param {App} app @param {Say} say */
export function bindQuickReplies(app, say) {
    onPress(byId('soulmem_quick_replies'), async () => {
        const isDone = await app.host.installQuickReplies(SET, quickReplies(say));
        const kind = isDone ? 'success' : 'warning';
        app.host.toast(kind, say(isDone ? 'replies_done' : 'replies_off', { name: SET }));
    });
}
