// Should the plugin start the sidecar itself? Only when asked to, and where a Python beside SillyTavern makes sense.

import { spawn } from 'node:child_process';
import fs from 'node:fs';
import path from 'node:path';
import { fileURLToPath } from 'node:url';

/** @typedef {import('./config.mjs').Config} Config */

const ROOT = path.resolve(path.dirname(fileURLToPath(import.meta.url)), '..');
const GRACE = 4000; // ms for the sidecar to close its store

let child = /** @type {import('node:child_process').ChildProcess | null} */ (null);

/** Why not here, in words; null when nothing speaks against it.
 * @param {Record<string, string | undefined>} env @param {(file: string) => boolean} exists @param {string} root
 * @returns {string | null} */
export function obstacle(env, exists, root) {
    if (exists('/.dockerenv') || env.container) return 'this is a container: run the sidecar as a second service and set SOULMEM_URL';
    if (env.PREFIX?.includes('com.termux') || env.TERMUX_VERSION) return 'this is Termux: run the sidecar on another machine and set SOULMEM_URL';
    if (!exists(path.join(root, 'start.py'))) return `there is no start.py in ${root}`;
    return null;
}

/** @param {string} url @returns {Promise<boolean>} */
async function answers(url) {
    return await fetch(`${url}/v1/health`, { signal: AbortSignal.timeout(1500) }).then(() => true, () => false);
}

/** @param {Config} config @param {string | null} [why] not, in words */
export async function startSidecar(config, why = obstacle(process.env, fs.existsSync, ROOT)) {
    if (why) return console.warn(`[SoulMem] autostart is on, but ${why}`);
    if (await answers(config.url)) return console.log(`[SoulMem] the sidecar is already at ${config.url}`);
    const windows = process.platform === 'win32';
    const python = config.python ?? (windows ? 'python' : 'python3');
    const started = spawn(python, ['start.py'], { cwd: ROOT, stdio: ['ignore', 'inherit', 'inherit'], detached: !windows, windowsHide: true });
    started.on('error', error => {
        child = null;
        console.error(`[SoulMem] ${python} could not be started: ${error.message}. Set SOULMEM_PYTHON to a Python 3.10 or newer`);
    });
    started.on('exit', code => {
        child = null;
        if (code) console.error(`[SoulMem] the sidecar ended with code ${code}; its words are above`);
    });
    child = started;
    console.log(`[SoulMem] starting the sidecar: ${python} start.py in ${ROOT}`);
}

/** Ends only what was started here, and whatever that started. @param {number} pid */
function end(pid) {
    if (process.platform === 'win32') spawn('taskkill', ['/pid', String(pid), '/T'], { stdio: 'ignore' });
    else process.kill(-pid, 'SIGTERM'); // the group: start.py and the server it runs
}

export async function stopSidecar() {
    const going = child;
    if (!going?.pid) return;
    const gone = new Promise(resolve => going.once('exit', resolve));
    try {
        end(going.pid);
    } catch {
        return; // gone already
    }
    await Promise.race([gone, new Promise(resolve => setTimeout(resolve, GRACE).unref())]);
}
