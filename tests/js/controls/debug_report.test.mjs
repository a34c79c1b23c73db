import assert from 'node:assert/strict';
import { test } from 'node:test';
import { note, openChat } from './scene.mjs';

test('the report has the last recall and the state, but no text of chats and memories', async () => {
    const { shown, app, toasts } = await openChat();
    const item = { memory: 'n1', text: 'SECRET', tokens: 3 };
    const record = {
        ...{ trace: 't1', speaker: 'SECRET', sent: ['n1'], tokens: 7 },
        memories: [{ ...note({ text: 'SECRET' }), score: 0.5, why: 'SECRET' }],
        blocks: [{ section: 'facts', text: 'SECRET', items: [item], tokens: 7 }],
    };
    Object.assign(app.recaller, { last: () => record });
    const console = globalThis.console.info;
    globalThis.console.info = () => {};
    await shown.debug.soulmem_report();
    globalThis.console.info = console;
    const [[name, content]] = shown.downloads;
    const text = await content.text();
    assert.equal(name, 'soulmem-report.json');
    assert.doesNotMatch(text, /SECRET/);
    const report = JSON.parse(text);
    assert.deepEqual(
        [report.last_recall.trace, report.last_recall.memories[0].id, report.last_recall.blocks],
        ['t1', 'n1', [{ section: 'facts', tokens: 7, items: 1 }]],
    );
    assert.equal(report.settings.souls, undefined);
    assert.equal(report.messages, 3);
    assert.equal(toasts()[0][0], 'success');
});
