// Texts of the deep search in English, by key. i18n/zh-cn.json has the same keys.

export const DEEP_EN = {
    deep_button: 'Think longer',
    deep_hint:
        'Searches question by question, for a minute at most, with the model for memory work if there is one. It changes no memory and no reply.',
    deep_question: 'What to think about',
    thought_plan: 'Made a plan for what is missing',
    thought_explore: 'Searched: {ask} ({n} new)',
    thought_reflect: 'Weighed what was found: {n} useful',
    thought_back: 'A dead end. Back to: {ask}',
    deep_result: 'Memories: {n}. Calls to the model: {calls}.',
    ended_enough: 'That is enough.',
    ended_exhausted: 'There is nothing more to ask.',
    ended_calls: 'The limit of questions is reached.',
    ended_time: 'The minute is over.',
    deep_failure: 'The model could not be asked, so only memory was searched: {reason}',
    deep_stopped: 'Stopped.',
    deep_command_help:
        'Searches the memory of the character of this chat question by question, for a minute at most, and returns the texts. Changes nothing.',
    deep_command_argument: 'what to think about; empty for the last message',
    deep_going: 'Thinking about it. This takes a minute at most.',
};
