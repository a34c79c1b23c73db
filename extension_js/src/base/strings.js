// All texts for the user in English, by key. i18n/zh-cn.json has the same keys.

import { BROWSER_EN } from './strings_browser.js';
import { CONTROLS_EN } from './strings_controls.js';
import { DEEP_EN } from './strings_deep.js';
import { STORY_EN } from './strings_story.js';
import { LOOKS_EN } from './strings_looks.js';
import { PAGES_EN } from './strings_pages.js';
import { TOOLS_EN } from './strings_tools.js';
import { WORK_EN } from './strings_work.js';

export const EN = {
    ...BROWSER_EN,
    ...CONTROLS_EN,
    ...DEEP_EN,
    ...STORY_EN,
    ...LOOKS_EN,
    ...PAGES_EN,
    ...TOOLS_EN,
    ...WORK_EN,

    // health, in the dot's tooltip and the drawer's first line
    state_ok: 'Memory is ready',
    state_starting: 'Memory is starting',
    state_degraded: 'Memory needs attention',
    state_down: 'Not connected to SoulMem. Chats work as usual',
    state_off: 'Memory is switched off',
    recalled_last: '{n} recalled for the last reply ({tokens} tokens, {ms} ms)',
    recalled_last_silent: 'The last message called for no memory ({n} withheld, {ms} ms)',

    // next steps: exactly what to do
    url_refused:
        '"{url}" is no address. An address looks like http://127.0.0.1:8731. {kept} stays.',
    step_plugin_disabled:
        'This page cannot reach SoulMem, and the server plugin is not installed. On the machine that runs SillyTavern: 1. set "enableServerPlugins: true" in config.yaml; 2. in SillyTavern\'s folder run "node plugins.js install" with SoulMem\'s git address (or copy the SoulMem folder into "plugins"); 3. restart SillyTavern.',
    step_log_in:
        'SillyTavern refused the request: you are logged out, or the page is too old. Reload this page and log in again.',
    step_sidecar_down:
        'Nothing answers at {url}. Start SoulMem on the machine that runs SillyTavern: in the folder {folder}, double-click Start.bat (Windows) or run "python3 start.py". This page connects within seconds.',
    step_sidecar_starting:
        'SoulMem is loading its model. Until then memories are found by words only. There is nothing to do.',
    step_sidecar_slow:
        'SoulMem answers too slowly, so replies are sent without memories. If this stays, close it and start it again (Start.bat or "python3 start.py"). On a slow machine, raise "Longest wait" below.',
    step_sidecar_old:
        'The running SoulMem ({version}) is older than this extension. Close it, update its folder ("git pull" there), and start it again.',
    step_sidecar_new:
        'The running SoulMem ({version}) is newer than this extension. Update the extension: Extensions > Manage extensions > SoulMem > update, then reload this page.',
    step_origin_refused:
        'SoulMem runs, but refuses this page. Add "{origin}" to "origins" under [server] in SoulMem\'s config.toml and restart it, or use the server plugin.',
    step_token_wrong:
        'SoulMem runs, but the token is wrong. Paste the text of the file "token" in SoulMem\'s data folder into "Token" below. (With the plugin: set SOULMEM_DATA or SOULMEM_TOKEN for SillyTavern.)',
    step_blocked_by_browser:
        'The browser cannot reach {url} from this page: that address is the device you are holding, or the page may not use the local network. Choose "Server plugin" below and install the plugin, or allow local network access for this site.',
    step_fallback_model:
        'The model for recall is still being downloaded. Until then a smaller built-in model is used.',
    step_degraded: 'SoulMem reports a problem: {notes}',
    step_held_removal:
        '{count} {count|message|messages} of this chat vanished at once. Their memories are hidden but not deleted. Confirm below if you deleted them on purpose; otherwise restore the chat from a backup.',
    step_vectors_on:
        'Vector Storage also recalls chat messages. Switch off its "Enabled for chat messages", or the same scene is in the prompt twice.',
    step_not_in_prompt:
        'Memories were recalled but did not reach the final prompt. Usually the Main Prompt was removed from the prompt manager: set "Position" below to "In the chat".',
    step_store_read_only:
        'SoulMem cannot write its data: characters recall but remember nothing new, and memories cannot be changed. {detail}',
    step_read_only:
        'Read-only: characters recall, but nothing new is remembered. Untick "Read-only" to end this. What was said meanwhile is read then.',
    step_chat_off:
        'This chat was forgotten and is not remembered. "Remember it again" restores it.',
    step_connecting: 'Looking for SoulMem on this computer.',
    step_turned_off: 'Switched off. Tick "Remember and recall" to switch memory on.',

    // checklist
    check_on: 'Switched on',
    check_way: 'Connection to SoulMem',
    check_way_plugin: 'Connection: server plugin',
    check_way_direct: 'Connection: {url}',
    check_version: 'SoulMem {version}',
    check_store: 'Memory store',
    check_model: 'Model for recall: {model}',
    check_model_loading: 'The model for recall is loading',
    check_read_only: 'Read-only',
    check_chat_off: 'This chat is not remembered',
    check_llm: 'Model for memory work: {model}',
    check_hour: 'This model in the last hour: {n} {n|call|calls}, {tokens} tokens',
    check_left_out:
        '{n} permanent {n|memory|memories} did not fit into the last prompt. Raise the token budget. "See and edit memories" shows which ones.',
    check_llm_own: "Model for memory work: SillyTavern's connection",
    check_chat: 'This chat is up to date',
    check_chat_none: 'No chat open',
    check_chat_reading: 'Reading this chat: {done} of {total}',
    check_searchable: 'Found only by words so far, not yet by meaning: {n} {n|memory|memories}',
    check_error: 'Last problem: {error}',
    look_again: 'Check again',

    // drawer
    enable: 'Remember and recall',
    this_chat: 'This chat',
    read_chat: 'Read this chat',
    read_resume: 'Go on reading',
    read_cancel: 'Stop',
    reading: 'Read {done} of {total} messages',
    reading_index: 'Making {n} {n|message|messages} searchable',
    read_done: 'Read: {n} {n|message|messages}',
    read_stopped:
        'Stopped at {done} of {total}. What was read stays. New messages are still remembered.',
    read_failed: 'Reading stopped: {error}',
    no_chat: 'Open a chat first.',
    held_title: '{count} {count|message|messages} vanished at once',
    held_confirm: 'Yes, forget them',
    held_question:
        'Really forget the {count} {count|message|messages} that vanished from this chat, and what was remembered only from them?',
    held_done: '{count} {count|message|messages} forgotten.',
    this_character: 'This character',
    card_enabled: 'Remembers',
    card_forgetting: 'Forgetting',
    card_restraint: 'Recalling',
    restraint_hint:
        'Silent: only what a message clearly calls for is recalled. Talkative: the token budget is always filled.',
    card_general: 'as for all characters',
    card_scope: 'Memories are used in',
    scope_character: 'all chats of the character',
    scope_chat: 'only the chat they come from',
    dial_elephant: 'elephant',
    dial_human: 'human',
    dial_goldfish: 'goldfish',
    dial_silent: 'silent',
    dial_natural: 'natural',
    dial_talkative: 'talkative',
    card_hint: 'Saved in the character card. Memories themselves are not.',
    prompt: 'In the prompt',
    budget: 'Token budget (at most 12 % of the context)',
    budget_hint: 'At most this many tokens, and never more than 12 % of the context.',
    max_items: 'Memories (max)',
    position: 'Position',
    position_auto: 'Automatic',
    position_in_chat: 'In the chat, at depth',
    position_in_prompt: 'After the main prompt',
    position_before_prompt: 'Before the main prompt',
    position_macro: 'Nowhere: I place the macro {{soulmem}}',
    depth: 'Depth',
    quiet: 'Also for background prompts (/gen, Summarize, image prompts)',
    all_characters: 'All characters',
    connection: 'Connection',
    way: 'Route',
    way_auto: 'Automatic',
    way_plugin: 'Server plugin',
    way_direct: 'Direct address',
    url: 'Address',
    token: 'Token',
    token_hint:
        'Only needed when SoulMem accepts connections from other machines. Kept in this browser.',
    llm_profile: 'Model for memory work',
    llm_profile_current: 'the current connection',
    llm_profile_hint: 'The connection profile for background work. A small, fast model is enough.',
    time_budget: 'Longest wait (ms)',
    time_budget_hint: 'A reply never waits longer than this for memories.',

    // what was recalled
    recalled_button: 'What was recalled for this message',
    recalled_title: 'What {name} recalled',
    recalled_summary:
        '{sent} of {all} memories in the prompt, {tokens} of {budget} tokens, {ms} ms',
    recalled_past: '{sent} of {all} memories in the prompt, {tokens} tokens, {ms} ms',
    recalled_nowhere:
        '{all} {all|memory|memories} recalled, but not in the prompt: the position is "Nowhere", and the prompt does not have the macro {macro}.',
    recalled_none: 'Nothing was recalled for this message.',
    recalled_silent:
        'The last messages called for no memory, so none went into the prompt. {n} came to mind and {n|was|were} withheld.',
    recalled_withheld: '{n} more came to mind and {n|was|were} withheld.',
    withheld_hint:
        'They fit into the prompt, but the last messages do not clearly call for them. "Recalling" in the settings of the character changes how many come.',
    search_title: 'How it was searched',
    search_step: '{name}: {verdict} ({ms} ms)',
    search_enough: 'enough',
    search_not_enough: 'not enough',
    grade_baseline: 'Words and meaning',
    grade_expand: 'What earlier recalls have learned',
    grade_walk: 'Links between memories',
    grade_spread: 'Words that occur together',
    grade_steady: 'Links, until they settle',
    grade_none: 'No search',
    recalled_gone:
        'The details are not available: SoulMem is not running, or it has deleted this trace.',
    recalled_failed: 'No memories for the last reply: {error}',
    recalled_close: 'Close',
    item_sent: 'in the prompt',
    item_trimmed: 'did not fit',
    item_nowhere: 'not placed',
    item_doubt: 'in doubt',
    item_retold: 'told {n} {n|time|times}',
    item_left_out: 'no room in the last prompt',
    item_tokens: '{n} {n|token|tokens}',
    age_now: 'just now',
    age_turns: '{n} {n|turn|turns} ago',
    item_permanent: 'permanent',
    item_path: 'How it was recalled',
    kind_episode: 'scene',
    kind_abstract_episode: 'pattern',
    kind_concept: 'concept',
    kind_fact: 'fact',
    kind_action: 'habit',
    kind_summary: 'summary',
    kind_digest: 'digest',
    kind_note: 'note',

    // importing everything of a character
    import_all: 'Import everything of this character',
    import_resume: 'Go on importing',
    import_question: 'Import everything of {name} into memory?',
    import_quote_chats: 'Past chats: {chats}, with {messages} messages, {added} of them new',
    import_quote_lore: 'Card and linked worlds ({worlds}): new memories {memories}, names {names}',
    import_under_a_minute: 'This takes less than a minute.',
    import_minutes: 'This takes about {n} minutes on this computer. You can go on chatting.',
    import_quote_safe:
        'It can be stopped at any time and continued later. What you changed yourself stays.',
    import_left_out: 'Left out, because it cannot be read or messages are missing: {names}',
    import_go: 'Import',
    import_not_now: 'Not now',
    import_look: '{file} of {files}: {name}',
    import_step: '{file} of {files}: {name}, {done} of {total}',
    import_done:
        'Imported for {name}: messages {messages}, memories of card and worlds {memories}.',
    import_stopped: 'Stopped. What is imported stays. Press the button to continue.',
    import_failed: 'The import failed: {error}',

    // macro and command
    macro_help:
        'What the character recalls for this reply (SoulMem), all of it or one section. Set the position to "Nowhere" if you use this macro.',
    command_help:
        'Recalls from the memory of the character of this chat and returns the texts. Changes nothing.',
    command_argument: 'what to recall; empty for the last messages',

    // a chat was deleted
    chat_deleted:
        'Deleted: {names}. Memories from there are kept. Click here to forget them as well.',
    character_deleted:
        '{name} was deleted. The memories of {name} are kept. Click here to forget them as well.',
    character_forget_question: 'Forget everything that {name} remembers? It goes to the bin.',
    character_forgotten: 'Forgotten: what {name} remembered. It is in the bin.',
    chat_forget_question: 'Forget everything that was said only in {names}? It goes to the bin.',
    chat_forgotten: 'Forgotten: what was said only in {names}.',
};

/** @typedef {keyof typeof EN} Key */

/** The key of a text in SillyTavern's locale table. @param {string} key */
export const localeKey = key => `soulmem.${key}`;

/** @typedef {Record<string, string | number>} Values */

/** A text with its places filled: `{name}` by a value, `{n|turn|turns}` by the word for one or for many.
 * @param {string} text @param {Values} values @returns {string} unknown places stay */
function filled(text, values) {
    const worded = text.replace(/\{(\w+)\|([^{}|]*)\|([^{}|]*)\}/g, (_, name, single, many) =>
        String(values[name]) === '1' ? single : many,
    );
    return worded.replace(/\{(\w+)\}/g, (place, name) =>
        name in values ? String(values[name]) : place,
    );
}

/** @param {(english: string, key: string) => string} translate
 * @returns {(key: Key, values?: Values) => string} a text in the user's language with its places filled */
export function createSay(translate) {
    return (key, values = {}) => filled(translate(EN[key], localeKey(key)), values);
}

/** @typedef {ReturnType<typeof createSay>} Say */
