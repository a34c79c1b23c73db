// SVG elements.

const SVG = 'http://www.w3.org/2000/svg';

/** Attributes that are undefined are left out. @param {string} tag
 * @param {Record<string, string | number | undefined>} [about]
 * @param {readonly (Node | string)[]} [children] @returns {SVGElement} */
export function svg(tag, about = {}, children = []) {
    const element = /** @type {SVGElement} */ (document.createElementNS(SVG, tag));
    for (const [name, value] of Object.entries(about))
        if (value !== undefined) element.setAttribute(name, String(value));
    element.append(...children);
    return element;
}

const DIRECTIONS = { ArrowLeft: [-1, 0], ArrowRight: [1, 0], ArrowUp: [0, -1], ArrowDown: [0, 1] };

/** Arrow keys move the focus to what is nearest in their direction, of all that has `data-x` and `data-y`.
 * @param {Event} event */
export function moveFocus(event) {
    const { key, target, currentTarget } = /** @type {KeyboardEvent} */ (event);
    const direction = DIRECTIONS[/** @type {keyof typeof DIRECTIONS} */ (key)];
    const here = /** @type {SVGElement} */ (target);
    if (!direction || here.dataset?.x === undefined) return;
    event.preventDefault();
    const all = /** @type {Element} */ (currentTarget).querySelectorAll('[data-x]');
    let best = /** @type {SVGElement | null} */ (null);
    let least = Infinity;
    for (const other of /** @type {NodeListOf<SVGElement>} */ (all)) {
        const across = [
            Number(other.dataset.x) - Number(here.dataset.x),
            Number(other.dataset.y) - Number(here.dataset.y),
        ];
        const ahead = across[0] * direction[0] + across[1] * direction[1];
        const aside = Math.abs(across[0] * direction[1]) + Math.abs(across[1] * direction[0]);
        const cost = ahead + 2 * aside;
        if (other === here || ahead <= 0 || cost >= least) continue;
        [best, least] = [other, cost];
    }
    if (!best) return;
    here.setAttribute('tabindex', '-1');
    best.setAttribute('tabindex', '0');
    best.focus();
}
