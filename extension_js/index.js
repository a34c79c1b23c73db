// The extension's entry. SillyTavern waits for this file before it goes on, so the others are sent for once
// SillyTavern is ready.

const started = new Promise(ready => {
    const { eventSource, eventTypes } = globalThis.SillyTavern.getContext();
    eventSource.on(eventTypes.APP_READY, () => ready(null));
})
    .then(() => import('./src/start.js'))
    .catch(error => {
        console.error('[SoulMem] could not be loaded', error);
        return null;
    });

/** By this name SillyTavern calls it before each reply. @param {[any, any, any, any]} args */
async function soulmemInterceptor(...args) {
    const extension = await started;
    await extension?.intercept(...args);
}

Object.assign(globalThis, { soulmemInterceptor });

/** @param {keyof import('./src/hooks.js').Hooks} hook */
const call = async hook => (await started)?.hooks[hook]();

/** What SillyTavern's extension manager calls by these names; for the first it would wait, so it gets no promise. */
export const onActivate = () => void call('activate');
export const onInstall = () => call('install');
export const onUpdate = () => call('update');
export const onEnable = () => call('enable');
export const onDisable = () => call('disable');
export const onDelete = () => call('delete');
export const onClean = () => call('clean');
