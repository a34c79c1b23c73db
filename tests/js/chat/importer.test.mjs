import assert from 'node:assert/strict';
import { test } from 'node:test';
import {
    branchedFrom,
    createImporter,
    parentsFirst,
} from '../../../extension_js/src/chat/importer.js';

/** @typedef {import('../../../extension_js/src/chat/importer.js').Source} Source */

const ABOUT = { soul: 's1', avatar: 'mira.png', persona: 'Alice', leaveOut: null };
const header = (/** @type {object} */ metadata = {}) => JSON.stringify({ chat_metadata: metadata });

/** Files of SillyTavern, and a sidecar whose jobs take three looks.
 * @param {{chats?: Record<string, string>, worlds?: Record<string, string>, failing?: string[], losing?: string[]}} [about] */
function scene({ chats = {}, worlds = {}, failing = [], losing = [] } = {}) {
    const sent = /** @type {any[]} */ ([]);
    const bodies = /** @type {any[]} */ ([]);
    const cancelled = /** @type {string[]} */ ([]);
    const looks = /** @type {Map<string, number>} */ (new Map());
    const files = {
        chats: async () => Object.keys(chats),
        chat: async (/** @type {string} */ _avatar, /** @type {string} */ name) => chats[name],
        card: async () => '{"name":"Mira"}',
        worlds: async () => Object.keys(worlds),
        world: async (/** @type {string} */ name) => worlds[name],
    };
    const ask = async (
        /** @type {string} */ method,
        /** @type {string} */ path,
        /** @type {any} */ body,
    ) => {
        if (method === 'POST') {
            sent.push(body);
            return { job: `j${bodies.push(body) - 1}` };
        }
        const job = path.split('/')[2];
        const { name, format, text, dry_run } = bodies[Number(job.slice(1))];
        if (method === 'DELETE') cancelled.push(job);
        const look = (looks.get(job) ?? 0) + 1;
        looks.set(job, look);
        const done = Math.min(look - 1, 2);
        const count = text.split('\n').length - 1;
        const result =
            format === 'st_chat'
                ? {
                      messages: count,
                      added: count,
                      changed: 0,
                      minutes: 0.5,
                      held: losing.includes(name) ? { reason: 'mass_removal', count: 9 } : null,
                  }
                : {
                      ...{ memories: 3, added: 2, changed: 1, names: 4, minutes: 0.25 },
                      ...{ disabled: 1, instructions: 3 },
                  };
        const over = failing.includes(name) ? 'failed' : 'done';
        const state = cancelled.includes(job) ? 'cancelled' : look < 3 ? 'running' : over;
        return {
            state,
            progress: { done, total: 2 },
            result: state === 'done' ? { ...result, dry_run } : null,
            error: null,
        };
    };
    const importer = createImporter(/** @type {any} */ (files), ask, async () => undefined);
    return { importer, sent, cancelled, chats };
}

test('the quote adds up what is new, and changes nothing', async () => {
    const { importer, sent } = scene({
        chats: { a: `${header()}\n1\n2`, b: header() },
        worlds: { Isles: '{}' },
    });
    const { sources, quote } = await importer.preflight(
        ABOUT,
        () => undefined,
        new AbortController().signal,
    );
    assert.deepEqual(
        sent.map(({ dry_run, format, name, soul, persona }) => [
            dry_run,
            format,
            name,
            soul,
            persona,
        ]),
        [
            [true, 'card', 'mira.png', 's1', 'Alice'],
            [true, 'world_info', 'Isles', 's1', 'Alice'],
            [true, 'st_chat', 'a', 's1', 'Alice'],
            [true, 'st_chat', 'b', 's1', 'Alice'],
        ],
    );
    assert.deepEqual(quote, {
        messages: 2,
        added: 2,
        changed: 0,
        memories: 6,
        names: 8,
        minutes: 1.5,
        chats: 2,
        worlds: 1,
        disabled: 2,
        instructions: 6,
        failed: [],
    });
    assert.deepEqual(
        sources.map(({ name }) => name),
        ['mira.png', 'Isles', 'a', 'b'],
    );
});

test('the open chat is left out, what cannot be read or would lose messages is named', async () => {
    const { importer } = scene({
        chats: { open: header(), torn: header(), short: header(), good: header() },
        failing: ['torn'],
        losing: ['short'],
    });
    const { sources, quote } = await importer.preflight(
        { ...ABOUT, leaveOut: 'open' },
        () => undefined,
        new AbortController().signal,
    );
    assert.deepEqual(quote.failed, ['torn', 'short']);
    assert.deepEqual(
        sources.map(({ name }) => name),
        ['mira.png', 'good'],
    );
});

test('everything goes in, chats before their branches, and the steps are told', async () => {
    const { importer, sent } = scene({
        chats: { branch: `${header({ main_chat: 'main' })}\n1`, main: `${header()}\n1\n2` },
    });
    const signal = new AbortController().signal;
    const { sources } = await importer.preflight(ABOUT, () => undefined, signal);
    sent.length = 0;
    const steps = /** @type {string[]} */ ([]);
    const done = await importer.run(
        sources,
        ABOUT,
        ({ file, files, name, done, total }) =>
            steps.push(`${file}/${files} ${name} ${done}/${total}`),
        signal,
    );
    assert.deepEqual(
        sent.map(({ dry_run, name }) => [dry_run, name]),
        [
            [false, 'mira.png'],
            [false, 'main'],
            [false, 'branch'],
        ],
    );
    assert.deepEqual(done, { messages: 3, memories: 3, failed: [] });
    assert.deepEqual(steps.slice(-4), [
        '3/3 branch 0/0',
        '3/3 branch 0/2',
        '3/3 branch 1/2',
        '3/3 branch 2/2',
    ]);
});

test('stopped, the running job is cancelled and nothing more is sent', async () => {
    const { importer, sent, cancelled } = scene({ chats: { a: header(), b: header() } });
    const stop = new AbortController();
    const { sources } = await importer.preflight(ABOUT, () => undefined, stop.signal);
    sent.length = 0;
    const going = importer.run(
        sources,
        ABOUT,
        ({ name, done }) => {
            if (name === 'a' && done === 1) stop.abort();
        },
        stop.signal,
    );
    await assert.rejects(going, { name: 'AbortError' });
    assert.deepEqual(cancelled, ['j4'], 'the second after three of the preflight');
    assert.deepEqual(
        sent.map(({ name }) => name),
        ['mira.png', 'a'],
    );
});

test('stopped within the last file, the import was stopped, and one cancelled elsewhere failed', async () => {
    const last = scene({ chats: { a: header() } });
    const stop = new AbortController();
    const sources = /** @type {Source[]} */ ([{ format: 'st_chat', name: 'a', from: null }]);
    const stopAtOnce = (/** @type {{done: number}} */ { done }) => done === 1 && stop.abort();
    await assert.rejects(last.importer.run(sources, ABOUT, stopAtOnce, stop.signal), {
        name: 'AbortError',
    });
    const other = scene({ chats: { a: header() } });
    const cancel = (/** @type {{done: number}} */ { done }) => done === 1 && other.cancelled.push('j0');
    const going = other.importer.run(sources, ABOUT, cancel, new AbortController().signal);
    assert.deepEqual(await going, { messages: 0, memories: 0, failed: ['a'] });
});

test('a file that fails stops nothing', async () => {
    const { importer } = scene({
        chats: { a: `${header()}\n1`, b: `${header()}\n1` },
        failing: ['a'],
    });
    const sources = /** @type {Source[]} */ (
        ['a', 'b'].map(name => ({ format: 'st_chat', name, from: null }))
    );
    const done = await importer.run(sources, ABOUT, () => undefined, new AbortController().signal);
    assert.deepEqual(done, { messages: 1, memories: 0, failed: ['a'] });
});

test('what a chat was branched from stands in its first line, if anywhere', () => {
    assert.equal(branchedFrom(`${header({ main_chat: 'main' })}\n{"mes":"x"}`), 'main');
    for (const text of ['', '{', 'null', header(), header({ main_chat: 7 }), '{"mes":"x"}\n'])
        assert.equal(branchedFrom(text), null, text);
});

test('a circle of branches has no first one and loses none', () => {
    const chat = (/** @type {string} */ name, /** @type {string | null} */ from) =>
        /** @type {Source} */ ({ format: 'st_chat', name, from });
    const names = (/** @type {Source[]} */ sources) =>
        parentsFirst(sources).map(({ name }) => name);
    assert.deepEqual(names([chat('c', 'b'), chat('b', 'a'), chat('a', null)]), ['a', 'b', 'c']);
    assert.deepEqual(names([chat('x', 'y'), chat('y', 'x'), chat('z', 'gone')]), ['z', 'x', 'y']);
});
