// The sidecar's calls to a language model, run on SillyTavern's own connection: fetched, answered, given back.

/** @typedef {{request: string, system: string, user: string, max_tokens: number}} LlmCall */

const PAUSE = 5_000; // ms between looks while the sidecar uses our connection
// ms between looks after a call or a request of the user, when another call is likely: a run asks for its
// next call as soon as it has stored the answer.
const SOON = [100, 200, 500, 500, 500, 500];
const IDLE_PAUSE = 20_000; // ms between looks while the sidecar does not use our connection
const TIMEOUT = 10_000; // ms
const MAX_REASON = 200; // characters of an error that are sent

/** @param {() => {via: unknown, health: any}} state of the link
 * @param {import('../base/types.js').Ask} ask
 * @param {{busy: () => boolean, complete: (call: LlmCall) => Promise<string>}} host
 * @param {() => boolean} enabled */
export function createLlmCalls(state, ask, host, enabled) {
    let looking = false;
    let soonLooks = 0; // left
    let awaited = 0; // requests that the reply which is being written waits for
    let currentId = /** @type {string | null} */ (null); // of the call that runs here
    let timer = /** @type {ReturnType<typeof setTimeout> | undefined} */ (undefined);

    /** Whether the sidecar uses the connection of its client: it calls that model "client". */
    const isWanted = () =>
        enabled() && state().via !== null && state().health?.llm?.model === 'client';

    /** @param {LlmCall} call @returns {Promise<{text: string} | {error: string}>} */
    async function run(call) {
        try {
            return { text: await host.complete(call) };
        } catch (error) {
            const reason = String(error instanceof Error ? error.message : error);
            return { error: reason.slice(0, MAX_REASON) };
        }
    }

    /** Runs one call, when one waits and no reply is being generated.
     * @returns {Promise<boolean>} whether one was answered */
    async function runNext() {
        // While a reply is written, the sidecar gives out only calls that the reply waits for
        if (!isWanted() || (host.busy() && !awaited)) return false;
        const call = await ask('GET', '/llm/next', undefined, { timeout: TIMEOUT });
        if (!call) return false;
        currentId = call.request;
        const answer = await run(call);
        if (currentId === null) return false; // it was given back
        currentId = null;
        await ask('POST', `/llm/${call.request}`, answer, { timeout: TIMEOUT });
        return true;
    }

    function nextPause() {
        if (awaited) return SOON[0];
        if (soonLooks) return SOON[SOON.length - soonLooks];
        return isWanted() ? PAUSE : IDLE_PAUSE;
    }

    async function look() {
        looking = true;
        soonLooks = Math.max(0, soonLooks - 1);
        try {
            if (await runNext()) soonLooks = SOON.length;
        } catch (error) {
            // the sidecar no longer waits for the answer, or is away
            console.debug('[SoulMem] no call could be taken or brought back:', error);
        }
        looking = false;
        timer = setTimeout(look, nextPause());
    }

    /** The user has just asked for work: looks soon. */
    function soon() {
        soonLooks = SOON.length;
        if (looking || timer === undefined) return;
        clearTimeout(timer);
        timer = setTimeout(look, nextPause());
    }

    return {
        /** Runs calls also beside the reply that waits for this work.
         * @template T @param {() => Promise<T>} work @returns {Promise<T>} */
        async forReply(work) {
            awaited++;
            soon();
            try {
                return await work();
            } finally {
                awaited--;
            }
        },
        start() {
            timer ??= setTimeout(look, PAUSE);
        },
        /** The page is closed: gives the running call back, so that the sidecar does not wait for it. */
        giveBack() {
            if (currentId === null) return;
            const options = { timeout: TIMEOUT, keepalive: true };
            ask('DELETE', `/llm/${currentId}`, undefined, options).catch(() => undefined);
            currentId = null;
        },
        soon,
    };
}
