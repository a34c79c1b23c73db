// DOM elements. Texts are set as text, never as HTML: memories and names may hold anything.

/** `data` is the dataset; attributes that are undefined are left out.
 * @typedef {{class?: string, text?: string, title?: string, id?: string, data?: Record<string, string>, [attribute: string]: unknown}} Attributes */

const QUIET = 2000; // ms

/** @param {string} tag @param {Attributes} [about]
 * @param {readonly (Node | string | null | undefined)[]} [children] @returns {HTMLElement} */
export function el(tag, { class: className, text, data, ...attributes } = {}, children = []) {
    const element = document.createElement(tag);
    if (className) element.className = className;
    if (text !== undefined) element.textContent = text;
    for (const [name, value] of Object.entries(data ?? {})) element.dataset[name] = value;
    for (const [name, value] of Object.entries(attributes))
        if (value !== undefined) element.setAttribute(name, String(value));
    element.append(...children.filter(child => child !== null && child !== undefined));
    return element;
}

/** @template {HTMLElement} [T=HTMLElement] @param {string} id @returns {T} an element of the settings drawer */
export const byId = id => /** @type {T} */ (document.getElementById(id));

/** Runs on click, and on Enter or Space, which SillyTavern's div buttons do not.
 * @param {HTMLElement} element @param {() => unknown} run */
export function onPress(element, run) {
    element.addEventListener('click', run);
    element.addEventListener('keydown', event => {
        if (event.key !== 'Enter' && event.key !== ' ') return;
        event.preventDefault();
        event.stopPropagation(); // SillyTavern would press it a second time
        run();
    });
}

/** Runs work once the page has nothing else to do, and in any case soon. @param {() => void} work */
export function whenQuiet(work) {
    if ('requestIdleCallback' in globalThis) requestIdleCallback(() => work(), { timeout: QUIET });
    else setTimeout(work, QUIET);
}

/** A button in SillyTavern's style. Presses while `run` is under way are ignored.
 * @param {string} icon @param {string} text @param {() => unknown} run @param {Attributes} [about] */
export function button(icon, text, run, about = {}) {
    const element = el(
        'div',
        {
            tabindex: '0',
            role: 'button',
            ...about,
            class: `menu_button menu_button_icon margin0 ${about.class ?? ''}`.trim(),
        },
        [el('i', { class: `fa-solid ${icon}` }), el('span', { text })],
    );
    let busy = false;
    onPress(element, async () => {
        if (busy) return;
        busy = true;
        element.classList.add('disabled');
        try {
            await run();
        } finally {
            busy = false;
            element.classList.remove('disabled');
        }
    });
    return element;
}
