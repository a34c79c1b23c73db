// What does the user read where the work at rest is seen? English by key; i18n/zh-cn.json has the same keys.

export const WORK_EN = {
    page_work: 'Learning',

    // the model
    model_none: 'No model for memory work',
    model_off:
        'None is needed: scenes, names, dates and links are remembered without one. With a model SoulMem also writes summaries, facts and habits in quiet moments. To use the connection you chat with: in SoulMem\'s config.toml, under [llm], set model = "client", and start SoulMem again.',
    model_profile: 'Model for memory work: connection profile "{name}"',
    model_down: 'It could not be had when it was last asked: {reason}',
    test_model: 'Test the model',
    test_going: 'The model is asked to sum up two lines…',
    test_ok: 'It answers well, in {seconds} s:',
    test_unreadable:
        'It answers, in {seconds} s, but not so that it can be used: {reason} A larger model, or one that follows instructions, will do better.',
    test_failed: 'It gives no answer: {reason} Check the connection, then test again.',
    test_broke: 'The test was broken off. {reason}',

    // the price
    due: 'To go over, in calls to the model: {n}. {time}',
    due_none: 'Nothing is due: everything that has left the prompt has been gone over.',
    spent: 'Calls so far: {calls} ({failed} of no use). Tokens: {tokens}. Memories written: {memories}.',
    spent_hour: 'Calls in the last hour: {calls}. In quiet moments there are {most} at most.',
    parked: 'One stretch waits: {reason} Tried {n} {n|time|times}; again {when} at the latest',
    run_now: 'Go over it now',
    run_question: 'Have the model go over the chats now?',
    run_go: 'Go over it',
    price_calls: 'Calls to the model: {n}',
    price_unknown: 'How long that takes is not known yet: the first calls will tell.',
    price_tokens: 'About {n} {n|token|tokens}, going by the calls so far',
    price_safe:
        'It gives way while a reply is written, and can be stopped at any time. What it learned stays, and can be taken back as a whole.',

    // jobs
    jobs_title: 'Work',
    job_consolidate: 'Going over the chats',
    job_import: 'Import',
    job_forget: 'Letting fade',
    job_purge: 'Emptying the bin',
    job_digest: 'Digest',
    job_topics: 'Sorting by topics',
    job_replay: 'Replay',
    job_reembed: 'Reading with another model',
    job_backup: 'Backup',
    job_quiz: 'Quiz',
    job_deep: 'Deep search',
    stand_queued: 'Waits for its turn',
    stand_running: 'Under way',
    stand_calls: '{done} of {total} {total|call|calls} answered',
    stand_done: 'Done',
    stand_cancelled: 'Stopped. What it did so far stays.',
    stand_failed: 'Broke off: {reason}',
    learned_result: 'Done: calls {calls}, memories {memories}.',
    learned_parked: 'Put off for later: {n}.',

    // what was learned
    learned_title: 'What was learned',
    learned_hint:
        'Written by the model, from your chats alone. Keep it, or take a run back; what you change yourself stays.',
    learned_none:
        'Nothing yet. In quiet moments the model goes over what has left the prompt, and here you see what it makes of it.',
    learned_none_new: 'Nothing new: you have kept everything.',
    learned_keep: 'Keep all ({n})',
    learned_kept: 'Kept.',
    learned_more: 'Show {n} more',
    learned_earlier: 'Kept earlier: {n} {n|run|runs}',
};
