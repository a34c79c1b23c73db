// The user's settings: defaults, bounds, and the repair of stored values.

/** @typedef {import('./types.js').Position} Position */
/** @typedef {object} Settings
 * @property {boolean} enabled
 * @property {'auto' | 'plugin' | 'direct'} route
 * @property {string} url of the sidecar, for the direct route
 * @property {number} budget tokens for memories, at most
 * @property {number} max_items memories per reply, at most
 * @property {Position} position
 * @property {number} depth messages above the end, for what goes into the chat
 * @property {number} time_budget ms that a reply may wait for sync and recall together
 * @property {boolean} read_only recall, but remember nothing new
 * @property {boolean} tools the model that plays may use tools of memory
 * @property {boolean} chips a line under a message tells that something worth keeping was said
 * @property {boolean} reply_line a line below each reply tells how much was recalled
 * @property {boolean} quiet recall for background prompts too (/gen, Summarize, image prompts)
 * @property {number} forgetting 0 elephant .. 2 goldfish, for characters without their own
 * @property {number} restraint 0 talkative .. 2 silent, for characters without their own
 * @property {'character' | 'chat'} scope
 * @property {string} llm_profile id of the connection profile for the sidecar's language model calls; empty: the current one
 * @property {Record<string, string>} headers section of the prompt to the user's own text above it, empty for none
 * @property {string[]} sections_off sections that stay out of the prompt
 * @property {Record<string, string>} souls avatar file to soul
 * @property {Record<string, string>} asked_to_keep soul to the day on which it was asked about something that fades
 * @property {Record<string, string>} kept soul to the newest change by a model that the user has kept
 */

/** @type {Settings} */
export const DEFAULTS = {
    enabled: true,
    route: 'auto',
    url: 'http://127.0.0.1:8731',
    budget: 1200,
    max_items: 8,
    position: 'auto',
    depth: 4,
    time_budget: 2000,
    read_only: false,
    quiet: false,
    chips: true,
    reply_line: false,
    tools: false,
    forgetting: 1,
    restraint: 1,
    scope: 'character',
    llm_profile: '',
    headers: {},
    sections_off: [],
    souls: {},
    kept: {},
    asked_to_keep: {},
};

/** Sections of the memories in the prompt, in their order. */
export const SECTION_NAMES = [
    'permanent',
    'self',
    'summary',
    'episodes',
    'facts',
    'impulses',
    'absence',
];
export const LONGEST_HEADER = 500; // characters, the sidecar's limit

/** [least, most] of the numbers; whole numbers except the dials. */
export const BOUNDS = /** @type {const} */ ({
    budget: [100, 8000],
    max_items: [1, 50],
    depth: [0, 100],
    time_budget: [300, 10000],
    forgetting: [0, 2],
    restraint: [0, 2],
});

const DIALS = ['forgetting', 'restraint'];

const CHOICES = {
    route: ['auto', 'plugin', 'direct'],
    position: ['auto', 'in_chat', 'in_prompt', 'before_prompt', 'macro'],
    scope: ['character', 'chat'],
};

/** @param {keyof typeof BOUNDS} key @param {unknown} value @returns {number} within bounds, or the default */
export function bounded(key, value) {
    const number = typeof value === 'string' && !value.trim() ? NaN : Number(value);
    if (!Number.isFinite(number)) return DEFAULTS[key];
    const [least, most] = BOUNDS[key];
    const clipped = Math.min(most, Math.max(least, number));
    return DIALS.includes(key) ? clipped : Math.round(clipped);
}

/** The place of a value on a dial that has its largest value on the left, and the value at a place.
 * @param {keyof typeof BOUNDS} key @param {number} number @returns {number} */
export function mirrored(key, number) {
    const [least, most] = BOUNDS[key];
    return Number((least + most - number).toFixed(2));
}

/** A typed address with its scheme, http when it has none.
 * @param {unknown} text @returns {string | null} null when it is not an address */
export function addressOf(text) {
    const typed = typeof text === 'string' ? text.trim() : '';
    const hasScheme = /^[a-z][a-z0-9+.-]*:\/\//i.test(typed);
    const whole = hasScheme ? typed : `http://${typed}`;
    try {
        const url = new URL(whole);
        const isHost = hasScheme || url.hostname === 'localhost' || /[.\]]/.test(url.hostname); // a single word may be anything
        const usable =
            isHost &&
            /^https?:$/.test(url.protocol) &&
            url.hostname !== '' &&
            !/\s/.test(typed) &&
            !url.username &&
            !url.password;
        return usable ? whole : null;
    } catch {
        return null;
    }
}

/** Fills in and corrects the stored settings, in place, so that SillyTavern saves what is used.
 * @param {Partial<Settings> & Record<string, unknown>} stored @returns {Settings} */
export function repair(stored) {
    const settings = /** @type {Settings} */ (
        Object.assign(stored, { ...structuredClone(DEFAULTS), ...stored })
    );
    for (const key of /** @type {(keyof typeof BOUNDS)[]} */ (Object.keys(BOUNDS)))
        settings[key] = bounded(key, settings[key]);
    for (const [key, choices] of /** @type {[keyof typeof CHOICES, string[]][]} */ (
        Object.entries(CHOICES)
    )) {
        if (!choices.includes(settings[key])) Object.assign(settings, { [key]: DEFAULTS[key] });
    }
    for (const key of /** @type {const} */ (['chips', 'enabled', 'quiet', 'read_only', 'reply_line', 'tools']))
        settings[key] = Boolean(settings[key]);
    settings.url = addressOf(settings.url) ?? DEFAULTS.url;
    if (typeof settings.llm_profile !== 'string') settings.llm_profile = '';
    for (const key of /** @type {const} */ (['souls', 'kept', 'asked_to_keep', 'headers'])) {
        if (
            typeof settings[key] !== 'object' ||
            settings[key] === null ||
            Array.isArray(settings[key])
        )
            settings[key] = {};
    }
    repairSections(settings);
    return settings;
}

/** Leaves only sections and headers that the sidecar takes. @param {Settings} settings is changed */
function repairSections(settings) {
    for (const [name, text] of Object.entries(settings.headers)) {
        const isUsable = SECTION_NAMES.includes(name) && typeof text === 'string';
        if (!isUsable) delete settings.headers[name];
        else settings.headers[name] = text.slice(0, LONGEST_HEADER);
    }
    const off = Array.isArray(settings.sections_off) ? settings.sections_off : [];
    // Permanent memories are never left out
    settings.sections_off = off.filter(name => name !== 'permanent' && SECTION_NAMES.includes(name));
}
