// Builds the extension. It is loaded once SillyTavern is ready: what replies and the dot need at once, the rest when
// the page has nothing else to do.

import { createApp } from './app.js';
import { createHooks } from './hooks.js';
import { offerToForget } from './drawer/delete_chat_dialog.js';
import { mountHealthDot } from './drawer/health_dot.js';
import { createSay, loadEnglish } from './base/strings.js';
import { createHost } from './tavern/host.js';
import { whenQuiet } from './base/dom.js';

const host = createHost(() => globalThis.SillyTavern.getContext());
const app = createApp(host);
const say = createSay(await loadEnglish(), host.translate);

/** What the extension manager calls. */
export const hooks = createHooks(app, say);

/** Called by SillyTavern before each reply. */
export const { intercept } = app.recaller;

const mounted = /** @type {Promise<void>} */ (new Promise(whenQuiet))
    .then(() => import('./controls.js'))
    .then(controls => controls.mountControls(app, say))
    .catch(error => console.error('[SoulMem] what is pressed could not be built', error));
Object.assign(globalThis, { soulmem: app.handle });
mountHealthDot(app, say, mounted);
offerToForget(app, say); // hears of a deleted card before the app, which forgets whose soul it had
void app.start();
