// Ids of chats and souls when names, files and cards are renamed, copied or shared; who is in a scene.

import { isId } from '../base/ids.js';

/** @typedef {import('../base/types.js').ChatRecord} ChatRecord */

/** What decides the identity of the open chat.
 * @typedef {object} ChatFacts
 * @property {string} name file name without ending, or the group chat's id
 * @property {string} owner soul of the character, or `group:<id>`
 * @property {string | null} mainChat SillyTavern's note of the chat this one was branched from
 * @property {boolean} renamed SillyTavern reported that this chat had the recorded name before
 * @property {boolean} parentExists a chat with the recorded name still exists; looked up only when it matters
 * @property {string | null} lastSlot of the last message that has a slot
 * @property {string[]} souls of the characters in the chat now
 * @property {() => string} mint
 */

/** Whether the identity depends on whether the recorded chat still exists.
 * @param {Partial<ChatRecord> | undefined} record
 * @param {Pick<ChatFacts, 'name' | 'mainChat' | 'renamed'>} facts @returns {boolean} */
export const asksForParent = (record, facts) =>
    isId(record?.chat) &&
    record?.name !== facts.name &&
    !facts.renamed &&
    facts.mainChat !== record?.name;

/** The record that a chat should carry, and how it came to it.
 *
 * SillyTavern copies metadata into branches and checkpoints, so a record minted under another name means a fork,
 * unless the chat was renamed. A copy that shares no message is a new chat.
 * @param {Partial<ChatRecord> | undefined} record @param {ChatFacts} facts
 * @returns {{record: ChatRecord, outcome: 'same' | 'renamed' | 'fork' | 'new'}} */
export function chatIdentity(record, facts) {
    const fresh = {
        chat: '',
        name: facts.name,
        owner: facts.owner,
        souls: facts.souls,
        cast: facts.souls,
    };
    if (!record || !isId(record.chat)) {
        return { record: { ...fresh, chat: facts.mint() }, outcome: 'new' };
    }
    const people = peopleOf(record, facts.souls);
    const existing = { .../** @type {ChatRecord} */ (record), ...people };
    if (record.name === facts.name && record.owner === facts.owner) {
        return { record: existing, outcome: 'same' };
    }
    const isMoved = facts.renamed || (facts.mainChat !== record.name && !facts.parentExists);
    if (record.name !== facts.name && isMoved && record.owner === facts.owner) {
        return { record: { ...existing, name: facts.name }, outcome: 'renamed' };
    }
    if (!facts.lastSlot) return { record: { ...fresh, chat: facts.mint() }, outcome: 'new' };
    const parent = { chat: record.chat, fork_slot: facts.lastSlot };
    const off = record.off ? { off: true } : {};
    const fork = { ...fresh, ...people, chat: facts.mint(), parent, ...off };
    return { record: fork, outcome: 'fork' };
}

/** Everybody who was ever in the chat, and its founding cast. Later members do not know what came before them.
 * @param {Partial<ChatRecord>} record @param {readonly string[]} souls in the chat now
 * @returns {{souls: string[], cast: string[]}} */
function peopleOf(record, souls) {
    const cast = record.cast?.length ? record.cast : [...souls];
    return { souls: [...new Set([...(record.souls ?? []), ...souls])], cast };
}

/** Our field of a character card.
 * @typedef {{soul?: string, avatar?: string, config?: CardConfig}} CardField */
/** The card's own settings; what is undefined follows the general setting.
 * @typedef {{enabled?: boolean, forgetting?: number, restraint?: number, scope?: 'character' | 'chat',
 *   fades?: boolean, masks?: 'words' | 'seed' | 'off', rewords?: boolean, knows_it_forgets?: boolean,
 *   decay?: 'exponential' | 'hybrid',
 *   push?: 'off' | 'rare' | 'often', remember_hidden?: boolean, whole_messages?: boolean, clock?: 'turns' | 'story' | 'wall',
 *   budget_tokens?: number, max_items?: number, digest?: {hour: number, periods: string[]},
 *   weights?: Record<string, number>}} CardConfig */

/** The settings of a card that have a value: null stands where one was taken back.
 * @param {CardField | undefined} field @returns {CardConfig} */
export function cardConfig(field) {
    const entries = Object.entries(field?.config ?? {}).filter(([, value]) => value !== null);
    return Object.fromEntries(entries);
}

/** The soul of a character.
 *
 * A duplicated or re-imported card carries the soul of the original and gets a new one. A card that was replaced
 * has lost its soul and gets it back from `registry` (avatar file to soul), which stays in this SillyTavern.
 * @param {CardField | undefined} field @param {string} avatar
 * @param {Readonly<Record<string, string>>} registry @param {ReadonlySet<string>} avatars all that exist
 * @param {() => string} mint
 * @returns {{soul: string, write: boolean}} `write`: the card has to be written */
export function soulIdentity(field, avatar, registry, avatars, mint) {
    const onCard = isId(field?.soul) ? field.soul : null;
    const registered = isId(registry[avatar]) ? registry[avatar] : null;
    if (onCard === null) return { soul: registered ?? mint(), write: true };
    const original = field?.avatar;
    if (onCard === registered) return { soul: onCard, write: original !== avatar };
    const isOfAnother = Object.entries(registry).some(
        ([other, soul]) => soul === onCard && other !== avatar && avatars.has(other),
    );
    const isCopy = original !== undefined && original !== avatar && avatars.has(original);
    if (isOfAnother || isCopy) return { soul: registered ?? mint(), write: true };
    return { soul: onCard, write: original !== avatar };
}

/** Who is in the scene of a group. Muted members are not, except one who speaks anyway. When all are muted, the
 * user picks speakers by hand and everybody is in the scene.
 * @param {readonly {avatar: string, soul: string}[]} members @param {ReadonlySet<string>} muted avatars
 * @param {string | null} speaker avatar of who speaks @returns {string[]} souls */
export function scene(members, muted, speaker) {
    const isMuted = (/** @type {{avatar: string}} */ member) => muted.has(member.avatar);
    const present = members.filter(member => !isMuted(member) || member.avatar === speaker);
    const allMuted = present.every(isMuted);
    return (allMuted ? members : present).map(member => member.soul);
}

/** What to record as `present`: nothing when it is exactly the founding cast.
 * @param {readonly string[]} present @param {readonly string[]} cast @returns {string[] | undefined} */
export function presenceToRecord(present, cast) {
    const isCast = present.length === cast.length && present.every(soul => cast.includes(soul));
    return isCast ? undefined : [...present];
}
