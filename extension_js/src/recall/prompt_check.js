// Whether the memories that were injected are in the prompt that is sent.

/** @typedef {import('../base/types.js').Position} Position */

/** @param {() => Position} position where the user wants memories */
export function createPromptCheck(position) {
    let expected = ''; // the last line that was injected; empty when none is to be looked for
    let missing = false;

    return {
        /** @returns {boolean} whether the last prompt lacked what was injected into it */
        isMissing: () => missing,
        /** @param {string} text that was injected; empty when nothing was */
        expect(text) {
            expected = text.split('\n').at(-1)?.trim() ?? '';
        },
        /** @param {string} prompt @param {() => void} placedNowhere called when a macro was to place them and did not
         * @returns {boolean} false when there was nothing to look for */
        check(prompt, placedNowhere) {
            if (!expected) return false;
            const isLost = !prompt.includes(expected);
            if (position() !== 'macro') missing = isLost;
            else if (isLost) placedNowhere();
            expected = '';
            return true;
        },
    };
}
