// Texts of the page of background work in English, by key. i18n/zh-cn.json has the same keys.

export const WORK_EN = {
    page_work: 'Learning',

    // the model
    model_none: 'No model for memory work',
    model_off:
        'A model is not needed: scenes, names, dates and links are remembered without one. With a model, SoulMem also writes summaries, facts and habits in quiet moments. Choose one under "Model for memory work" below.',
    model_profile: 'Model for memory work: connection profile "{name}"',
    model_down: 'The model could not be reached at the last call: {reason}',
    test_model: 'Test the model',
    test_going: 'The model is asked to sum up two lines…',
    test_ok: 'The model answers well, in {seconds} s:',
    test_ok_of:
        'The model can do the work: {right} of {asked} questions about a small text right, in {seconds} s. Its summary of it:',
    test_weak:
        'The model answers in {seconds} s, but got only {right} of {asked} questions about a small text right. Only what it copies from the chat is trusted; what it words freely waits for you. A larger model works better.',
    test_unreadable:
        'The model answers in {seconds} s, but the answer cannot be used: {reason} A larger model, or one that follows instructions, works better.',
    test_failed: 'The model gives no answer: {reason} Check the connection, then test again.',
    test_broke: 'The test did not finish. {reason}',

    // the price
    due: 'Waiting calls to the model: {n}. {time}',
    due_none: 'Nothing is due: everything that has left the prompt has been processed.',
    spent: 'Calls so far: {calls} ({failed} without use). Tokens: {tokens}. Memories written: {memories}.',
    spent_hour: 'Calls in the last hour: {calls}. At most {most} an hour in quiet moments.',
    parked: 'One part waits: {reason} Tried {n} {n|time|times}; next try {when} at the latest',
    run_now: 'Process the chats now',
    run_question: 'Let the model process the chats now?',
    run_go: 'Process them',
    price_calls: 'Calls to the model: {n}',
    price_unknown: 'How long this takes is not known yet. The first calls will show it.',
    price_tokens: 'About {n} {n|token|tokens}, judging by the calls so far',
    price_safe:
        'It pauses while a reply is written and can be stopped at any time. What it learned stays, and can be undone as a whole.',

    // jobs
    jobs_title: 'Work',
    job_consolidate: 'Processing the chats',
    job_import: 'Import',
    job_forget: 'Fading',
    job_purge: 'Emptying the bin',
    job_digest: 'Digest',
    job_topics: 'Sorting by topics',
    job_replay: 'Replay',
    job_reembed: 'Encoding with another model',
    job_backup: 'Backup',
    job_quiz: 'Quiz',
    job_deep: 'Deep search',
    stand_queued: 'Waiting',
    stand_running: 'Running',
    stand_calls: '{done} of {total} {total|call|calls} answered',
    stand_done: 'Done',
    stand_cancelled: 'Stopped. What it did so far stays.',
    stand_failed: 'Failed: {reason}',
    learned_result: 'Done: calls {calls}, memories {memories}.',
    learned_parked: 'Deferred: {n}.',

    // what was learned
    learned_title: 'What was learned',
    learned_hint:
        'Written by the model from your chats only. Keep it, or undo a run. Your own changes stay.',
    learned_none:
        'Nothing yet. In quiet moments the model processes what has left the prompt. The results are shown here.',
    learned_none_new: 'Nothing new: you have kept everything.',
    learned_keep: 'Keep all ({n})',
    learned_kept: 'Kept.',
    learned_more: 'Show {n} more',
    learned_earlier: 'Kept earlier: {n} {n|run|runs}',
};
