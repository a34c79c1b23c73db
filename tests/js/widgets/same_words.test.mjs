import assert from 'node:assert/strict';
import { test } from 'node:test';
import { removedWords } from '../../../extension_js/src/widgets/same_words.js';
import { settle } from '../tavern.mjs';
import { memory, memoryWindow } from '../pages/window.mjs';

test('the words that a correction took out', () => {
    for (const [before, after, words] of [
        ['Al: I hate almonds.', 'Al: I hate walnuts.', 'almonds'],
        ['He moved to Riga last year.', 'He moved to Lund two years ago.', 'Riga last year'],
        ['I keep bees.', 'I keep many bees.', ''],
        ['I keep bees.', 'I keep bees!', ''],
        ['bees', 'wasps', 'bees'],
        ['no no no', 'no no', 'no'],
        ['我最讨厌吃杏仁。', '我最讨厌吃花生。', '杏仁'],
        ['他住在里加。', '他住在伦敦。', '里加'],
        [`It was ${'so '.repeat(30)}cold.`, 'It was warm.', ''],
    ]) {
        assert.equal(removedWords(before, after), words, before);
    }
});

test('after a correction, others that say the same are named, and opened by a press', async () => {
    const said = memory({ id: 'm1', text: 'Al: I hate almonds.' });
    const hers = memory({ id: 'm2', text: 'Mira: No almonds for you, I know.' });
    const other = memory({ id: 'm3', text: 'Al: I hate the cold.' });
    const scene = await memoryWindow({
        answers: {
            'GET /memories/m1': said,
            'GET /memories/m2': hers,
            'GET /memories/m2/history': { audit: [], cursor: null },
            'GET /memories': { memories: [said, hers, other], cursor: null },
        },
    });
    await scene.open('memories', 'm1');
    const { page, texts } = scene;
    await page.get('#soulmem_text').change('Al: I hate walnuts.', 'input');
    await page.get('#soulmem_save').click();
    await settle();
    assert.match(page.get('#soulmem_same_words').textContent, /“almonds” also stands in 1 other memory/);
    assert.deepEqual(texts('#soulmem_same_words li'), [hers.text]);
    await page.body.querySelectorAll('#soulmem_same_words .soulmem_press')[0]?.click();
    await settle();
    assert.equal(page.get('.soulmem_memory').dataset.memory, 'm2');
});
