import assert from 'node:assert/strict';
import { test } from 'node:test';
import {
    asksForParent,
    chatIdentity,
    presenceToRecord,
    scene,
    soulIdentity,
} from '../../../extension_js/src/tavern/identity.js';

/** @typedef {import('../../../extension_js/src/tavern/identity.js').ChatFacts} ChatFacts */

/** @param {Partial<ChatFacts>} [more] @returns {ChatFacts} */
const facts = more => ({
    name: 'A',
    owner: 's1',
    mainChat: null,
    renamed: false,
    parentExists: true,
    lastSlot: 'm9',
    souls: ['s1'],
    mint: () => 'fresh',
    ...more,
});
const record = { chat: 'c1', name: 'A', owner: 's1', souls: ['s1'], cast: ['s1'] };

test('a chat without a record is new', () => {
    const { record: made, outcome } = chatIdentity(undefined, facts());
    assert.deepEqual(
        [outcome, made.chat, made.name, made.owner, made.cast, made.parent],
        ['new', 'fresh', 'A', 's1', ['s1'], undefined],
    );
});

test('a known chat keeps its id', () => {
    assert.deepEqual(chatIdentity(record, facts()), { record, outcome: 'same' });
});

for (const [what, more, expected] of /** @type {[string, Partial<ChatFacts>, string][]} */ ([
    ['a branch: metadata was copied and main_chat names the parent', { mainChat: 'A' }, 'fork'],
    ['a copied file: the original is still there', { parentExists: true }, 'fork'],
    ['a rename that was announced', { renamed: true }, 'renamed'],
    ['a rename made while we were away: the old name is gone', { parentExists: false }, 'renamed'],
    [
        'a renamed branch: main_chat is its parent, not its old name',
        { mainChat: 'Root', parentExists: false },
        'renamed',
    ],
    ['a copy for another character', { owner: 's2', parentExists: false }, 'fork'],
    ['a copy that shares no message', { lastSlot: null }, 'new'],
])) {
    test(`${what} is ${expected}`, () => {
        const { record: made, outcome } = chatIdentity(record, facts({ name: 'B', ...more }));
        assert.equal(outcome, expected);
        assert.equal(made.name, 'B');
        assert.equal(made.chat, expected === 'renamed' ? 'c1' : 'fresh');
        assert.deepEqual(
            made.parent,
            expected === 'fork' ? { chat: 'c1', fork_slot: 'm9' } : undefined,
        );
    });
}

test('a renamed branch keeps its parent, and a branch of a branch has the branch as parent', () => {
    const branch = { ...record, name: 'B', chat: 'c2', parent: { chat: 'c1', fork_slot: 'm4' } };
    assert.deepEqual(chatIdentity(branch, facts({ name: 'C', renamed: true })).record.parent, {
        chat: 'c1',
        fork_slot: 'm4',
    });
    assert.deepEqual(chatIdentity(branch, facts({ name: 'C', mainChat: 'B' })).record.parent, {
        chat: 'c2',
        fork_slot: 'm9',
    });
});

test('who joins later belongs to the chat but not to its founding cast; who leaves still remembers', () => {
    const joined = chatIdentity(record, facts({ souls: ['s1', 's2'] })).record;
    assert.deepEqual([joined.souls, joined.cast], [['s1', 's2'], ['s1']]);
    const afterLeaving = chatIdentity(joined, facts({ souls: ['s2'] })).record;
    assert.deepEqual([afterLeaving.souls, afterLeaving.cast], [['s1', 's2'], ['s1']]);
});

test('the list of chats is asked for only when it decides', () => {
    const about = { name: 'B', mainChat: null, renamed: false };
    assert.equal(asksForParent(record, about), true);
    assert.equal(asksForParent(record, { ...about, name: 'A' }), false);
    assert.equal(asksForParent(record, { ...about, renamed: true }), false);
    assert.equal(asksForParent(record, { ...about, mainChat: 'A' }), false);
    assert.equal(asksForParent(undefined, about), false);
});

const avatars = new Set(['a.png', 'b.png']);
/** @param {import('../../../extension_js/src/tavern/identity.js').CardField | undefined} field @param {string} avatar @param {Record<string, string>} registry */
const soulOf = (field, avatar, registry) =>
    soulIdentity(field, avatar, registry, avatars, () => 'fresh');

for (const [what, got, wanted] of /** @type {[string, object, object][]} */ ([
    ['a new card gets a soul', soulOf(undefined, 'a.png', {}), { soul: 'fresh', write: true }],
    [
        'a known card keeps it',
        soulOf({ soul: 's1', avatar: 'a.png' }, 'a.png', { 'a.png': 's1' }),
        { soul: 's1', write: false },
    ],
    [
        'a replaced card gets its soul back',
        soulOf(undefined, 'a.png', { 'a.png': 's1' }),
        { soul: 's1', write: true },
    ],
    [
        'a duplicate gets its own',
        soulOf({ soul: 's1', avatar: 'a.png' }, 'b.png', { 'a.png': 's1' }),
        { soul: 'fresh', write: true },
    ],
    [
        'a duplicate gets its own even when our settings were lost',
        soulOf({ soul: 's1', avatar: 'a.png' }, 'b.png', {}),
        { soul: 'fresh', write: true },
    ],
    [
        'a duplicate that has its own keeps it when the card is overwritten',
        soulOf({ soul: 's1', avatar: 'a.png' }, 'b.png', { 'a.png': 's1', 'b.png': 's2' }),
        { soul: 's2', write: true },
    ],
    [
        'a card from another SillyTavern keeps its soul',
        soulOf({ soul: 's1', avatar: 'gone.png' }, 'a.png', {}),
        { soul: 's1', write: true },
    ],
    [
        'a renamed card keeps its soul',
        soulOf({ soul: 's1', avatar: 'old.png' }, 'a.png', { 'a.png': 's1' }),
        { soul: 's1', write: true },
    ],
    [
        'a soul that is no id is replaced',
        soulOf({ soul: '../x', avatar: 'a.png' }, 'a.png', {}),
        { soul: 'fresh', write: true },
    ],
]))
    test(what, () => assert.deepEqual(got, wanted));

const trio = [
    { avatar: 'a', soul: 's1' },
    { avatar: 'b', soul: 's2' },
    { avatar: 'c', soul: 's3' },
];

for (const [
    what,
    muted,
    speaker,
    wanted,
] of /** @type {[string, string[], string | null, string[]][]} */ ([
    ['everybody is in the scene', [], null, ['s1', 's2', 's3']],
    ['a muted member is not', ['c'], null, ['s1', 's2']],
    ['unless it speaks', ['c'], 'c', ['s1', 's2', 's3']],
    ['all muted means speakers are picked by hand', ['a', 'b', 'c'], null, ['s1', 's2', 's3']],
    ['also while one of them speaks', ['a', 'b', 'c'], 'a', ['s1', 's2', 's3']],
]))
    test(what, () => assert.deepEqual(scene(trio, new Set(muted), speaker), wanted));

test('presence is noted only where it differs from the founding cast', () => {
    assert.equal(presenceToRecord(['s1', 's2'], ['s2', 's1']), undefined);
    assert.deepEqual(presenceToRecord(['s1'], ['s1', 's2']), ['s1']);
    assert.deepEqual(presenceToRecord(['s1', 's3'], ['s1', 's2']), ['s1', 's3']);
});
