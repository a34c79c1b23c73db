// What exactly goes into the prompt? Whole memories within a hard budget, with no macro left alive.

/** @typedef {import('../base/types.js').Block} Block */
/** @typedef {import('../base/types.js').Memory} Memory */
/** @typedef {import('../base/types.js').Injection} Injection */
/** @typedef {(text: string) => Promise<number>} CountTokens */

/** Share of the context that memories may take at most. */
export const CONTEXT_SHARE = 0.12;
const KEY = 'soulmem_';
/** Prompts of one depth are sorted by key, so the number keeps the order: what happened, what is known, what she would do. */
const SECTIONS = ['permanent', 'self', 'summary', 'episodes', 'facts', 'impulses'];
const ROLES = ['system', 'user', 'assistant'];

/** The keys of all prompts we may ever have set. */
export const PROMPT_KEYS = SECTIONS.map((section, index) => `${KEY}${index + 1}_${section}`);

/** Takes the life out of what SillyTavern would run inside a memory: `{{...}}`, also with backslashes between, which it takes away in one pass
 * and runs in the next; its old macros in angle brackets; and what the popular template extension would run, `<%...%>`.
 * @param {string} text @returns {string} */
export const neutralise = text =>
    text
        .replace(/\{(?=\\*\{)/g, '{ ')
        .replace(/<(?=%|(?:user|bot|char|group|charifnotgroup)>)/gi, '< ');

/** @param {number} setting tokens @param {number} contextSize tokens @returns {number} */
export const budgetFor = (setting, contextSize) =>
    Math.max(
        0,
        Math.floor(Math.min(setting, contextSize > 0 ? contextSize * CONTEXT_SHARE : setting)),
    );

/** A block without some of its items; null when nothing is left, or when its text is not its items and cannot be cut.
 * @param {Block} block @param {ReadonlySet<string>} dropped memory ids @returns {string | null} */
export function without(block, dropped) {
    const kept = block.items.filter(item => !dropped.has(item.memory));
    if (kept.length === 0) return null;
    if (kept.length === block.items.length) return block.text;
    const starts = [];
    let from = 0;
    for (const item of block.items) {
        const at = block.text.indexOf(item.text, from);
        if (at < 0) return null;
        starts.push(at);
        from = at + item.text.length;
    }
    const header = block.text.slice(0, starts[0]);
    const joint = block.text.slice(starts[0] + block.items[0].text.length, starts[1]);
    return header + kept.map(item => item.text).join(joint) + block.text.slice(from);
}

/** Drops the lowest ranked memories until the blocks fit, counted with SillyTavern's tokenizer; permanent ones go last.
 * @param {readonly Block[]} blocks @param {readonly Memory[]} memories best first
 * @param {number} budget tokens @param {CountTokens} count
 * @returns {Promise<{texts: (string | null)[], tokens: number, trimmed: string[], itemTokens: Record<string, number>}>}
 *   `texts` in the order of `blocks`, neutralised; null where nothing is left */
export async function retrim(blocks, memories, budget, count) {
    const rank = new Map(
        memories.map((memory, index) => [memory.id, (memory.permanent ? 0 : 1e6) + index]),
    );
    const ids = [...new Set(blocks.flatMap(block => block.items.map(item => item.memory)))];
    const worstFirst = ids.sort((a, b) => (rank.get(b) ?? 1e9) - (rank.get(a) ?? 1e9));
    const dropped = /** @type {Set<string>} */ (new Set());
    const itemTokens = /** @type {Record<string, number>} */ ({});
    for (const item of blocks.flatMap(block => block.items)) itemTokens[item.memory] = item.tokens;

    const render = () =>
        blocks.map(block => {
            const text = without(block, dropped);
            return text === null ? null : neutralise(text);
        });
    const measure = async (/** @type {(string | null)[]} */ texts) =>
        (await Promise.all(texts.map(text => (text ? count(text) : 0)))).reduce(
            (sum, tokens) => sum + tokens,
            0,
        );

    let texts = render();
    let tokens = await measure(texts);
    while (tokens > budget && dropped.size < ids.length) {
        let excess = tokens - budget;
        for (const id of worstFirst) {
            if (dropped.has(id)) continue;
            if (excess <= 0) break;
            dropped.add(id);
            itemTokens[id] = await count(
                blocks.flatMap(block => block.items).find(item => item.memory === id)?.text ?? '',
            );
            excess -= itemTokens[id];
        }
        texts = render();
        tokens = await measure(texts);
    }
    if (tokens > budget) {
        // a block without items, or one that cannot be cut
        texts = texts.map(() => null);
        tokens = 0;
        for (const id of ids) dropped.add(id);
    }
    const shown = new Set(
        blocks.flatMap((block, index) =>
            texts[index] === null ? [] : block.items.map(item => item.memory),
        ),
    );
    return {
        texts,
        tokens,
        trimmed: ids.filter(id => dropped.has(id) || !shown.has(id)),
        itemTokens,
    };
}

/** Where the user wants memories. `auto` follows the sidecar: what is stable high up, what changes at a low depth.
 * @typedef {'auto' | 'in_chat' | 'in_prompt' | 'before_prompt' | 'macro'} Position */

/** @param {readonly Block[]} blocks @param {readonly (string | null)[]} texts
 * @param {{position: Position, depth: number}} where @returns {Injection[]} */
export function injections(blocks, texts, { position, depth }) {
    const fixed = { in_chat: 1, in_prompt: 0, before_prompt: 2, macro: -1 };
    const bySection = /** @type {Map<string, Injection>} */ (new Map());
    blocks.forEach((block, index) => {
        const text = texts[index];
        if (!text) return;
        const section = SECTIONS.includes(block.section) ? block.section : 'facts';
        const key = PROMPT_KEYS[SECTIONS.indexOf(section)];
        const earlier = bySection.get(key);
        if (earlier) {
            earlier.text += `\n${text}`;
            return;
        }
        const at = position === 'auto' ? (block.position === 'in_prompt' ? 0 : 1) : fixed[position];
        bySection.set(key, {
            key,
            text,
            position: at,
            depth,
            role: Math.max(0, ROLES.indexOf(block.role)),
        });
    });
    return [...bySection.values()].sort((a, b) => (a.key < b.key ? -1 : 1));
}
