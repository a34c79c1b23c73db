import assert from 'node:assert/strict';
import { test } from 'node:test';
import { createTavernFiles } from '../../../extension_js/src/tavern/tavern_files.js';

/** @param {Record<string, unknown>} answers by path */
function scene(answers) {
    const asked = /** @type {[string, any][]} */ ([]);
    const doFetch = async (/** @type {string} */ path, /** @type {any} */ { body }) => {
        asked.push([path, JSON.parse(body)]);
        return path in answers ? Response.json(answers[path]) : new Response('', { status: 404 });
    };
    const host = { headers: () => ({ 'X-CSRF-Token': 't' }), worldsOf: async () => ['Isles'] };
    return { files: createTavernFiles(host, /** @type {any} */ (doFetch)), asked };
}

test('past chats are listed without their ending, an error lists none', async () => {
    const { files, asked } = scene({
        '/api/characters/chats': [
            { file_name: 'a.jsonl' },
            { file_name: 'b - Branch #1.jsonl' },
            {},
        ],
    });
    assert.deepEqual(await files.chats('mira.png'), ['a', 'b - Branch #1']);
    assert.deepEqual(asked, [['/api/characters/chats', { avatar_url: 'mira.png', simple: true }]]);
    assert.deepEqual(
        await scene({ '/api/characters/chats': { error: true } }).files.chats('mira.png'),
        [],
    );
});

test('files come as they are', async () => {
    const { files, asked } = scene({
        '/api/chats/export': { result: '{"x":1}\n' },
        '/api/characters/export': { name: 'Mira' },
        '/api/worldinfo/get': { entries: {} },
    });
    assert.equal(await files.chat('mira.png', 'a'), '{"x":1}\n');
    assert.deepEqual(asked[0][1], {
        avatar_url: 'mira.png',
        is_group: false,
        file: 'a.jsonl',
        exportfilename: 'a.jsonl',
        format: 'jsonl',
    });
    assert.equal(await files.card('mira.png'), '{"name":"Mira"}');
    assert.equal(await files.world('Isles'), '{"entries":{}}');
    assert.deepEqual(await files.worlds('mira.png'), ['Isles']);
});

test('a refusal is an error that says where', async () => {
    await assert.rejects(scene({}).files.chat('mira.png', 'gone'), /\/api\/chats\/export 404/);
});
