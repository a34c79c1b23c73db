// The extension's entry: SillyTavern loads it as an ES module and calls the interceptor by its global name.

import { createApp } from './src/app.js';
import { registerCommands } from './src/commands.js';
import { mountHealthDot } from './src/drawer/health_dot.js';
import { offerToForget } from './src/drawer/delete_chat_dialog.js';
import { createHost } from './src/tavern/host.js';
import { mountSettingsPanel } from './src/drawer/settings_panel.js';
import { mountRecallIcons } from './src/pages/recalled_view.js';
import { createSay } from './src/base/strings.js';

const host = createHost(() => globalThis.SillyTavern.getContext());
const app = createApp(host);

Object.assign(globalThis, { soulmemInterceptor: app.recaller.intercept, soulmem: app.handle });

host.on('APP_READY', () => {
    const say = createSay(host.translate);
    registerCommands(app, say);
    offerToForget(app, say);
    mountHealthDot(app, say);
    const browser = mountSettingsPanel(app, say).catch(error => {
        console.error('[SoulMem] the settings drawer could not be built', error);
        return null;
    });
    mountRecallIcons(app, say, async (memory, soul) =>
        (await browser)?.open('memories', memory, soul),
    );
    void app.start();
});
