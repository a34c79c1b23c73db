import assert from 'node:assert/strict';
import fs from 'node:fs';
import { test } from 'node:test';
import { createHooks } from '../../extension_js/src/hooks.js';
import { newPage } from './dom.mjs';
import { fakeApp } from './fake_app.mjs';
import { say } from './texts.mjs';

const root = new URL('../../', import.meta.url);
const read = (/** @type {string} */ path) => fs.readFileSync(new URL(path, root), 'utf8');

/** @param {object} [about] */
function hooks(about) {
    newPage();
    const scene = fakeApp(about);
    return { ...scene, hooks: createHooks(scene.app, say) };
}

test('every hook of the manifest is exported under its name, and there is one for each', () => {
    const { hooks: named } = JSON.parse(read('manifest.json'));
    const code = read('extension_js/index.js');
    const { hooks: made } = hooks();
    assert.deepEqual(Object.keys(named).sort(), Object.keys(made).sort());
    for (const [hook, name] of Object.entries(named))
        assert.match(code, new RegExp(`export const ${name} = .*call\\('${hook}'\\);`), name);
});

test('each hook says what is left to do', () => {
    const scene = hooks();
    for (const hook of /** @type {const} */ (['install', 'update', 'enable', 'disable', 'delete'])) {
        scene.hooks[hook]();
        const text = scene.shown.toasts.pop()?.[1] ?? '';
        assert.match(text, /SoulMem|extension/, hook);
    }
});

test('activation completes the stored settings', () => {
    const scene = hooks();
    scene.tavern.settings = /** @type {any} */ ({ budget: 'much' });
    scene.hooks.activate();
    assert.deepEqual([scene.tavern.settings.budget, scene.tavern.settings.depth], [1200, 4]);
});

test('a disabled extension leaves the prompt, a cleaned one its settings and its token', () => {
    const scene = hooks();
    const key = 'soulmem_4_episodes';
    scene.tavern.prompts.set(key, /** @type {any} */ ({ key, text: 'memories' }));
    scene.hooks.disable();
    assert.equal(scene.tavern.prompts.size, 0);
    scene.app.token.set('secret');
    scene.hooks.clean();
    assert.equal(scene.app.token.get(), '');
    assert.ok(scene.shown.dropped > 0 && scene.shown.settingsSaves > 0);
});
