import assert from 'node:assert/strict';
import { test } from 'node:test';
import { deepSearch } from '../../../extension_js/src/recall/deep_search.js';

/** A sidecar whose job goes through these states; an Error is a look that fails.
 * @param {...(string | Error)} states */
function sidecar(...states) {
    const calls = /** @type {any[]} */ ([]);
    return {
        calls,
        memoryApi: /** @type {any} */ ({
            startJob: async (/** @type {any[]} */ ...about) => {
                calls.push(['start', ...about]);
                return 'j1';
            },
            job: async (/** @type {string} */ job) => {
                const state = states.length > 1 ? states.shift() : states[0];
                if (state instanceof Error) throw state;
                return { job, state };
            },
            cancelJob: async (/** @type {string} */ job) => {
                calls.push(['cancel', job]);
                states.splice(0, states.length, 'running', 'cancelled');
            },
        }),
    };
}
const QUESTION = /** @type {const} */ ({
    soul: 's1',
    chat: 'c1',
    query: 'Where?',
    language: 'zh',
});

/** Pauses take no time. @param {() => Promise<any>} work */
async function quickly(work) {
    const { setTimeout: start } = globalThis;
    const pauses = /** @type {number[]} */ ([]);
    Object.assign(globalThis, {
        setTimeout: (/** @type {any} */ run, /** @type {number} */ delay) => {
            pauses.push(delay);
            return start(run, 0);
        },
    });
    try {
        return { result: await work(), pauses };
    } finally {
        Object.assign(globalThis, { setTimeout: start });
    }
}

test('a deep search is a job that is looked at until it has ended', async () => {
    const { memoryApi, calls } = sidecar('queued', 'running', 'done');
    const seen = /** @type {string[]} */ ([]);
    const shown = (/** @type {any} */ job) => seen.push(job.state);
    const { result, pauses } = await quickly(() => deepSearch(memoryApi, QUESTION, { shown }));
    assert.equal(result.state, 'done');
    assert.deepEqual(seen, ['queued', 'running', 'done']);
    const { soul, ...question } = QUESTION;
    assert.deepEqual(calls, [['start', soul, 'deep', question]]);
    assert.deepEqual(pauses, [400, 400]);
});

test('without a chat the whole memory is searched', async () => {
    const { memoryApi, calls } = sidecar('done');
    await deepSearch(memoryApi, { ...QUESTION, chat: '' });
    assert.deepEqual(calls[0][3], { query: 'Where?', language: 'zh' });
});

for (const end of ['failed', 'cancelled'])
    test(`a job that is ${end} has ended, too`, async () => {
        const { memoryApi } = sidecar(end);
        assert.equal((await deepSearch(memoryApi, QUESTION)).state, end);
    });

test('a search that is not wanted any more is stopped once', async () => {
    const { memoryApi, calls } = sidecar('running');
    const seen = /** @type {string[]} */ ([]);
    const watcher = {
        shown: (/** @type {any} */ job) => seen.push(job.state),
        isUnwanted: () => seen.length > 0,
    };
    const { result } = await quickly(() => deepSearch(memoryApi, QUESTION, watcher));
    assert.equal(result.state, 'cancelled');
    assert.deepEqual(calls.slice(1), [['cancel', 'j1']]);
});

test('single failures are waited out; when they go on, the search fails', async () => {
    const away = new Error('away');
    const short = sidecar(away, away, 'running', away, away, away, away, 'done');
    const { result } = await quickly(() => deepSearch(short.memoryApi, QUESTION));
    assert.equal(result.state, 'done');
    const long = sidecar(away);
    await assert.rejects(
        quickly(() => deepSearch(long.memoryApi, QUESTION)),
        /away/,
    );
});

test('a search that cannot be started fails', async () => {
    const memoryApi = /** @type {any} */ ({
        startJob: async () => {
            throw new Error('no job of kind "deep"');
        },
    });
    await assert.rejects(deepSearch(memoryApi, QUESTION), /no job of kind/);
});
