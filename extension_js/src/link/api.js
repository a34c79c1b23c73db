// How is the sidecar asked?

/** @typedef {{kind: 'plugin'} | {kind: 'direct', url: string, token: string}} Route */
/** @typedef {'http' | 'network' | 'timeout' | 'aborted'} Trouble */

/** Why a call brought no answer. `code` is the contract's for an answer of the sidecar, else the kind of trouble. */
export class ApiError extends Error {
    /** @param {string} message
     * @param {{kind: Trouble, status?: number, code?: string, field?: string}} detail */
    constructor(message, { kind, status = 0, code = kind, field }) {
        super(message);
        this.name = 'ApiError';
        this.kind = kind;
        this.status = status;
        this.code = code;
        this.field = field;
    }
}

const PLUGIN = '/api/plugins/soulmem';

/** @param {string} url @returns {string} without what people paste along: trailing slashes and the version */
export const baseUrl = url => url.trim().replace(/\/+$/, '').replace(/\/v1$/, '');

/** @param {Response} response @returns {Promise<any>} null when it is not JSON */
async function json(response) {
    try {
        return await response.json();
    } catch {
        return null;
    }
}

/** @param {() => Record<string, string>} pluginHeaders SillyTavern's request headers (they hold the CSRF token)
 * @param {typeof fetch} [doFetch] */
export function createApi(pluginHeaders, doFetch = (...args) => globalThis.fetch(...args)) {
    /** @param {Route} route @param {string} method @param {string} path below /v1 @param {unknown} [body]
     * @param {{signal?: AbortSignal, timeout?: number, keepalive?: boolean}} [options] timeout in ms; a call kept alive outlives the page
     * @returns {Promise<any>} the answer's JSON, null for one without content. Raises ApiError */
    async function call(
        route,
        method,
        path,
        body,
        { signal, timeout = 60_000, keepalive = false } = {},
    ) {
        const own = new AbortController();
        const timer = setTimeout(() => own.abort('timeout'), timeout);
        const stop = () => own.abort('aborted');
        if (signal?.aborted) stop();
        signal?.addEventListener('abort', stop, { once: true });
        try {
            const response = await doFetch(
                route.kind === 'plugin' ? PLUGIN + path : `${baseUrl(route.url)}/v1${path}`,
                {
                    method,
                    headers: headers(route, body !== undefined),
                    body: body === undefined ? undefined : JSON.stringify(body),
                    signal: own.signal,
                    keepalive,
                    cache: 'no-store',
                    credentials: route.kind === 'plugin' ? 'same-origin' : 'omit',
                },
            );
            if (response.status === 204) return null;
            const answer = await json(response);
            if (answer === null) own.signal.throwIfAborted(); // in the middle of the answer
            if (response.ok && answer !== null) return answer;
            if (response.ok)
                throw new ApiError(`${method} ${path}: the answer is not JSON`, {
                    kind: 'http',
                    status: response.status,
                    code: 'no_json',
                });
            throw new ApiError(answer?.message ?? `${method} ${path}: ${response.status}`, {
                kind: 'http',
                status: response.status,
                code: answer?.error ?? `http_${response.status}`,
                field: answer?.field ?? undefined,
            });
        } catch (error) {
            if (error instanceof ApiError) throw error;
            const kind = own.signal.aborted
                ? /** @type {Trouble} */ (own.signal.reason)
                : 'network';
            throw new ApiError(kind === 'network' ? String(error) : `${method} ${path}: ${kind}`, {
                kind,
            });
        } finally {
            clearTimeout(timer);
            signal?.removeEventListener('abort', stop);
        }
    }

    /** @param {Route} route @param {boolean} hasBody @returns {Record<string, string>} */
    function headers(route, hasBody) {
        if (route.kind === 'plugin') return pluginHeaders();
        return {
            ...(hasBody && { 'Content-Type': 'application/json' }),
            ...(route.token && { Authorization: `Bearer ${route.token}` }),
        };
    }

    /** Does anything listen there, even if it refuses our origin? @param {string} url @param {number} timeout ms */
    async function listens(url, timeout) {
        try {
            await doFetch(`${baseUrl(url)}/v1/health`, {
                mode: 'no-cors',
                cache: 'no-store',
                signal: AbortSignal.timeout(timeout),
            });
            return true;
        } catch {
            return false;
        }
    }

    /** Names of a character's chats, as SillyTavern lists them. @param {string} avatar @returns {Promise<string[]>} */
    async function chatNames(avatar) {
        const response = await doFetch('/api/characters/chats', {
            method: 'POST',
            headers: pluginHeaders(),
            body: JSON.stringify({ avatar_url: avatar, simple: true }),
        });
        const files = await json(response);
        return Array.isArray(files)
            ? files.map(file => String(file.file_name ?? '').replace(/\.jsonl$/, ''))
            : [];
    }

    return { call, listens, chatNames };
}

/** @typedef {ReturnType<typeof createApi>} Api */
