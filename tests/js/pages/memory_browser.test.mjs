import assert from 'node:assert/strict';
import { test } from 'node:test';
import { settle } from '../tavern.mjs';
import { entry, memory, memoryWindow } from './window.mjs';

const TABS = ['memories', 'work', 'bin', 'changes', 'waiting'];

test('the window opens on the memories of the open character', async () => {
    const { page, texts, take } = await memoryWindow();
    await page.get('#soulmem_browse').click();
    await settle();
    assert.equal(page.get('#soulmem_tab_her').getAttribute('aria-selected'), 'true');
    await page.get('#soulmem_tab_memories').click();
    await settle();
    assert.deepEqual(texts('.soulmem_item_text'), ['The key hangs behind the clock.']);
    assert.equal(take('GET /memories')[0].query.get('soul'), 's1');
    assert.equal(page.get('#soulmem_who').value, 's1');
    assert.deepEqual(texts('#soulmem_who option'), ['Mira', 'Ben']);
    assert.equal(page.get('#soulmem_who').hidden, false);
    const chosen = TABS.filter(
        name => page.get(`#soulmem_tab_${name}`).getAttribute('aria-selected') === 'true',
    );
    assert.deepEqual(chosen, ['memories']);
});

test('with a single soul there is no choice; a soul that is unknown becomes the first', async () => {
    const { open, page, tavern, replies } = await memoryWindow();
    replies['GET /souls'] = { souls: [{ id: 's2', name: 'Ben' }] };
    tavern.open = [];
    await open();
    assert.equal(page.get('#soulmem_who').value, 's2');
    assert.equal(page.get('#soulmem_who').hidden, true);
});

test('another soul and another page show other memories', async () => {
    const { open, page, take, texts, replies } = await memoryWindow();
    await open();
    take('GET /memories');
    await page.get('#soulmem_who').change('s2');
    await settle();
    assert.equal(take('GET /memories')[0].query.get('soul'), 's2');
    replies['GET /memories'] = { memories: [], cursor: null };
    await page.get('#soulmem_tab_bin').click();
    await settle();
    assert.equal(take('GET /memories')[0].query.get('state'), 'bin');
    assert.ok(texts('.soulmem_hint').length > 0);
    assert.equal(page.get('#soulmem_tab_bin').getAttribute('aria-selected'), 'true');
});

test('a page with unsaved words is left only when the user agrees', async () => {
    const { open, page, user, shown, take } = await memoryWindow();
    await open('memories', 'm1');
    await page.get('#soulmem_text').change('another wording', 'input');
    user.agrees = false;
    await page.get('#soulmem_tab_bin').click();
    await page.get('#soulmem_who').change('s2');
    await settle();
    assert.equal(shown.questions.length, 2);
    assert.equal(page.get('#soulmem_who').value, 's1', 'as before');
    assert.equal(page.get('#soulmem_text').value, 'another wording');
    assert.equal(await shown.popups[0].mayClose(), false);
    take('GET /memories');
    user.agrees = true;
    await page.get('#soulmem_who').change('s2');
    await settle();
    assert.equal(take('GET /memories')[0].query.get('soul'), 's2');
    assert.equal(await shown.popups[0].mayClose(), true);
    assert.equal(shown.questions.length, 4);
});

test('a second window takes the place of the first', async () => {
    const { open, shown, page } = await memoryWindow();
    await open();
    await open('waiting');
    assert.equal(shown.popups.length, 2);
    assert.equal(page.body.querySelectorAll('#soulmem_browser').length, 1);
    shown.popups[1].close();
    await settle();
    await open();
    assert.equal(page.body.querySelectorAll('#soulmem_browser').length, 1);
});

test('a failure is shown and can be tried again', async () => {
    const { open, page, texts, replies } = await memoryWindow();
    replies['GET /souls'] = new Error('the disk is full');
    await open();
    assert.match(page.get('.soulmem_notice').textContent, /the disk is full/);
    assert.equal(page.get('#soulmem_browser').getAttribute('aria-busy'), 'false');
    replies['GET /souls'] = { souls: [{ id: 's1', name: 'Mira' }] };
    await page.get('.soulmem_notice .menu_button').click();
    await settle();
    assert.equal(page.get('.soulmem_notice').textContent, '');
    assert.deepEqual(texts('.soulmem_item_text'), ['The key hangs behind the clock.']);
});

test('the tab shows how many things wait: requests and chats with vanished messages', async () => {
    const { open, page, replies } = await memoryWindow();
    const request = { state: 'awaiting_confirmation', request: 'r1', at: '', quote: '' };
    replies['GET /deletions'] = {
        deletions: [request, { ...request, request: 'r2' }, { ...request, state: 'rejected' }],
    };
    replies['GET /chats'] = {
        chats: [
            { id: 'c1', title: 'now', count: 3, held: { reason: 'mass_removal', count: 30 } },
            { id: 'c2', title: 'then', count: 3, held: null },
        ],
    };
    await open();
    assert.equal(page.get('#soulmem_tab_waiting .soulmem_count').textContent, '3');
    replies['GET /deletions'] = { deletions: [] };
    replies['GET /chats'] = { chats: [] };
    await open();
    assert.equal(page.get('#soulmem_tab_waiting .soulmem_count').textContent, '');
});

test('without souls the window says that nobody remembers, or who was forgotten', async () => {
    const { open, page, texts, replies, asked } = await memoryWindow();
    replies['GET /souls'] = { souls: [] };
    await open();
    assert.match(page.get('.soulmem_page').textContent, /\w/);
    assert.deepEqual(texts('#soulmem_forgotten'), []);
    replies['GET /souls'] = (/** @type {any} */ { query }) => ({
        souls: query.has('state') ? [{ id: 's1', name: 'Mira' }] : [],
    });
    await open();
    assert.match(page.get('#soulmem_forgotten').textContent, /Mira/);
    assert.deepEqual(texts('.soulmem_page p'), []);
    await page.get('.soulmem_revive').click();
    assert.ok(asked.some(({ method, path }) => method === 'PUT' && path === '/souls/s1'));
});

test('the window is also opened from the wand menu and by the button of what waits', async () => {
    const { page, shown, take } = await memoryWindow();
    await page.get('#soulmem_wand').click();
    await settle();
    assert.equal(shown.popups.length, 1);
    await page.get('#soulmem_waiting').click();
    await settle();
    assert.ok(take('GET /deletions').length > 0);
    assert.equal(page.get('#soulmem_tab_waiting').getAttribute('aria-selected'), 'true');
});

test('memories are searched after a pause in typing, and filtered at once', async () => {
    const { open, page, take, pass, texts, replies } = await memoryWindow();
    await open();
    const queries = () => take('GET /memories').map(({ query }) => Object.fromEntries(query));
    assert.deepEqual(queries(), [{ soul: 's1', texts: 'true', state: 'active', limit: '30', reads: 'true' }]);
    replies['GET /memories'] = { memories: [], cursor: null };
    await page.get('#soulmem_search').change(' key ', 'input');
    await settle();
    assert.deepEqual(queries(), []);
    await pass(300);
    assert.deepEqual(queries(), [
        { soul: 's1', q: 'key', state: 'active', match: 'meaning', limit: '30', reads: 'true' },
    ]);
    const nothing = texts('.soulmem_foot')[0];
    await page.get('#soulmem_search').change('', 'input');
    await pass(300);
    assert.notEqual(texts('.soulmem_foot')[0], nothing, 'none found is not none at all');
    queries();
    await page.get('#soulmem_kind').change('note');
    await page.get('#soulmem_which').change('permanent');
    await settle();
    assert.deepEqual(queries(), [
        { soul: 's1', kind: 'note', permanent: 'true', state: 'active', limit: '30', reads: 'true' },
    ]);
    assert.equal(texts('.soulmem_foot')[0], nothing);
    await page.get('#soulmem_which').change('stale');
    await settle();
    assert.deepEqual(queries(), [{ soul: 's1', kind: 'note', state: 'stale', limit: '30', reads: 'true' }]);
});

test('an answer that is overtaken by a later search is not shown', async () => {
    const { open, page, texts, replies } = await memoryWindow();
    await open();
    let answer = (/** @type {unknown} */ _) => {};
    replies['GET /memories'] = () => new Promise(resolve => (answer = resolve));
    await page.get('#soulmem_kind').change('note');
    const first = answer;
    await page.get('#soulmem_which').change('stale');
    answer({ memories: [memory({ text: 'the later' })], cursor: null });
    await settle();
    first({ memories: [memory({ text: 'the earlier' })], cursor: null });
    await settle();
    assert.deepEqual(texts('.soulmem_item_text'), ['the later']);
});

test('a long list goes on with a button, over pages that show nothing', async () => {
    const { open, page, texts, replies } = await memoryWindow();
    const pages = /** @type {Record<string, object>} */ ({
        '': { memories: [memory({ text: 'first' })], cursor: 'a' },
        a: { memories: [], cursor: 'b' },
        b: { memories: [memory({ text: 'second' })], cursor: null },
    });
    replies['GET /memories'] = (/** @type {any} */ { query }) => pages[query.get('cursor') ?? ''];
    await open();
    assert.deepEqual(texts('.soulmem_item_text'), ['first']);
    await page.get('.soulmem_more').click();
    await settle();
    assert.deepEqual(texts('.soulmem_item_text'), ['first', 'second']);
    assert.deepEqual(texts('.soulmem_foot'), ['']);
});

test('a note is written by the user and shown at once; nothing is not written', async () => {
    const { open, page, user, take, replies } = await memoryWindow();
    await open();
    user.types = '  ';
    await page.get('#soulmem_note').click();
    user.types = null;
    await page.get('#soulmem_note').click();
    assert.equal(take('POST /memories').length, 0);
    user.types = ' Ben is afraid of dogs. ';
    replies['POST /memories'] = memory();
    await page.get('#soulmem_note').click();
    await settle();
    assert.equal(take('POST /memories')[0].body.text, 'Ben is afraid of dogs.');
    assert.equal(page.get('#soulmem_text').value, 'The key hangs behind the clock.');
});

test('a memory is opened from the list, and the list comes back', async () => {
    const { open, page, take } = await memoryWindow();
    await open();
    const columns = page.get('.soulmem_columns').classList;
    await page.get('.soulmem_press').click();
    await settle();
    assert.equal(page.get('.soulmem_memory').dataset.memory, 'm1');
    assert.equal(columns.contains('soulmem_has_detail'), true);
    take('GET /memories');
    await page.get('#soulmem_back').click();
    assert.equal(columns.contains('soulmem_has_detail'), false);
    assert.equal(page.body.querySelector('.soulmem_memory'), null);
    assert.equal(take('GET /memories').length, 0, 'nothing changed');
    await page.get('.soulmem_press').click();
    await settle();
    await page.get('#soulmem_lock').click();
    await settle();
    take('GET /memories');
    await page.get('#soulmem_back').click();
    await settle();
    assert.equal(take('GET /memories').length, 1);
});

test('what was done to a memory is shown with the wording before', async () => {
    const { open, page, texts, user, replies } = await memoryWindow();
    replies['GET /memories/m1/history'] = {
        audit: [
            entry({ reason: 'Alice said so', undone: true }),
            entry({ id: 'c0', action: 'undo', reason: 'c9' }),
        ],
        cursor: null,
    };
    await open('memories', 'm1');
    assert.match(texts('.soulmem_wording')[0], /The key .*behind the clock/);
    assert.equal(texts('.soulmem_entry del').length, 2);
    assert.equal(texts('.soulmem_entry_undone').length, 1);
    assert.equal(texts('.soulmem_entry .soulmem_hint').length, 1, 'the reason of an undo is an id');
    await page.get('.soulmem_reuse').click();
    await settle();
    assert.equal(page.get('#soulmem_text').value, 'The key is lost.');
    assert.equal(page.get('#soulmem_save').hidden, false);
    user.agrees = false;
    await page.get('#soulmem_tab_bin').click();
    assert.equal(page.get('#soulmem_text').value, 'The key is lost.');
});

test('arrow keys, Home and End move the focus along the tabs, around the ends', async () => {
    const { open, page } = await memoryWindow();
    await open();
    const [tabs] = page.body.querySelectorAll('.soulmem_tabs');
    const all = tabs.children;
    const at = () => all.findIndex(tab => tab === /** @type {any} */ (document.activeElement));
    for (const tab of all)
        tab.focus = () => Object.assign(document, { activeElement: tab });
    all[0].focus();
    const places = [];
    for (const key of ['ArrowRight', 'End', 'ArrowRight', 'ArrowLeft', 'Home', 'x']) {
        await tabs.happen('keydown', { key });
        places.push(at());
    }
    const end = all.length - 1;
    assert.deepEqual(places, [1, end, 0, end, 0, 0]);
});

test('four pages and a gear hold every part, each below the page where it belongs', async () => {
    const { open, page } = await memoryWindow();
    await open();
    const below = (/** @type {any} */ element) => element.children.map((/** @type {any} */ tab) => tab.id);
    assert.deepEqual(below(page.get('.soulmem_page_tabs')), [
        'soulmem_tab_her',
        'soulmem_tab_memories',
        'soulmem_tab_people',
        'soulmem_tab_recall',
        'soulmem_gear',
    ]);
    const parts = page.get('.soulmem_parts').children;
    assert.deepEqual(parts.map(below), [
        ['soulmem_part_her', 'soulmem_tab_habits', 'soulmem_tab_fading'],
        [],
        ['soulmem_part_people', 'soulmem_tab_heart', 'soulmem_tab_graph'],
        [],
        ['settings', 'bin', 'changes', 'work', 'check', 'waiting'].map(name => `soulmem_tab_${name}`),
    ]);
    const seen = () => parts.map(row => !row.hidden);
    await page.get('#soulmem_tab_memories').click();
    await settle();
    assert.deepEqual(seen(), [false, false, false, false, false]);
    await page.get('#soulmem_gear').click();
    await settle();
    assert.deepEqual(seen(), [false, false, false, false, true]);
    const isChosen = (/** @type {string} */ id) => page.get(id).getAttribute('aria-selected');
    assert.deepEqual([isChosen('#soulmem_gear'), isChosen('#soulmem_tab_settings')], ['true', 'true']);
});

test('a part that is opened by its old name lies below its page, and Tab goes to chosen tabs alone', async () => {
    const { open, page } = await memoryWindow({ answers: { 'GET /jobs': { jobs: [] } } });
    await open('changes');
    assert.equal(page.get('#soulmem_gear').getAttribute('aria-selected'), 'true');
    const reached = page.body
        .querySelectorAll('.soulmem_tab')
        .filter(tab => tab.getAttribute('tabindex') === '0')
        .map(tab => tab.attributes.get('id'));
    assert.deepEqual(reached, ['soulmem_gear', 'soulmem_tab_changes']);
});

test('the page of the character bears its name, also when another one is chosen', async () => {
    const { open, page, texts } = await memoryWindow();
    await open();
    assert.equal(texts('#soulmem_tab_her span')[0], 'Mira');
    const who = page.get('#soulmem_who');
    who.value = 's2';
    await who.happen('change');
    await settle();
    assert.equal(texts('#soulmem_tab_her span')[0], 'Ben');
});
