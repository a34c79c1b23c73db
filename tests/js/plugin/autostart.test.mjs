import assert from 'node:assert/strict';
import fs from 'node:fs';
import net from 'node:net';
import os from 'node:os';
import path from 'node:path';
import { test } from 'node:test';
import { pathToFileURL } from 'node:url';

/** A stand-in for start.py that Node can run: like the real one it starts another process, which serves. */
const START = `
const { spawn } = require('node:child_process');
if (process.argv[2] !== 'serve') {
    const server = spawn(process.execPath, [__filename, 'serve'], { stdio: 'inherit' });
    process.on('SIGTERM', () => { server.kill(); server.on('exit', () => process.exit(0)); });
} else require('node:http').createServer((_, answer) => answer.end('{}')).listen(PORT, '127.0.0.1');
`;
const freePort = () =>
    /** @type {Promise<number>} */ (
        new Promise(resolve => {
            const server = net.createServer().listen(0, '127.0.0.1', () => {
                const { port } = /** @type {net.AddressInfo} */ (server.address());
                server.close(() => resolve(port));
            });
        })
    );
const answers = (/** @type {string} */ url) =>
    fetch(`${url}/v1/health`).then(
        () => true,
        () => false,
    );
/** @param {() => Promise<boolean>} true_ */
async function eventually(true_) {
    for (let i = 0; i < 200; i++) {
        if (await true_()) return true;
        await new Promise(resolve => setTimeout(resolve, 50));
    }
    return false;
}

test(
    'the plugin starts the sidecar of its own clone once, and ends what it started',
    { skip: process.platform === 'win32' && 'the stand-in needs signals' },
    async () => {
        const root = fs.mkdtempSync(path.join(os.tmpdir(), 'soulmem-clone-'));
        const port = await freePort();
        fs.mkdirSync(path.join(root, 'plugin'));
        for (const name of ['autostart.mjs', 'config.mjs'])
            fs.copyFileSync(
                new URL(`../../../plugin/${name}`, import.meta.url),
                path.join(root, 'plugin', name),
            );
        fs.writeFileSync(path.join(root, 'start.py'), START.replace('PORT', String(port)));
        const { startSidecar, stopSidecar } = await import(
            pathToFileURL(path.join(root, 'plugin', 'autostart.mjs')).href
        );
        const config = {
            url: `http://127.0.0.1:${port}`,
            data: root,
            token: null,
            autostart: true,
            python: process.execPath,
        };

        await startSidecar(config, null);
        assert.ok(await eventually(() => answers(config.url)), 'it serves');
        await startSidecar(config, null); // already there
        await stopSidecar();
        assert.ok(
            await eventually(async () => !(await answers(config.url))),
            'nothing is left behind',
        );
        await stopSidecar(); // nothing to end
        fs.rmSync(root, { recursive: true });
    },
);

test('where it must not be started nothing is', async () => {
    const { startSidecar, stopSidecar } = await import('../../../plugin/autostart.mjs');
    await startSidecar(
        {
            url: 'http://127.0.0.1:9',
            data: '',
            token: null,
            autostart: true,
            python: '/no/such/python',
        },
        'this is a container',
    );
    await stopSidecar();
});

test('a Python that does not exist is said, and SillyTavern lives on', async () => {
    const { startSidecar, stopSidecar } = await import('../../../plugin/autostart.mjs');
    await startSidecar(
        {
            url: 'http://127.0.0.1:9',
            data: '',
            token: null,
            autostart: true,
            python: '/no/such/python',
        },
        null,
    );
    await new Promise(resolve => setTimeout(resolve, 100));
    await stopSidecar();
});

/** A stand-in for start.py that serves, and crashes when it is asked to or by itself. */
const CRASHING = `
require('node:fs').appendFileSync('lives', 'x');
if (MOOD === 'refuse') process.exit(1);
if (MOOD === 'crash') process.kill(process.pid, 'SIGKILL');
require('node:http').createServer((request, answer) => request.url === '/crash' ? process.kill(process.pid, 'SIGKILL') : answer.end('{}')).listen(PORT, '127.0.0.1');
`;
/** @param {string} mood */
async function clone(mood) {
    const root = fs.mkdtempSync(path.join(os.tmpdir(), 'soulmem-clone-'));
    const port = await freePort();
    fs.mkdirSync(path.join(root, 'plugin'));
    for (const name of ['autostart.mjs', 'config.mjs'])
        fs.copyFileSync(
            new URL(`../../../plugin/${name}`, import.meta.url),
            path.join(root, 'plugin', name),
        );
    fs.writeFileSync(
        path.join(root, 'start.py'),
        CRASHING.replace('PORT', String(port)).replaceAll('MOOD', `'${mood}'`),
    );
    const plugin = await import(pathToFileURL(path.join(root, 'plugin', 'autostart.mjs')).href);
    const config = {
        url: `http://127.0.0.1:${port}`,
        data: root,
        token: null,
        autostart: true,
        python: process.execPath,
    };
    return {
        plugin,
        config,
        lives: () => fs.readFileSync(path.join(root, 'lives'), 'utf8').length,
        done: () => fs.rmSync(root, { recursive: true }),
    };
}
const SOON = { first: 20, longest: 50, tries: 3, healthy: 60_000 };

test(
    'a sidecar that crashes is there again, and ends when SillyTavern does',
    { skip: process.platform === 'win32' && 'the stand-in needs signals' },
    async () => {
        const { plugin, config, lives, done } = await clone('serve');
        await plugin.startSidecar(config, null, SOON);
        assert.ok(await eventually(() => answers(config.url)));
        await assert.rejects(fetch(`${config.url}/crash`));
        assert.ok(await eventually(() => answers(config.url)), 'it serves again');
        assert.equal(lives(), 2);
        assert.equal(plugin.givenUp(), null);
        await plugin.stopSidecar();
        assert.ok(await eventually(async () => !(await answers(config.url))), 'it ends');
        await new Promise(resolve => setTimeout(resolve, 100));
        assert.equal(lives(), 2, 'ending it is no crash');
        done();
    },
);

test(
    'one that crashes again and again is left alone, and the page is told why',
    { skip: process.platform === 'win32' && 'the stand-in needs signals' },
    async () => {
        const { plugin, config, lives, done } = await clone('crash');
        await plugin.startSidecar(config, null, SOON);
        assert.ok(await eventually(async () => plugin.givenUp() !== null));
        assert.match(plugin.givenUp(), /crashed 3 times in a row \(SIGKILL\).*doctor/);
        await new Promise(resolve => setTimeout(resolve, 200));
        assert.equal(lives(), 3);
        done();
    },
);

test('one that ended with a word of its own is not started again', async () => {
    const { plugin, config, lives, done } = await clone('refuse');
    await plugin.startSidecar(config, null, SOON);
    assert.ok(await eventually(async () => plugin.givenUp() !== null));
    assert.match(plugin.givenUp(), /ended with code 1/);
    await new Promise(resolve => setTimeout(resolve, 200));
    assert.equal(lives(), 1);
    done();
});
