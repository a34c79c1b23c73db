// A page small enough for tests: elements with texts, attributes and listeners, and the selectors that are used.

import { readFileSync } from 'node:fs';

const TAG = /<(\/?)([\w-]+)((?:\s+[\w-]+(?:="[^"]*")?)*)\s*\/?>|([^<]+)/g;
const ATTRIBUTE = /([\w-]+)(?:="([^"]*)")?/g;
const SELECTOR_PART = /[#.]?[\w-]+|\[[\w-]+\]/g;

const parsed = /** @type {Map<string, string[][][]>} */ (new Map());

/**
 * Of each of the selectors its compounds, of each compound its parts, such as `div`, `.a` and `[hidden]`.
 * @param {string} selectors with commas between them
 */
function parse(selectors) {
    let every = parsed.get(selectors);
    if (!every) {
        every = selectors.split(',').map(selector =>
            selector.trim().split(/\s+/).map(compound => compound.match(SELECTOR_PART) ?? []),
        );
        parsed.set(selectors, every);
    }
    return every;
}

const kebab = (/** @type {string} */ name) =>
    name.replace(/[A-Z]/g, letter => `-${letter.toLowerCase()}`);

class FakeElement {
    /** @param {string} tag */
    constructor(tag) {
        this.tag = tag;
        this.nodes = /** @type {(FakeElement | string)[]} */ ([]);
        this.attributes = /** @type {Map<string, string>} */ (new Map());
        this.listeners = /** @type {Map<string, Function[]>} */ (new Map());
        this.parentElement = /** @type {FakeElement | null} */ (null);
        this.checked = this.disabled = false;
        this.scrolls = 0;
        this.focused = 0; // how often it got the focus
        this.typed = /** @type {string | null} */ (null);
        const attributes = this.attributes;
        this.dataset = new Proxy(/** @type {Record<string, any>} */ ({}), {
            get: (_, name) => attributes.get(`data-${kebab(String(name))}`),
            set: (_, name, value) => Boolean(attributes.set(`data-${kebab(String(name))}`, value)),
        });
        const element = this;
        /** @type {{all: () => string[], contains: (name: string) => boolean, add: (name: string) => void,
         *   remove: (name: string) => void, toggle: (name: string, on?: boolean) => void}} */
        this.classList = {
            all: () => (attributes.get('class') ?? '').split(' ').filter(Boolean),
            contains: (/** @type {string} */ name) => this.classList.all().includes(name),
            toggle(/** @type {string} */ name, on = !element.classList.contains(name)) {
                const others = element.classList.all().filter(other => other !== name);
                element.className = [...others, ...(on ? [name] : [])].join(' ');
            },
            add: (/** @type {string} */ name) => this.classList.toggle(name, true),
            remove: (/** @type {string} */ name) => this.classList.toggle(name, false),
        };
        for (const name of ['id', 'title', 'max', 'min']) {
            Object.defineProperty(this, name, {
                get: () => attributes.get(name) ?? '',
                set: value => attributes.set(name, String(value)),
            });
        }
    }
    get className() {
        return this.attributes.get('class') ?? '';
    }
    set className(names) {
        this.attributes.set('class', names);
    }
    get hidden() {
        return this.attributes.has('hidden');
    }
    set hidden(isHidden) {
        if (isHidden) this.attributes.set('hidden', '');
        else this.attributes.delete('hidden');
    }
    get type() {
        return this.attributes.get('type') ?? 'text';
    }
    /** @returns {string} */
    get value() {
        if (this.tag !== 'select') return this.typed ?? this.attributes.get('value') ?? '';
        const options = this.children.map(option => option.value);
        return this.typed === null ? (options[0] ?? '') : this.typed;
    }
    set value(text) {
        const options = this.children.map(option => option.value);
        this.typed = this.tag === 'select' && !options.includes(String(text)) ? '' : String(text);
    }
    /** @returns {string} */
    get textContent() {
        return this.nodes
            .map(node => (typeof node === 'string' ? node : node.textContent))
            .join('');
    }
    set textContent(text) {
        this.replaceChildren(...(text ? [text] : []));
    }
    /** @returns {FakeElement[]} */
    get children() {
        return this.nodes.filter(node => node instanceof FakeElement);
    }
    /** @returns {boolean} */
    get isConnected() {
        return this.tag === 'body' || Boolean(this.parentElement?.isConnected);
    }
    /** What it stands in, if it shows. @returns {FakeElement | null} */
    get offsetParent() {
        for (let each = /** @type {FakeElement | null} */ (this); each; each = each.parentElement)
            if (each.hidden) return null;
        return this.isConnected ? this.parentElement : null;
    }
    /** @param {FakeElement} other @returns {boolean} */
    contains(other) {
        return other === this || this.all().includes(other);
    }
    /** @param {string} name @param {string} value */
    setAttribute(name, value) {
        this.attributes.set(name, value);
        if (name === 'class') this.className = value;
    }
    /** @param {string} name */
    getAttribute(name) {
        return this.attributes.get(name) ?? null;
    }
    /** @param {string} name */
    removeAttribute(name) {
        this.attributes.delete(name);
        if (name === 'value') this.typed = null;
    }
    /** @param {(FakeElement | string)[]} nodes @param {boolean} atStart */
    insert(nodes, atStart) {
        for (const node of nodes) {
            if (!(node instanceof FakeElement)) continue;
            node.remove();
            node.parentElement = this;
        }
        this.nodes = atStart ? [...nodes, ...this.nodes] : [...this.nodes, ...nodes];
    }
    /** @param {(FakeElement | string)[]} nodes */
    append(...nodes) {
        this.insert(nodes, false);
    }
    /** @param {(FakeElement | string)[]} nodes */
    prepend(...nodes) {
        this.insert(nodes, true);
    }
    /** @param {(FakeElement | string)[]} nodes */
    replaceChildren(...nodes) {
        for (const child of this.children) child.parentElement = null;
        this.nodes = [];
        this.insert(nodes, false);
    }
    remove() {
        const parent = this.parentElement;
        if (parent) parent.nodes = parent.nodes.filter(node => node !== this);
        this.parentElement = null;
    }
    /** @param {FakeElement} other */
    replaceWith(other) {
        const parent = this.parentElement;
        if (!parent) return;
        parent.nodes = parent.nodes.map(node => (node === this ? other : node));
        other.parentElement = parent;
        this.parentElement = null;
    }
    /** @param {string} _place always the end @param {string} html */
    insertAdjacentHTML(_place, html) {
        let open = /** @type {FakeElement} */ (this);
        for (const [, close, tag, about, text] of html.matchAll(TAG)) {
            if (close) open = open.parentElement ?? this;
            else if (text?.trim()) open.append(text.trim());
            else if (tag) {
                const child = createElement(tag);
                for (const [, name, value = ''] of about.matchAll(ATTRIBUTE))
                    child.setAttribute(name, value);
                open.append(child);
                if (tag !== 'input') open = child;
            }
        }
    }
    scrollIntoView() {
        this.scrolls++;
    }
    scrollTo() {
        this.scrolls++;
    }
    focus() {
        this.focused++;
    }
    /** @param {string} type @param {Function} run */
    addEventListener(type, run) {
        this.listeners.set(type, [...(this.listeners.get(type) ?? []), run]);
    }
    /** Runs the listeners and waits for them. @param {string} type @param {object} [about] of the event */
    async happen(type, about = {}) {
        const event = { target: this, preventDefault: () => {}, stopPropagation: () => {}, ...about };
        await Promise.all((this.listeners.get(type) ?? []).map(run => run(event)));
    }
    click() {
        return this.happen('click');
    }
    /** The user enters a value. @param {string} value @param {string} [type] of the event */
    change(value, type = 'change') {
        this.value = value;
        return this.happen(type);
    }
    /** @param {boolean} checked */
    tick(checked) {
        this.checked = checked;
        return this.happen('change');
    }
    /** @returns {FakeElement[]} everything below it, in order */
    all() {
        return [...this.each()];
    }
    /** @returns {Generator<FakeElement>} the same, as far as it is asked for */
    *each() {
        const left = this.children.reverse();
        for (let next = left.pop(); next; next = left.pop()) {
            yield next;
            left.push(...next.children.reverse());
        }
    }
    /** @param {string[]} compound its parts */
    isOne(compound) {
        return compound.every(part => {
            if (part[0] === '#') return this.attributes.get('id') === part.slice(1);
            if (part[0] === '.') return this.classList.contains(part.slice(1));
            if (part[0] === '[') return this.attributes.has(part.slice(1, -1));
            return this.tag === part;
        });
    }
    /** @param {string} selectors with commas between them */
    matches(selectors) {
        return parse(selectors).some(compounds => this.fits(compounds));
    }
    /** @param {string[][]} compounds outermost first; the last must match this element, the others what it is in */
    fits(compounds) {
        let left = compounds.length - 1;
        if (!this.isOne(compounds[left])) return false;
        for (let above = this.parentElement; left && above; above = above.parentElement)
            if (above.isOne(compounds[left - 1])) left -= 1;
        return left === 0;
    }
    /** @param {string} selectors with commas between them */
    querySelectorAll(selectors) {
        return this.all().filter(element => element.matches(selectors));
    }
    /** @param {string} selectors with commas between them */
    querySelector(selectors) {
        for (const element of this.each()) if (element.matches(selectors)) return element;
        return null;
    }
}

class FakeInput extends FakeElement {}

/** @param {string} tag */
function createElement(tag) {
    return tag === 'input' ? new FakeInput(tag) : new FakeElement(tag);
}

/** @typedef {InstanceType<typeof FakeElement> & {id: string, title: string, max: string, min: string}} PageElement */

/** Makes a new page the one that code sees. @param {string} [html] of its body */
export function newPage(html = '') {
    const body = new FakeElement('body');
    body.insertAdjacentHTML('beforeend', html);
    const document = {
        body,
        hidden: false,
        createElement,
        createElementNS: (/** @type {string} */ _space, /** @type {string} */ tag) => createElement(tag),
        getElementById: (/** @type {string} */ id) => body.querySelector(`#${id}`),
        querySelector: (/** @type {string} */ selectors) => body.querySelector(selectors),
        querySelectorAll: (/** @type {string} */ selectors) => body.querySelectorAll(selectors),
    };
    const storage = /** @type {Map<string, string>} */ (new Map());
    const frames = /** @type {Map<number, () => void>} */ (new Map());
    let frame = 0;
    const watched = /** @type {(() => void)[]} */ ([]);
    const closing = new FakeElement('window');
    const globals = {
        document,
        window: closing,
        HTMLInputElement: FakeInput,
        localStorage: {
            getItem: (/** @type {string} */ key) => storage.get(key) ?? null,
            setItem: (/** @type {string} */ key, /** @type {string} */ value) =>
                storage.set(key, value),
            removeItem: (/** @type {string} */ key) => storage.delete(key),
        },
        MutationObserver: class {
            constructor(/** @type {() => void} */ changed) {
                this.changed = changed;
            }
            observe() {
                watched.push(this.changed);
            }
        },
        requestAnimationFrame: (/** @type {() => void} */ run) => {
            frames.set(++frame, run);
            return frame;
        },
        cancelAnimationFrame: (/** @type {number} */ id) => frames.delete(id),
    };
    for (const [name, value] of Object.entries(globals))
        Object.defineProperty(globalThis, name, { value, configurable: true, writable: true });
    return {
        body: /** @type {PageElement} */ (body),
        document,
        storage,
        window: closing,
        /** @param {string} selectors @returns {PageElement} the first that matches; fails without one */
        get(selectors) {
            const element = body.querySelector(selectors);
            if (!element) throw new Error(`nothing on the page is ${selectors}`);
            return /** @type {PageElement} */ (element);
        },
        /** Tells who watches the page that it changed. */
        change: () => watched.forEach(changed => changed()),
        /** Draws the frames that were asked for; returns their number. */
        drawFrames() {
            const due = [...frames.values()];
            frames.clear();
            due.forEach(run => run());
            return due.length;
        },
    };
}

/** The template of the settings drawer. */
export const SETTINGS_HTML = readFileSync(
    new URL('../../extension_js/settings.html', import.meta.url),
    'utf8',
);
