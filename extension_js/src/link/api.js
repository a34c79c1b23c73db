// Requests to the sidecar, by the server plugin or directly.

/** @typedef {{kind: 'plugin'} | {kind: 'direct', url: string, token: string}} Route */
/** @typedef {import('../base/strings.js').Phrase} Phrase */
/** @typedef {'http' | 'network' | 'timeout' | 'aborted'} FailureKind */

/** Why a request failed. `code` is the contract's code when the sidecar answered, else the kind of failure; `phrase`
 * the message for every language. */
export class ApiError extends Error {
    /** @param {string} message
     * @param {{kind: FailureKind, status?: number, code?: string, field?: string, phrase?: Phrase}} detail */
    constructor(message, { kind, status = 0, code = kind, field, phrase }) {
        super(message);
        this.name = 'ApiError';
        this.kind = kind;
        this.status = status;
        this.code = code;
        this.field = field;
        this.phrase = phrase;
    }
}

const PLUGIN = '/api/plugins/soulmem';

/** @param {string} url @returns {string} without trailing slashes and the version, which people paste along */
export const baseUrl = url => url.trim().replace(/\/+$/, '').replace(/\/v1$/, '');

/** @param {Response} response @returns {Promise<any>} null when it is not JSON */
async function json(response) {
    try {
        return await response.json();
    } catch {
        return null;
    }
}

/** The error for an answer that is no success, or no JSON.
 * @param {Response} response @param {any} answer @param {string} request method and path, for the message */
function errorOf(response, answer, request) {
    const { status } = response;
    if (response.ok) {
        return new ApiError(`${request}: the answer is not JSON`, {
            kind: 'http',
            status,
            code: 'no_json',
        });
    }
    return new ApiError(answer?.message ?? `${request}: ${status}`, {
        kind: 'http',
        status,
        code: answer?.error ?? `http_${status}`,
        field: answer?.field ?? undefined,
        phrase: answer?.phrase ?? undefined,
    });
}

/** @param {() => Record<string, string>} pluginHeaders SillyTavern's request headers, with the CSRF token
 * @param {typeof fetch} [doFetch] */
export function createApi(pluginHeaders, doFetch = (...args) => globalThis.fetch(...args)) {
    /** Sends a request. Raises ApiError.
     * @param {Route} route @param {string} method @param {string} path below /v1 @param {unknown} [body]
     * @param {import('../base/types.js').AskOptions} [options]
     * @returns {Promise<any>} the answer's JSON, with `raw` its text; null for an answer without content */
    async function call(route, method, path, body, options = {}) {
        const { signal, timeout = 60_000, keepalive = false, raw = false } = options;
        const own = new AbortController();
        const timer = setTimeout(() => own.abort('timeout'), timeout);
        const stop = () => own.abort('aborted');
        if (signal?.aborted) stop();
        signal?.addEventListener('abort', stop, { once: true });
        const isPlugin = route.kind === 'plugin';
        try {
            const response = await doFetch(
                isPlugin ? PLUGIN + path : `${baseUrl(route.url)}/v1${path}`,
                {
                    method,
                    headers: headers(route, body !== undefined),
                    body: body === undefined ? undefined : JSON.stringify(body),
                    signal: own.signal,
                    keepalive,
                    cache: 'no-store',
                    credentials: isPlugin ? 'same-origin' : 'omit',
                },
            );
            if (response.status === 204) return null;
            if (raw && response.ok) return await response.text();
            const answer = await json(response);
            if (answer === null) own.signal.throwIfAborted(); // in the middle of the answer
            if (response.ok && answer !== null) return answer;
            throw errorOf(response, answer, `${method} ${path}`);
        } catch (error) {
            if (error instanceof ApiError) throw error;
            if (!own.signal.aborted) throw new ApiError(String(error), { kind: 'network' });
            const kind = /** @type {FailureKind} */ (own.signal.reason);
            throw new ApiError(`${method} ${path}: ${kind}`, { kind });
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

    /** Whether anything accepts connections there, even if it refuses our origin.
     * @param {string} url @param {number} timeout ms @returns {Promise<boolean>} */
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
