// Which chat and which soul is this? Names, files and cards are renamed, copied and shared; our ids have to follow or part.

import { isId } from '../base/ids.js';

/** @typedef {import('../base/types.js').ChatRecord} ChatRecord */

/** What is known about the open chat.
 * @typedef {object} ChatFacts
 * @property {string} name file name without ending, or the group chat's id
 * @property {string} owner soul of the character, or `group:<id>`
 * @property {string | null} mainChat SillyTavern's note of the chat this one was branched from
 * @property {boolean} renamed CHAT_RENAMED said that this chat had the recorded name before
 * @property {boolean} parentExists does a chat with the recorded name still exist? (asked only when it matters)
 * @property {string | null} lastSlot the last message that carries a slot
 * @property {string[]} souls of the characters in the chat now
 * @property {() => string} mint
 */

/** Does the answer hang on whether the recorded chat still exists?
 * @param {Partial<ChatRecord> | undefined} record @param {Pick<ChatFacts, 'name' | 'mainChat' | 'renamed'>} facts @returns {boolean} */
export const asksForParent = (record, facts) =>
    isId(record?.chat) &&
    record?.name !== facts.name &&
    !facts.renamed &&
    facts.mainChat !== record?.name;

/** The record a chat should carry, and what was found.
 *
 * SillyTavern copies metadata into branches and checkpoints, so a record minted under another name means a fork, unless
 * the chat was renamed. A copy that shares no message is a new chat.
 * @param {Partial<ChatRecord> | undefined} record @param {ChatFacts} facts
 * @returns {{record: ChatRecord, found: 'same' | 'renamed' | 'fork' | 'new'}} */
export function chatIdentity(record, facts) {
    const fresh = {
        chat: '',
        name: facts.name,
        owner: facts.owner,
        souls: facts.souls,
        cast: facts.souls,
    };
    if (!record || !isId(record.chat))
        return { record: { ...fresh, chat: facts.mint() }, found: 'new' };
    const people = peopleOf(record, facts.souls);
    if (record.name === facts.name && record.owner === facts.owner) {
        return { record: { .../** @type {ChatRecord} */ (record), ...people }, found: 'same' };
    }
    const moved =
        record.name !== facts.name &&
        (facts.renamed || (facts.mainChat !== record.name && !facts.parentExists));
    if (moved && record.owner === facts.owner) {
        return {
            record: { .../** @type {ChatRecord} */ (record), ...people, name: facts.name },
            found: 'renamed',
        };
    }
    if (!facts.lastSlot) return { record: { ...fresh, chat: facts.mint() }, found: 'new' };
    const parent = { chat: record.chat, fork_slot: facts.lastSlot };
    return {
        record: {
            ...fresh,
            ...people,
            chat: facts.mint(),
            parent,
            ...(record.off && { off: true }),
        },
        found: 'fork',
    };
}

/** Everybody who was ever in the chat, and its founding cast: later members must not know what came before them.
 * @param {Partial<ChatRecord>} record @param {readonly string[]} souls @returns {{souls: string[], cast: string[]}} */
function peopleOf(record, souls) {
    const cast = record.cast?.length ? record.cast : [...souls];
    return { souls: [...new Set([...(record.souls ?? []), ...souls])], cast };
}

/** Our field of a character card.
 * @typedef {{soul?: string, avatar?: string, config?: CardConfig}} CardField */
/** The card's own settings; what is undefined follows the general setting.
 * @typedef {{enabled?: boolean, forgetting?: number, scope?: 'character' | 'chat'}} CardConfig */

/** The soul of a character.
 *
 * The card travels: duplicated and re-imported cards carry the original's soul and must get their own; a replaced card lost
 * it and gets it back from `registry` (avatar file to soul), which stays in this SillyTavern.
 * @param {CardField | undefined} field @param {string} avatar
 * @param {Readonly<Record<string, string>>} registry @param {ReadonlySet<string>} avatars all that exist
 * @param {() => string} mint
 * @returns {{soul: string, write: boolean}} `write`: the card does not say so yet */
export function soulIdentity(field, avatar, registry, avatars, mint) {
    const told = isId(field?.soul) ? field.soul : null;
    const registered = isId(registry[avatar]) ? registry[avatar] : null;
    if (told === null) return { soul: registered ?? mint(), write: true };
    if (told === registered) return { soul: told, write: field?.avatar !== avatar };
    const elsewhere = Object.entries(registry).some(
        ([other, soul]) => soul === told && other !== avatar && avatars.has(other),
    );
    const original = field?.avatar;
    const copied =
        elsewhere || (original !== undefined && original !== avatar && avatars.has(original));
    if (copied) return { soul: registered ?? mint(), write: true };
    return { soul: told, write: field?.avatar !== avatar };
}

/** Who is in the scene of a group now. Muted members are out of it, except one who speaks anyway; when all are muted the
 * user picks speakers by hand, and everybody is there.
 * @param {readonly {avatar: string, soul: string}[]} members @param {ReadonlySet<string>} muted avatars
 * @param {string | null} speaker avatar of who speaks @returns {string[]} souls */
export function scene(members, muted, speaker) {
    const there = members.filter(member => !muted.has(member.avatar) || member.avatar === speaker);
    const silent = there.every(member => member.avatar === speaker && muted.has(member.avatar));
    return (silent ? members : there).map(member => member.soul);
}

/** What to record as `present`: nothing when it is just the founding cast.
 * @param {readonly string[]} there @param {readonly string[]} cast @returns {string[] | undefined} */
export const presenceToRecord = (there, cast) =>
    there.length === cast.length && there.every(soul => cast.includes(soul))
        ? undefined
        : [...there];
