// The state of the open chat before anything is known about it.

/** @typedef {import('../base/types.js').ChatState} ChatState */

/** Everything that belongs to one chat; `syncing` goes on when another chat is opened. */
export const NO_CHAT = { chat: null, quarantine: null, reading: null, paused: false, error: null };

/** @returns {ChatState} */
export const createChatState = () => ({ ...NO_CHAT, syncing: false });
