import assert from 'node:assert/strict';
import { test } from 'node:test';
import { quoteView } from '../../../extension_js/src/drawer/import_button.js';
import { newPage } from '../dom.mjs';
import { HEALTH } from '../fake_app.mjs';
import { say } from '../texts.mjs';
import { talk } from '../fakes.mjs';
import { settle } from '../tavern.mjs';
import { drawer } from './drawer.mjs';

const soul = `s${'1'.repeat(20)}`;
const RESULT = { messages: 8, added: 5, changed: 1, memories: 2, names: 3, minutes: 0.2 };

/** A drawer whose character has one past chat, beside the open one, and a card. */
function importScene(/** @type {object} */ about = {}) {
    const job = { job: 'j1', kind: 'import', state: 'done', progress: {}, result: RESULT };
    return drawer({
        chat: talk(2),
        characters: {
            'mira.png': { name: 'Mira', field: { version: 1, soul, config: {} } },
            'ben.png': { name: 'Ben', field: undefined },
        },
        answers: {
            'POST /api/characters/chats': [
                { file_name: 'Mira - now.jsonl' },
                { file_name: 'Mira - then.jsonl' },
            ],
            'POST /api/characters/export': { name: 'Mira' },
            'POST /api/chats/export': { result: '{"chat_metadata": {}}\n' },
            'POST /import': job,
            'GET /jobs/j1': job,
        },
        ...about,
    });
}

test('everything of a character is imported after its price was agreed to', async () => {
    const { page, shown, take, user, sidecar } = await importScene();
    user.agrees = false;
    await page.get('#soulmem_import').click();
    await settle();
    await settle();
    assert.match(shown.questions[0], /everything of Mira.*Past chats: 1, with 8 messages, 6 of/);
    assert.match(shown.questions[0], /less than a minute/);
    assert.deepEqual(
        take('POST /import').map(({ body }) => body.dry_run),
        [true, true],
    );
    assert.equal(page.get('#soulmem_import_text').textContent, '');
    user.agrees = true;
    await page.get('#soulmem_import').click();
    for (let i = 0; i < 6; i++) await settle();
    assert.deepEqual(
        take('POST /import').map(({ body }) => body.dry_run),
        [true, true, false, false],
    );
    assert.match(page.get('#soulmem_import_text').textContent, /for Mira: messages 6, mem.* 6/);
    assert.equal(sidecar.bodies.at(-1)?.messages.length, 2, 'the open chat is read, too');
    assert.deepEqual(
        ['#soulmem_import', '#soulmem_import_cancel', '#soulmem_import_progress'].map(
            id => page.get(id).hidden,
        ),
        [false, true, true],
    );
});

test('an import shows how far it is, can be stopped, and is offered to go on', async () => {
    const { page, replies, app, tavern, pass, take } = await importScene();
    const finished = replies['GET /jobs/j1'];
    const job = { job: 'j1', kind: 'import', state: 'running', progress: { done: 1, total: 4 } };
    replies['POST /import'] = (/** @type {any} */ { body }) => {
        replies['GET /jobs/j1'] = body.dry_run ? finished : job;
        return job;
    };
    await page.get('#soulmem_import').click();
    for (let i = 0; i < 4; i++) await settle();
    const bar = page.get('#soulmem_import_progress');
    assert.deepEqual([bar.hidden, Number(bar.max), Number(bar.value)], [false, 2, 0.25]);
    assert.equal(page.get('#soulmem_import_text').textContent, '1 of 2: mira.png, 1 of 4');
    assert.equal(page.get('#soulmem_import').hidden, true);
    await page.get('#soulmem_import_cancel').click();
    replies['GET /jobs/j1'] = { ...job, state: 'cancelled' };
    await pass(300);
    assert.equal(take('DELETE /jobs/j1').length, 1);
    assert.match(page.get('#soulmem_import_text').textContent, /Stopped/);
    assert.equal(page.get('#soulmem_import_label').textContent, 'Go on importing');
    tavern.open = ['ben.png'];
    app.notify();
    assert.equal(page.get('#soulmem_import_text').textContent, '', 'of another character');
    assert.notEqual(page.get('#soulmem_import_label').textContent, 'Go on importing');
});

test('an import that fails says why', async () => {
    const { page, replies } = await importScene();
    replies['POST /api/characters/export'] = Object.assign(new Error('no'), { status: 500 });
    await page.get('#soulmem_import').click();
    for (let i = 0; i < 4; i++) await settle();
    assert.match(page.get('#soulmem_import_text').textContent, /import failed: .* 500/);
    assert.notEqual(page.get('#soulmem_import_label').textContent, 'Go on importing');
});

test('nobody, or somebody who was forgotten, is not imported', async () => {
    const { page, tavern, shown, take, app } = await importScene();
    tavern.open = [];
    await page.get('#soulmem_import').click();
    await settle();
    assert.equal(shown.toasts.at(-1)?.[1], 'Open a chat first.');
    tavern.open = ['mira.png'];
    app.people.isForgotten = () => true;
    await page.get('#soulmem_import').click();
    await settle();
    assert.match(shown.toasts.at(-1)?.[1] ?? '', /was forgotten completely/);
    assert.equal(take('POST /import').length, 0);
});

test('an import looks for a sidecar that was away', async () => {
    const { page, replies, app, take, user } = await importScene();
    replies['GET /health'] = Object.assign(new Error('away'), { status: 502 });
    await app.link.check();
    replies['GET /health'] = HEALTH;
    user.agrees = false;
    await page.get('#soulmem_import').click();
    for (let i = 0; i < 4; i++) await settle();
    assert.equal(take('POST /import').length, 2);
});

test('the price names files that cannot be read, and minutes from one on', () => {
    newPage();
    const quote = {
        ...{ messages: 0, added: 0, changed: 0, memories: 0, names: 0, chats: 0, worlds: 0 },
        ...{ disabled: 0, instructions: 0, minutes: 1.2 },
        failed: [],
    };
    const rows = (/** @type {object} */ about) =>
        /** @type {any} */ (quoteView({ ...quote, ...about }, 'Mira', say))
            .querySelectorAll('li')
            .map((/** @type {any} */ item) => item.textContent);
    assert.equal(rows({}).length, 4);
    assert.match(rows({})[2], /about 2 minutes/);
    assert.match(rows({ minutes: 0.9 })[2], /less than a minute/);
    assert.match(rows({ failed: ['Mira - then', 'Mira - old'] })[4], /Mira - then, Mira - old/);
    assert.match(rows({ disabled: 2 })[2], /Left out: 2 that are switched off/);
    assert.match(rows({ instructions: 5 })[2], /orders to the model and code in 5 entries/);
});
