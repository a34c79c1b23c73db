// What the story page shows: search, filters and order.

import { el } from '../base/dom.js';
import { KINDS } from '../widgets/memory_badges.js';

/** @typedef {import('./browser_context.js').BrowserContext} BrowserContext */
/** @typedef {import('../base/strings.js').Key} Key */
/** @typedef {import('../link/memory_api.js').Filter} Filter */
/** @typedef {readonly [string, string]} Option value and text */

const ANY = 'any'; // kind
const SORTS = /** @type {const} */ (['newest', 'oldest', 'strength', 'importance', 'recalled']);
const GROUPS = /** @type {const} */ (['day', 'week', 'month']);

/** @param {string} value @param {string} text @returns {Option} */
const option = (value, text) => [value, text];

/** @param {string} id @param {string} label @param {readonly Option[]} options */
function select(id, label, options) {
    return /** @type {HTMLSelectElement} */ (
        el(
            'select',
            { id, class: 'text_pole margin0', 'aria-label': label },
            options.map(([value, text]) => el('option', { value, text })),
        )
    );
}

/** Adds options that are known later, and keeps what was chosen. @param {HTMLSelectElement} field
 * @param {readonly Option[]} options */
function add(field, options) {
    field.append(...options.map(([value, text]) => el('option', { value, text })));
    field.hidden = options.length === 0;
}

/** @param {BrowserContext} context */
export function createStoryFilters(context) {
    const { say, memoryApi } = context;
    const search = /** @type {HTMLInputElement} */ (
        el('input', {
            id: 'soulmem_search',
            class: 'text_pole margin0',
            type: 'search',
            maxlength: '200',
            placeholder: say('search'),
            'aria-label': say('search'),
        })
    );
    const kind = select('soulmem_kind', say('filter_kind'), [
        ['', say('filter_scenes')],
        [ANY, say('filter_any')],
        ...KINDS.map(name => option(name, say(/** @type {Key} */ (`kind_${name}`)))),
    ]);
    const which = select('soulmem_which', say('filter_all'), [
        ['', say('filter_all')],
        ['permanent', say('filter_permanent')],
        ['stale', say('filter_stale')],
    ]);
    const chat = select('soulmem_in_chat', say('filter_chat'), [['', say('filter_chat')]]);
    const person = select('soulmem_about', say('filter_person'), [['', say('filter_person')]]);
    const sort = select('soulmem_sort', say('sort_by'), [
        ...SORTS.map(name => option(name, say(`sort_${name}`))),
    ]);
    const group = select('soulmem_group', say('story_by'), [
        ...GROUPS.map(name => option(name, say(`group_${name}`))),
    ]);
    chat.hidden = person.hidden = true;
    sort.value = 'newest';
    group.value = 'day';

    /** @returns {Filter} */
    function value() {
        const q = search.value.trim();
        return /** @type {Filter} */ ({
            q,
            kind: kind.value === ANY ? '' : kind.value,
            permanent: which.value === 'permanent' ? true : undefined,
            state: which.value === 'stale' ? 'stale' : 'active',
            // A search looks through everything
            texts: kind.value === '' && !q ? true : undefined,
            chat: chat.value,
            about: person.value,
            sort: sort.value === 'newest' ? '' : sort.value,
        });
    }

    return {
        search,
        /** What is always in sight, and what a phone folds away. */
        first: [kind, sort, group],
        others: [which, chat, person],
        all: [kind, sort, group, which, chat, person],
        value,
        /** @returns {'day' | 'week' | 'month'} */
        group: () => /** @type {'day' | 'week' | 'month'} */ (group.value),
        order: () => sort.value,
        isByTime: () => ['newest', 'oldest'].includes(sort.value) && !search.value.trim(),
        isPlain: () => !search.value.trim() && [kind, which, chat, person].every(field => !field.value),
        /** Offers the chats and the people; both may take a moment. */
        async offer() {
            const { soul } = context;
            const [chats, known] = await Promise.all([
                context.chats(),
                memoryApi.people(soul).catch(() => ({ people: [] })),
            ]);
            if (soul !== context.soul) return;
            add(chat, chats.length > 1 ? chats.map(({ id, title }) => [id, title]) : []);
            add(
                person,
                known.people.map(({ concept, name }) => [concept, name]),
            );
        },
    };
}

/** @typedef {ReturnType<typeof createStoryFilters>} StoryFilters */
