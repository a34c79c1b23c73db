// Elements that come near what is on the screen, or go far from it.

const MARGIN = '1000px'; // above and below the screen

/** @typedef {{enter: () => void, leave: (height: number) => void}} Near */

const waiting = /** @type {WeakMap<Element, Near>} */ (new WeakMap());

/** @param {string} margin */
function observer(margin) {
    const options = { rootMargin: margin, scrollMargin: margin };
    return new IntersectionObserver(entries => {
        for (const { target, isIntersecting, boundingClientRect } of entries) {
            const near = waiting.get(target);
            if (!target.isConnected) continue;
            if (isIntersecting) near?.enter();
            else near?.leave(boundingClientRect.height);
        }
    }, options);
}

let shared = /** @type {IntersectionObserver | null} */ (null);

/** Runs `enter` when the element comes near the screen, and `leave`, with its height in px, when it goes far from it.
 * Without the browser's help it counts as near for ever.
 * @param {Element} element @param {() => void} enter @param {(height: number) => void} [leave] */
export function whenNear(element, enter, leave = () => {}) {
    if (!('IntersectionObserver' in globalThis)) {
        enter();
        return;
    }
    shared ??= observer(MARGIN);
    waiting.set(element, { enter, leave });
    shared.observe(element);
}
