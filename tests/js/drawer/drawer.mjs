// The settings drawer of a connected extension.

import { mountSettingsPanel } from '../../../extension_js/src/drawer/settings_panel.js';
import { newPage, SETTINGS_HTML } from '../dom.mjs';
import { fakeApp } from '../fake_app.mjs';
import { say } from '../texts.mjs';

/** The drawer of a connected extension.
 * @param {Parameters<typeof fakeApp>[0]} [about] @param {object} [settings] stored before, apart from the defaults */
export async function drawer(about, settings = {}) {
    const page = newPage('<div id="extensions_settings2"></div><div id="extensionsMenu"></div>');
    const scene = fakeApp(about);
    Object.assign(scene.tavern.settings, settings);
    Object.assign(scene.app.host, { template: async () => SETTINGS_HTML });
    await scene.app.link.check();
    const browser = await mountSettingsPanel(scene.app, say);
    return { ...scene, page, browser };
}
