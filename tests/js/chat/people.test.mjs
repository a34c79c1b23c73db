import assert from 'node:assert/strict';
import { test } from 'node:test';
import { createPeople } from '../../../extension_js/src/chat/people.js';
import { fakeTavern, settle } from '../tavern.mjs';

/** What a card does not say: the sidecar's default. */
const UNSET = Object.fromEntries(
    [
        ...['fades', 'knows_it_forgets', 'decay', 'push', 'weights', 'rewords', 'clock', 'budget_tokens', 'max_items'],
        ...['remember_hidden', 'masks', 'digest', 'whole_messages', 'headers', 'sections_off'],
    ].map(key => [key, null]),
);

/** @param {Parameters<typeof fakeTavern>[0]} [about] */
function scene(about) {
    const { tavern, host } = fakeTavern(about);
    const asked = /** @type {[string, string, any][]} */ ([]);
    const bin = /** @type {{id: string, name: string}[]} */ ([]);
    const people = createPeople(
        host,
        () => tavern.settings,
        async (method, path, body) => {
            if (path === '/souls?state=bin') return { souls: bin };
            asked.push([method, path, body]);
            if (method === 'DELETE')
                bin.push({ id: path.slice(7, path.indexOf('?')), name: 'Mira' });
        },
    );
    return { tavern, people, asked, bin };
}

test('a character gets a soul once, kept in the card and in our settings', async () => {
    const { tavern, people } = scene();
    const [mira] = await people.inChat();
    await settle();
    const [again] = await people.inChat();
    assert.equal(again.soul, mira.soul);
    assert.deepEqual(tavern.settings.souls, { 'mira.png': mira.soul });
    assert.deepEqual(tavern.cardWrites, [
        ['mira.png', { soul: mira.soul, avatar: 'mira.png', config: {} }],
    ]);
});

test('a duplicated card gets its own soul, its settings stay', async () => {
    const { tavern, people } = scene({
        characters: { 'mira.png': { name: 'Mira' }, 'mira1.png': { name: 'Mira' } },
    });
    const [mira] = await people.inChat();
    await settle();
    tavern.characters['mira1.png'].field = structuredClone({
        ...tavern.characters['mira.png'].field,
        config: { forgetting: 0 },
    });
    tavern.open = ['mira1.png'];
    const [copy] = await people.inChat();
    assert.notEqual(copy.soul, mira.soul);
    assert.equal(copy.config.forgetting, 0);
});

test('a renamed character keeps its soul', async () => {
    const { tavern, people } = scene();
    const [mira] = await people.inChat();
    await settle();
    tavern.characters = { 'lin.png': { ...tavern.characters['mira.png'], name: 'Lin' } };
    tavern.open = ['lin.png'];
    people.avatarRenamed('mira.png', 'lin.png');
    assert.equal((await people.inChat())[0].soul, mira.soul);
});

test('the sidecar is told once, and again when something changed', async () => {
    const { tavern, people, asked } = scene();
    const members = await people.inChat();
    await people.push(members);
    await people.push(members);
    assert.equal(asked.length, 1);
    assert.deepEqual(asked[0], [
        'PUT',
        `/souls/${members[0].soul}`,
        {
            name: 'Mira',
            names: [
                { name: 'Mira', aliases: [] },
                { name: 'Alice', aliases: [] },
            ],
            config: { ...UNSET, forgetting: 1, restraint: 1, scope: 'character' },
        },
    ]);
    tavern.settings.scope = 'chat';
    await people.push(members);
    assert.equal(asked[1][2].config.scope, 'chat');
    people.resetPushed();
    await people.push(members);
    assert.equal(asked.length, 3);
});

test("the card's settings win over the general ones, and what is undefined is not kept", async () => {
    const { tavern, people, asked } = scene();
    const [mira] = await people.inChat();
    await people.configure(mira, { forgetting: 0, scope: undefined, enabled: undefined });
    assert.deepEqual(tavern.characters['mira.png'].field.config, { forgetting: 0 });
    await people.push(await people.inChat());
    const { forgetting, scope, fades } = asked[0][2].config;
    assert.deepEqual([forgetting, scope, fades], [0, 'character', null]);
});

test('how readily a character recalls goes to the sidecar', async () => {
    const { tavern, people, asked } = scene();
    tavern.settings.restraint = 0.5;
    const [mira] = await people.inChat();
    await people.push([mira]);
    assert.equal(asked[0][2].config.restraint, 0.5);
    await people.configure(mira, { restraint: 2 });
    await people.push(await people.inChat());
    assert.equal(asked[1][2].config.restraint, 2);
});

test('how a character forgets goes to the sidecar, and unset is its default', async () => {
    const { people, asked } = scene();
    const [mira] = await people.inChat();
    await people.push([mira]);
    const { fades, knows_it_forgets: knows, decay, push, weights } = asked[0][2].config;
    assert.deepEqual([fades, knows, decay, push, weights], [null, null, null, null, null]);
    const times = people.timesConfigured();
    const own = /** @type {const} */ ({ fades: false, knows_it_forgets: true, push: 'rare' });
    await people.configure(mira, { ...own, decay: 'hybrid' });
    assert.equal(people.timesConfigured(), times + 1);
    await people.push(await people.inChat());
    const { config } = asked[1][2];
    assert.deepEqual([config.fades, config.knows_it_forgets, config.decay], [false, true, 'hybrid']);
    assert.equal(config.push, 'rare');
});

test('a soul that could not be told is told the next time', async () => {
    const { tavern, host } = fakeTavern();
    let fail = true;
    let sent = 0;
    const people = createPeople(
        host,
        () => tavern.settings,
        async () => {
            if (fail) throw new Error('down');
            sent++;
            return { souls: [] };
        },
    );
    const all = await people.inChat();
    await assert.rejects(people.push(all));
    fail = false;
    await people.push(all);
    assert.equal(sent, 2, 'the bin is looked into, then it is told');
});

test('who is not to be told lends its name only', async () => {
    const { tavern, people, asked } = scene({
        characters: { 'mira.png': { name: 'Mira' }, 'lin.png': { name: 'Lin' } },
        open: ['mira.png', 'lin.png'],
    });
    await people.push(await people.inChat(), undefined, person => person.name === 'Mira');
    assert.deepEqual(
        asked.map(([, path]) => path),
        [`/souls/${tavern.settings.souls['mira.png']}`],
    );
    assert.deepEqual(
        asked[0][2].names.map((/** @type {{name: string}} */ named) => named.name),
        ['Mira', 'Lin', 'Alice'],
    );
});

test('a soul that lies in the bin is not told, whoever put it there: that would bring it back', async () => {
    const { tavern, people, asked, bin } = scene();
    const all = await people.inChat();
    bin.push({ id: all[0].soul, name: 'Mira' });
    await people.push(all);
    assert.deepEqual(asked, []);
    assert.ok(people.isForgotten(all[0].soul));
    assert.equal(
        (await people.inChat())[0].config.enabled,
        false,
        'nothing is recalled for it either',
    );
    assert.deepEqual(tavern.characters['mira.png'].field.config, {}, 'the card is not touched');
});

test("a forgotten character stays so in its card, and comes back by the user's word alone", async () => {
    const { tavern, people, asked, bin } = scene();
    const [mira] = await people.inChat();
    await people.configure(mira, { forgetting: 0 });
    await people.push(await people.inChat());
    await people.forget({ id: mira.soul, name: 'Mira' });
    assert.deepEqual(asked.at(-1)?.slice(0, 2), ['DELETE', `/souls/${mira.soul}?confirm=Mira`]);
    assert.deepEqual(tavern.characters['mira.png'].field.config, { forgetting: 0, enabled: false });
    asked.length = 0;
    people.resetPushed();
    await people.push(await people.inChat());
    assert.deepEqual(asked, [], 'no sync tells of it');
    bin.length = 0; // the sidecar has emptied its bin
    people.resetPushed();
    assert.equal((await people.inChat())[0].config.enabled, false);
    await people.revive({ id: mira.soul, name: 'Mira' });
    assert.deepEqual(asked, [['PUT', `/souls/${mira.soul}`, { name: 'Mira' }]]);
    assert.deepEqual(tavern.characters['mira.png'].field.config, { forgetting: 0, enabled: null });
    assert.deepEqual((await people.inChat())[0].config, { forgetting: 0 });
});

test('what few change goes to the sidecar as well, and unset is its default', async () => {
    const { people, asked } = scene();
    const unset = { clock: null, budget_tokens: null, max_items: null, remember_hidden: null, whole_messages: null, digest: null };
    const own = {
        clock: /** @type {const} */ ('story'),
        budget_tokens: 500,
        max_items: 3,
        remember_hidden: false,
        whole_messages: true,
        digest: { hour: 4, periods: ['hour', 'day'] },
    };
    const sent = () => Object.fromEntries(Object.keys(own).map(key => [key, asked.at(-1)?.[2].config[key]]));
    const [mira] = await people.inChat();
    await people.push([mira]);
    assert.deepEqual(sent(), unset);
    await people.configure(mira, own);
    await people.push(await people.inChat());
    assert.deepEqual(sent(), own);
    await people.configure(mira, {});
    await people.push(await people.inChat());
    assert.deepEqual(sent(), unset);
});
