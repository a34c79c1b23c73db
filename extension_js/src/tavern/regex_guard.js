// Tells whether regexes come to an end on a text, by a trial in a worker that is stopped when its time is over.

/** @typedef {import('./prompt_regexes.js').PromptScript} PromptScript */
/** What is used of a worker.
 * @typedef {{postMessage: (task: unknown) => void, terminate: () => void,
 *   onmessage: ((event: {data: number}) => void) | null, onerror: ((event: any) => void) | null}} TrialWorker */

const LIMIT = 400; // ms for the texts of a trial
const START = 4000; // ms more for the first, as a worker is loaded

/** @returns {TrialWorker | null} null where the browser has no workers */
function newWorker() {
    try {
        return /** @type {any} */ (
            new Worker(new URL('./regex_worker.js', import.meta.url), { type: 'module' })
        );
    } catch {
        return null;
    }
}

/** @param {object} [parts]
 * @param {() => TrialWorker | null} [parts.open] @param {number} [parts.limit] ms @param {number} [parts.start] ms */
export function createRegexGuard({ open = newWorker, limit = LIMIT, start = START } = {}) {
    let worker = /** @type {TrialWorker | null} */ (null);
    let isWarm = false;
    let id = 0;

    function stop() {
        worker?.terminate();
        worker = null;
        isWarm = false;
    }

    /** @param {readonly PromptScript[]} scripts @param {readonly string[]} texts
     * @returns {Promise<boolean>} whether the scripts came to an end on all of them; true where no trial is possible */
    async function ends(scripts, texts) {
        worker ??= open();
        const trial = worker;
        if (!trial) return true;
        const task = ++id;
        const ended = await new Promise(resolve => {
            const timer = setTimeout(() => resolve(false), limit + (isWarm ? 0 : start));
            const finish = (/** @type {boolean} */ value) => {
                clearTimeout(timer);
                resolve(value);
            };
            trial.onmessage = event => event.data === task && finish(true);
            trial.onerror = () => finish(isWarm === false); // it could not be loaded
            trial.postMessage({ id: task, scripts, texts });
        });
        if (ended) isWarm = true;
        else stop();
        return ended;
    }

    return { ends, stop };
}

/** @typedef {ReturnType<typeof createRegexGuard>} RegexGuard */
