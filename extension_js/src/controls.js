// What a player sees and presses beside the dot: drawer, memory window, menus, commands, lines under messages.

import { registerCommands } from './commands.js';
import { mountMessageMenu } from './controls/message_menu.js';
import { mountRememberChips } from './controls/remember_chips.js';
import { mountSettingsPanel } from './drawer/settings_panel.js';
import { mountRecallIcons } from './pages/recalled_view.js';
import { registerFunctionTools } from './recall/function_tools.js';

/** @param {import('./app.js').App} app @param {import('./base/strings.js').Say} say */
export async function mountControls(app, say) {
    registerCommands(app, say);
    registerFunctionTools(app, say);
    mountMessageMenu(app, say);
    mountRememberChips(app, say);
    const browser = mountSettingsPanel(app, say).catch(error => {
        console.error('[SoulMem] the settings drawer could not be built', error);
        return null;
    });
    mountRecallIcons(app, say, async (memory, soul) => (await browser)?.open('memories', memory, soul));
    await browser;
}
