// The plugin's settings: from the environment, else from plugin/config.json, else the defaults.

import fs from 'node:fs';
import os from 'node:os';
import path from 'node:path';
import { fileURLToPath } from 'node:url';

/** @typedef {{url: string, data: string, token: string | null, autostart: boolean, python: string | null}} Config */

const FILE = path.join(path.dirname(fileURLToPath(import.meta.url)), 'config.json');

/** The sidecar's data folder, as the sidecar itself chooses it.
 * @param {Record<string, string | undefined>} env @param {string} platform @param {string} home @returns {string} */
export function dataFolder(env, platform, home) {
    const join = platform === 'win32' ? path.win32.join : path.posix.join;
    const chosen = env.SOULMEM_DATA || env.SOULMEM_STORE_DATA;
    if (chosen) return chosen.replace(/^~(?=[\\/]|$)/, () => home);
    if (platform === 'win32')
        return join(env.LOCALAPPDATA || join(home, 'AppData', 'Local'), 'soulmem');
    if (platform === 'darwin') return join(home, 'Library', 'Application Support', 'soulmem');
    const share = env.XDG_DATA_HOME?.startsWith('/')
        ? env.XDG_DATA_HOME
        : join(home, '.local', 'share');
    return join(share, 'soulmem');
}

/** @param {string} file @returns {Record<string, unknown>} empty when there is none, or when it is broken */
function stored(file) {
    let text;
    try {
        text = fs.readFileSync(file, 'utf8');
    } catch {
        return {};
    }
    try {
        return JSON.parse(text);
    } catch (error) {
        console.error(`[SoulMem] ${file} is not JSON and is ignored: ${error}`);
        return {};
    }
}

/** @param {string | undefined} word @returns {boolean | null} */
const flag = word =>
    word === undefined ? null : ['1', 'true', 'yes', 'on'].includes(word.toLowerCase());

/** @param {object} [from] for tests
 * @param {Record<string, string | undefined>} [from.env] @param {string} [from.file] @param {string} [from.platform] @param {string} [from.home]
 * @returns {Config} */
export function readConfig({
    env = process.env,
    file = FILE,
    platform = process.platform,
    home = os.homedir(),
} = {}) {
    const saved = stored(file);
    const url = String(env.SOULMEM_URL || saved.url || 'http://127.0.0.1:8731')
        .replace(/\/+$/, '')
        .replace(/\/v1$/, '');
    return {
        url: /^https?:\/\/[^/]+$/.test(url) ? url : 'http://127.0.0.1:8731',
        data:
            saved.data && !env.SOULMEM_DATA ? String(saved.data) : dataFolder(env, platform, home),
        token: env.SOULMEM_TOKEN || (saved.token ? String(saved.token) : null),
        autostart: flag(env.SOULMEM_AUTOSTART) ?? saved.autostart === true,
        python: env.SOULMEM_PYTHON || (saved.python ? String(saved.python) : null),
    };
}

/** The token. It is read at each request, as the sidecar writes it at its first start, which may come later.
 * @param {Config} config @returns {string | null} */
export function readToken({ token, data }) {
    if (token) return token;
    try {
        return fs.readFileSync(path.join(data, 'token'), 'utf8').trim() || null;
    } catch {
        return null;
    }
}
