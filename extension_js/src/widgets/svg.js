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
