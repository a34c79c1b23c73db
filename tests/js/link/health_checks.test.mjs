import assert from 'node:assert/strict';
import { test } from 'node:test';
import { checklist, stepText } from '../../../extension_js/src/link/health_checks.js';
import { API, judge } from '../../../extension_js/src/link/connection.js';
import { say } from '../texts.mjs';

/** @typedef {import('../../../extension_js/src/base/types.js').Health} Health */

const KEEPER = { chat: 'c1', reading: null, error: null, quarantine: null };
const WELL = /** @type {Health} */ ({
    status: 'ok',
    version: '1',
    api: API,
    store: { state: 'ok', detail: '' },
    embedder: { state: 'ok', model: '/models/e5', dim: 384, fallback: false },
    llm: { state: 'off', model: null },
    pending: 0,
    notes: [],
});

const OPEN = {
    enabled: true,
    mode: /** @type {const} */ ('auto'),
    direct: null,
    page: { loopback: true, secure: true },
    slow: false,
    quarantined: false,
    vectors: false,
    notInPrompt: false,
    readOnly: false,
    chatOff: false,
};

/** @param {Partial<Health>} health @param {{readOnly?: boolean, chatOff?: boolean}} [wish] */
function seen(health, wish = {}) {
    const link = judge({ ...OPEN, plugin: { health: { ...WELL, ...health } }, ...wish });
    const state = { ...link, error: null };
    return {
        signs: checklist(state, KEEPER, 'U', say),
        step: stepText(state, { folder: 'F', origin: 'O', url: 'U', quarantined: 0 }, say),
    };
}
/** @param {ReturnType<typeof seen>} view */
const troubles = view => view.signs.filter(check => check.sign !== 'yes').map(check => check.text);

test('all well has no trouble and no next step', () => {
    assert.deepEqual(troubles(seen({})), []);
    assert.equal(seen({}).step, '');
    assert.ok(
        seen({}).signs.some(check => check.text === 'Model for recall: e5'),
        'a folder goes by its name',
    );
});

test('without a model for recall it is said that words alone find memories', () => {
    const none = { state: 'none', model: 'none', dim: /** @type {any} */ (null), fallback: false };
    const [told] = troubles(seen({ embedder: none }));
    assert.match(told ?? '', /by their words only/);
});

test('a large soul that is being opened tells how far it is', () => {
    const opening = [{ soul: 's', name: 'Mira', memories: 1200, of: 90000 }];
    const [told] = troubles(seen({ opening }));
    const figures = [1200, 90000].map(n => n.toLocaleString());
    assert.ok(['Mira', ...figures].every(part => told?.includes(part)), told);
    const [some] = troubles(seen({ opening: [{ soul: 's', name: 'Tom', memories: 7, of: null }] }));
    assert.match(some ?? '', /Tom: 7 read so far/);
});

test('a store that cannot be written is named with its reason, in the list and as the next step', () => {
    const view = seen({
        status: 'degraded',
        store: { state: 'ok', detail: 'the disk of D: is full: free some space' },
    });
    assert.deepEqual(troubles(view), ['Memory store: the disk of D: is full: free some space']);
    assert.match(view.step, /remember nothing new.*free some space/);
});

test('read-only and a forgotten chat are said, and how to end them', () => {
    assert.deepEqual(troubles(seen({}, { readOnly: true })), ['Read-only']);
    assert.match(seen({}, { readOnly: true }).step, /Untick/);
    assert.deepEqual(troubles(seen({}, { chatOff: true })), ['This chat is not remembered']);
    assert.match(seen({}, { chatOff: true }).step, /Remember it again/);
});

test('the model for memory work is told when there is one, by its state', () => {
    const line = (/** @type {{state: string, model: string}} */ llm) =>
        seen({ llm }).signs.find(check => check.text.includes('memory work'));
    assert.equal(line({ state: 'off', model: '' }), undefined);
    assert.deepEqual(line({ state: 'ok', model: 'qwen' }), {
        sign: 'yes',
        text: 'Model for memory work: qwen',
    });
    assert.deepEqual(line({ state: 'error', model: 'client' }), {
        sign: 'warn',
        text: "Model for memory work: SillyTavern's connection",
    });
});

test('a lag is the next step, with the minutes where they are known', () => {
    const link = /** @type {any} */ ({ state: 'ok', step: 'indexing', via: 'plugin', health: WELL, error: null });
    const facts = { folder: 'F', origin: 'O', url: 'U', quarantined: 0 };
    const textOf = (/** @type {number | null} */ seconds) =>
        stepText({ ...link, lag: { n: 1434, seconds } }, facts, say);
    assert.match(textOf(null), /1434 memories are found only by words so far, not yet/);
    assert.match(textOf(130), /in about 3 minutes/);
    assert.match(textOf(20), /in about 1 minute\./);
});

test('a chat that is open is named before anything of it is stored', () => {
    const link = { ...judge({ ...OPEN, plugin: { health: WELL } }), error: null };
    const texts = (/** @type {string | null} */ name) =>
        checklist(link, { ...KEEPER, chat: null }, 'U', say, name).map(({ text }) => text);
    assert.ok(texts('Mira - today').some(text => /Open chat: Mira - today/.test(text)));
    assert.ok(texts(null).includes('No chat open'));
});
