// The name of a file that is saved for the user.

const NOT_ALLOWED = /[\\/:*?"<>|]/g; // characters that some system has in no file name

/** @param {string} name of a character @param {string} ending without the dot @returns {string} */
export const fileNameOf = (name, ending) => `SoulMem - ${name.replace(NOT_ALLOWED, '_')}.${ending}`;
