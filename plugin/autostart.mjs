// Starts the sidecar with SillyTavern, and again after a crash. Only when it is switched on, and where SillyTavern
// and Python run on the same system.

import { spawn } from 'node:child_process';
import fs from 'node:fs';
import path from 'node:path';
import { fileURLToPath } from 'node:url';

/** @typedef {import('./config.mjs').Config} Config */
/** When a crashed sidecar is started again. In ms, except `tries`: the crashes in a row after which it is not.
 * @typedef {{first: number, longest: number, tries: number, healthy: number}} Patience */

const ROOT = path.resolve(path.dirname(fileURLToPath(import.meta.url)), '..');
const GRACE = 4000; // ms for the sidecar to close its store
const DELIBERATE = new Set([0, 1, 2, 3, 130]); // exit codes with which start.py ended by itself and printed why
/** For start.py itself; start.py does the same for the sidecar. @type {Patience} */
const PATIENCE = { first: 1000, longest: 30_000, tries: 5, healthy: 60_000 };

let child = /** @type {import('node:child_process').ChildProcess | null} */ (null);
let waiting = /** @type {NodeJS.Timeout | undefined} */ (undefined);
let surrender = /** @type {string | null} */ (null); // why the sidecar is not started again

/** Why the sidecar cannot be started here; null when it can.
 * @param {Record<string, string | undefined>} env @param {(file: string) => boolean} exists @param {string} root
 * @returns {string | null} */
export function obstacle(env, exists, root) {
    if (exists('/.dockerenv') || env.container)
        return 'this is a container: run the sidecar as a second service and set SOULMEM_URL';
    if (env.PREFIX?.includes('com.termux') || env.TERMUX_VERSION)
        return 'this is Termux: run the sidecar on another machine and set SOULMEM_URL';
    if (!exists(path.join(root, 'start.py'))) return `there is no start.py in ${root}`;
    return null;
}

/** Why the plugin no longer starts the sidecar; null when it still does.
 * @returns {string | null} */
export const givenUp = () => surrender;

/** @param {string} url @returns {Promise<boolean>} */
async function answers(url) {
    return await fetch(`${url}/v1/health`, { signal: AbortSignal.timeout(1500) }).then(
        () => true,
        () => false,
    );
}

/** @param {Config} config @param {string | null} [why] it cannot be started @param {Patience} [patience] */
export async function startSidecar(
    config,
    why = obstacle(process.env, fs.existsSync, ROOT),
    patience = PATIENCE,
) {
    if (why) return console.warn(`[SoulMem] autostart is on, but ${why}`);
    surrender = null;
    await start(config, patience, 0);
}

/** @param {Config} config @param {Patience} patience @param {number} crashes in a row until now */
async function start(config, patience, crashes) {
    if (await answers(config.url))
        return console.log(`[SoulMem] the sidecar is already at ${config.url}`);
    const windows = process.platform === 'win32';
    const python = config.python ?? (windows ? 'python' : 'python3');
    const began = Date.now();
    const started = spawn(python, ['start.py'], {
        cwd: ROOT,
        stdio: ['ignore', 'inherit', 'inherit'],
        detached: !windows,
        windowsHide: true,
    });
    started.on('error', error => {
        if (child === started) child = null;
        giveUp(
            `${python} could not be started: ${error.message}. Set SOULMEM_PYTHON to a Python 3.10 or newer`,
        );
    });
    started.on('exit', (code, signal) => {
        if (child !== started) return; // it was asked to end
        child = null;
        const how = signal ?? `code ${code}`;
        if (code !== null && DELIBERATE.has(code)) {
            if (code) giveUp(`the sidecar ended with ${how}; its words are above`);
            return;
        }
        const again = Date.now() - began >= patience.healthy ? 1 : crashes + 1;
        if (again >= patience.tries)
            return giveUp(
                `the sidecar crashed ${again} times in a row (${how}) and is not started again. Run start.py doctor in ${ROOT}, then restart SillyTavern`,
            );
        const delay = Math.min(patience.longest, patience.first * 2 ** (again - 1));
        console.error(
            `[SoulMem] the sidecar crashed (${how}); it starts again in ${delay / 1000} s. Nothing that was stored is lost`,
        );
        waiting = setTimeout(() => start(config, patience, again), delay);
        waiting.unref();
    });
    child = started;
    console.log(`[SoulMem] starting the sidecar: ${python} start.py in ${ROOT}`);
}

/** @param {string} reason */
function giveUp(reason) {
    surrender = reason;
    console.error(`[SoulMem] ${reason}`);
}

/** Ends a process that was started here, and its children. @param {number} pid */
function end(pid) {
    if (process.platform === 'win32')
        spawn('taskkill', ['/pid', String(pid), '/T'], { stdio: 'ignore' });
    else process.kill(-pid, 'SIGTERM'); // the group: start.py and the server it runs
}

export async function stopSidecar() {
    clearTimeout(waiting);
    const going = child;
    child = null;
    if (!going?.pid) return;
    const ended = new Promise(resolve => going.once('exit', resolve));
    try {
        end(going.pid);
    } catch {
        return; // gone already
    }
    await Promise.race([ended, new Promise(resolve => setTimeout(resolve, GRACE).unref())]);
}
