// Builds the extension. It is loaded once SillyTavern is ready.

import { createApp } from './app.js';
import { registerCommands } from './commands.js';
import { mountMessageMenu } from './controls/message_menu.js';
import { mountRememberChips } from './controls/remember_chips.js';
import { mountHealthDot } from './drawer/health_dot.js';
import { offerToForget } from './drawer/delete_chat_dialog.js';
import { registerFunctionTools } from './recall/function_tools.js';
import { createHooks } from './hooks.js';
import { createHost } from './tavern/host.js';
import { mountSettingsPanel } from './drawer/settings_panel.js';
import { mountRecallIcons } from './pages/recalled_view.js';
import { createSay, loadEnglish } from './base/strings.js';

const host = createHost(() => globalThis.SillyTavern.getContext());
const app = createApp(host);
const say = createSay(await loadEnglish(), host.translate);

/** What the extension manager calls. */
export const hooks = createHooks(app, say);

Object.assign(globalThis, { soulmem: app.handle });

/** Called by SillyTavern before each reply. */
export const { intercept } = app.recaller;

registerCommands(app, say);
registerFunctionTools(app, say);
offerToForget(app, say);
mountHealthDot(app, say);
mountMessageMenu(app, say);
mountRememberChips(app, say);
const browser = mountSettingsPanel(app, say).catch(error => {
    console.error('[SoulMem] the settings drawer could not be built', error);
    return null;
});
mountRecallIcons(app, say, async (memory, soul) =>
    (await browser)?.open('memories', memory, soul),
);
void app.start();
