// The story by days, weeks or months: a head for each, its digest, and its memories once it is scrolled to.

import { button, el, onPress } from '../base/dom.js';
import { memoryPages } from '../widgets/memory_pages.js';
import { whenNear } from '../widgets/near_view.js';
import { sceneDrawer, wholeScenes } from './story_scenes.js';

/** @typedef {import('./browser_context.js').BrowserContext} BrowserContext */
/** @typedef {import('../widgets/story_density.js').Period} Period */
/** @typedef {import('../base/types.js').ListedMemory} ListedMemory */

const ROW = 66; // px, about, of a memory that is not drawn yet
const PAGE = 30; // memories
const PINNED = 3000; // ms
const AT_ONCE = 30; // heads drawn in one frame

const DAY = /** @type {const} */ ({ day: 'numeric', month: 'long', year: 'numeric' });

/** A day with its weekday. @param {Date} date @param {string} locale @returns {string} */
export const dayTitle = (date, locale) => date.toLocaleDateString(locale, { weekday: 'long', ...DAY });

/** What the sections of a story share.
 * @typedef {object} Telling
 * @property {Period[]} days in the order they are shown
 * @property {Period[]} periods as `days`, or weeks or months
 * @property {'day' | 'week' | 'month'} group
 * @property {(span: Period, cursor: string | null) => Promise<{rows: ListedMemory[], cursor: string | null}>} read
 * @property {(span: Period, period: string) => Promise<ListedMemory[]>} digests that tell the span
 * @property {(memory: ListedMemory) => HTMLElement} row
 * @property {(memories: readonly ListedMemory[]) => unknown} forget
 * @property {(from: number, to: number) => void} seen the time that is on the screen, ms
 */

/** @param {BrowserContext} context @param {Telling} telling */
export function storyDays(context, telling) {
    const { say } = context;
    const folding = telling.group !== 'day';
    const all = el('div', { class: 'soulmem_story' });
    const visible = createVisible(telling.seen);
    const pin = pinned(all);
    const spans = telling.periods.map(({ from, to }) => ({ from: Date.parse(from), to: Date.parse(to) }));
    const sections = /** @type {ReturnType<typeof section>[]} */ ([]); // those that are drawn
    let areFolded = folding;
    const fold = button('fa-angles-up', '', () => foldAll(!areFolded), { id: 'soulmem_fold' });
    showFold();
    drawOn();

    /** Heads in pieces, so that years of days do not hold the page up. */
    function drawOn() {
        drawHeads(AT_ONCE);
        if (sections.length < spans.length) requestAnimationFrame(drawOn);
    }

    /** The next heads. @param {number} count */
    function drawHeads(count) {
        const periods = telling.periods.slice(sections.length, sections.length + count);
        const draw = folding ? groupSection : daySection;
        const next = periods.map(period => draw(period, areFolded));
        sections.push(...next);
        all.append(...next.map(({ element }) => element));
    }

    /** @param {boolean} isFolded */
    function foldAll(isFolded) {
        areFolded = isFolded;
        for (const section of sections) section.fold(isFolded);
        showFold();
    }

    function showFold() {
        const label = fold.querySelector('span');
        if (label) label.textContent = say(areFolded ? 'story_unfold' : 'story_fold');
        fold.setAttribute('aria-pressed', String(areFolded));
    }

    /** @param {Period} period @param {boolean} isFolded */
    function daySection(period, isFolded) {
        const height = ROW * Math.min(PAGE, period.count);
        const body = el('div', { class: 'soulmem_story_body', style: `min-height: ${height}px` });
        async function load() {
            const rows = await memoryPages({
                fetch: wholeScenes(cursor => telling.read(period, cursor)),
                draw: sceneDrawer(context, telling.row, telling.forget),
                more: say('more'),
                none: '',
                attempt: context.attempt,
            });
            body.replaceChildren(rows);
            body.removeAttribute('style');
        }
        return section({ period, level: 'day', body, load, isFolded });
    }

    /** A week or a month: its digest, with its days below it. @param {Period} period @param {boolean} isFolded */
    function groupSection(period, isFolded) {
        const { from, to } = period;
        const body = el('div', { class: 'soulmem_story_body' });
        async function load() {
            const days = telling.days.filter(day => day.from >= from && day.from < to);
            body.replaceChildren(...days.map(day => daySection(day, false).element));
        }
        return section({ period, level: telling.group, body, load, isFolded });
    }

    /** @param {{period: Period, level: 'day' | 'week' | 'month', body: HTMLElement, load: () => Promise<void>,
     *   isFolded: boolean}} about */
    function section({ period, level, body, load, isFolded }) {
        const from = Date.parse(period.from);
        const to = Date.parse(period.to);
        const icon = el('i', { class: 'fa-solid fa-chevron-down fa-fw' });
        const head = el('div', { class: 'soulmem_day', role: 'button', tabindex: '0' }, [
            icon,
            el(level === 'day' ? 'h4' : 'h3', { class: 'margin0', text: titleOf(period, level) }),
            el('small', { text: say('story_folded', { n: period.count }) }),
        ]);
        const digests = el('ul', { class: 'soulmem_list soulmem_story_digests' });
        const element = el('section', { data: { level, from: period.from } }, [head, digests, body]);
        let isLoaded = false;
        let hasDigests = false;
        let isNear = false;
        let folded = isFolded;
        onPress(head, () => fold(!folded));
        show();
        visible.watch(element, from, to);
        whenNear(element, () => {
            isNear = true;
            void draw();
            void showDigests();
        });

        async function draw() {
            if (folded || isLoaded || !isNear) return;
            isLoaded = true;
            isLoaded = await context.attempt(load);
        }

        async function showDigests() {
            if (hasDigests) return;
            hasDigests = true;
            hasDigests = await context.attempt(drawDigests);
        }

        async function drawDigests() {
            const memories = await telling.digests(period, level);
            digests.replaceChildren(...memories.map(telling.row));
        }

        function show() {
            head.setAttribute('aria-expanded', String(!folded));
            icon.classList.toggle('fa-chevron-down', !folded);
            icon.classList.toggle('fa-chevron-right', folded);
            body.hidden = folded;
        }

        /** @param {boolean} isFoldedNow */
        function fold(isFoldedNow) {
            folded = isFoldedNow;
            show();
            void draw();
        }

        return { element, fold };
    }

    /** @param {Period} period @param {string} level */
    function titleOf({ from }, level) {
        const locale = context.app.host.locale();
        const date = new Date(from);
        if (level === 'month') return date.toLocaleDateString(locale, { month: 'long', year: 'numeric' });
        if (level === 'week') return say('story_week', { day: date.toLocaleDateString(locale, DAY) });
        return dayTitle(date, locale);
    }

    return {
        element: all,
        fold,
        /** Shows the section of a time, or the nearest one. @param {number} time ms */
        go(time) {
            const distances = spans.map(({ from, to }) => Math.max(from - time, time - to, 0));
            const nearest = distances.indexOf(Math.min(...distances));
            if (nearest >= sections.length) drawHeads(nearest + 1 - sections.length);
            pin(sections[nearest].element);
        },
    };
}

/** Shows an element of a list at its top, and again while what stands above it is still read, until the user moves on.
 * @param {HTMLElement} list @returns {(element: HTMLElement) => void} */
function pinned(list) {
    let kept = /** @type {HTMLElement | null} */ (null);
    const letGo = () => (kept = null);
    const show = () => kept?.scrollIntoView({ block: 'start' });
    for (const type of ['wheel', 'touchmove', 'pointerdown', 'keydown'])
        list.addEventListener(type, letGo, { passive: true });
    if ('ResizeObserver' in globalThis) new ResizeObserver(show).observe(list);
    return element => {
        kept = element;
        show();
        setTimeout(letGo, PINNED);
    };
}

/** Which span of time is on the screen. @param {(from: number, to: number) => void} seen */
function createVisible(seen) {
    const spans = /** @type {Map<Element, {from: number, to: number}>} */ (new Map());
    const shown = /** @type {Set<Element>} */ (new Set());
    if (!('IntersectionObserver' in globalThis)) return { watch: () => {} };
    const observer = new IntersectionObserver(entries => {
        for (const { target, isIntersecting } of entries) {
            if (isIntersecting) shown.add(target);
            else shown.delete(target);
        }
        const times = [...shown].flatMap(element => spans.get(element) ?? []);
        if (!times.length) return;
        seen(Math.min(...times.map(({ from }) => from)), Math.max(...times.map(({ to }) => to)));
    });
    return {
        /** @param {Element} element @param {number} from @param {number} to ms */
        watch(element, from, to) {
            spans.set(element, { from, to });
            observer.observe(element);
        },
    };
}
