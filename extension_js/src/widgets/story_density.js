// How many memories lie where in time: bars, with a slider over them that goes to a time.

import { el } from '../base/dom.js';

/** @typedef {import('../pages/browser_context.js').BrowserContext} BrowserContext */
/** @typedef {{from: string, to: string, count: number}} Period */
/** @typedef {{from: string | null, to: string | null, counts: number[], periods: Period[]}} Density */

const DAY = 86_400_000; // ms

/** @param {BrowserContext} context @param {Density} density @param {(time: number) => void} go to that time, in ms */
export function densityBar({ say, app }, density, go) {
    const { counts } = density;
    const start = Date.parse(density.from ?? '');
    const width = (Date.parse(density.to ?? '') - start) / counts.length; // ms of a bar
    const most = Math.max(1, ...counts);
    const bars = counts.map(count => {
        const share = count ? Math.max(8, Math.round((100 * count) / most)) : 0;
        return el('i', { style: `height: ${share}%` });
    });
    const slider = /** @type {HTMLInputElement} */ (
        el('input', {
            id: 'soulmem_density',
            type: 'range',
            min: 0,
            max: counts.length - 1,
            step: 1,
            'aria-label': say('story_density'),
        })
    );
    slider.value = String(counts.length - 1);
    const words = el('small', { class: 'soulmem_density_words', 'aria-hidden': true });
    const dates = new Intl.DateTimeFormat(app.host.locale(), {
        dateStyle: 'medium',
        ...(width < DAY && { timeStyle: 'short' }),
    });
    const describe = () => {
        const place = Number(slider.value);
        const text = say('story_density_at', {
            from: dates.format(start + place * width),
            to: dates.format(start + (place + 1) * width),
            n: counts[place],
        });
        slider.setAttribute('aria-valuetext', text);
        return text;
    };
    describe();
    slider.addEventListener('input', () => {
        words.textContent = describe();
    });
    slider.addEventListener('change', () => go(start + (Number(slider.value) + 0.5) * width));
    const shown = el('div', { class: 'soulmem_density_bars', 'aria-hidden': true }, bars);
    const element = el('div', { class: 'soulmem_density' }, [shown, slider, words]);
    return {
        element,
        /** Lights the bars of the time that is on the screen. @param {number} from @param {number} to ms */
        light(from, to) {
            bars.forEach((bar, place) => {
                const begin = start + place * width;
                bar.classList.toggle('soulmem_lit', begin < to && begin + width > from);
            });
        },
    };
}
