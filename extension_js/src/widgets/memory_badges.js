// How do memories look in lists: icon and word of their kind, badges, times?

import { el, onPress } from '../base/dom.js';

/** @typedef {import('../base/strings.js').Say} Say */
/** @typedef {import('../base/strings.js').Key} Key */
/** @typedef {import('../base/types.js').Listed} Listed */

const FACES = {
    episode: 'fa-clapperboard',
    abstract_episode: 'fa-layer-group',
    concept: 'fa-tag',
    fact: 'fa-link',
    action: 'fa-person-running',
    trigger: 'fa-bolt',
    summary: 'fa-align-left',
    digest: 'fa-calendar-days',
    note: 'fa-note-sticky',
};

/** The kinds that are memories of their own, as lists filter them. */
export const KINDS = /** @type {const} */ ([
    'episode',
    'abstract_episode',
    'summary',
    'concept',
    'action',
    'trigger',
    'note',
]);

/** @param {string} kind @param {Say} say */
export function kindFace(kind, say) {
    const known = /** @type {keyof typeof FACES} */ (kind in FACES ? kind : 'note');
    return el('span', { class: 'soulmem_kind' }, [
        el('i', { class: `fa-solid fa-fw ${FACES[known]}` }),
        say(/** @type {Key} */ (`kind_${known}`)),
    ]);
}

/** @param {Pick<Listed, 'id' | 'permanent' | 'locked' | 'state'> & {in_doubt?: boolean}} memory @param {Say} say
 * @param {ReadonlySet<string>} [leftOut] ids of permanent memories that the last prompt had no room for @returns {HTMLElement[]} */
export const badges = (memory, say, leftOut) => [
    ...(leftOut?.has(memory.id)
        ? [
              el('span', { class: 'soulmem_badge' }, [
                  el('i', { class: 'fa-solid fa-triangle-exclamation' }),
                  say('item_left_out'),
              ]),
          ]
        : []),
    ...(memory.in_doubt
        ? [
              el('span', { class: 'soulmem_badge' }, [
                  el('i', { class: 'fa-solid fa-circle-question' }),
                  say('item_doubt'),
              ]),
          ]
        : []),
    ...(memory.permanent
        ? [
              el('span', { class: 'soulmem_badge' }, [
                  el('i', { class: 'fa-solid fa-thumbtack' }),
                  say('item_permanent'),
              ]),
          ]
        : []),
    ...(memory.locked
        ? [
              el('span', { class: 'soulmem_badge' }, [
                  el('i', { class: 'fa-solid fa-lock' }),
                  say('item_locked'),
              ]),
          ]
        : []),
    ...(memory.state === 'stale'
        ? [
              el('span', { class: 'soulmem_badge' }, [
                  el('i', { class: 'fa-solid fa-hourglass-half' }),
                  say('item_stale'),
              ]),
          ]
        : []),
];

/** @param {string} iso @param {string} locale @returns {string} in the reader's own form */
export function when(iso, locale) {
    const date = new Date(iso);
    return Number.isNaN(date.getTime())
        ? iso
        : date.toLocaleString(locale, { dateStyle: 'medium', timeStyle: 'short' });
}

/** One memory in a list; `press` opens it.
 * @param {Listed} memory @param {Say} say @param {{facts?: string, press?: () => unknown, actions?: HTMLElement[], leftOut?: ReadonlySet<string>}} [about] */
export function row(memory, say, { facts = '', press, actions = [], leftOut } = {}) {
    const body = el(
        'div',
        {
            class: press ? 'soulmem_press' : undefined,
            ...(press && { tabindex: '0', role: 'button' }),
        },
        [
            el('div', { class: 'soulmem_recalled_head' }, [
                el('span', { class: 'soulmem_row' }, [
                    kindFace(memory.kind, say),
                    ...badges(memory, say, leftOut),
                ]),
                facts ? el('small', { class: 'soulmem_recalled_facts', text: facts }) : null,
            ]),
            el('div', { class: 'soulmem_item_text', text: memory.text }),
        ],
    );
    if (press) onPress(body, press);
    return el('li', { class: 'soulmem_item', data: { memory: memory.id, kind: memory.kind } }, [
        body,
        actions.length ? el('div', { class: 'soulmem_row' }, actions) : null,
    ]);
}
