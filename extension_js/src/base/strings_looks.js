// Texts of the window's frame, the overview, habits and people, in English, by key. i18n/zh-cn.json has the same keys.

export const LOOKS_EN = {
    state_calls: '{n} {n|call|calls} to a language model this hour',

    // how the character is
    fading_more: 'More about forgetting',
    her_no_reply:
        'No reply yet since this page was loaded. What comes to mind for the next one stands here.',
    her_withheld: '{n} more came to mind and {n|was|were} held back: look',
    her_feels_hint: 'What it felt last colours what comes to mind.',
    her_recalling: 'How much comes up',
    her_recalling_hint:
        'Silent: only what a message clearly calls for. Talkative: small talk brings memories as well.',
    feeling_strong: '{name}, strongly',
    feeling_weak: '{name}, a little',
    feeling_joy: 'joy',
    feeling_sadness: 'sadness',
    feeling_anger: 'anger',
    feeling_fear: 'fear',
    feeling_disgust: 'disgust',
    feeling_surprise: 'surprise',
    feeling_love: 'love',
    feeling_irritation: 'irritation',

    // if this were said now
    try_as: 'Try it as',
    way_now: 'it would be now',
    way_careful: 'after long thought',
    way_irritated: 'in a bad mood',
    try_memory: 'The memory',
    try_held_back: 'Held back',
    try_bring: 'Bring it',
    try_brought: 'It comes more easily from now on. Ask again to see it.',
    clarity_forever: 'for ever',

    // habits
    habit_change: 'Change this habit',
    habit_when_label: 'When ..',
    habit_she: 'it ..',
    habit_or: 'or ..',
    habit_or_add: 'Or something else',
    habit_or_sentence: 'or: {action}',
    habit_self_knowledge:
        'Self-knowledge: asked about it, the character knows what it would do. It is no order.',
    habit_from_card: 'Read them from the card',
    habit_proposals: '{n} {n|habit|habits} from the card. Keep what fits.',
    habit_no_proposals:
        'The card states no further habit. Such sentences are found: "Whenever somebody praises her, she denies it."',
    habit_no_card: 'There is no card of this character here.',
    habit_keep: 'Keep',
    habit_drop: 'Drop',
    habit_intent: 'What the character means to do now',
    habit_intent_label: 'For example: "show that I care"',
    habit_intent_hint:
        'Optional, for this chat. It sets off habits of that name, and stands in the macro {macro}. Left empty, the last inner thought of a reply counts ("Thoughts: ..").',

    // the drawer and the reply
    checks_fold: 'What was checked',
    advanced: 'Advanced',
    advanced_hint: 'all characters, the prompt, the connection',
    card_counts: '{n} {n|memory|memories}, {m} for ever, {k} from today',
    card_counts_none: 'Nothing is remembered yet',
    card_none: 'No chat is open',
    reply_line: 'A line below each reply tells how much was recalled for it',
    reply_told: '{n} {n|memory|memories}',

    // who is known
    people_fact_count: '{n} {n|fact|facts}',
    people_two: 'Two of that name?',
    people_namesake: '"{name}" goes by the same name.',
    people_same: 'One and the same',
    people_split: 'Two of that name',
    people_split_first:
        'Two go by "{name}". What will you call the one shown here? For example: "{name} the smith"',
    people_split_second: 'And the other one, beside "{own}"?',
    people_split_done: '{own} and {other} are two now. Facts of the other can be handed over.',
    people_move: 'Is a fact of {name}',
    people_doubt: 'Is that so?',
    people_true: 'Yes',
    people_false: 'No',

    // would it be known?
    check_meant: 'This one is meant',
};
