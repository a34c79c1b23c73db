import assert from 'node:assert/strict';
import { test } from 'node:test';
import { createHost } from '../../../extension_js/src/tavern/host.js';

/** @param {any} context */
const hostOf = context => createHost(() => context);

/** @param {Partial<import('../../../extension_js/src/tavern/host_scripts.js').Command>} about */
const commandOf = about => ({
    name: 'soulmem-recall',
    help: 'Recalls <all>.',
    returns: 'texts',
    examples: ['/soulmem-recall "a" | /echo'],
    run: async (/** @type {string} */ text) => `<${text}>`,
    ...about,
});

/** A SillyTavern that keeps the commands it is given. @param {object} [more] */
function parser(more = {}) {
    const added = /** @type {any[]} */ ([]);
    const props = { fromProps: (/** @type {any} */ all) => all };
    const host = hostOf({
        SlashCommandParser: { addCommandObject: (/** @type {any} */ all) => added.push(all) },
        SlashCommand: props,
        SlashCommandArgument: props,
        SlashCommandNamedArgument: props,
        ARGUMENT_TYPE: { STRING: 'string', NUMBER: 'number', BOOLEAN: 'bool' },
        ...more,
    });
    return { added, host };
}

test('a macro is registered with the engine that this SillyTavern has', () => {
    const done = /** @type {any[]} */ ([]);
    const legacy = (/** @type {any[]} */ ...about) => done.push(about);
    const macros = { register: (/** @type {any[]} */ ...about) => done.push(about) };
    const macro = {
        name: 'soulmem',
        help: 'help',
        argumentHelp: 'which',
        sections: ['facts'],
        text: (/** @type {string} */ section) => `text of ${section || 'all'}`,
    };
    hostOf({ macros, registerMacro: legacy }).registerMacro(macro);
    const [[name, about]] = done.splice(0);
    assert.deepEqual([name, about.category, about.description], ['soulmem', 'SoulMem', 'help']);
    assert.deepEqual(about.exampleUsage, ['{{soulmem}}', '{{soulmem::facts}}']);
    assert.equal(about.unnamedArgs[0].optional, true);
    assert.equal(about.handler({ unnamedArgs: ['facts'] }), 'text of facts');
    assert.equal(about.handler({ unnamedArgs: [] }), 'text of all');
    hostOf({ macros: {}, registerMacro: legacy }).registerMacro(macro);
    const old = done.map(([key, run]) => [key, run()]);
    assert.deepEqual(old, [
        ['soulmem', 'text of all'],
        ['soulmem::facts', 'text of facts'],
    ]);
    hostOf({}).registerMacro(macro);
});

test('a command gets its text, empty without any, and its named values as texts', async () => {
    const { added, host } = parser();
    const named = /** @type {any[]} */ ([]);
    host.registerCommand(
        commandOf({
            argument: { help: 'what' },
            run: async (text, _isStopped, values) => {
                named.push(values);
                return `<${text}>`;
            },
        }),
    );
    const [{ name, callback, unnamedArgumentList, returns }] = added;
    assert.deepEqual(
        [name, returns, unnamedArgumentList[0].isRequired],
        ['soulmem-recall', 'texts', false],
    );
    const values = { limit: 3, as: 'json', _scope: {}, _abortController: {}, closure: {} };
    assert.equal(await callback(values, 'the key'), '<the key>');
    assert.equal(await callback({}, undefined), '<>');
    assert.deepEqual(named, [{ limit: '3', as: 'json' }, {}]);
});

test('a command knows when the user has stopped it', async () => {
    const { added, host } = parser();
    const stops = /** @type {boolean[]} */ ([]);
    const run = async (/** @type {string} */ _, /** @type {() => boolean} */ isStopped) => {
        stops.push(isStopped());
        return '';
    };
    host.registerCommand(commandOf({ run }));
    const signal = { aborted: false };
    await added[0].callback({ _abortController: { signal } }, '');
    signal.aborted = true;
    await added[0].callback({ _abortController: { signal } }, '');
    await added[0].callback(undefined, '');
    assert.deepEqual(stops, [false, true, false]);
});

test('the help of a command shows examples and runs no markup', () => {
    const { added, host } = parser();
    host.registerCommand(commandOf({}));
    const [{ helpString, unnamedArgumentList }] = added;
    assert.match(helpString, /Recalls &#60;all&#62;\./);
    assert.match(helpString, /language-stscript">\/soulmem-recall &#34;a&#34; \| \/echo</);
    assert.deepEqual(unnamedArgumentList, []);
});

test('arguments are typed, and have the values they may have', () => {
    class SlashCommandEnumValue {
        constructor(/** @type {string} */ value, /** @type {string | null} */ help) {
            this.value = value;
            this.help = help;
        }
    }
    const about = commandOf({
        argument: { help: 'number', type: 'number', required: true },
        named: {
            as: { help: 'how', fallback: 'text', choices: [{ value: 'text', help: 'plain' }] },
            memory: { help: 'id', offered: () => [{ value: 'n1' }] },
            permanent: { help: 'for good', type: 'bool' },
        },
    });
    for (const more of [{ SlashCommandEnumValue }, {}]) {
        const { added, host } = parser(more);
        host.registerCommand(about);
        const [number] = added[0].unnamedArgumentList;
        assert.deepEqual([number.typeList, number.isRequired], [['number'], true]);
        const [as, memory, permanent] = added[0].namedArgumentList;
        const valueOf = (/** @type {any} */ choice) => choice.value ?? choice;
        assert.deepEqual([as.name, as.forceEnum, as.defaultValue], ['as', true, 'text']);
        assert.deepEqual(as.enumList.map(valueOf), ['text']);
        assert.deepEqual([memory.forceEnum, memory.enumProvider().map(valueOf)], [false, ['n1']]);
        assert.deepEqual([permanent.typeList, permanent.enumProvider], [['bool'], null]);
    }
});

test('quick replies are made as one set that is shown, where SillyTavern has them', async () => {
    const done = /** @type {any[]} */ ([]);
    const replies = [{ label: 'Why?', icon: 'fa-brain', title: 'why', message: '/soulmem-why' }];
    assert.equal(await hostOf({}).installQuickReplies('SoulMem', replies), false);
    const note = (/** @type {string} */ what) => (/** @type {any[]} */ ...about) =>
        done.push([what, ...about]);
    const shown = /** @type {string[]} */ ([]);
    const quickReplyApi = {
        createSet: note('set'),
        createQuickReply: note('reply'),
        listGlobalSets: () => shown,
        settingsUi: { isEnabled: { checked: false, click: note('ticked') } },
        addGlobalSet: note('shown'),
    };
    Object.assign(globalThis, { quickReplyApi });
    assert.equal(await hostOf({}).installQuickReplies('SoulMem', replies), true);
    const { label, ...about } = replies[0];
    assert.deepEqual(done, [
        ['set', 'SoulMem', {}],
        ['reply', 'SoulMem', label, { ...about, showLabel: true }],
        ['shown', 'SoulMem', true],
        ['ticked'],
    ]);
    shown.push('SoulMem');
    quickReplyApi.settingsUi.isEnabled.checked = true;
    done.length = 0;
    await hostOf({}).installQuickReplies('SoulMem', replies);
    assert.deepEqual(
        done.map(([what]) => what),
        ['set', 'reply'],
    );
    Object.assign(globalThis, { quickReplyApi: undefined });
});

test('sources of the data bank and entries of the debug menu go where SillyTavern has a place', () => {
    const done = /** @type {any[]} */ ([]);
    const host = hostOf({
        registerDataBankScraper: (/** @type {any} */ source) => done.push(source),
        registerDebugFunction: (/** @type {any[]} */ ...about) => done.push(about),
    });
    const source = /** @type {any} */ ({ id: 'soulmem' });
    const run = () => undefined;
    host.registerDataBankSource(source);
    host.registerDebugEntry('id', 'name', 'help', run);
    assert.deepEqual(done, [
        { id: 'soulmem', iconAvailable: true },
        ['id', 'name', 'help', run],
    ]);
    hostOf({}).registerDataBankSource(source);
    hostOf({}).registerDebugEntry('id', 'name', 'help', run);
});

test('function tools are registered where SillyTavern has them', () => {
    const registered = /** @type {any[]} */ ([]);
    const gone = /** @type {string[]} */ ([]);
    const host = hostOf({
        registerFunctionTool: (/** @type {any} */ tool) => registered.push(tool),
        unregisterFunctionTool: (/** @type {string} */ name) => gone.push(name),
    });
    const tool = /** @type {any} */ ({ name: 'soulmem_remember' });
    assert.equal(host.registerTool(tool), true);
    host.unregisterTool('soulmem_remember');
    assert.deepEqual([registered, gone], [[tool], ['soulmem_remember']]);
    const old = hostOf({});
    assert.equal(old.registerTool(tool), false);
    old.unregisterTool('soulmem_remember');
});
