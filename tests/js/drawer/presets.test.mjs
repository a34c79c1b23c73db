import assert from 'node:assert/strict';
import { test } from 'node:test';
import { DEFAULTS, repair } from '../../../extension_js/src/base/settings.js';
import { PRESETS } from '../../../extension_js/src/drawer/presets.js';
import { talk } from '../fakes.mjs';
import { drawer } from './drawer.mjs';

const soul = `s${'1'.repeat(20)}`;
const characters = { 'mira.png': { name: 'Mira', field: { version: 1, soul, config: {} } } };

test('a preset changes its settings alone, shows them, and is known again', async () => {
    const { page, app, shown } = await drawer({ chat: talk(2), characters });
    const before = structuredClone(app.settings());
    page.get('#soulmem_preset').value = 'small';
    await page.get('#soulmem_preset_apply').click();
    assert.deepEqual(app.settings(), { ...before, ...PRESETS.small });
    assert.equal(page.get('#soulmem_budget').value, '500');
    assert.equal(page.get('#soulmem_section_summary').value, 'off');
    assert.match(shown.toasts[0][1], /4 memories and 500 tokens/);
    const again = await drawer({ chat: talk(2), characters }, structuredClone(PRESETS.cheap));
    assert.equal(again.page.get('#soulmem_preset').value, 'cheap');
});

test('every preset is within the bounds of its settings, and the standard one is what is installed', () => {
    for (const [name, preset] of Object.entries(PRESETS)) {
        const settings = repair(structuredClone({ ...DEFAULTS, ...preset }));
        assert.deepEqual({ ...settings, ...preset }, settings, name);
    }
    assert.deepEqual({ ...DEFAULTS, ...PRESETS.standard }, DEFAULTS);
    assert.ok(PRESETS.cheap.budget < PRESETS.small.budget);
    assert.ok(PRESETS.small.budget < PRESETS.large.budget);
});
