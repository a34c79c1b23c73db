import assert from 'node:assert/strict';
import { test } from 'node:test';
import '../../../extension_js/src/pages/settings_page.js';
import { settle } from '../tavern.mjs';
import { memoryWindow } from './window.mjs';

const DRAWER = `
<div id="soulmem_drawer">
<div class="inline-drawer-toggle"><div class="inline-drawer-icon down"></div></div>
<details id="soulmem_advanced"><summary id="expert"></summary></details>
</div>`;

test('a door of the gear closes the window and shows that part of the drawer unfolded', async () => {
    const { openPage, page } = await memoryWindow();
    page.body.insertAdjacentHTML('beforeend', DRAWER);
    const pressed = /** @type {string[]} */ ([]);
    for (const name of ['drawer-toggle', 'inline-drawer-toggle'])
        page.get(`.${name}`).addEventListener('click', () => pressed.push(name));
    let focused = '';
    page.get('#expert').focus = () => (focused = 'expert');
    page.get('#soulmem_advanced').scrollIntoView = () => {};
    await openPage('settings');
    const doors = page.body.querySelectorAll('.soulmem_page .menu_button');
    assert.deepEqual(doors.map(({ dataset }) => dataset.door), ['soulmem_files', 'soulmem_character', 'soulmem_advanced']);
    await doors[2].click();
    await settle();
    assert.equal(page.body.querySelector('#soulmem_browser'), null);
    assert.deepEqual(pressed, ['drawer-toggle', 'inline-drawer-toggle']);
    assert.equal(page.get('#soulmem_advanced').getAttribute('open'), '');
    assert.equal(focused, 'expert');
});
