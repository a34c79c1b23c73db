// The map as a picture to keep: PNG, or SVG where the browser makes none of it.

const SHARPNESS = 2; // px of the file for one of the picture
/** What a stylesheet says, which a file does not have. */
const STYLES = [
    ...['fill', 'fill-opacity', 'stroke', 'stroke-width', 'stroke-opacity', 'opacity', 'display'],
    ...['font-family', 'font-size', 'font-weight', 'text-anchor', 'dominant-baseline', 'paint-order'],
];

/** @param {string} address of a portrait @returns {Promise<string>} the portrait itself */
async function inlined(address) {
    const content = await (await fetch(address)).blob();
    return new Promise((resolve, reject) => {
        const reader = new FileReader();
        reader.onload = () => resolve(String(reader.result));
        reader.onerror = () => reject(reader.error);
        reader.readAsDataURL(content);
    });
}

/** The picture as a text that needs nothing else. @param {SVGElement} picture @returns {Promise<string>} */
async function standalone(picture) {
    const copy = /** @type {SVGElement} */ (picture.cloneNode(true));
    const originals = [picture, ...picture.querySelectorAll('*')];
    for (const [place, element] of [copy, ...copy.querySelectorAll('*')].entries()) {
        const style = getComputedStyle(originals[place]);
        for (const name of STYLES) {
            const value = style.getPropertyValue(name);
            if (value) /** @type {SVGElement} */ (element).style.setProperty(name, value);
        }
        const address = element.getAttribute('href');
        if (address) element.setAttribute('href', await inlined(address).catch(() => ''));
    }
    const [, , width, height] = String(picture.getAttribute('viewBox')).split(' ');
    copy.setAttribute('width', width);
    copy.setAttribute('height', height);
    return new XMLSerializer().serializeToString(copy);
}

/** @param {SVGElement} picture @returns {Promise<{content: Blob, ending: 'png' | 'svg'}>} */
export async function imageOf(picture) {
    const text = await standalone(picture);
    const source = new Blob([text], { type: 'image/svg+xml' });
    try {
        const image = new Image();
        image.src = `data:image/svg+xml;charset=utf-8,${encodeURIComponent(text)}`;
        await image.decode();
        const canvas = document.createElement('canvas');
        canvas.width = SHARPNESS * image.width;
        canvas.height = SHARPNESS * image.height;
        const pen = /** @type {CanvasRenderingContext2D} */ (canvas.getContext('2d'));
        pen.fillStyle = getComputedStyle(picture).getPropertyValue('background-color');
        pen.fillRect(0, 0, canvas.width, canvas.height);
        pen.drawImage(image, 0, 0, canvas.width, canvas.height);
        const content = await /** @type {Promise<Blob | null>} */ (
            new Promise(resolve => canvas.toBlob(resolve, 'image/png'))
        );
        if (content) return { content, ending: 'png' };
    } catch (error) {
        console.warn('SoulMem: the map is saved as SVG', error);
    }
    return { content: source, ending: 'svg' };
}
