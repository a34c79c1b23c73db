import assert from 'node:assert/strict';
import { test } from 'node:test';
import { settle } from '../tavern.mjs';
import { drawer } from './drawer.mjs';

test('the card counts what the chosen character remembers, and never what another does', async () => {
    const { app, page, tavern, replies } = await drawer();
    tavern.characters['ben.png'] = { name: 'Ben' };
    tavern.settings.souls = { 'mira.png': 's1' };
    replies['GET /overview'] = { memories: 12, permanent: 2, today: 3 };
    const counts = () => page.get('#soulmem_card_counts').textContent;
    const show = async () => {
        app.notify();
        await settle();
    };
    await show();
    assert.equal(counts(), '12 memories, 2 for ever, 3 from today');
    tavern.open = ['ben.png'];
    await show();
    assert.equal(counts(), '', 'nothing is stored of Ben yet');
    tavern.open = ['mira.png'];
    replies['GET /overview'] = { memories: 0, permanent: 0, today: 0 };
    await show();
    assert.equal(counts(), 'Nothing is remembered yet');
});
