// Whether the memories that were injected are in the prompt that is sent.

/** @typedef {import('../base/types.js').Position} Position */

/** Texts of the sections that were injected, by section. @typedef {Record<string, string>} Texts */

/** @param {string} text @returns {string} */
const lastLine = text => text.split('\n').at(-1)?.trim() ?? '';

/** @param {() => Position} position where the user wants memories */
export function createPromptCheck(position) {
    let expected = /** @type {[string, string][]} */ ([]); // sections with the last line of each
    let missing = false;
    let isNowhere = false; // what macros were to place is nowhere in the last prompt

    return {
        /** @returns {boolean} whether the last prompt lacked what was injected into it */
        isMissing: () => missing,
        /** @returns {boolean} whether no macro placed anything of what was recalled for the last prompt */
        isNowhere: () => isNowhere && position() === 'macro',
        /** @param {Texts} texts that were injected */
        expect(texts) {
            const lines = Object.entries(texts).map(([section, text]) => [section, lastLine(text)]);
            expected = /** @type {[string, string][]} */ (lines.filter(([, line]) => line));
        },
        /** @param {string} prompt @param {(sections: string[]) => void} notPlaced called with what macros were to
         * place and did not
         * @returns {boolean} false when there was nothing to look for */
        check(prompt, notPlaced) {
            if (expected.length === 0) return false;
            const lost = expected.filter(([, line]) => !prompt.includes(line));
            const isByMacro = position() === 'macro';
            missing = !isByMacro && lost.length > 0;
            isNowhere = isByMacro && lost.length === expected.length;
            if (isByMacro && lost.length > 0) notPlaced(lost.map(([section]) => section));
            expected = [];
            return true;
        },
    };
}
