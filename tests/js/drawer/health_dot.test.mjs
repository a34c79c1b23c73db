import assert from 'node:assert/strict';
import { test } from 'node:test';
import { mountHealthDot } from '../../../extension_js/src/drawer/health_dot.js';
import { newPage } from '../dom.mjs';
import { fakeApp } from '../fake_app.mjs';
import { say } from '../texts.mjs';

const PAGE = `
<div id="leftSendForm"></div>
<div id="extensions-settings-button"><div class="drawer-toggle"></div></div>
<div id="rm_extensions_block">
    <div id="soulmem_drawer">
        <div class="inline-drawer-toggle"></div>
        <div class="inline-drawer-icon down"></div>
    </div>
</div>`;

async function dotOnPage() {
    const page = newPage(PAGE);
    const scene = fakeApp();
    await scene.app.link.check();
    const mounted = Promise.resolve();
    mountHealthDot(scene.app, say, mounted);
    assert.notEqual(page.get('#soulmem_dot').dataset.state, 'ok', 'not before all is there');
    await mounted;
    return { ...scene, page, dot: page.get('#soulmem_dot') };
}

test('the dot shows the state and, in its tooltip, the last recall', async () => {
    const { app, dot } = await dotOnPage();
    assert.equal(dot.dataset.state, 'ok');
    assert.equal(dot.title, 'SoulMem: Memory is ready');
    assert.equal(dot.getAttribute('aria-label'), dot.title);
    const record = {
        error: null,
        memories: [{}, {}],
        sent: ['m1', 'm2'],
        tokens: 70,
        took_ms: { total: 12.4 },
        withheld: 3,
    };
    app.recaller.last = () => /** @type {any} */ (record);
    app.notify();
    assert.match(dot.title, /2 recalled for the last reply \(70 tokens, 12 ms\)/);
    app.recaller.last = () => /** @type {any} */ ({ ...record, memories: [], sent: [] });
    app.notify();
    assert.match(dot.title, /called for nothing beyond what stands in the prompt \(3 withheld, 12 ms\)/);
    const none = { ...record, memories: [], sent: [], withheld: 0 };
    app.recaller.last = () => /** @type {any} */ (none);
    app.notify();
    assert.match(dot.title, /Nothing recalled for the last reply/);
    app.recaller.last = () => /** @type {any} */ ({ ...record, sent: [], nowhere: true });
    app.notify();
    assert.match(dot.title, /2 recalled for the last reply, none of them in the prompt/);
    app.recaller.last = () => /** @type {any} */ ({ ...record, error: { kind: 'timeout', message: 'late' } });
    app.notify();
    assert.match(dot.title, /No memories for the last reply: SoulMem did not answer in time/);
});

test('the dot is busy while a chat is being read, not while one is only synced or stopped', async () => {
    const { app, dot } = await dotOnPage();
    const busy = (/** @type {object} */ state) => {
        Object.assign(app.chatSync.state, state);
        app.notify();
        return dot.classList.contains('soulmem_busy');
    };
    const reading = { done: 1, total: 9 };
    assert.equal(busy({ reading: null, syncing: true }), false);
    assert.equal(busy({ reading, syncing: true }), true);
    assert.equal(busy({ reading, syncing: false }), false);
});

test('a press opens what is closed and leaves open what is open', async () => {
    const { page, dot, pass } = await dotOnPage();
    let panels = 0;
    let drawers = 0;
    page.get('.drawer-toggle').addEventListener('click', () => panels++);
    page.get('.inline-drawer-toggle').addEventListener('click', () => drawers++);
    await dot.click();
    assert.deepEqual([panels, drawers], [1, 1]);
    await pass(300);
    assert.equal(page.get('#soulmem_drawer').scrolls, 1);
    page.get('#rm_extensions_block').classList.add('openDrawer');
    page.get('.inline-drawer-icon').classList.remove('down');
    await dot.click();
    assert.deepEqual([panels, drawers], [1, 1]);
});

test('Enter and Space press the dot as a click does, other keys do not', async () => {
    const { page, dot } = await dotOnPage();
    let panels = 0;
    page.get('.drawer-toggle').addEventListener('click', () => panels++);
    for (const key of ['Enter', ' ', 'Tab', 'a']) await dot.happen('keydown', { key });
    assert.equal(panels, 2);
});

test('a reply shows once, and for a moment, how many memories it got', async () => {
    const { app, page, happen, pass } = await dotOnPage();
    const noteOf = () => page.body.querySelector('#soulmem_flash')?.textContent;
    const record = { error: null, memories: [{}], sent: ['m1'], tokens: 7, took_ms: {} };
    app.recaller.last = () => /** @type {any} */ (record);
    await happen('MESSAGE_RECEIVED', 1, 'normal');
    assert.match(noteOf() ?? '', /1/);
    await pass(4000);
    assert.equal(noteOf(), undefined);
    await happen('MESSAGE_RECEIVED', 2, 'normal');
    assert.equal(noteOf(), undefined, 'that recall was shown');
    app.recaller.last = () => /** @type {any} */ ({ ...record, sent: [] });
    await happen('MESSAGE_RECEIVED', 3, 'normal');
    assert.equal(noteOf(), undefined, 'nothing went into the prompt');
});
