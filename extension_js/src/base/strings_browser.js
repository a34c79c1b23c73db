// What does the user read where memories are seen and governed? English by key; i18n/zh-cn.json has the same keys.

export const BROWSER_EN = {
    // the window and its pages
    browse: 'See and edit memories',
    browse_title: 'Memories',
    browse_who: 'Whose memories',
    browse_nobody:
        'Nobody has memories yet. Open a chat with a character and talk; what is said is remembered by itself.',
    page_memories: 'Memories',
    page_bin: 'Bin',
    page_changes: 'Changes',
    page_waiting: 'Waiting for you',
    try_again: 'Try again',
    more: 'Show more',
    back: 'Back',
    unsaved_question: 'What you wrote is not saved. Leave it?',
    doubt_off: 'It is right after all',
    hint_doubt:
        'You called this wrong: it is not recalled until its text changes or you say that it is right.',

    // the list
    search: 'Search',
    filter_kind: 'All kinds',
    filter_all: 'All',
    filter_permanent: 'Permanent only',
    filter_stale: 'Being reworked',
    none_found: 'Nothing like that is remembered. Fewer words, or another kind, may find more.',
    none_yet:
        'Nothing is remembered yet. It comes by itself as you chat; an old chat is taken in with "Read this chat".',
    note_new: 'Add a note',
    note_question: 'What should the character always be able to recall?',
    item_locked: 'locked',
    item_stale: 'being reworked',
    kind_trigger: 'trigger',

    // one memory
    text: 'Text',
    save: 'Save',
    saved: 'Saved.',
    permanent_on: 'Make permanent',
    permanent_off: 'No longer permanent',
    lock_on: 'Lock',
    lock_off: 'Unlock',
    timelines_this: 'Known in its timeline only',
    timelines_all: 'Make known in all timelines',
    to_bin: 'To the bin',
    binned: 'Moved to the bin. It can be restored there for {days} days.',
    hint_derived:
        'Read from the chat, and follows it. Once you change, lock or pin it, it is yours and no longer follows the chat.',
    hint_yours: 'Yours: nothing that is said in a chat changes it.',
    hint_protected:
        'Protected: only your own hand changes or deletes it. Permanent ones are in every prompt, as far as the budget allows.',
    permanent_word: 'permanent',
    permanent_question:
        'This memory is permanent. Type "{word}" to move it to the bin all the same.',
    word_wrong: 'Left as it is: the word was not "{word}".',
    fact_importance: 'importance {n} %',
    fact_strength: 'strength {n} %',
    fact_uses: 'recalled {n} {n|time|times}, last {when}',
    fact_never_used: 'not recalled yet',
    fact_created: 'noted {when}',
    origin_chat: 'from the chat',
    origin_model: 'drafted by a language model from the chat',
    origin_card: 'from the card',
    origin_user: 'yours',
    sources: 'Where it comes from',
    sources_none: 'It rests on no message: it was made by hand, or from the card or a world.',
    sources_more: 'and {n} more',
    source_elsewhere: 'In the chat "{chat}"',
    source_gone: 'In a chat that is not remembered any more',
    jump: 'Show in the chat',
    jump_elsewhere: 'Open that chat',
    jump_gone: 'That message is not in this chat any more.',
    history: 'What was done to it',
    history_none: 'Nobody has changed it.',

    // the audit in words
    by_user: 'You',
    by_lead: 'The playing model',
    by_archivist: 'The archivist',
    by_engine: 'SoulMem',
    by_import: 'An import',
    did_create: 'made it',
    did_change: 'changed it',
    did_link: 'changed {n} {n|link|links}',
    did_bin: 'moved it to the bin',
    did_restore: 'restored it',
    did_purge: 'deleted it for good',
    did_read: 'searched the memories',
    did_learn: 'learned from a recall ({n} {n|link|links})',
    did_feedback: 'judged a recall',
    did_ask: 'asks to delete it',
    did_reject: 'refused its deletion',
    did_undo: 'took a change back',
    field_permanent: 'permanent',
    field_locked: 'locked',
    field_timelines: 'known in',
    field_importance: 'importance',
    field_tags: 'tags',
    field_state: 'state',
    value_true: 'yes',
    value_false: 'no',
    value_this: 'its timeline',
    value_all: 'all timelines',
    value_active: 'remembered',
    value_bin: 'in the bin',
    value_retracted: 'gone with its messages',
    value_stale: 'being reworked',
    value_forgotten: 'forgotten',
    reason: 'Reason: {reason}',
    undo: 'Undo',
    undo_question: 'Take this change back? What you changed yourself since then stays.',
    undo_job: 'Undo the whole run',
    undo_job_question:
        'Take back everything this run did? What you changed yourself since then stays.',
    undo_since: 'Undo automatic changes',
    undo_since_question:
        'Take back the {n} automatic {n|change|changes} since {when}? What you changed yourself stays, and what was read from chats follows the chats.',
    entry_undone: 'taken back',
    undone: '{n} {n|change|changes} taken back.',
    undone_but: '{n} {n|change|changes} taken back; {kept} left as you set them since.',
    undo_nothing: 'There is no automatic change to take back.',
    reuse: 'Use the earlier wording',
    show_memory: 'Show memory',
    changes_automatic: 'Automatic changes',
    changes_all: 'All changes',
    changes_none: 'Nothing was changed yet.',
    changes_none_automatic: 'Nothing was changed automatically yet.',
    changes_hint: 'What was read from chats is not listed: it follows the messages.',
    span_hour: 'of the last hour',
    span_day: 'of the last 24 hours',
    span_week: 'of the last 7 days',
    span_moment: 'since a moment',
    since_unreadable: 'Choose a day and a time first.',

    // the bin
    bin_hint:
        'What lies here is not recalled. After {days} days it is deleted for good; until then it can be restored.',
    bin_empty: 'The bin is empty.',
    bin_empty_hint: 'What a chat or the card still tells stays here, as it would come back.',
    bin_empty_now: 'Empty the bin',
    bin_empty_question:
        'This deletes all that lies in the bin at once, with its words and its history, and nothing brings it back. Type "{word}" to do it.',
    bin_emptying: 'Emptying the bin: {done} of {total}.',
    bin_emptied: 'The bin was emptied; deleted for good: {n}.',
    binned_by: '{who}, {when}',
    restore: 'Restore',
    purge: 'Delete for good',
    purge_word: 'for good',
    purge_question:
        'This deletes the memory at once, with its words and its history, and nothing brings it back. Type "{word}" to do it.',
    purged: 'Deleted for good.',
    purge_told:
        'A chat or the card still tells it, so it would come back: it stays in the bin, where it is not recalled. Delete or edit the message first.',
    restored: 'Restored: it is remembered again.',
    soul_hint:
        'Forget everything {name} remembers, of all chats. The chats themselves and the card stay.',
    soul_forget: 'Forget {name} altogether',
    soul_question:
        'This moves everything the character remembers to the bin, what is permanent too, and it remembers nothing new. Type "{word}" to do it.',
    soul_forgotten:
        '{name} is forgotten and remembers nothing from now on. For {days} days that can be taken back in the bin.',
    soul_bin: 'Forgotten characters',
    soul_restored: '{name} remembers again, everything from before too.',
    soul_is_gone:
        'This character was forgotten altogether; its memories lie in the bin. Tick "Remembers" to bring them back.',

    // what waits for the user's word
    waiting_none: 'Nothing waits for your word.',
    waiting_button: 'Waiting for you: {n}',
    waiting_toast:
        'Requests to delete a memory: {n}. Click here to decide; without your word nothing goes.',
    request_title: '{who} asks to delete this',
    request_confirm: 'Delete it',
    request_reject: 'Keep it',
    request_kept: 'It is kept.',
    held_in: '{count} {count|message|messages} vanished at once from "{chat}"',
    held_elsewhere: 'They are not recalled, and not removed. Open that chat to decide.',
    held_review: 'See them',
    held_remedy:
        'If they should stay, bring the chat back from a backup (Chat > Manage chat files, or the folder "backups"): then they are recalled again by themselves.',

    // the user's word about what was recalled
    verdict_stronger: 'More of this',
    verdict_help_stronger: 'It will come to mind more easily.',
    verdict_not_now: 'Not now',
    verdict_help_not_now: 'The way that led here is weaker now; the memory itself stays.',
    verdict_never_here: 'Not in this chat',
    verdict_help_never_here: 'It will not be recalled in this chat again.',
    verdict_wrong: 'Wrong',
    verdict_help_wrong:
        'It is marked as wrong and will hardly be recalled. To put it right, show it and edit its text.',

    // a chat is forgotten
    forget_chat: 'Forget this chat',
    forget_question:
        'Forget what was told only in this chat, and remember nothing more of it? The messages themselves stay. The memories go to the bin, and come back with "Remember it again".',
    forget_done: 'Forgotten. This chat is not remembered from now on.',
    remember_chat: 'Remember it again',
    remember_done: 'This chat is remembered again.',
    read_only: 'Read-only: recall, but remember nothing new',

    // when something fails
    trouble_slow: 'SoulMem did not answer in time. Nothing is lost; try again in a moment.',
    trouble_away: 'SoulMem cannot be reached, so nothing was changed.',
    trouble_not_found: 'That is gone meanwhile. Go back and look again. ({message})',
    trouble_conflict:
        'It was changed elsewhere meanwhile. You see the new state now: check it, then do it again. ({message})',
    trouble_confirmation_required:
        'That needs your explicit word, which did not arrive. Try again. ({message})',
    trouble_forbidden: 'It is protected: take off "permanent" and the lock first. ({message})',
    trouble_unprocessable: 'SoulMem cannot do that. ({message})',
    trouble_too_large: 'That is too much at once: shorten the text. ({message})',
    trouble_busy: 'SoulMem cannot write now, so nothing was changed. ({message})',
    trouble_other: 'That did not work: {message}',
};
