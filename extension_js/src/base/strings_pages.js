// Texts of the pages of the memory window that show a mind at work, in English, by key. i18n/zh-cn.json has the same
// keys.

export const PAGES_EN = {
    page_her: 'Overview',
    page_recall: 'Recall now',
    page_people: 'People',
    page_habits: 'Habits',
    page_graph: 'Graph',
    page_check: 'Check',

    // several memories at once
    select_start: 'Choose several',
    select_stop: 'Done choosing',
    select_chosen: '{n} chosen',
    select_bin: 'To the bin',
    select_pin: 'Keep for ever',
    select_tag: 'Add a tag',
    select_tag_question: 'Which tag?',
    select_bin_question: 'Move {n} {n|memory|memories} to the bin? Each can be restored there.',
    select_done: '{n} {n|memory|memories} changed.',
    select_left: '{n} changed, {m} left: only you can move what is permanent, one by one.',

    // how the character is
    her_empty: 'Nothing is remembered yet.',
    her_empty_hint:
        'Here stands how the character feels, what it holds and what it will lose. Say goodbye to the first scene, or press "Read this chat" in the settings.',
    her_memories: '{n|memory|memories}',
    her_people: '{n|person|people} known',
    her_permanent: 'for ever, never forgotten',
    her_today: 'from today',
    her_habits: '{n|habit|habits}',
    her_feels: 'How it feels now',
    her_last_reply: 'In the last reply',
    her_all_fading: 'All about forgetting',

    // if this were said now
    try_line: 'If you said this now',
    try_placeholder: 'Type a line as you would say it in the chat',
    try_go: 'What would come to mind?',
    try_hint:
        'Nothing is said or changed: this shows what would go into the prompt for that line, and why.',
    try_came: '{n} {n|memory|memories} would come, {tokens} of {budget} tokens.',
    try_silent: 'Nothing would come: the line calls for no memory.',
    try_withheld: '{n} more came to mind and {n|was|were} held back.',
    try_withheld_show: 'Show',
    try_would_bring:
        'A name, a place or a plain question about it would bring it; "talkative" brings more of its kind.',
    try_words: '{n} {n|token|tokens}',
    try_why: 'Why it comes',
    try_path: 'By which way',
    try_open: 'Open this memory',
    try_forever: 'Keep for ever',
    try_forever_done: 'It is in every prompt from now on, as far as the budget allows.',

    // who is known
    people_search: 'Search people',
    people_none:
        'Nobody is known yet. Names come from the chat, the card and the lore by themselves.',
    people_last: 'last met {when}',
    people_episodes: '{n} {n|scene|scenes}',
    people_facts: 'What is known',
    people_no_facts: 'No facts yet. They come from the chat, or write one below.',
    people_also: 'also called {names}',
    people_feels: 'How {who} feels about them: {label}',
    people_scenes: 'Scenes with them',
    people_since: 'since {when}',
    people_until: 'until {when}',
    people_join: 'This is the same as..',
    people_join_question: 'Which other name is the same one? Type the name as it stands in the list.',
    people_join_unknown: 'Nobody in the list is called "{name}".',
    people_joined: '{name} is another name of {who} now.',
    people_fact_new: 'Add a fact',
    people_fact_verb: 'What about {who}? For example: "lives in"',
    people_fact_object: '{who} {verb} .. whom or what?',

    // habits
    habit_hint:
        'What the character does by itself when something happens. Triggers never show in a reply; what they set off does.',
    habit_none:
        'No habits yet. Read them from the card, or make one. A model for memory work finds more in the chat.',
    habit_new: 'New habit',
    habit_when: 'When .. (for example: "somebody praises her")',
    habit_does: '.. the character .. (for example: "denies that she cares")',
    habit_how_often: 'How often',
    habit_missing: 'A habit needs both: when, and what the character does then.',
    habit_sentence: 'When {when}: {action}',
    habit_always_so: '{action} (set off by nothing yet)',
    habit_try_title: 'Try a line',
    habit_try_label: 'A line that somebody says',
    habit_try_go: 'What would it set off?',
    habit_fires: 'Fires:',
    habit_near: 'Known, but silent:',
    habit_silent: 'That line sets off nothing.',
    often_always: 'always',
    often_often: 'often',
    often_sometimes: 'sometimes',

    // what hangs together
    graph_hint:
        'Kinds by shape and colour, strength by width. Press one to see it; start from it to look further.',
    graph_center: 'Around whom',
    graph_all: 'Everything (the strongest)',
    graph_none: 'Nothing is linked yet. Links come from names in the chat.',
    graph_label: 'Graph of {n} {n|memory|memories}',
    graph_as_list: 'The same as a list',
    graph_here: 'Start from here',
    edge_relates: 'is related to',
    edge_mentions: 'names',
    edge_instance_of: 'is a case of',
    edge_next: 'then',
    edge_associates: 'goes with',
    edge_topic_of: 'belongs to',
    edge_triggers: 'sets off',
    edge_fires: 'leads to',
    edge_knows_habit: 'has the habit',

    // would it be known?
    check_hint:
        'Ten questions made of the character\'s own memories: would each be recalled if you asked? It changes nothing.',
    check_start: 'Ask ten questions',
    check_nothing: 'There is not enough to ask about yet. Talk a little first.',
    check_score: '{known} of {n} would be known.',
    check_bar: '{percent} % known, {when}',
    check_known: 'known, in place {n}',
    check_not_known: 'would not come',
    check_why: 'See what would come instead',
};
