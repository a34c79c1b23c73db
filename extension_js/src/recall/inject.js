// What goes into the prompt: whole memories within a token budget, with no macro that SillyTavern would run.

import { SECTION_NAMES } from '../base/settings.js';

/** @typedef {import('../base/types.js').Block} Block */
/** @typedef {import('../base/types.js').BlockItem} BlockItem */
/** @typedef {import('../base/types.js').Memory} Memory */
/** @typedef {import('../base/types.js').Injection} Injection */
/** @typedef {import('../base/types.js').Position} Position */
/** @typedef {(text: string) => Promise<number>} CountTokens */

/** Blocks that fit. `texts`: in the order of the blocks, neutralised, null where nothing is left;
 * `trimmed`: ids of the memories that were dropped; `itemTokens`: tokens by memory id.
 * @typedef {{texts: (string | null)[], tokens: number, trimmed: string[], itemTokens: Record<string, number>}} Fitted */

/** Share of the context that memories may take at most. */
export const CONTEXT_SHARE = 0.12;
const KEY = 'soulmem_';
const ROLES = ['system', 'user', 'assistant'];
const POSITIONS = { in_chat: 1, in_prompt: 0, before_prompt: 2, macro: -1 }; // SillyTavern's numbers

/** The keys of all prompts that the extension may have set. SillyTavern sorts prompts of one depth by key, so the number
 * in the key keeps the order of the sections. */
export const PROMPT_KEYS = SECTION_NAMES.map((section, index) => `${KEY}${index + 1}_${section}`);

/** Breaks what SillyTavern would run inside a memory: `{{...}}`, also with backslashes between the braces, which
 * it removes in one pass and runs in the next; macros in angle brackets; and `<%...%>` of the template extension.
 * @param {string} text @returns {string} */
export const neutralise = text =>
    text
        .replace(/\{(?=\\*\{)/g, '{ ')
        .replace(/<(?=%|(?:user|bot|char|group|charifnotgroup)>)/gi, '< ');

/** @param {number} setting tokens @param {number} contextSize tokens; 0 when it is not known
 * @returns {number} tokens */
export function budgetFor(setting, contextSize) {
    const most = contextSize > 0 ? Math.min(setting, contextSize * CONTEXT_SHARE) : setting;
    return Math.max(0, Math.floor(most));
}

/** A block without some of its items. Null when nothing is left, or when its text does not hold its items and
 * cannot be cut.
 * @param {Block} block @param {ReadonlySet<string>} dropped memory ids @returns {string | null} */
export function without(block, dropped) {
    if (block.items.length === 0) return block.text; // it says that nothing is known
    const remaining = block.items.filter(item => !dropped.has(item.memory));
    if (remaining.length === 0) return null;
    if (remaining.length === block.items.length) return block.text;
    const starts = [];
    let end = 0; // of the last item
    for (const item of block.items) {
        const start = block.text.indexOf(item.text, end);
        if (start < 0) return null;
        starts.push(start);
        end = start + item.text.length;
    }
    const [first] = block.items;
    const above = first.scene ? `${first.scene}\n` : '';
    const header = block.text.slice(0, starts[0] - above.length);
    const isInScenes = block.items.some(item => item.scene);
    const separator = isInScenes ? '\n' : block.text.slice(starts[0] + first.text.length, starts[1]);
    return header + withScenes(remaining).join(separator) + block.text.slice(end);
}

/** @param {readonly BlockItem[]} items
 * @returns {string[]} their texts, with its scene above the first item of each */
function withScenes(items) {
    return items.flatMap((item, index) => {
        const isNew = item.scene && item.scene !== items[index - 1]?.scene;
        return isNew ? [String(item.scene), item.text] : [item.text];
    });
}

/** @param {readonly BlockItem[]} items @param {readonly Memory[]} memories best first
 * @returns {string[]} memory ids, the first to drop first: the lowest ranked, permanent ones last */
function dropOrder(items, memories) {
    const rank = new Map(
        memories.map((memory, index) => [memory.id, (memory.permanent ? 0 : 1e6) + index]),
    );
    const rankOf = (/** @type {string} */ id) => rank.get(id) ?? 1e9;
    return [...new Set(items.map(item => item.memory))].sort((a, b) => rankOf(b) - rankOf(a));
}

/** Drops memories until the blocks fit, counted with SillyTavern's tokenizer.
 * @param {readonly Block[]} blocks @param {readonly Memory[]} memories best first
 * @param {number} budget tokens @param {CountTokens} count @returns {Promise<Fitted>} */
export async function retrim(blocks, memories, budget, count) {
    const items = blocks.flatMap(block => block.items);
    const ids = dropOrder(items, memories);
    const dropped = /** @type {Set<string>} */ (new Set());
    const itemTokens = /** @type {Record<string, number>} */ ({});
    for (const item of items) itemTokens[item.memory] = item.tokens;

    function render() {
        const rest = blocks.map(block => without(block, dropped));
        return rest.map(text => (text === null ? null : neutralise(text)));
    }
    /** @param {(string | null)[]} texts @returns {Promise<number>} tokens */
    async function measure(texts) {
        const counts = await Promise.all(texts.map(text => (text ? count(text) : 0)));
        return counts.reduce((sum, tokens) => sum + tokens, 0);
    }
    /** Drops memories of at least so many tokens. @param {number} excess */
    async function drop(excess) {
        for (const id of ids) {
            if (dropped.has(id)) continue;
            if (excess <= 0) break;
            dropped.add(id);
            itemTokens[id] = await count(items.find(item => item.memory === id)?.text ?? '');
            excess -= itemTokens[id];
        }
    }

    let texts = render();
    let tokens = await measure(texts);
    while (tokens > budget && dropped.size < ids.length) {
        await drop(tokens - budget);
        texts = render();
        tokens = await measure(texts);
    }
    if (tokens > budget) {
        // a block without items, or one that cannot be cut
        texts = texts.map(() => null);
        tokens = 0;
        for (const id of ids) dropped.add(id);
    }
    const shownBlocks = blocks.filter((_block, index) => texts[index] !== null);
    const shown = new Set(shownBlocks.flatMap(block => block.items).map(item => item.memory));
    const trimmed = ids.filter(id => dropped.has(id) || !shown.has(id));
    return { texts, tokens, trimmed, itemTokens };
}

/** The texts by section, as SillyTavern takes them. Blocks of an unknown section go to the facts.
 * @param {readonly Block[]} blocks @param {readonly (string | null)[]} texts of the blocks
 * @param {{position: Position, depth: number}} where @returns {Injection[]} sorted by key */
export function injections(blocks, texts, { position, depth }) {
    const byKey = /** @type {Map<string, Injection>} */ (new Map());
    for (const [index, block] of blocks.entries()) {
        const text = texts[index];
        if (!text) continue;
        const section = SECTION_NAMES.includes(block.section) ? block.section : 'facts';
        const key = PROMPT_KEYS[SECTION_NAMES.indexOf(section)];
        const earlier = byKey.get(key);
        if (earlier) {
            earlier.text += `\n${text}`;
            continue;
        }
        const automatic = block.position === 'in_prompt' ? 'in_prompt' : 'in_chat';
        const chosen = position === 'auto' ? automatic : position;
        const role = Math.max(0, ROLES.indexOf(block.role));
        byKey.set(key, { key, text, position: POSITIONS[chosen], depth, role });
    }
    return [...byKey.values()].sort((a, b) => (a.key < b.key ? -1 : 1));
}
