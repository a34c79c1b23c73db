// The tabs of the memory window: its four pages and a gear, and below them the parts of the page that is shown.

import { el, onPress } from '../base/dom.js';

/** @typedef {import('../base/strings.js').Say} Say */
/** @typedef {import('../base/strings.js').Key} Key */
/** @typedef {import('../pages/browser_context.js').Page} Page */
/** @typedef {'her' | 'memories' | 'people' | 'recall' | 'gear'} Place a page of the window */

const ICON_OF_GEAR = 'fa-gear';

/** A row of tabs whose focus moves by arrow keys, Home and End. @param {string} label @param {string} style */
function tabRow(label, style) {
    const about = { class: `soulmem_tabs ${style}`, role: 'tablist', 'aria-label': label };
    const tabs = el('div', about);
    tabs.addEventListener('keydown', event => {
        const all = /** @type {HTMLElement[]} */ ([...tabs.children]);
        const from = all.findIndex(tab => tab.contains(document.activeElement));
        const places = { ArrowRight: from + 1, ArrowLeft: from - 1, Home: 0, End: all.length - 1 };
        const to = places[/** @type {keyof typeof places} */ (event.key)];
        if (from < 0 || to === undefined) return;
        event.preventDefault();
        all[(to + all.length) % all.length]?.focus();
    });
    return tabs;
}

/** @param {{id: string, icon: string, label: string}} about @param {() => void} press */
function tabOf({ id, icon, label }, press) {
    const tab = el('div', { id, class: 'soulmem_tab', role: 'tab', tabindex: '-1', title: label }, [
        el('i', { class: `fa-solid ${icon}` }),
        el('span', { text: label }),
        el('b', { class: 'soulmem_count' }),
    ]);
    onPress(tab, press);
    return tab;
}

/** The chosen tab alone is on the way of the Tab key. @param {HTMLElement} tab @param {boolean} isChosen */
function mark(tab, isChosen) {
    tab.setAttribute('aria-selected', String(isChosen));
    tab.setAttribute('tabindex', isChosen ? '0' : '-1');
}

/** @param {Say} say
 * @param {{pages: Readonly<Record<Place, readonly Page[]>>, parts: Record<Page, {icon: string}>,
 *   press: (page: Page) => void}} about `pages`: the parts of each page */
export function pageTabs(say, { pages, parts, press }) {
    const row = tabRow(say('browse_title'), 'soulmem_page_tabs');
    const below = el('div', { class: 'soulmem_parts' });
    const entries = /** @type {[Place, readonly Page[]][]} */ (Object.entries(pages)).map(pageOf);

    /** @param {[Place, readonly Page[]]} page */
    function pageOf([place, names]) {
        const label = say(/** @type {Key} */ (`page_${place}`));
        const icon = place === 'gear' ? ICON_OF_GEAR : parts[names[0]].icon;
        const id = place === 'gear' ? 'soulmem_gear' : `soulmem_tab_${place}`;
        const tab = tabOf({ id, icon, label }, () => press(names[0]));
        row.append(tab);
        const partRow = tabRow(label, 'soulmem_part_tabs');
        partRow.hidden = true;
        const partTabs = new Map(names.length < 2 ? [] : names.map(name => [name, partOf(place, name)]));
        partRow.append(...partTabs.values());
        below.append(partRow);
        return { names, tab, partRow, partTabs };
    }

    /** @param {Place} place @param {Page} name */
    function partOf(place, name) {
        const isOwn = name === place; // its tab among the pages has the id already
        const id = `soulmem_${isOwn ? 'part' : 'tab'}_${name}`;
        const label = say(
            isOwn ? /** @type {Key} */ (`part_${name}`) : /** @type {Key} */ (`page_${name}`),
        );
        return tabOf({ id, icon: parts[name].icon, label }, () => press(name));
    }

    return {
        pages: row,
        parts: below,
        /** Marks a part and its page as shown. @param {Page} name @returns {HTMLElement} the tab of the part */
        choose(name) {
            let chosen = entries[0].tab;
            for (const { names, tab, partRow, partTabs } of entries) {
                const isShown = names.includes(name);
                mark(tab, isShown);
                partRow.hidden = !isShown || partTabs.size === 0;
                for (const [other, part] of partTabs) mark(part, other === name);
                if (isShown) chosen = (name === names[0] ? tab : partTabs.get(name)) ?? tab;
            }
            return chosen;
        },
        /** The page of the character bears its name. @param {string} name */
        showName(name) {
            const label = entries[0].tab.querySelector('span');
            if (label && name) label.textContent = entries[0].tab.title = name;
        },
        /** How many things wait for the user. @param {number} count */
        showWaiting(count) {
            for (const tab of [row.querySelector('#soulmem_gear'), below.querySelector('#soulmem_tab_waiting')]) {
                const badge = tab?.querySelector('.soulmem_count');
                if (badge) badge.textContent = count ? String(count) : '';
            }
        },
    };
}
