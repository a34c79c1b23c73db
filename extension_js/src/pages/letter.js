// "Tell me what you remember of me": a letter made of a soul's memories, without a language model.

import { button, el } from '../base/dom.js';
import { fileNameOf } from '../base/file_name.js';
import { dearest } from '../widgets/faded_text.js';
import { feelingText } from '../widgets/feeling_text.js';

/** @typedef {import('./browser_context.js').BrowserContext} BrowserContext */
/** @typedef {import('../base/strings.js').Say} Say */
/** @typedef {import('../base/strings.js').Key} Key */
/** @typedef {import('../base/types.js').KnownThing} KnownThing */
/** What a letter is made of. `since`: day of the first memory; `own`: what the soul promised; `dear`: what weighs most;
 * `fading`: what is about to go, as it reads now.
 * @typedef {{who: string, you: string, since: string, memories: number, known: readonly KnownThing[],
 *   own: readonly KnownThing[], dear: readonly string[], fading: readonly string[],
 *   felt: {label: string, intensity: number} | null}} LetterParts */

const KNOWN = 100; // things that are asked for
const OF_A_KIND = 6; // quotes of one kind in a letter, the latest
const DEAR = 4;
const FADING = 2;
const AHEAD = 500; // turns
const KINDS = /** @type {const} */ (['fact', 'like', 'date', 'gift', 'secret', 'promise']);

/** The day of the first memory in the user's words; empty where that cannot be told. @param {BrowserContext} context */
export async function firstDay({ memoryApi, soul, app }) {
    const lies = await memoryApi.density(soul, { texts: true }, 'month').catch(() => null);
    return lies?.from ? dayOf(lies.from, app.host.locale()) : '';
}

const isChinese = (/** @type {string} */ locale) => /^zh/.test(locale);

/** @param {readonly string[]} parts of a sentence @param {string} locale */
const withCommas = (parts, locale) => parts.join(isChinese(locale) ? '，' : ', ');

/** @param {readonly string[]} clauses @param {string} locale */
export const sentenceOf = (clauses, locale) =>
    withCommas(clauses, locale) + (isChinese(locale) ? '。' : '.');

/** @param {string} iso @param {string} locale */
const dayOf = (iso, locale) =>
    new Date(iso).toLocaleDateString(locale, { day: 'numeric', month: 'long', year: 'numeric' });

/** A memory as the letter quotes it: without marks of gestures, without the name of who writes, and with one pair of
 * quotation marks. @param {string} text @param {readonly string[]} speakers who writes, and to whom */
export function quoted(text, [who, you]) {
    const speaker = [who, you].find(name => name && text.startsWith(`${name}: `)) ?? '';
    const said = text.slice(speaker ? speaker.length + 2 : 0).replaceAll('*', '').replace(/\s+/g, ' ').trim();
    const marked = /["“”「」]/.test(said) ? said : `“${said}”`;
    return speaker && speaker !== who ? `${speaker}: ${marked}` : marked;
}

/** The letter, a paragraph a line; lines of quotes belong to the paragraph above.
 * @param {LetterParts} parts @param {Say} say @param {string} locale @returns {string[]} */
export function letterLines(parts, say, locale) {
    const { who, you, since, memories, known, own, dear, fading, felt } = parts;
    const quote = (/** @type {string} */ text) => quoted(text, [who, you]);
    /** @param {KnownThing} thing */
    function told({ quote: text, said_at: saidAt, location }) {
        const day = dayOf(saidAt, locale);
        const where = withCommas(location ? [day, location] : [day], locale);
        return isChinese(locale) ? `${quote(text)}（${where}）` : `${quote(text)} (${where})`;
    }
    const ofKind = (/** @type {string} */ kind) =>
        known.filter(thing => thing.kind === kind && !thing.until).slice(0, OF_A_KIND);
    const promised = own.filter(({ until }) => !until).slice(0, OF_A_KIND);
    const sections = KINDS.map(kind => ({ head: say(`letter_${kind}`), lines: ofKind(kind).map(told) }));
    sections.push(
        { head: say('letter_own'), lines: promised.map(told) },
        { head: say('letter_dear'), lines: dear.map(quote) },
        { head: say('letter_fading'), lines: fading.map(quote) },
    );
    return [
        say('letter_to', { you }),
        say(since ? 'letter_since' : 'letter_memories', { since, n: memories }),
        ...sections.flatMap(({ head, lines }) => (lines.length ? [head, ...lines] : [])),
        felt ? say('letter_felt', { label: feelingText(felt, say) }) : '',
        say('letter_end'),
        who,
    ].filter(Boolean);
}

/** @param {BrowserContext} context @param {Pick<LetterParts, 'memories' | 'felt'>} overview */
async function partsOf(context, { memories, felt }) {
    const { memoryApi, soul, app } = context;
    const [who, you] = [context.soulName(), app.host.persona()];
    const [known, own, dear, fading, since] = await Promise.all([
        memoryApi.known(soul, { about: you }, KNOWN, null),
        memoryApi.known(soul, { about: who, kind: 'promise' }, KNOWN, null),
        memoryApi.list(soul, { texts: true, sort: 'importance', state: 'active' }, null, DEAR),
        memoryApi.fading(soul, { turns: AHEAD }, null),
        firstDay(context),
    ]);
    return {
        ...{ who, you, since, memories, felt },
        known: known.known,
        own: own.known,
        dear: dear.memories.map(({ text, reads_now: reads }) => reads ?? text),
        fading: dearest(fading.memories)
            .slice(0, FADING)
            .map(({ text }) => text),
    };
}

/** Shows the letter, to be read, copied or saved. @param {BrowserContext} context
 * @param {Pick<LetterParts, 'memories' | 'felt'>} overview */
export async function showLetter(context, overview) {
    const { say, app } = context;
    const parts = await partsOf(context, overview);
    const lines = letterLines(parts, say, app.host.locale());
    const text = lines.join('\n\n');
    const copy = async () => {
        await navigator.clipboard.writeText(text);
        app.host.toast('success', say('letter_copied'));
    };
    const save = () => app.host.download(fileNameOf(parts.who, 'txt'), new Blob([text]));
    const failed = () => app.host.toast('warning', say('letter_not_copied'));
    const view = el('div', { id: 'soulmem_letter_page', class: 'soulmem_letter' }, [
        ...lines.map(line => el('p', { text: line })),
        el('div', { class: 'soulmem_row' }, [
            button('fa-copy', say('letter_copy'), () => copy().catch(failed), { id: 'soulmem_letter_copy' }),
            button('fa-download', say('letter_save'), save, { id: 'soulmem_letter_save' }),
        ]),
    ]);
    app.host.popup(view, say('recalled_close'));
}
