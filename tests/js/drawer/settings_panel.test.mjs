import assert from 'node:assert/strict';
import { test } from 'node:test';
import { mountSettingsPanel } from '../../../extension_js/src/drawer/settings_panel.js';
import { newPage } from '../dom.mjs';
import { fakeApp, HEALTH } from '../fake_app.mjs';
import { say } from '../texts.mjs';
import { talk } from '../fakes.mjs';
import { settle } from '../tavern.mjs';
import { drawer } from './drawer.mjs';

test('the switch of the function tools takes effect at once', async () => {
    const { app, page, tavern } = await drawer();
    let told = 0;
    app.subscribe(() => told++);
    assert.equal(page.get('#soulmem_tools').checked, false);
    await page.get('#soulmem_tools').tick(true);
    assert.equal(tavern.settings.tools, true);
    assert.ok(told > 0);
});

test('without a place on the page there is no drawer', async () => {
    newPage();
    assert.equal(await mountSettingsPanel(fakeApp().app, say), null);
});

test('the drawer shows the settings and saves what the user changes', async () => {
    const { page, tavern, shown } = await drawer();
    assert.equal(page.get('#soulmem_enabled').checked, true);
    assert.equal(page.get('#soulmem_quiet').checked, false);
    assert.equal(page.get('#soulmem_budget').value, '1200');
    const { min, max } = page.get('#soulmem_budget');
    assert.deepEqual([min, max], ['100', '8000']);
    await page.get('#soulmem_quiet').tick(true);
    await page.get('#soulmem_budget').change('90');
    assert.equal(tavern.settings.quiet, true);
    assert.equal(tavern.settings.budget, 100, 'at least');
    assert.equal(page.get('#soulmem_budget').value, '100', 'as it was corrected');
    assert.equal(shown.settingsSaves, 2);
});

test('an address that is none is refused and the old one stays', async () => {
    const { page, tavern, shown } = await drawer();
    await page.get('#soulmem_url').change('somewhere');
    assert.equal(tavern.settings.url, 'http://127.0.0.1:8731');
    assert.equal(page.get('#soulmem_url').value, 'http://127.0.0.1:8731');
    assert.match(shown.toasts[0][1], /"somewhere" is no address/);
    await page.get('#soulmem_url').change(' 10.0.0.7:8731 ');
    assert.equal(tavern.settings.url, 'http://10.0.0.7:8731');
    assert.equal(shown.toasts.length, 1);
});

test('a setting of the connection is followed by a check, another is not', async () => {
    const { page, take, app } = await drawer();
    take('GET /health');
    await page.get('#soulmem_depth').change('7');
    await settle();
    assert.equal(take('GET /health').length, 0);
    await page.get('#soulmem_route').change('plugin');
    await settle();
    assert.equal(take('GET /health').length, 1);
    await page.get('#soulmem_enabled').tick(false);
    await settle();
    assert.equal(app.link.state().state, 'off');
    assert.equal(page.get('#soulmem_health').dataset.state, 'off');
});

test('forgetting, restraint and scope of all characters are sent with the next sync', async () => {
    for (const change of [
        async (/** @type {any} */ page) => page.get('#soulmem_forgetting').change('0.4'),
        async (/** @type {any} */ page) => page.get('#soulmem_restraint').change('0.4'),
        async (/** @type {any} */ page) => page.get('#soulmem_scope').change('chat'),
    ]) {
        const { page, pass, asked } = await drawer({ chat: talk(2) });
        await pass(1000);
        asked.splice(0);
        await change(page);
        await pass(1000);
        assert.ok(asked.some(({ method, path }) => method === 'PUT' && path.startsWith('/souls/')));
        asked.splice(0);
        await page.get('#soulmem_depth').change('9');
        await pass(1000);
        assert.deepEqual(asked, []);
    }
});

test('the token is kept in this browser and empty removes it', async () => {
    const { page, app } = await drawer();
    await page.get('#soulmem_token').change(' secret ');
    assert.equal(app.token.get(), 'secret');
    assert.equal(page.storage.get('soulmem_token'), 'secret');
    await page.get('#soulmem_token').change('');
    assert.equal(page.storage.has('soulmem_token'), false);
});

test('profiles are shown only when the sidecar asks through SillyTavern, and an unknown one is none', async () => {
    const { page, app, replies, shown } = await drawer();
    const label = page.get('label.soulmem_llm');
    const select = page.get('#soulmem_llm_profile');
    assert.deepEqual([label.hidden, select.hidden, select.children.length], [true, true, 1]);
    replies['GET /health'] = { ...HEALTH, llm: { state: 'ok', model: 'client' } };
    app.settings().llm_profile = 'p2';
    await app.link.check();
    assert.deepEqual([label.hidden, select.hidden], [false, false]);
    assert.deepEqual(
        select.children.map(option => option.textContent),
        ['the current connection', 'Large', 'Small'],
    );
    assert.equal(select.value, 'p2');
    const options = select.children;
    app.settings().llm_profile = 'gone';
    app.notify();
    assert.equal(select.value, '');
    assert.equal(select.children[0], options[0], 'the same list is left alone');
    await select.change('p1');
    assert.equal(app.settings().llm_profile, 'p1');
    assert.equal(shown.settingsSaves, 1);
});

test('the health of memory is shown as a list with signs', async () => {
    const { page } = await drawer();
    assert.equal(page.get('#soulmem_state').textContent, 'Memory is ready');
    const checks = page.get('#soulmem_checks').children;
    assert.deepEqual(
        checks.map(check => [check.className, check.textContent]),
        [
            ['soulmem_yes', 'Switched on'],
            ['soulmem_yes', 'Connection: server plugin'],
            ['soulmem_yes', 'SoulMem 1.2.3'],
            ['soulmem_yes', 'Memory store'],
            ['soulmem_yes', 'Model for recall: e5'],
            ['soulmem_wait', 'Open chat: Mira - now. Nothing of it is stored yet.'],
        ],
    );
    assert.equal(page.get('#soulmem_held').hidden, true);
});

test('the six weights of a character are ratios; the defaults and nothing at all are not saved', async () => {
    const { app, page } = await drawer({ characters: { 'mira.png': { name: 'Mira' } } });
    const weight = (/** @type {string} */ factor) => page.get(`#soulmem_weight_${factor}`);
    const ownWeights = async () => (await app.host.cardField('mira.png'))?.config?.weights;
    assert.equal(weight('importance').value, '3');
    await weight('importance').change('9');
    await settle();
    const saved = await ownWeights();
    assert.deepEqual([saved?.importance, saved?.recency, saved?.feedback], [0.9, 0.2, 0.1]);
    assert.equal(weight('importance').value, '9');
    await weight('importance').change('3');
    await settle();
    assert.equal(await ownWeights(), null);
    for (const factor of ['importance', 'recency', 'uses', 'refractory', 'content', 'feedback']) {
        await weight(factor).change('0');
        await settle();
    }
    assert.equal(await ownWeights(), null);
});
