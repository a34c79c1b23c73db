import assert from 'node:assert/strict';
import { test } from 'node:test';
import { talk } from '../fakes.mjs';
import { settle } from '../tavern.mjs';
import { drawer } from './drawer.mjs';

const soul = `s${'1'.repeat(20)}`;
const QVINK = '{"chat_metadata": {}}\n{"mes": "a", "extra": {"qvink_memory": {"memory": "b"}}}';
const BOOK = '{"entries": {"0": {"content": "The mill burns.", "stmemorybooks": true}}}';

/** @param {object} [answers] */
async function files(answers = {}) {
    let jobs = 0;
    const started = /** @type {any[]} */ ([]);
    const scene = await drawer({
        chat: talk(2),
        characters: { 'mira.png': { name: 'Mira: "M"', field: { version: 1, soul, config: {} } } },
        answers: {
            'POST /api/characters/chats': [{ file_name: 'Mira - then.jsonl' }],
            'POST /api/chats/export': { result: QVINK },
            'POST /import': (/** @type {any} */ { body }) => {
                started.push(body);
                return { job: `j${++jobs}` };
            },
            'GET /export': { type: 'bundle' },
            'POST /undo': { changes: ['c'], memories: ['n1', 'n2'], edges: 0, skipped: [] },
            ...answers,
        },
    });
    for (const id of [1, 2, 3, 4, 5, 6]) {
        scene.replies[`GET /jobs/j${id}`] ??= {
            job: `j${id}`,
            state: 'done',
            progress: { done: 2, total: 2 },
            result: { added: 2, changed: 0 },
        };
    }
    const { page } = scene;
    /** @param {string} id */
    async function press(id) {
        void page.get(`#soulmem_${id}`).click();
        for (let i = 0; i < 24; i++) await settle();
    }
    /** @param {string} id @param {string} name @param {string} text of the chosen file */
    async function choose(id, name, text) {
        Object.assign(page.get(`#soulmem_${id}`), { files: [{ name, text: async () => text }] });
        await page.get(`#soulmem_${id}`).happen('change');
        for (let i = 0; i < 24; i++) await settle();
    }
    const words = () => page.get('#soulmem_files_text').textContent;
    return { ...scene, started, press, choose, words };
}

test('all characters are backed up where the sidecar runs, and the file is named', async () => {
    const { press, words, asked } = await files({ 'POST /jobs': { job: 'j1' }, 'GET /jobs/j1': { job: 'j1', state: 'done',
        progress: { done: 1, total: 1 }, result: { file: 'backups/a.zip' } } });
    await press('backup');
    assert.match(words(), /backups\/a\.zip/);
    assert.deepEqual(asked.find(({ path }) => path === '/jobs')?.body, { kind: 'backup', soul });
});

test('a backup that fails says why', async () => {
    const { press, words } = await files({ 'POST /jobs': { job: 'j1' }, 'GET /jobs/j1': { job: 'j1', state: 'failed',
        progress: { done: 0, total: 1 }, result: null, error: 'the disk is full' } });
    await press('backup');
    assert.match(words(), /the disk is full/);
});

test('the whole memory is saved under a name that every system takes', async () => {
    const { press, shown, words } = await files();
    await press('soul_export');
    const [[name, content]] = shown.downloads;
    assert.equal(name, 'SoulMem - Mira_ _M_.jsonl');
    assert.equal(await content.text(), '{"type":"bundle"}');
    assert.match(words(), /^Saved: SoulMem/);
});

test('such a file is taken in after a question, and taken back with a button', async () => {
    const { choose, started, shown, words, page, press, take, user } = await files();
    user.agrees = false;
    await choose('bundle_file', 'mira.jsonl', '{"type": "bundle"}');
    assert.deepEqual([started.map(body => body.dry_run), words()], [[true], '']);
    assert.match(shown.questions[0], /memory of Mira.*mira\.jsonl: 2 new memories/);
    user.agrees = true;
    await choose('bundle_file', 'mira.jsonl', '{"type": "bundle"}');
    assert.deepEqual(
        started.map(body => [body.format, body.dry_run]),
        [
            ['bundle', true],
            ['bundle', true],
            ['bundle', false],
        ],
    );
    assert.match(words(), /^Imported for Mira.*: 2 memories\.$/);
    assert.equal(page.get('#soulmem_files_undo').hidden, false);
    await press('files_undo');
    assert.deepEqual(take('POST /undo')[0].body, { soul, job: 'j3' });
    assert.equal(words(), 'Taken back: 2 memories.');
    assert.equal(page.get('#soulmem_files_undo').hidden, true);
});

test('stores of other extensions are looked for in chats, worlds and the data bank', async () => {
    const { press, started, shown, replies, words } = await files();
    shown.lorebook = 'Mill';
    shown.dataBank = [
        { name: 'mira.md', url: '/files/mira.md' },
        { name: 'other.md', url: '/files/other.md' },
        { name: 'gone.md', url: '/files/gone.md' },
    ];
    replies['POST /api/worldinfo/get'] = JSON.parse(BOOK);
    replies['GET /files/mira.md'] = { memory: '<memory chat="a">' };
    replies['GET /files/other.md'] = { text: 'a recipe' };
    replies['GET /files/gone.md'] = new Error('gone');
    await press('stores');
    const dry = started.filter(body => body.dry_run);
    assert.deepEqual(
        dry.map(body => [body.format, body.name]),
        [
            ['memory_store', 'Mira - then.jsonl'],
            ['memory_store', 'mira.md'],
            ['memory_store', 'Mill.json'],
        ],
    );
    assert.match(shown.questions[0], /then\.jsonl: 2 new memories.*mira\.md.*Mill\.json/);
    assert.equal(started.length, 6);
    assert.match(words(), /6 memories/);
});

test('nothing to import, and what cannot be read, are told in words', async () => {
    const none = await files({ 'POST /api/chats/export': { result: '{"mes": "a"}' } });
    await none.press('stores');
    assert.match(none.words(), /^No memories of other extensions were found for Mira/);
    const stale = await files({
        'GET /jobs/j1': { job: 'j1', state: 'done', progress: {}, result: { added: 0 } },
    });
    await stale.choose('store_file', 'old.md', '<memory>');
    assert.match(stale.words(), /^There is nothing new for Mira/);
    const broken = await files({
        'GET /jobs/j1': { job: 'j1', state: 'failed', progress: {}, error: 'no memories of' },
    });
    await broken.choose('store_file', 'x.txt', 'words');
    assert.equal(broken.words(), 'x.txt cannot be imported: no memories of');
    broken.tavern.open = [];
    await broken.press('soul_export');
    assert.equal(broken.words(), 'Open a chat first.');
});

test('of several files the one before a failure can be taken back', async () => {
    const progress = { done: 0, total: 2 };
    const failed = { job: 'j4', state: 'failed', progress, error: 'the disk is full' };
    const { press, shown, words, page, take, replies } = await files({ 'GET /jobs/j4': failed });
    shown.lorebook = 'Mill';
    replies['POST /api/worldinfo/get'] = JSON.parse(BOOK);
    await press('stores');
    assert.match(words(), /cannot be imported: the disk is full/);
    assert.equal(page.get('#soulmem_files_undo').hidden, false);
    await press('files_undo');
    assert.deepEqual(take('POST /undo').map(({ body }) => body.job), ['j3']);
});

test('an import under way can be stopped', async () => {
    const { press, words, replies, page, take, pass } = await files();
    replies['GET /jobs/j1'] = { job: 'j1', state: 'running', progress: { done: 0, total: 9 } };
    await press('stores');
    assert.equal(page.get('#soulmem_files_cancel').hidden, false);
    void page.get('#soulmem_files_cancel').click();
    replies['DELETE /jobs/j1'] = () => {
        replies['GET /jobs/j1'] = { job: 'j1', state: 'cancelled', progress: {} };
        return {};
    };
    await pass(300);
    for (let i = 0; i < 6; i++) await settle();
    assert.match(words(), /^Stopped/);
    assert.equal(take('DELETE /jobs/j1').length, 1);
    assert.equal(page.get('#soulmem_files_cancel').hidden, true);
});

test('the world that another chat is bound to is looked into, each world once', async () => {
    const bound = (/** @type {string} */ world) =>
        `${JSON.stringify({ chat_metadata: { world_info: world } })}\n{"mes": "a"}`;
    const { press, replies, started, shown, take } = await files({
        'POST /api/characters/chats': [{ file_name: 'a.jsonl' }, { file_name: 'b.jsonl' }],
    });
    shown.lorebook = 'Mill';
    const chats = [bound('Oaths'), bound('Mill')];
    replies['POST /api/chats/export'] = () => ({ result: chats.shift() });
    replies['POST /api/worldinfo/get'] = JSON.parse(BOOK);
    await press('stores');
    assert.deepEqual(
        started.filter(body => body.dry_run).map(body => body.name),
        ['Mill.json', 'Oaths.json'],
    );
    assert.deepEqual(
        take('POST /api/worldinfo/get').map(({ body }) => body.name),
        ['Mill', 'Oaths'],
    );
});

test('a second import of the same store says that nothing is new, and why the rest stays out', async () => {
    const result = {
        ...{ added: 0, changed: 0, removed: 0, memories: 9, messages: 0 },
        ...{ kept: 1, absent: 2, unlinked: 0, disabled: 3, broken: [{ where: '4' }] },
    };
    const progress = { done: 9, total: 9 };
    const done = { job: 'j1', state: 'done', progress, result };
    const { choose, words, started, shown } = await files({ 'GET /jobs/j1': done });
    await choose('store_file', 'old.json', BOOK);
    assert.deepEqual(words().split('\n'), [
        'There is nothing new for Mira: "M" in it.',
        'Left out: 2, because their messages are not in memory (deleted, changed, forgotten, or still the newest).',
        'Left as it is: 1 that you changed, or that is in the bin and can be restored there.',
        'Left out: 3 that are switched off or excluded there.',
        'Left out: 1 part that cannot be read.',
    ]);
    assert.deepEqual([started.length, shown.questions], [1, []]);
});

test('the question says what comes, what follows the file, what goes and what is not linked', async () => {
    const result = { added: 4, changed: 1, removed: 2, memories: 9, unlinked: 3, broken: [] };
    const progress = { done: 9, total: 9 };
    const done = { job: 'j1', state: 'done', progress, result };
    const { choose, shown, user } = await files({ 'GET /jobs/j1': done });
    user.agrees = false;
    await choose('store_file', 'old.json', BOOK);
    const [question] = shown.questions;
    assert.match(question, /old\.json: 4 new memories/);
    assert.match(question, /1 memory of an earlier import follows the file/);
    assert.match(question, /2 memories of an earlier import go, because the file no longer has them/);
    assert.match(question, /3 belong to chats that are not imported/);
    assert.doesNotMatch(question, /Left|comes once/);
});

test('what a stopped import had made by then can be taken back', async () => {
    const { press, replies, page, take, pass, words } = await files();
    const begin = { done: 0, total: 0 }; // the file is not read yet
    replies['GET /jobs/j2'] = { job: 'j2', state: 'running', progress: begin };
    await press('stores');
    assert.equal(words(), 'Looking into Mira - then.jsonl');
    const progress = { done: 50, total: 90 };
    replies['GET /jobs/j2'] = { job: 'j2', state: 'running', progress };
    await pass(300);
    for (let i = 0; i < 6; i++) await settle();
    assert.equal(words(), 'Mira - then.jsonl: 50 of 90');
    void page.get('#soulmem_files_cancel').click();
    replies['DELETE /jobs/j2'] = () => {
        replies['GET /jobs/j2'] = { job: 'j2', state: 'cancelled', progress };
        return {};
    };
    await pass(300);
    for (let i = 0; i < 6; i++) await settle();
    assert.match(words(), /^Stopped/);
    await press('files_undo');
    assert.deepEqual(take('POST /undo').map(({ body }) => body.job), ['j2']);
    assert.equal(words(), 'Taken back: 2 memories.');
});
