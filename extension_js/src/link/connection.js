// Is the sidecar there, by which way, and if not: what is the next step?

/** @typedef {import('../base/types.js').Health} Health */
/** @typedef {import('./api.js').Route} Route */
/** @typedef {import('./api.js').Api} Api */
/** @typedef {import('./api.js').ApiError} ApiError */
/** @typedef {'ok' | 'starting' | 'degraded' | 'down' | 'off'} State */
/** @typedef {'' | 'plugin_disabled' | 'log_in' | 'sidecar_down' | 'sidecar_starting' | 'sidecar_slow' | 'sidecar_old' | 'sidecar_new' | 'origin_refused'
 *   | 'token_wrong' | 'blocked_by_browser' | 'fallback_model' | 'degraded' | 'held_removal' | 'vectors_on' | 'not_in_prompt' | 'turned_off' | 'store_read_only' | 'read_only' | 'chat_off'} Step */

/** How one way answered: its health, or why not. `status` 0 when nothing came back.
 * @typedef {{health: Health} | {status: number, kind: string, listens?: boolean, code?: string}} Finding */

/** @typedef {object} Circumstances
 * @property {boolean} enabled
 * @property {'auto' | 'plugin' | 'direct'} mode
 * @property {Finding | null} plugin null when that way was not tried
 * @property {Finding | null} direct
 * @property {{loopback: boolean, secure: boolean}} page where SillyTavern's page came from
 * @property {boolean} slow the last recall ran out of time
 * @property {boolean} held a mass removal waits for the user's word
 * @property {boolean} vectors Vector Storage recalls chat messages too
 * @property {boolean} missing our text was not in the final prompt
 * @property {boolean} readOnly the user wants nothing new remembered
 * @property {boolean} chatOff the user had the open chat forgotten
 */

/** The contract this extension was written for. */
export const API = { major: 1, minor: 0 };

/** @param {Finding | null} finding @returns {Health | null} */
const healthOf = finding => (finding && 'health' in finding ? finding.health : null);

/** @param {Finding | null} finding */
const troubleOf = finding => (finding && 'status' in finding ? finding : null);

/** @param {Circumstances} now @returns {{state: State, step: Step, via: 'plugin' | 'direct' | null, health: Health | null}} */
export function judge(now) {
    if (!now.enabled) return { state: 'off', step: 'turned_off', via: null, health: null };
    const health = healthOf(now.plugin) ?? healthOf(now.direct);
    if (!health) return { state: 'down', step: missingStep(now), via: null, health: null };
    const via = healthOf(now.plugin)
        ? /** @type {const} */ ('plugin')
        : /** @type {const} */ ('direct');
    return { ...judgeHealth(health, now), via, health };
}

/** @param {Health} health @param {Circumstances} now @returns {{state: State, step: Step}} */
function judgeHealth(health, now) {
    if (health.api.major < API.major) return { state: 'degraded', step: 'sidecar_old' };
    if (health.api.major > API.major) return { state: 'degraded', step: 'sidecar_new' };
    if (now.held) return { state: 'degraded', step: 'held_removal' };
    if (now.slow) return { state: 'degraded', step: 'sidecar_slow' };
    if (health.status === 'starting') return { state: 'starting', step: 'sidecar_starting' };
    if (health.status === 'degraded')
        return { state: 'degraded', step: cannotWrite(health) ? 'store_read_only' : 'degraded' };
    if (now.missing) return { state: 'degraded', step: 'not_in_prompt' };
    if (now.readOnly) return { state: 'ok', step: 'read_only' };
    if (now.chatOff) return { state: 'ok', step: 'chat_off' };
    if (now.vectors) return { state: 'ok', step: 'vectors_on' };
    if (health.embedder?.fallback) return { state: 'ok', step: 'fallback_model' };
    return { state: 'ok', step: '' };
}

/** A store that can be read but not written: its `detail` says why. @param {Health} health */
const cannotWrite = health => health.store?.state === 'ok' && Boolean(health.store.detail);

/** @param {Circumstances} now @returns {Step} */
function missingStep({ mode, plugin, direct, page }) {
    const p = troubleOf(plugin);
    const d = troubleOf(direct);
    if (p && (p.status === 502 || p.status === 503))
        return p.code === 'sidecar_timeout' ? 'sidecar_slow' : 'sidecar_down';
    if (p?.kind === 'timeout') return 'sidecar_slow';
    if (p?.status === 401 && p.code === 'unauthorized') return 'token_wrong';
    if (p && (p.status === 401 || p.status === 403)) return 'log_in';
    if (mode === 'plugin') return p?.kind === 'network' ? 'sidecar_down' : 'plugin_disabled';
    if (d?.status === 401) return 'token_wrong';
    if (d?.status === 403 || d?.listens) return 'origin_refused';
    if (d?.kind === 'timeout') return 'sidecar_slow';
    if (page.loopback) return 'sidecar_down';
    return mode === 'direct' ? 'blocked_by_browser' : 'plugin_disabled';
}

const PROBE_TIMEOUT = 3000; // ms

/** @param {Api} api
 * @param {() => {mode: 'auto' | 'plugin' | 'direct', url: string, token: string}} settings */
export function createProbe(api, settings) {
    /** @param {Route} route @returns {Promise<Finding>} */
    async function ask(route) {
        try {
            const health = await api.call(route, 'GET', '/health', undefined, {
                timeout: PROBE_TIMEOUT,
            });
            if (health?.api && health.status) return { health };
            return { status: 404, kind: 'http' };
        } catch (error) {
            const { status, kind, code } = /** @type {ApiError} */ (error);
            const listens =
                route.kind === 'direct' &&
                kind === 'network' &&
                (await api.listens(route.url, PROBE_TIMEOUT));
            return { status, kind, code, listens };
        }
    }

    /** No plugin on this page: installing one takes a restart of SillyTavern, and so a reload. */
    let absent = /** @type {Finding | null} */ (null);

    /** Tries the ways in order: the plugin works for every device, the direct one only for a browser beside the sidecar.
     * @returns {Promise<{plugin: Finding | null, direct: Finding | null}>} */
    return async function probe() {
        const { mode, url, token } = settings();
        const plugin =
            mode === 'direct'
                ? null
                : (mode === 'auto' && absent) || (await ask({ kind: 'plugin' }));
        if (plugin && 'status' in plugin && plugin.status === 404) absent = plugin;
        const hangs =
            troubleOf(plugin)?.kind === 'timeout' || troubleOf(plugin)?.code === 'sidecar_timeout';
        if (mode === 'plugin' || healthOf(plugin) || hangs) return { plugin, direct: null };
        return { plugin, direct: await ask({ kind: 'direct', url, token }) };
    };
}
