// Runs regexes beside the page, so that one that never ends can be stopped: the page would stand still with it.

/** @param {string} text as SillyTavern writes a regex: /../flags, or the bare expression @returns {RegExp | null} */
function regexOf(text) {
    try {
        const parts = /^\/([\s\S]*)\/([a-z]*)$/.exec(text);
        return parts ? new RegExp(parts[1], parts[2]) : new RegExp(text);
    } catch {
        return null;
    }
}

/** @param {{id: number, scripts: {findRegex: string, replaceString?: string}[], texts: string[]}} task
 * @returns {number} the id of the task, once all regexes have run over all texts */
export function runAll({ id, scripts, texts }) {
    const regexes = scripts.map(script => ({ find: regexOf(script.findRegex), script }));
    for (let text of texts) {
        for (const { find, script } of regexes) {
            if (!find) continue;
            const put = (script.replaceString ?? '').replace(/{{match}}/gi, '$&');
            text = text.replace(find, put);
        }
    }
    return id;
}

const scope = /** @type {any} */ (globalThis);
if (typeof scope.WorkerGlobalScope === 'function' && scope instanceof scope.WorkerGlobalScope) {
    scope.onmessage = (/** @type {MessageEvent} */ event) => scope.postMessage(runAll(event.data));
}
