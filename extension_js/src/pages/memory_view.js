// One memory: its text and what the user can do with it, its sources and its history.

import { button, el } from '../base/dom.js';
import { clarityBar, readingNodes } from '../widgets/faded_text.js';
import { auditItem } from '../widgets/audit_entry.js';
import { kindLabel, memoryBadges } from '../widgets/memory_badges.js';
import { sourcesView } from '../widgets/memory_sources.js';
import { paged } from '../widgets/paging.js';
import { sameWordsView } from '../widgets/same_words.js';
import { memoryLinks } from './hand_made.js';
import { memoryParts } from './memory_parts.js';
import { isFocusLost } from '../widgets/two_columns.js';

/** @typedef {import('./browser_context.js').BrowserContext} BrowserContext */
/** @typedef {import('../base/types.js').WholeMemory} WholeMemory */
/** @typedef {import('../base/strings.js').Say} Say */
/** @typedef {import('../base/strings.js').Key} Key */

/** States of a memory that is not recalled: moved to the bin by the user, gone with its messages, faded. */
const REMOVED_STATES = ['bin', 'retracted', 'forgotten'];

/** Revision of what is read from messages and stored nowhere: an ordinary word of a topic. */
const NOT_STORED = 0;

/** @param {number} share 0..1 */
const percent = share => Math.round(share * 100);

/** Extensions whose memories are imported, by the tag that such a memory has, and how their users know them. */
const STORES = new Map([
    ['MemoryBooks', 'MemoryBooks'],
    ['CharMemory', 'CharMemory'],
    ['MessageSummarize', 'Message Summarize'],
]);
const WORLD = 'world: '; // begins the tag of what a world states; its name follows

/** @param {WholeMemory} memory @param {Say} say @returns {string} who made it */
function originText({ origin, tags }, say) {
    if (origin === 'card' || origin === 'model') {
        const store = tags.map(tag => STORES.get(tag)).find(Boolean);
        if (store) return say('origin_store', { store });
    }
    const world = tags.find(tag => tag.startsWith(WORLD));
    if (origin === 'card' && world) return say('origin_world', { name: world.slice(WORLD.length) });
    return say(/** @type {Key} */ (`origin_${origin}`));
}

/** @param {BrowserContext} context @param {WholeMemory} memory @returns {string} a line about it */
function factsText({ say, localTime }, memory) {
    const { uses, last_used: lastUsed } = memory;
    return [
        say('fact_importance', { n: percent(memory.importance) }),
        memory.reads_now === undefined ? say('fact_strength', { n: percent(memory.strength) }) : '',
        uses && lastUsed
            ? say('fact_uses', { n: uses, when: localTime(lastUsed) })
            : say('fact_never_used'),
        say('fact_created', { when: localTime(memory.created) }),
        originText(memory, say),
    ]
        .filter(Boolean)
        .join(' · ');
}

/** @param {WholeMemory} memory @param {Say} say @returns {string} who may change it */
function protectionText({ permanent, locked, origin }, say) {
    if (permanent || locked) return say('hint_protected');
    if (origin === 'card') return say('hint_imported');
    return say(origin === 'chat' || origin === 'model' ? 'hint_derived' : 'hint_yours');
}

/** @param {BrowserContext} context @param {string} id
 * @param {(changed: boolean) => void} leave goes back to the list
 * @param {(memory: WholeMemory) => void} [showChanged] called with the memory after each change
 * @returns {Promise<HTMLElement>} */
export async function memoryView(context, id, leave, showChanged = () => {}) {
    const { say, memoryApi } = context;
    let changed = false;
    const others = el('div'); // that still say what was corrected
    let isUnsaved = () => false;
    context.mayLeave = async () =>
        !isUnsaved() || context.app.host.confirm(say('unsaved_question'));
    const view = el('div', { class: 'soulmem_memory', tabindex: '-1', data: { memory: id } });

    /** @param {string | null} [draft] words the user has not saved yet */
    async function draw(draft = null) {
        const memory = await memoryApi.read(id);
        if (changed) showChanged(memory);
        const [sources, history] = await Promise.all([
            sourcesView(context, memory),
            historyView(context, memory, redraw),
        ]);
        view.replaceChildren(
            el('div', { class: 'soulmem_row' }, [
                button('fa-arrow-left', say('back'), goBack, { id: 'soulmem_back' }),
                kindLabel(memory.kind, say),
                ...memoryBadges(memory, say, context.leftOut()),
            ]),
            ...bodyOf(memory, draft),
            others,
            el('small', { class: 'soulmem_hint', text: factsText(context, memory) }),
            ...leftOutNodes(memory, say),
            el('h4', { text: say('sources') }),
            sources,
            el('h4', { text: say('history') }),
            history,
        );
        // Else Escape would close the window, not the memory
        if (view.isConnected && isFocusLost()) view.focus();
    }

    /** @param {WholeMemory} memory @param {string | null} draft @returns {HTMLElement[]} */
    function bodyOf(memory, draft) {
        if (REMOVED_STATES.includes(memory.state)) return [removedView(context, memory, redraw)];
        if (memory.revision === NOT_STORED) return wordNodes(context, memory);
        const editor = createEditor(context, memory, draft, redraw, () => leave(true), corrected);
        isUnsaved = editor.isUnsaved;
        return editor.elements;
    }

    /** @param {WholeMemory} before @param {string} after its new text */
    async function corrected(before, after) {
        const same = await sameWordsView(context, before, after);
        others.replaceChildren(...(same ? [same] : []));
    }

    async function goBack() {
        if (await context.mayLeave()) leave(changed);
    }

    /** Draws the memory after a change. @param {string | null} [draft] words the user has not saved yet */
    function redraw(draft) {
        changed = true;
        return draw(draft);
    }

    await draw();
    return view;
}

/** @param {BrowserContext} context @param {WholeMemory} memory @param {(draft?: string) => unknown} redraw */
const historyView = (context, memory, redraw) =>
    paged({
        fetch: async cursor => {
            const answer = await context.memoryApi.history(memory.id, cursor);
            return { rows: answer.audit, cursor: answer.cursor };
        },
        draw: entry =>
            auditItem(context, entry, {
                undone: () => redraw(),
                reuse: redraw,
                original: memory.text,
            }),
        more: context.say('more'),
        none: context.say('history_none'),
        attempt: context.attempt,
    });

/** The text as a field, the buttons, and who may change the memory.
 * @param {BrowserContext} context @param {WholeMemory} memory
 * @param {string | null} draft words the user has not saved yet
 * @param {(draft?: string | null) => Promise<void>} redraw called after a change
 * @param {() => void} removed called when the memory is in the bin
 * @param {(before: WholeMemory, after: string) => unknown} corrected called when another text was saved
 * @returns {{elements: HTMLElement[], isUnsaved: () => boolean}} */
function createEditor(context, memory, draft, redraw, removed, corrected) {
    const { say, memoryApi } = context;
    const isName = memory.kind === 'concept' && memory.fields?.concept_type !== 'topic';
    const text = /** @type {HTMLTextAreaElement} */ (
        el('textarea', {
            id: 'soulmem_text',
            class: 'text_pole',
            rows: isName ? '1' : '4',
            'aria-label': say(isName ? 'name' : 'text'),
        })
    );
    text.value = draft ?? memory.text;
    const isUnsaved = () => text.value.trim() !== memory.text;

    /** Saves changes. When the memory was changed elsewhere, its new state is shown. Unsaved words stay.
     * @param {Record<string, unknown>} changes */
    async function change(changes) {
        const unsaved = isUnsaved() ? text.value : null;
        await context.attempt(async () => {
            try {
                await memoryApi.change(memory, changes);
            } catch (error) {
                const { code } = /** @type {{code?: string}} */ (error);
                if (code === 'conflict') await redraw(unsaved);
                throw error;
            }
            const { text: words } = changes;
            const isRenamed = isName && typeof words === 'string';
            context.showStatus(isRenamed ? say('renamed', { old: memory.text, name: words }) : say('saved'));
            await redraw('text' in changes ? null : unsaved);
            if (typeof words === 'string' && !isName) await corrected(memory, words);
        });
    }

    const saveText = () => change({ text: withSpeaker(memory, text.value.trim()) });
    const save = button('fa-floppy-disk', say('save'), saveText, { id: 'soulmem_save' });
    const showSave = () => {
        save.hidden = !isUnsaved() || !text.value.trim();
    };
    text.addEventListener('input', showSave);
    showSave();
    const bin = button('fa-trash-can', say('to_bin'), () => moveToBin(context, memory, removed), {
        id: 'soulmem_to_bin',
    });
    const original = originalView(context, memory, text, draft !== null);
    const hints = [protectionText(memory, say)];
    if (isName) hints.unshift(say('rename_hint'));
    if (memory.in_doubt) hints.unshift(say('hint_doubt'));
    const elements = [
        ...original.elements,
        el('div', { class: 'soulmem_row' }, [save, ...changeButtons(memory, change, say), bin]),
        ...hints.map(hint => el('small', { class: 'soulmem_hint', text: hint })),
        ...memoryParts(context, memory, text, change, original.show),
        memoryLinks(context, memory, change),
    ];
    return { elements, isUnsaved };
}

/** The memory as it is told now, and the original wording, which is one press away where it reads otherwise.
 * @param {BrowserContext} context @param {WholeMemory} memory @param {HTMLTextAreaElement} text with the original
 * @param {boolean} isOpen whether the original is shown at once
 * @returns {{elements: HTMLElement[], show: () => void}} `show` shows the original */
function originalView({ say }, memory, text, isOpen) {
    const show = () => text.focus();
    if (memory.reads_now === undefined || memory.visibility === undefined) {
        return { elements: [text], show };
    }
    const { visibility } = memory;
    const bar = clarityBar({ ...memory, visibility }, say, memory.reads_now);
    if (memory.reads_now === memory.text) return { elements: [text, bar], show };
    const wording = memory.reworded ?? memory.text;
    const nodes = readingNodes(memory.reads_now, say, wording, memory.units);
    const reads = el('div', { id: 'soulmem_reads', class: 'soulmem_item_text' }, nodes);
    const original = el('div', { class: 'soulmem_original' }, [
        el('small', { class: 'soulmem_hint', text: say('original_hint') }),
        text,
    ]);
    original.hidden = !isOpen;
    const toggle = button('fa-clock-rotate-left', say('original_show'), () => set(original.hidden), {
        id: 'soulmem_original',
        'aria-expanded': isOpen,
    });

    /** @param {boolean} isShown */
    function set(isShown) {
        original.hidden = !isShown;
        toggle.setAttribute('aria-expanded', String(isShown));
    }

    const head = el('small', { class: 'soulmem_hint', text: say(memory.reworded ? 'reworded_hint' : 'reads_hint') });
    const elements = [head, reads, bar, el('div', { class: 'soulmem_row' }, [toggle]), original];
    return { elements, show: () => set(true) };
}

/** What of its message the memory leaves out. @param {WholeMemory} memory @param {Say} say @returns {HTMLElement[]} */
function leftOutNodes(memory, say) {
    const parts = (memory.left_out ?? []).map(({ kind, characters }) =>
        say('left_out_part', { kind: say(/** @type {Key} */ (`left_out_${kind}`)), n: characters }),
    );
    if (!parts.length) return [];
    const text = say('left_out', { parts: parts.join(', ') });
    return [el('small', { id: 'soulmem_left_out', class: 'soulmem_hint', text })];
}

const SPEAKER = /^[^:\n]{1,60}: /;

/** The corrected words with the speaker before them, as the text had it: without one nobody said them, and the
 * memory tells nothing of the speaker any more. Words that name a speaker themselves stay as they are.
 * @param {WholeMemory} memory @param {string} words */
function withSpeaker(memory, words) {
    const [speaker] = memory.fields?.participants ?? [];
    const label = speaker && speaker.kind !== 'unknown' ? `${speaker.name}: ` : '';
    return memory.text.startsWith(label) && !SPEAKER.test(words) ? label + words : words;
}

/** Buttons for what can be changed beside the text.
 * @param {WholeMemory} memory @param {(changes: Record<string, unknown>) => Promise<void>} change
 * @param {Say} say @returns {HTMLElement[]} */
function changeButtons(memory, change, say) {
    const { permanent, locked } = memory;
    const buttons = [
        button(
            'fa-thumbtack',
            say(permanent ? 'permanent_off' : 'permanent_on'),
            () => change({ permanent: !permanent }),
            { id: 'soulmem_permanent', 'aria-pressed': permanent },
        ),
        button(
            locked ? 'fa-lock-open' : 'fa-lock',
            say(locked ? 'lock_off' : 'lock_on'),
            () => change({ locked: !locked }),
            { id: 'soulmem_lock', 'aria-pressed': locked },
        ),
    ];
    const source = memory.sources[0];
    const about = { id: 'soulmem_timelines' };
    if (memory.timelines === 'this') {
        const widen = () => change({ timelines: 'all' });
        buttons.push(button('fa-globe', say('timelines_all'), widen, about));
    } else if (source && memory.origin === 'user') {
        const narrow = () => change({ timelines: 'this', ...source });
        buttons.push(button('fa-code-branch', say('timelines_this'), narrow, about));
    }
    if (memory.in_doubt) {
        const clear = () => change({ in_doubt: false });
        buttons.push(button('fa-check', say('doubt_off'), clear, { id: 'soulmem_doubt' }));
    }
    return buttons;
}

/** A memory that can only be restored.
 * @param {BrowserContext} context @param {WholeMemory} memory @param {() => Promise<void>} redraw */
function removedView(context, memory, redraw) {
    const { say, memoryApi } = context;
    const restore = () =>
        context.attempt(async () => {
            await memoryApi.restore(memory.id);
            await redraw();
        });
    return el('div', {}, [
        el('div', { class: 'soulmem_item_text', text: memory.text }),
        el('div', { class: 'soulmem_row' }, [
            button('fa-trash-arrow-up', say('restore'), restore, { class: 'soulmem_restore' }),
        ]),
    ]);
}

/** An ordinary word of a topic: nothing of it can be changed.
 * @param {BrowserContext} context @param {WholeMemory} memory @returns {HTMLElement[]} */
const wordNodes = ({ say }, memory) => [
    el('div', { class: 'soulmem_item_text', text: memory.text }),
    el('small', { class: 'soulmem_hint', text: say('hint_word') }),
];

/** A permanent memory goes only after the user typed the word for it.
 * @param {BrowserContext} context @param {WholeMemory} memory @param {() => void} removed */
async function moveToBin(context, memory, removed) {
    const { say, memoryApi } = context;
    const word = say('permanent_word');
    const isSure =
        !memory.permanent ||
        (await context.confirmTyped(word, 'permanent_question', say('to_bin')));
    if (!isSure || !(await context.attempt(() => memoryApi.moveToBin(memory)))) return;
    context.showStatus(say('binned', { days: context.binDays() }));
    removed();
}
