// The optional server plugin: a same-origin route from SillyTavern's page to the sidecar, behind SillyTavern's login.

import { givenUp, startSidecar, stopSidecar } from './autostart.mjs';
import { readConfig } from './config.mjs';
import { createProxy } from './proxy.mjs';

export const info = {
    id: 'soulmem',
    name: 'SoulMem',
    description:
        "Brings the SoulMem sidecar to the page: same origin, SillyTavern's login, one namespace per user.",
};

/** @param {import('./proxy.mjs').Router} router mounted by SillyTavern at /api/plugins/soulmem */
export async function init(router) {
    const config = readConfig();
    router.use(createProxy(config, { why: givenUp }));
    if (config.autostart) await startSidecar(config);
}

/** SillyTavern is closing. */
export async function exit() {
    await stopSidecar();
}
