import assert from 'node:assert/strict';
import { test } from 'node:test';
import { openChat } from './scene.mjs';

test('the macro gives one section of what was injected, or all of it', async () => {
    const { shown, app, tavern } = await openChat();
    const texts = { self: 'habit', episodes: 'scene', facts: 'fact', impulses: 'urge' };
    Object.assign(app.recaller, { texts: () => texts, text: () => 'all' });
    const { soulmem } = shown.macros;
    assert.equal(soulmem(), 'all');
    assert.equal(soulmem(' Facts '), 'fact');
    assert.equal(soulmem('habits'), 'habit\nurge');
    assert.equal(soulmem('summary'), '');
    assert.equal(soulmem('nonsense'), '');
    assert.equal(soulmem('constructor'), '', 'a word that every object has');
    assert.equal(soulmem('count'), '0');
    assert.equal(soulmem('intent'), '');
    tavern.metadata.soulmem = { intent: 'to leave {{user}}' };
    assert.equal(soulmem('intent'), 'to leave Alice');
});
