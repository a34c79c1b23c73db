import assert from 'node:assert/strict';
import { test } from 'node:test';
import { ApiError } from '../../../extension_js/src/link/api.js';
import { recallType } from '../../../extension_js/src/recall/recaller.js';
import { slotOf } from '../../../extension_js/src/tavern/slots.js';
import { newMessage, talk } from '../fakes.mjs';
import { answer, scene } from './scene.mjs';

const never = () => /** @type {Promise<any>} */ (new Promise(() => {}));

test('what the sidecar recalls goes into the prompt, whole and by its slot', async () => {
    const { tavern, world, generate, injected, recaller, chatSync } = scene();
    await generate();
    assert.equal(injected(), '[Earlier]\n- the key is under the step\n- the cake');
    assert.equal(recaller.text(), injected());
    const [body] = world.asked;
    assert.deepEqual(Object.keys(body).sort(), [
        'budget_tokens',
        'chat',
        'context_from',
        'context_texts',
        'language',
        'max_items',
        'query',
        'slot',
        'soul',
        'swipe',
        'time_budget_ms',
        'type',
    ]);
    assert.deepEqual(
        [body.query, body.type, body.swipe, body.budget_tokens],
        [null, 'normal', 0, 960],
    );
    assert.ok(body.time_budget_ms > 0 && body.time_budget_ms <= tavern.settings.time_budget);
    tavern.chat.push(newMessage('reply'));
    chatSync.replyArrived(9, 'normal');
    assert.equal(
        slotOf(tavern.chat[9]),
        body.slot,
        'the recall was made for the slot that the reply got',
    );
    assert.deepEqual(
        [tavern.chat[9].extra?.soulmem?.trace, tavern.chat[9].extra?.soulmem?.n],
        ['t1', 2],
    );
    assert.equal(recaller.byTrace('t1')?.sent.length, 2);
    assert.deepEqual(world.reports, [null]);
});

test("the card's limits are those of its replies, within the context", async () => {
    const config = { budget_tokens: 300, max_items: 2 };
    const characters = { 'mira.png': { name: 'Mira', field: { config } } };
    const { tavern, world, generate, recaller } = scene({ chat: talk(9), characters });
    await generate();
    const { budget_tokens: tokens, max_items: items } = world.asked[0];
    assert.deepEqual([tokens, items], [300, 2]);
    tavern.contextSize = 2000;
    assert.deepEqual(recaller.limits(config), { budget_tokens: 240, max_items: 2 });
    assert.deepEqual(recaller.limits({}), { budget_tokens: 240, max_items: 8 });
});

test('a reply that is continued is asked for by what it answers', async () => {
    const { tavern, world, generate } = scene({ chat: talk(9) });
    world.put = async () => {
        throw new ApiError('full', { kind: 'http', status: 500 });
    };
    tavern.chat.push(newMessage('Where is the key?', { is_user: true }), newMessage('Well, I'));
    await generate('continue');
    assert.equal(world.asked.at(-1).query, 'Where is the key?');
});

test('a reply that called for no memory says how many were withheld', async () => {
    const { tavern, world, generate, injected, recaller, chatSync } = scene();
    world.recall = async () => ({ ...answer([]), withheld: 3 });
    await generate();
    assert.equal(injected(), '');
    tavern.chat.push(newMessage('reply'));
    chatSync.replyArrived(9, 'normal');
    assert.equal(tavern.chat[9].extra?.soulmem?.trace, 't1');
    assert.equal(tavern.chat[9].extra?.soulmem?.n, undefined);
    assert.equal(recaller.byTrace('t1')?.withheld, 3);
});

test('where nothing came to mind at all, the reply has no recall to show', async () => {
    const { tavern, world, generate, chatSync } = scene();
    world.recall = async () => ({ ...answer([]), withheld: 0 });
    await generate();
    tavern.chat.push(newMessage('reply'));
    chatSync.replyArrived(9, 'normal');
    assert.equal(tavern.chat[9].extra?.soulmem?.trace, undefined);
});

test('the chat is in step before it is recalled from', async () => {
    const { tavern, world, sidecar, generate } = scene();
    world.recall = async body => {
        assert.deepEqual(
            sidecar.storedTexts(body.chat),
            tavern.chat.map(message => message.mes),
        );
        return answer([]);
    };
    await generate();
    assert.equal(world.asked.length, 1);
});

test('nothing of the last reply stays when nothing is recalled now', async () => {
    const { world, generate, injected, recaller } = scene();
    await generate();
    world.recall = async () => answer([]);
    await generate();
    assert.equal(injected(), '');
    assert.equal(recaller.text(), '');
});

for (const [what, change] of /** @type {[string, (world: any) => void][]} */ ([
    [
        'sidecar asleep',
        world => {
            world.ready = false;
        },
    ],
    [
        'recall refused',
        world => {
            world.recall = async () => {
                throw new ApiError('no', { kind: 'http', status: 500 });
            };
        },
    ],
    [
        'connection lost',
        world => {
            world.recall = async () => {
                throw new ApiError('no', { kind: 'network' });
            };
        },
    ],
    [
        'sync lost',
        world => {
            world.put = async () => {
                throw new ApiError('no', { kind: 'network' });
            };
        },
    ],
    [
        'an answer that makes no sense',
        world => {
            world.recall = async () => ({ nonsense: true });
        },
    ],
    [
        'hanging recall',
        world => {
            world.recall = never;
        },
    ],
    [
        'hanging sync',
        world => {
            world.put = never;
        },
    ],
])) {
    test(`${what}: the reply goes out in time, without memories, and says why`, async () => {
        const { tavern, world, generate, injected, recaller } = scene();
        await generate();
        tavern.settings.time_budget = 300;
        change(world);
        tavern.chat.push(newMessage('next', { is_user: true }));
        const started = Date.now();
        await generate();
        assert.ok(Date.now() - started < 5000);
        assert.equal(injected(), '');
        assert.ok(recaller.last()?.error);
    });
}

test('a recall that comes too late is not injected into the next prompt', async () => {
    const { tavern, world, generate, injected } = scene();
    tavern.settings.time_budget = 300;
    world.recall = async () => {
        await new Promise(resolve => setTimeout(resolve, 350));
        return answer(['too late']);
    };
    await generate();
    await new Promise(resolve => setTimeout(resolve, 150));
    assert.equal(injected(), '');
    assert.equal(/** @type {ApiError} */ (world.reports[0]).kind, 'timeout');
});

test("Stop ends the wait at once and is nobody's fault", async () => {
    const { world, generate, recaller } = scene();
    world.recall = never; // without Stop this would be reported
    setTimeout(recaller.stop, 40);
    await generate();
    assert.deepEqual(world.reports, []);
});

test('a refused sync still recalls, with the newest line as question, and is reported', async () => {
    const { tavern, world, generate, injected } = scene();
    world.put = async () => {
        throw new ApiError('bad', { kind: 'http', status: 422, code: 'bad_request' });
    };
    await generate();
    assert.match(injected(), /the key/);
    assert.equal(world.asked[0].query, tavern.chat[tavern.chat.length - 1].mes);
    assert.equal(world.asked[0].context_from, null, 'the sidecar may not know our slots');
    assert.equal(/** @type {ApiError} */ (world.reports[0]).status, 422);
});

test('a swipe recalls for the same slot, without the rejected words', async () => {
    const { tavern, world, sidecar, generate } = scene({
        chat: [...talk(6), newMessage('rejected', { swipe_id: 1, swipes: ['first', 'rejected'] })],
    });
    await generate('swipe');
    assert.deepEqual(
        [world.asked[0].slot, world.asked[0].swipe, world.asked[0].type],
        [slotOf(tavern.chat[6]), 1, 'swipe'],
    );
    assert.ok(!sidecar.storedTexts(world.asked[0].chat).includes('rejected'));
});

test('a continued reply is recalled for where it stands', async () => {
    const { tavern, world, generate } = scene();
    await generate('continue');
    assert.equal(world.asked[0].slot, slotOf(tavern.chat[8]));
});

test('writing for the user teaches nothing: it has no slot', async () => {
    const { world, generate } = scene();
    await generate('impersonate');
    assert.equal('slot' in world.asked[0], false);
});

test('background prompts are left alone unless wanted, and then neither sync nor teach', async () => {
    const { tavern, world, sidecar, generate, injected } = scene();
    await generate();
    await generate('quiet');
    assert.equal(injected(), '');
    assert.equal(world.asked.length, 1);
    tavern.settings.quiet = true;
    const puts = sidecar.bodies.length;
    await generate('quiet');
    assert.match(injected(), /the key/);
    assert.deepEqual([sidecar.bodies.length, 'slot' in world.asked[1]], [puts, false]);
});

test('switched off, or off for this character, nothing is asked', async () => {
    const { tavern, world, generate } = scene();
    tavern.settings.enabled = false;
    await generate();
    tavern.settings.enabled = true;
    tavern.characters['mira.png'].field = {
        soul: 's1',
        avatar: 'mira.png',
        config: { enabled: false },
    };
    await generate();
    assert.equal(world.asked.length, 0);
});

test('in a group the speaking member recalls', async () => {
    const { tavern, world, generate } = scene({
        chat: talk(4),
        characters: { 'a.png': { name: 'A' }, 'b.png': { name: 'B' } },
        open: ['a.png', 'b.png'],
        group: { id: 'g', chats: [], disabled_members: [] },
    });
    tavern.speaking = 'b.png';
    await generate();
    assert.equal(world.asked[0].soul, tavern.settings.souls['b.png']);
});

test('macros in a memory are dead when they reach the prompt', async () => {
    const { world, generate, injected } = scene();
    world.recall = async () => answer(['{{setvar::pwn::yes}} {{{random::a::b}}}']);
    await generate();
    assert.doesNotMatch(injected(), /\{\{/);
});

test('an oversized answer is cut to whole memories within the share of the context', async () => {
    const { world, generate, injected, host, recaller } = scene();
    world.recall = async () => answer(['best', 'x'.repeat(20_000), 'y'.repeat(20_000)]);
    await generate('normal', 4000);
    assert.equal(injected(), '[Earlier]\n- best');
    assert.ok((await host.countTokens(injected())) <= 480);
    assert.deepEqual(recaller.last()?.trimmed.sort(), ['e1', 'e2']);
});

test('what is still in the context is named by its oldest message', async () => {
    const { tavern, world, generate, recaller } = scene({ chat: talk(60) });
    tavern.metadata.lastInContextMessageId = 40;
    await generate();
    assert.equal(world.asked[0].context_from, slotOf(tavern.chat[40]));
    tavern.metadata.lastInContextMessageId = 44; // of the prompt just made
    recaller.promptMade();
    tavern.chat.push(newMessage('reply'), newMessage('next', { is_user: true }));
    await generate();
    assert.equal(world.asked[1].context_from, slotOf(tavern.chat[44]));
});

test('while a long chat is being read, the border is a message the sidecar holds', async () => {
    const { tavern, world, generate } = scene({ chat: talk(300) });
    tavern.metadata.lastInContextMessageId = 250;
    await generate();
    assert.equal(world.asked[0].context_from, slotOf(tavern.chat[280]));
});

test('a chat that was left while recalling gets nothing', async () => {
    const { tavern, world, generate, injected } = scene();
    world.recall = async () => {
        tavern.name = 'Another chat';
        return answer(['secret of the other chat']);
    };
    await generate();
    assert.equal(injected(), '');
});

test("SillyTavern's words for a generation are the contract's", () => {
    assert.deepEqual(
        ['normal', undefined, 'swipe', 'append', 'appendFinal', 'odd'].map(recallType),
        ['normal', 'normal', 'swipe', 'continue', 'continue', 'normal'],
    );
});

test('what stands in the prompt beside the chat is sent along', async () => {
    const { tavern, world, generate, recaller } = scene({
        chat: [newMessage('*Rain.* Who is there?'), ...talk(6)],
    });
    tavern.card = ['Mira keeps a light.', '', 'Mira keeps a light.', 'Alice is a thief.'];
    await generate();
    assert.deepEqual(world.asked[0].context_texts, [
        'Mira keeps a light.',
        'Alice is a thief.',
        '*Rain.* Who is there?',
    ]);
    recaller.loreActivated([{ content: '{{user}} owes the miller nine crowns.' }]);
    await generate();
    assert.equal(world.asked[1].context_texts.at(-1), 'Alice owes the miller nine crowns.');
    tavern.card = [...Array(80).keys()].map(number => `${number}`).concat('x'.repeat(300_000));
    await generate();
    assert.equal(world.asked[2].context_texts.length, 64);
});

test('a greeting that has left the context is a memory like others', async () => {
    const { tavern, world, generate, recaller } = scene({
        chat: [newMessage('*Rain.* Who is there?'), ...talk(60)],
    });
    await generate();
    tavern.metadata.lastInContextMessageId = 20;
    recaller.promptMade();
    await generate();
    assert.notEqual(world.asked[1].context_from, slotOf(tavern.chat[0]));
    assert.deepEqual(world.asked[1].context_texts, []);
});

test('lore that awakes with this very message is not told twice', async () => {
    const { world, generate, injected, recaller } = scene();
    const key = 'The brass key lies under the third step of the mill.';
    world.recall = async () => answer([`Mira: *nods* ${key} I swear it.`, 'the cake', 'He came.']);
    await generate();
    recaller.loreActivated([
        { content: `Mill: ${key.toUpperCase()} Nobody knows, he came.` },
        {},
        null,
    ]);
    assert.equal(injected(), '[Earlier]\n- the cake');
    assert.equal(recaller.text(), injected());
    assert.deepEqual(
        [recaller.last()?.sent, recaller.last()?.trimmed.sort()],
        [['e1'], ['e0', 'e2']],
    );
    recaller.loreActivated([{ content: 'the cake' }]);
    assert.match(injected(), /cake/, 'the prompt is made by then');
});

test('what the user places nowhere is not newMessage to be in the prompt', async () => {
    const { world, generate, recaller } = scene();
    world.recall = async () => answer(['the cake', 'He came.']);
    await generate();
    assert.deepEqual([recaller.last()?.sent.length, recaller.last()?.nowhere], [2, undefined]);
    recaller.notPlaced(['episodes']);
    const record = recaller.last();
    assert.deepEqual([record?.sent, record?.nowhere, record?.tokens], [[], true, 0]);
    assert.equal(recaller.byTrace(record?.trace ?? ''), record);
});
