// The extension's texts in English, as a page shows them that SillyTavern does not translate.

import { readFileSync } from 'node:fs';
import { createSay } from '../../extension_js/src/base/strings.js';

/** By their keys in the locale files. */
export const ENGLISH = /** @type {Record<string, string>} */ (
    JSON.parse(readFileSync(new URL('../../extension_js/i18n/en.json', import.meta.url), 'utf8'))
);

export const say = createSay(ENGLISH, english => english);
