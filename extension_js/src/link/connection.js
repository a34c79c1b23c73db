// Which route to the sidecar works, and if none does: what the user has to do next.

/** @typedef {import('../base/types.js').Health} Health */
/** @typedef {import('./api.js').Route} Route */
/** @typedef {import('./api.js').Api} Api */
/** @typedef {import('./api.js').ApiError} ApiError */
/** @typedef {import('./indexing.js').Lag} Lag */
/** @typedef {'ok' | 'starting' | 'degraded' | 'down' | 'off'} State */
/** The next step for the user; empty when there is none.
 * @typedef {'' | 'plugin_disabled' | 'log_in' | 'sidecar_down' | 'sidecar_starting' | 'sidecar_slow'
 *   | 'sidecar_old' | 'sidecar_new' | 'origin_refused' | 'token_wrong' | 'blocked_by_browser'
 *   | 'fallback_model' | 'degraded' | 'held_removal' | 'vectors_on' | 'regex_failed' | 'not_in_prompt' | 'nowhere' | 'indexing' | 'turned_off'
 *   | 'store_read_only' | 'read_only' | 'chat_off' | 'connecting'} Step */

/** How one route answered: its health, or why not. `status` is 0 when nothing came back; `listens`: something
 * accepts connections there.
 * @typedef {{health: Health} | {status: number, kind: string, listens?: boolean, code?: string}} Finding */
/** The routes that were tried; null for one that was not.
 * @typedef {{plugin: Finding | null, direct: Finding | null}} Probed */
/** @typedef {{mode: 'auto' | 'plugin' | 'direct', url: string, token: string}} RouteSettings */

/** What the page knows beside the routes.
 * @typedef {object} PageState
 * @property {boolean} enabled
 * @property {{loopback: boolean, secure: boolean}} page where SillyTavern's page came from
 * @property {boolean} quarantined a removal of many messages waits for the user
 * @property {boolean} vectors Vector Storage recalls chat messages too
 * @property {boolean} notInPrompt memories were recalled but the final prompt did not have them
 * @property {boolean} [nowhere] memories were recalled, and no macro placed them in the final prompt
 * @property {boolean} [regexFailed] a regex of the player threw or hung, so that its message is read as it is
 * @property {boolean} readOnly the user wants nothing new remembered
 * @property {boolean} chatOff the user had the open chat forgotten
 */
/** `slow`: the last recall ran out of time; `lag`: of making memories searchable by meaning.
 * @typedef {PageState & Probed & Pick<RouteSettings, 'mode'> & {slow: boolean, lag?: Lag | null}} Circumstances */
/** `via`: the route that is used.
 * @typedef {{state: State, step: Step, via: 'plugin' | 'direct' | null, health: Health | null}} Judgement */

/** The contract this extension was written for; both come in one folder, so an older minor is a program that runs on. */
export const API = { major: 1, minor: 5 };

const PROBE_TIMEOUT = 3000; // ms

/** @param {Finding | null} finding @returns {Health | null} */
const healthOf = finding => (finding && 'health' in finding ? finding.health : null);

/** @param {Finding | null} finding */
const failureOf = finding => (finding && 'status' in finding ? finding : null);

/** @param {Circumstances} circumstances @returns {Judgement} */
export function judge(circumstances) {
    if (!circumstances.enabled)
        return { state: 'off', step: 'turned_off', via: null, health: null };
    const viaPlugin = healthOf(circumstances.plugin);
    const health = viaPlugin ?? healthOf(circumstances.direct);
    if (!health)
        return { state: 'down', step: connectStep(circumstances), via: null, health: null };
    const version = versionStep(health);
    // Nothing is asked of a sidecar that would refuse or misread it
    if (version) return { state: 'degraded', step: version, via: null, health };
    return { ...judgeHealth(health, circumstances), via: viaPlugin ? 'plugin' : 'direct', health };
}

/** @param {Health} health @returns {Step} empty where extension and sidecar fit */
function versionStep({ api: { major, minor } }) {
    if (major > API.major) return 'sidecar_new';
    return major < API.major || minor < API.minor ? 'sidecar_old' : '';
}

/** The first that applies, the most urgent first.
 * @param {Health} health @param {Circumstances} circumstances @returns {{state: State, step: Step}} */
function judgeHealth(health, circumstances) {
    const { quarantined, slow, notInPrompt, nowhere } = circumstances;
    if (quarantined) return { state: 'degraded', step: 'held_removal' };
    if (slow) return { state: 'degraded', step: 'sidecar_slow' };
    if (health.status === 'starting') return { state: 'starting', step: 'sidecar_starting' };
    if (health.status === 'degraded') {
        return {
            state: 'degraded',
            step: isReadOnlyStore(health) ? 'store_read_only' : 'degraded',
        };
    }
    if (notInPrompt) return { state: 'degraded', step: 'not_in_prompt' };
    if (nowhere) return { state: 'degraded', step: 'nowhere' };
    return { state: 'ok', step: hintFor(health, circumstances) };
}

/** What a user may want to change although all is well.
 * @param {Health} health @param {Circumstances} circumstances @returns {Step} */
function hintFor(health, { readOnly, chatOff, vectors, lag, regexFailed }) {
    if (lag) return 'indexing';
    if (readOnly) return 'read_only';
    if (chatOff) return 'chat_off';
    if (vectors) return 'vectors_on';
    if (regexFailed) return 'regex_failed';
    return health.embedder?.fallback ? 'fallback_model' : '';
}

/** A store that can be read but not written says why in `detail`. @param {Health} health */
const isReadOnlyStore = health => health.store?.state === 'ok' && Boolean(health.store.detail);

/** What helps when no route works. @param {Circumstances} circumstances @returns {Step} */
function connectStep({ mode, plugin, direct, page }) {
    const byPlugin = failureOf(plugin);
    const step = byPlugin && pluginStep(byPlugin);
    if (step) return step;
    if (mode === 'plugin') return byPlugin?.kind === 'network' ? 'sidecar_down' : 'plugin_disabled';
    const byAddress = failureOf(direct);
    if (byAddress?.status === 401) return 'token_wrong';
    if (byAddress?.status === 403 || byAddress?.listens) return 'origin_refused';
    if (byAddress?.kind === 'timeout') return 'sidecar_slow';
    if (page.loopback) return 'sidecar_down';
    return mode === 'direct' ? 'blocked_by_browser' : 'plugin_disabled';
}

/** @param {{status: number, kind: string, code?: string}} failure of the plugin @returns {Step | null} */
function pluginStep({ status, kind, code }) {
    if (status === 502 || status === 503) {
        return code === 'sidecar_timeout' ? 'sidecar_slow' : 'sidecar_down';
    }
    if (kind === 'timeout') return 'sidecar_slow';
    if (status === 401 && code === 'unauthorized') return 'token_wrong';
    return status === 401 || status === 403 ? 'log_in' : null;
}

/** @param {Api} api @param {() => RouteSettings} routeSettings
 * @returns {() => Promise<Probed>} tries the routes in order: the plugin works for every device, the direct
 *   address only for a browser beside the sidecar */
export function createProbe(api, routeSettings) {
    /** The answer of a page without the plugin. Installing it takes a restart, and so a reload of the page. */
    let noPlugin = /** @type {Finding | null} */ (null);

    /** @param {Route} route @returns {Promise<Finding>} */
    async function tryRoute(route) {
        const timeout = PROBE_TIMEOUT;
        try {
            const health = await api.call(route, 'GET', '/health', undefined, { timeout });
            if (health?.api && health.status) return { health };
            return { status: 404, kind: 'http' };
        } catch (error) {
            const { status, kind, code } = /** @type {ApiError} */ (error);
            const mayListen = route.kind === 'direct' && kind === 'network';
            const listens = mayListen && (await api.listens(route.url, timeout));
            return { status, kind, code, listens };
        }
    }

    /** @param {RouteSettings['mode']} mode @returns {Promise<Finding | null>} */
    async function tryPlugin(mode) {
        if (mode === 'direct') return null;
        if (mode === 'auto' && noPlugin) return noPlugin;
        const finding = await tryRoute({ kind: 'plugin' });
        if (failureOf(finding)?.status === 404) noPlugin = finding;
        return finding;
    }

    return async function probe() {
        const { mode, url, token } = routeSettings();
        const plugin = await tryPlugin(mode);
        const failure = failureOf(plugin);
        const hangs = failure?.kind === 'timeout' || failure?.code === 'sidecar_timeout';
        if (mode === 'plugin' || healthOf(plugin) || hangs) return { plugin, direct: null };
        return { plugin, direct: await tryRoute({ kind: 'direct', url, token }) };
    };
}
