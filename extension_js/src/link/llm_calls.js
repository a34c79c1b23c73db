// Does the sidecar want a language model asked through SillyTavern's own connection? Looks, asks, and brings the answer.

/** @typedef {{request: string, system: string, user: string, max_tokens: number}} LlmCall */

const PAUSE = 5_000; // ms between looks while the sidecar is set to our connection
const SOON = 500; // ms, when a call was just brought back: the next follows from its answer
const SOONER = 6; // such looks
const REST = 20_000; // ms between looks at whether it is
const LOOK = 10_000; // ms that a look may take
const REASON = 200; // characters of an error that are told

/** @param {() => {via: unknown, health: any}} state of the link
 * @param {import('../chat/people.js').Ask} ask
 * @param {{busy: () => boolean, complete: (call: LlmCall) => Promise<string>}} host
 * @param {() => boolean} enabled */
export function createLlm(state, ask, host, enabled) {
    let looking = false;
    let hot = 0; // looks that may find the next call
    let held = /** @type {string | null} */ (null); // the call that runs here now
    let timer = /** @type {ReturnType<typeof setTimeout> | undefined} */ (undefined);

    /** The sidecar calls its model "client" when it means the connection of whoever uses it. */
    const wanted = () =>
        enabled() && state().via !== null && state().health?.llm?.model === 'client';

    /** @param {LlmCall} call @returns {Promise<{text: string} | {error: string}>} */
    async function run(call) {
        try {
            return { text: await host.complete(call) };
        } catch (error) {
            return {
                error: String(error instanceof Error ? error.message : error).slice(0, REASON),
            };
        }
    }

    /** One call, if one waits and no reply is being made. @returns {Promise<boolean>} whether there was one */
    async function turn() {
        if (!wanted() || host.busy()) return false;
        const call = await ask('GET', '/llm/next', undefined, { timeout: LOOK });
        if (!call) return false;
        held = call.request;
        const answer = await run(call);
        if (held === null) return false; // given back
        held = null;
        await ask('POST', `/llm/${call.request}`, answer, { timeout: LOOK });
        return true;
    }

    async function look() {
        looking = true;
        hot = Math.max(0, hot - 1);
        try {
            if (await turn()) hot = SOONER;
        } catch (error) {
            console.debug('[SoulMem] no call could be taken or brought back:', error); // the sidecar waits no longer for it, or is gone
        }
        looking = false;
        timer = setTimeout(look, hot ? SOON : wanted() ? PAUSE : REST);
    }

    return {
        start() {
            timer ??= setTimeout(look, PAUSE);
        },
        /** The page goes, and with it the connection: the sidecar need not wait until it takes us for dead. */
        leave() {
            if (held === null) return;
            ask('DELETE', `/llm/${held}`, undefined, { timeout: LOOK, keepalive: true }).catch(
                () => undefined,
            );
            held = null;
        },
        /** The user has just asked for work. */
        soon() {
            hot = SOONER;
            if (looking || timer === undefined) return;
            clearTimeout(timer);
            timer = setTimeout(look, SOON);
        },
    };
}
