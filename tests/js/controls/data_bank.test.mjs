import assert from 'node:assert/strict';
import { test } from 'node:test';
import { note, openChat } from './scene.mjs';

test('what the character remembers becomes one text file, kind by kind, without macros', async () => {
    const pages = /** @type {Record<string, any>} */ ({
        fact: { memories: [note({ kind: 'fact', text: 'Bo is late.' })], cursor: null },
        note: { memories: [note({ text: '{{x}} is a note' })], cursor: null },
        episode: { memories: [note({ kind: 'episode', text: 'Bo came.' })], cursor: 'more' },
    });
    const { shown, app } = await openChat({
        characters: { 'mira.png': { name: 'Mira: the "witch"' } },
        answers: {
            'GET /memories': (/** @type {any} */ { query }) => {
                if (query.get('cursor')) return { memories: [note({ text: 'Bo sang.' })] };
                return pages[query.get('kind')] ?? { memories: [], cursor: null };
            },
        },
    });
    const source = shown.sources.soulmem;
    const [file] = await source.scrape();
    assert.equal(file.name, 'SoulMem - Mira_ the _witch_.md');
    assert.equal(
        await file.text(),
        '# fact\n\n- Bo is late.\n\n# note\n\n- { {x}} is a note\n\n# moment\n\n- Bo came.\n- Bo sang.',
    );
    assert.equal(await source.isAvailable(), true);
    app.host.stored().enabled = false;
    assert.equal(await source.isAvailable(), false);
});

test('without memories, or without a chat, there is no file and the user is told why', async () => {
    const { shown, toasts, tavern } = await openChat({
        answers: {
            'GET /memories': { memories: [], cursor: null },
        },
    });
    assert.deepEqual(await shown.sources.soulmem.scrape(), []);
    tavern.name = '';
    assert.deepEqual(await shown.sources.soulmem.scrape(), []);
    assert.deepEqual(toasts(), [
        ['warning', 'Mira remembers nothing yet.'],
        ['warning', 'Open a chat first.'],
    ]);
});
