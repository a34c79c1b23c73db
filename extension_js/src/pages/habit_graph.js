// Habits as the sidecar keeps them: a situation, its trigger, and the actions that this sets off.

/** @typedef {import('./browser_context.js').BrowserContext} BrowserContext */
/** @typedef {import('../base/types.js').ListedMemory} ListedMemory */
/** @typedef {'always' | 'often' | 'sometimes'} Often */
/** What is done, and how often. `action`: null for one that is not made yet; `probability`: as it is stored.
 * @typedef {{action: ListedMemory | null, does: string, often: Often, probability?: number}} Deed */
/** Deeds of one trigger. `whens`: the situations that set it off. `trigger`: null for deeds that nothing sets off.
 * @typedef {{trigger: string | null, whens: ListedMemory[], deeds: Deed[]}} Habit */

/** Words for the probability of an action, and the value that stands for each. */
export const OFTEN = /** @type {const} */ ({ always: 1, often: 0.6, sometimes: 0.3 });

/** @param {number} probability @returns {Often} the nearest word */
export function oftenWord(probability) {
    if (probability >= 0.8) return 'always';
    return probability >= 0.45 ? 'often' : 'sometimes';
}

/** The habits of the shown soul, deeds of one trigger together.
 * @param {BrowserContext} context @returns {Promise<Habit[]>} */
export async function loadHabits({ memoryApi, soul }) {
    const stored = await memoryApi.habits(soul);
    return stored.map(({ trigger, situations, actions }) => {
        const deeds = actions.map(({ memory, probability }) => ({
            action: memory,
            does: memory.text,
            often: trigger ? oftenWord(probability ?? 0) : /** @type {const} */ ('often'),
            ...(trigger && { probability: probability ?? 0 }),
        }));
        deeds.sort((a, b) => OFTEN[b.often] - OFTEN[a.often]);
        return { trigger, whens: situations, deeds };
    });
}

/** The probabilities of deeds of one trigger: as their words say, but together at most 1.
 * @param {readonly Deed[]} deeds @returns {number[]} */
export function sharesOf(deeds) {
    const wanted = deeds.map(({ often }) => /** @type {number} */ (OFTEN[often]));
    const sum = wanted.reduce((a, b) => a + b, 0);
    return sum <= 1 ? wanted : wanted.map(share => Math.floor((1000 * share) / sum) / 1000);
}

/** Makes an action that a trigger sets off. @param {BrowserContext} context @param {string} trigger
 * @param {string} does @param {number} probability */
const makeAction = ({ memoryApi, soul }, trigger, does, probability) =>
    memoryApi.create({
        soul,
        kind: 'action',
        text: does,
        edges: [{ from: trigger, kind: 'fires', probability }],
    });

/** Makes a situation, its trigger and the actions. @param {BrowserContext} context @param {string} when
 * @param {readonly Deed[]} deeds */
export async function makeHabit(context, when, deeds) {
    const { memoryApi, soul } = context;
    const situation = await memoryApi.create({ soul, kind: 'abstract_episode', text: when });
    const trigger = await memoryApi.create({
        soul,
        kind: 'trigger',
        text: when,
        edges: [{ from: situation.id, kind: 'triggers' }],
    });
    const shares = sharesOf(deeds);
    for (const [i, { does }] of deeds.entries()) {
        await makeAction(context, trigger.id, does, shares[i]);
    }
}

/** Changes a habit to what its form says. @param {BrowserContext} context @param {Habit} habit
 * @param {string} when empty: as it is @param {readonly Deed[]} deeds those of `habit`, changed, and new ones */
export async function changeHabit(context, { trigger, whens }, when, deeds) {
    const { memoryApi } = context;
    const [first] = whens;
    if (first && when && when !== first.text) {
        await memoryApi.change(await memoryApi.read(first.id), { text: when });
    }
    const shares = sharesOf(deeds);
    // What becomes rarer comes first, so that the sum is never above 1
    const order = deeds
        .map((deed, i) => ({ deed, probability: shares[i], more: shares[i] - (deed.probability ?? 0) }))
        .sort((a, b) => a.more - b.more);
    for (const { deed, probability } of order) {
        if (deed.action === null) {
            if (trigger) await makeAction(context, trigger, deed.does, probability);
            continue;
        }
        const whole = await memoryApi.read(deed.action.id);
        await memoryApi.change(whole, {
            ...(deed.does !== deed.action.text && { text: deed.does }),
            ...(trigger && { edges: [{ from: trigger, kind: 'fires', probability }] }),
        });
    }
}
