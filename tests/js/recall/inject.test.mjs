import assert from 'node:assert/strict';
import { test } from 'node:test';
import {
    budgetFor,
    injections,
    neutralise,
    PROMPT_KEYS,
    retrim,
    without,
} from '../../../extension_js/src/recall/inject.js';

/** @typedef {import('../../../extension_js/src/base/types.js').Block} Block */
/** @typedef {import('../../../extension_js/src/base/types.js').Memory} Memory */

/** @param {string[]} texts @param {Partial<Block>} [more] @returns {Block} */
function block(texts, more = {}) {
    const items = texts.map((text, i) => ({
        memory: `${more.section ?? 'e'}${i}`,
        text: `- ${text}`,
        tokens: text.length,
    }));
    return {
        section: 'episodes',
        position: 'in_chat',
        depth: 4,
        role: 'system',
        tokens: 0,
        text: ['[Earlier]', ...items.map(item => item.text)].join('\n'),
        items,
        ...more,
    };
}
/** @param {string} id @param {Partial<Memory>} [more] @returns {Memory} */
const memory = (id, more = {}) => ({
    id,
    kind: 'episode',
    text: '',
    score: 1,
    hops: 0,
    permanent: false,
    why: '',
    path: [],
    sources: [],
    age_turns: 1,
    visibility: 1,
    ...more,
});
const letters = async (/** @type {string} */ text) => text.length;

for (const [text, wanted] of [
    ['{{setvar::pwn::yes}}', '{ {setvar::pwn::yes}}'],
    ['{{{x}}}', '{ { {x}}}'],
    ['{ {ok}', '{ {ok}'],
    ['a {single} b', 'a {single} b'],
    [String.raw`\{\{setvar::x::1\}\}`, String.raw`\{ \{setvar::x::1\}\}`],
    [String.raw`{\{setvar::x::1}\}`, String.raw`{ \{setvar::x::1}\}`],
    [String.raw`\\{\\{user}}`, String.raw`\\{ \\{user}}`],
    [
        '<USER>, <bot>, <Char>, <group>, <charIfNotGroup>, <userland>',
        '< USER>, < bot>, < Char>, < group>, < charIfNotGroup>, <userland>',
    ],
    ['<%= evil() %>', '< %= evil() %>'],
    ['1 < 2 and 5%', '1 < 2 and 5%'],
]) {
    test(`${text} becomes ${wanted}`, () => {
        assert.equal(neutralise(text), wanted);
        assert.doesNotMatch(neutralise(text), /\{\\*\{|<%/);
    });
}

test('the budget is the setting, and never more than its share of the context', () => {
    assert.equal(budgetFor(1200, 32_000), 1200);
    assert.equal(budgetFor(1200, 4000), 480);
    assert.equal(budgetFor(1200, 0), 1200);
});

test('items are cut out of a block whole, the header stays', () => {
    assert.equal(
        without(block(['one', 'two', 'three']), new Set(['e1'])),
        '[Earlier]\n- one\n- three',
    );
    assert.equal(without(block(['one', 'two']), new Set(['e0'])), '[Earlier]\n- two');
    assert.equal(without(block(['one']), new Set(['e0'])), null);
    assert.equal(without(block(['same', 'same']), new Set(['e0'])), '[Earlier]\n- same');
});

test('a scene stands above its first item, whatever is cut out', () => {
    const scenes = ['2 days ago:', '2 days ago:', 'Earlier today:'];
    const texts = ['one', 'two', 'three'];
    const items = texts.map((text, i) => ({ memory: `e${i}`, text, tokens: 1, scene: scenes[i] }));
    const whole = block(texts, {
        text: '[Earlier]\n2 days ago:\none\ntwo\nEarlier today:\nthree',
        items,
    });
    const left = (/** @type {string[]} */ ...dropped) => without(whole, new Set(dropped));
    assert.equal(left(), whole.text);
    assert.equal(left('e0'), '[Earlier]\n2 days ago:\ntwo\nEarlier today:\nthree');
    assert.equal(left('e0', 'e1'), '[Earlier]\nEarlier today:\nthree');
    assert.equal(left('e2'), '[Earlier]\n2 days ago:\none\ntwo');
});

test('a block that only says what is unknown stays as it is', () => {
    const unknown = block([], { text: '[Mira has no memory of:]\nKaldor' });
    assert.equal(without(unknown, new Set(['e1'])), unknown.text);
});

test('a block whose text is not its items is not cut but dropped', () => {
    assert.equal(without(block(['one', 'two'], { text: 'something else' }), new Set(['e0'])), null);
});

test('what fits is left alone', async () => {
    const { texts, trimmed, tokens } = await retrim(
        [block(['one', 'two'])],
        [memory('e0'), memory('e1')],
        1000,
        letters,
    );
    assert.deepEqual([texts, trimmed], [['[Earlier]\n- one\n- two'], []]);
    assert.equal(tokens, texts[0]?.length);
});

test('the lowest ranked go first, whatever their place in the block', async () => {
    const { texts, trimmed } = await retrim(
        [block(['old and best', 'middle', 'new but worst'])],
        [memory('e0'), memory('e1'), memory('e2')],
        35,
        letters,
    );
    assert.deepEqual(trimmed, ['e2']);
    assert.equal(texts[0], '[Earlier]\n- old and best\n- middle');
});

test('permanent memories go last', async () => {
    const memories = [memory('e0'), memory('e1', { permanent: true })];
    const { trimmed } = await retrim([block(['found', 'promise'])], memories, 22, letters);
    assert.deepEqual(trimmed, ['e0']);
});

test('the budget holds for any blocks and any tokenizer, and only whole memories are sent', async () => {
    for (let seed = 1; seed < 200; seed++) {
        const size = (/** @type {number} */ i) => 1 + ((seed * 31 + i * 17) % 90);
        const blocks = [
            block([0, 1, 2].map(i => 'a'.repeat(size(i)))),
            block(
                [3, 4].map(i => '林'.repeat(size(i))),
                { section: 'facts' },
            ),
        ];
        const ids = blocks.flatMap(block => block.items.map(item => item.memory));
        const greedy = async (/** @type {string} */ text) => text.length * (1 + (seed % 3));
        const budget = seed * 3;
        const { texts, tokens, trimmed } = await retrim(
            blocks,
            ids.map(id => memory(id)),
            budget,
            greedy,
        );
        const real = (await Promise.all(texts.map(text => (text ? greedy(text) : 0)))).reduce(
            (a, b) => a + b,
            0,
        );
        assert.equal(tokens, real);
        assert.ok(real <= budget, `${real} of ${budget}`);
        for (const item of blocks.flatMap(block => block.items)) {
            const shown = texts.some(text => text?.split('\n').includes(item.text));
            assert.equal(
                shown,
                !trimmed.includes(item.memory) ||
                    blocks
                        .flatMap(block => block.items)
                        .some(
                            other =>
                                other !== item &&
                                other.text === item.text &&
                                !trimmed.includes(other.memory),
                        ),
            );
        }
    }
});

test('a block without items that does not fit is left out', async () => {
    const { texts, tokens } = await retrim([block([], { text: 'x'.repeat(100) })], [], 10, letters);
    assert.deepEqual([texts, tokens], [[null], 0]);
});

const blocks = [
    block(['a'], { section: 'facts' }),
    block(['b'], { section: 'permanent', position: 'in_prompt' }),
    block(['c']),
    block(['d'], { section: 'unheard of' }),
];
const texts = ['facts', 'permanent', 'episodes', 'other'];

test('automatic position follows the sidecar, order follows the sections', () => {
    const made = injections(blocks, texts, { position: 'auto', depth: 3 });
    assert.deepEqual(
        made.map(({ key, position, depth, text }) => [key, position, depth, text]),
        [
            ['soulmem_1_permanent', 0, 3, 'permanent'],
            ['soulmem_4_episodes', 1, 3, 'episodes'],
            ['soulmem_5_facts', 1, 3, 'facts\nother'],
        ],
    );
    assert.ok(
        made.every(({ key }) => PROMPT_KEYS.includes(key)),
        'every prompt can be cleared again',
    );
});

for (const [position, wanted] of /** @type {const} */ ([
    ['in_chat', 1],
    ['in_prompt', 0],
    ['before_prompt', 2],
    ['macro', -1],
])) {
    test(`${position} goes everywhere to ${wanted}`, () => {
        assert.ok(
            injections(blocks, texts, { position, depth: 4 }).every(
                injection => injection.position === wanted,
            ),
        );
    });
}

test('nothing is injected where nothing is left', () =>
    assert.deepEqual(
        injections(blocks, [null, '', null, null], { position: 'auto', depth: 4 }),
        [],
    ));

test('roles follow the sidecar, unknown ones are system', () => {
    const of = (/** @type {string} */ role) =>
        injections([block(['a'], { role })], ['a'], { position: 'auto', depth: 4 })[0].role;
    assert.deepEqual(['system', 'user', 'assistant', 'nobody'].map(of), [0, 1, 2, 0]);
});

test('memories are dropped until the whole fits, also when one alone counts for more than in the block', async () => {
    const count = async (/** @type {string} */ text) => (text.startsWith('[') ? text.length : 50);
    const blocks = [block(['a'.repeat(20), 'b'.repeat(20), 'c'.repeat(20)])];
    const memories = [memory('e0'), memory('e1'), memory('e2')];
    const whole = blocks[0].text.length;
    const { texts, tokens, trimmed } = await retrim(blocks, memories, whole - 40, count);
    assert.ok(tokens <= whole - 40);
    assert.equal(texts[0], `[Earlier]\n- ${'a'.repeat(20)}`);
    assert.deepEqual(trimmed, ['e2', 'e1']);
});
