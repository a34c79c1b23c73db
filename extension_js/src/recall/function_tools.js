// The tools of the lead model as function tools of SillyTavern: registered while their switch is on.

import { createMemoryApi } from '../link/memory_api.js';
import { errorTextOf } from '../widgets/error_text.js';
import { askedSoul } from './asked_soul.js';
import { neutralise } from './inject.js';

/** @typedef {import('../app.js').App} App */
/** @typedef {import('../base/strings.js').Say} Say */
/** A tool of `GET /v1/tools`.
 * @typedef {{name: string, actor: string, description: string, parameters: Record<string, unknown>}} Tool */

const PREFIX = 'soulmem_'; // of the names: other extensions have tools, too
const TIMEOUT = 30_000; // ms
const MODEL_TIMEOUT = 900_000; // ms, for the tool that calls a model up to six times
const ASSISTANT = 'call_assistant';
const READING = ['search_memories']; // tools that change nothing
const SHOWN = 80; // characters of a saved text
const TOAST = { timeOut: 12_000, extendedTimeOut: 6_000 }; // ms: there is something to decide

/** @param {string} text */
const shortened = text => (text.length > SHOWN ? `${text.slice(0, SHOWN)}…` : text);

/** @param {App} app @param {Say} say */
export function registerFunctionTools(app, say) {
    const { host, link, llmCalls } = app;
    const memoryApi = createMemoryApi(link.ask);
    let registered = /** @type {string[]} */ ([]); // names in SillyTavern
    let isLoading = false;

    const isWanted = () =>
        app.settings().tools && app.settings().enabled && link.state().via !== null;

    /** Whether SillyTavern may offer the tool for the next reply. @param {string} name */
    function isOffered(name) {
        if (!isWanted() || !host.record() || host.record()?.off) return false;
        if (app.settings().read_only && !READING.includes(name)) return false;
        return name !== ASSISTANT || link.state().health?.llm?.state !== 'off';
    }

    /** @param {unknown} error */
    const wordsOf = error => errorTextOf(app, error, say);

    /** @param {string} soul @param {import('../link/memory_api.js').UndoScope} scope */
    async function undo(soul, scope) {
        const { changes } = await memoryApi.undo(soul, scope);
        host.toast('success', say(changes.length ? 'tool_undone' : 'tool_undone_before'));
    }

    /** Tells the user what the model saved; a click takes it back.
     * @param {{soul: string, name: string}} asked @param {string} text
     * @param {() => Promise<unknown>} takeBack */
    function tellSaved(asked, text, takeBack) {
        const failed = (/** @type {unknown} */ error) => host.toast('warning', wordsOf(error));
        const onclick = () => void takeBack().catch(failed);
        const values = { name: asked.name, text: shortened(text) };
        host.toast('info', say('tool_saved', values), { ...TOAST, onclick });
    }

    /** @param {{soul: string, name: string}} asked @param {string} name @param {any} given @param {any} result */
    function tell(asked, name, given, result) {
        if (name === ASSISTANT) {
            const changed = result.did.some((/** @type {any} */ did) => !READING.includes(did.tool));
            if (changed) tellSaved(asked, result.said, () => undo(asked.soul, { job: result.job }));
            return;
        }
        if (!result.memory) return;
        if (result.status) {
            host.toast('info', say('tool_waits', { text: shortened(given.content) }));
            return;
        }
        tellSaved(asked, given.content, async () => {
            const { audit } = await memoryApi.history(result.memory, null);
            const made = audit.find(entry => entry.action === 'create');
            if (made) await undo(asked.soul, { change: made.id });
        });
    }

    /** What the model gets to read: the result as JSON in which no macro runs, or why there is none.
     * @param {string} name @param {any} given @returns {Promise<string>} */
    async function call(name, given) {
        const asked = await askedSoul(app);
        if (!asked) return say('no_chat');
        const body = {
            soul: asked.soul,
            actor: 'lead',
            arguments: given ?? {},
            for_reply: true,
        };
        const options = { timeout: name === ASSISTANT ? MODEL_TIMEOUT : TIMEOUT };
        const ask = () => link.ask('POST', `/tools/${name}`, body, options);
        try {
            const { result } = await (name === ASSISTANT ? llmCalls.forReply(ask) : ask());
            tell(asked, name, given, result);
            return neutralise(JSON.stringify(result));
        } catch (error) {
            return say('tool_failed', { reason: /** @type {Error} */ (error).message });
        }
    }

    /** @param {Tool} tool */
    function register({ name, description, parameters }) {
        const isKnown = host.registerTool({
            name: PREFIX + name,
            displayName: `SoulMem: ${name}`,
            description,
            parameters,
            shouldRegister: () => isOffered(name),
            action: given => call(name, given),
            formatMessage: () => say('tool_running', { name }),
        });
        if (isKnown) registered.push(PREFIX + name);
    }

    async function update() {
        if (isLoading || isWanted() === registered.length > 0) return;
        if (!isWanted()) {
            registered.forEach(host.unregisterTool);
            registered = [];
            return;
        }
        isLoading = true;
        try {
            const { tools } = await link.ask('GET', '/tools', undefined, { timeout: TIMEOUT });
            for (const tool of tools) if (tool.actor === 'lead') register(tool);
        } catch (error) {
            console.debug('[SoulMem] the tools could not be read:', error);
        }
        isLoading = false;
    }

    app.subscribe(() => void update());
    void update();
}
