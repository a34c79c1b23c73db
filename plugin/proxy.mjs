// Passes requests of SillyTavern's page on to the sidecar, and refuses what may not pass.

import http from 'node:http';
import https from 'node:https';
import { readToken } from './config.mjs';

/** @typedef {import('./config.mjs').Config} Config */
/** The parts of Express that SillyTavern hands over.
 * @typedef {import('node:http').IncomingMessage & {path: string, body?: unknown, user?: {profile?: {handle?: string}}}} Request */
/** @typedef {import('node:http').ServerResponse} Response */
/** @typedef {{use(handler: (request: Request, response: Response) => void): unknown}} Router */

const METHODS = new Set(['GET', 'PUT', 'POST', 'PATCH', 'DELETE']);
const MIB = 1024 * 1024;
const PATIENCE = 30_000; // ms until the sidecar begins to answer
const SINGLE_USER = 'default-user'; // SillyTavern's handle when accounts are off, and the sidecar's when none is named
/** How a browser marks requests of other pages, such as images and scripts. SillyTavern's CSRF token does not protect
 * GET requests. */
const FOREIGN = new Set(['cross-site', 'same-site']);
const SEGMENT = /^[A-Za-z0-9._~-]+$/;

/** @param {Response} response @param {number} status @param {string} error code of the contract's shape @param {string} message */
function refuse(response, status, error, message) {
    const body = JSON.stringify({ error, message });
    response.writeHead(status, {
        'Content-Type': 'application/json',
        'Content-Length': Buffer.byteLength(body),
    });
    response.end(body);
}

/** The sidecar's path for a path of the page; null when it may not pass. Routes for tests never pass.
 * @param {string} path @returns {string | null} */
export function sidecarPath(path) {
    const segments = path.split('/').filter(Boolean);
    while (segments[0]?.toLowerCase() === 'v1') segments.shift();
    const plain =
        segments.length > 0 &&
        segments.every(segment => SEGMENT.test(segment) && !/^\.+$/.test(segment));
    return plain && segments[0]?.toLowerCase() !== 'test' ? `/v1/${segments.join('/')}` : null;
}

/** @param {string} path @returns {number} bytes that a body may have */
const maxBytes = path => (path === '/v1/import' ? 256 : 32) * MIB;

/** The body as bytes. SillyTavern has parsed it: to `{}` when there was none.
 * @param {Request} request @returns {Buffer | null} */
function bodyOf(request) {
    const length = Number(request.headers['content-length'] ?? 0);
    const chunked = request.headers['transfer-encoding'] !== undefined;
    if (request.method === 'GET' || (length === 0 && !chunked) || request.body === undefined)
        return null;
    return Buffer.from(JSON.stringify(request.body));
}

/** @param {Config} config
 * @param {{patience?: number, why?: () => string | null}} [options] `why` there is no sidecar, where that is known
 * @returns {(request: Request, response: Response) => void} */
export function createProxy(config, { patience = PATIENCE, why = () => null } = {}) {
    const target = new URL(config.url);
    const send = target.protocol === 'https:' ? https.request : http.request;

    /** Why a request may not pass. @param {Request} request @param {Buffer | null} body
     * @returns {[status: number, code: string, message: string] | null} */
    function refusalOf(request, body) {
        const { method = '', headers } = request;
        const path = sidecarPath(request.path);
        const handle = request.user?.profile?.handle;
        if (!METHODS.has(method)) return [405, 'bad_request', `${method} is not supported`];
        if (FOREIGN.has(String(headers['sec-fetch-site']))) {
            return [403, 'forbidden', 'another page may not load this'];
        }
        if (path === null) return [404, 'not_found', `nothing at ${request.path}`];
        if (!handle) return [403, 'forbidden', 'log in to SillyTavern first'];
        if (body && body.length > maxBytes(path)) {
            return [413, 'too_large', `${body.length} bytes; ${maxBytes(path)} at most`];
        }
        if (readToken(config) || handle === SINGLE_USER) return null;
        // without a token all users would share one memory
        const help = "set SOULMEM_DATA to the sidecar's data folder, or SOULMEM_TOKEN";
        return [401, 'unauthorized', `no token in ${config.data}: ${help}`];
    }

    /** The request to the sidecar. @param {Request} request that may pass @param {Buffer | null} body */
    function forward(request, body) {
        const path = sidecarPath(request.path);
        const query = (request.url ?? '').split('?')[1];
        const handle = request.user?.profile?.handle;
        const token = readToken(config);
        return send({
            hostname: target.hostname.replace(/^\[|\]$/g, ''),
            port: target.port,
            method: request.method,
            path: query ? `${path}?${query}` : path,
            headers: {
                Accept: request.headers.accept ?? 'application/json',
                ...(body && { 'Content-Type': 'application/json', 'Content-Length': body.length }),
                ...(token && { Authorization: `Bearer ${token}`, 'X-SoulMem-User': handle }),
            },
        });
    }

    /** @param {Response} response @param {Error} error of the request to the sidecar */
    function answerError(response, error) {
        if (response.headersSent) response.destroy();
        else if (error.message === 'timeout') {
            const message = `the sidecar at ${config.url} did not answer within ${patience / 1000} s`;
            refuse(response, 502, 'sidecar_timeout', message);
        } else {
            const message = `no sidecar at ${config.url}: ${why() ?? error.message}`;
            refuse(response, 502, 'sidecar_down', message);
        }
    }

    return (request, response) => {
        const body = bodyOf(request);
        const refusal = refusalOf(request, body);
        if (refusal) return refuse(response, ...refusal);
        /** @type {import('node:http').ClientRequest} */
        let upstream;
        try {
            upstream = forward(request, body);
        } catch (error) {
            // No HTTP can carry that path or header.
            return refuse(response, 400, 'bad_request', String(error));
        }
        const timer = setTimeout(() => upstream.destroy(new Error('timeout')), patience);
        upstream.on('response', answer => {
            clearTimeout(timer);
            response.writeHead(answer.statusCode ?? 502, {
                'Content-Type': answer.headers['content-type'] ?? 'application/json',
                'Cache-Control': 'no-store',
            });
            answer.on('error', () => response.destroy());
            answer.pipe(response);
        });
        upstream.on('error', error => {
            clearTimeout(timer);
            answerError(response, error);
        });
        response.on('close', () => upstream.destroy()); // the page went away, or has its answer
        upstream.end(body ?? undefined);
    };
}
