// The connection to the sidecar: its state now, when it is checked again, and requests through it.

import { ApiError } from './api.js';
import { createProbe, judge } from './connection.js';
import { createIndexing } from './indexing.js';

/** @typedef {import('./api.js').Api} Api */
/** @typedef {import('./api.js').Route} Route */
/** @typedef {import('./connection.js').Probed} Probed */
/** @typedef {import('./connection.js').RouteSettings} RouteSettings */
/** @typedef {import('./connection.js').PageState} PageState */
/** @typedef {import('./connection.js').Judgement} Judgement */
/** @typedef {import('../base/types.js').Trouble} Trouble */
/** @typedef {Judgement & {error: Trouble | null, lag?: import('./indexing.js').Lag | null}} LinkState */

/** ms between checks, by state. A page in the background is not checked. */
const PAUSE = { ok: 60_000, degraded: 20_000, starting: 3_000, down: 8_000, off: 60_000 };
const PENDING_PAUSE = 5_000; // ms at most between checks while messages become searchable: their count is shown
const FRESH = 3_000; // ms during which a failed check is not repeated
const SLOW_MEMORY = 15_000; // ms after which a good check clears the note that a recall was late
const SLOW_LIMIT = 3; // late recalls in a row after which replies no longer wait for recalls

/** @param {Api} api
 * @param {() => RouteSettings} routeSettings
 * @param {() => PageState} pageState what else decides the state
 * @param {(state: LinkState, before: LinkState) => void} changed */
export function createLink(api, routeSettings, pageState, changed) {
    const probe = createProbe(api, routeSettings);
    const indexing = createIndexing();
    let probed = /** @type {Probed} */ ({ plugin: null, direct: null });
    let state = /** @type {LinkState} */ ({
        state: 'starting', // until the first check
        step: 'connecting',
        via: null,
        health: null,
        error: null,
    });
    let checking = /** @type {Promise<void> | null} */ (null);
    let checkedAt = 0; // ms since the epoch
    let lateRecalls = 0; // in a row
    let lateAt = 0; // ms since the epoch
    let refusal = /** @type {Trouble | null} */ (null); // of the last recall
    let timer = /** @type {ReturnType<typeof setTimeout> | undefined} */ (undefined);

    /** Decides the state anew from what is known. */
    function update() {
        const before = state;
        const { mode } = routeSettings();
        const lag = indexing.lag();
        const circumstances = { ...pageState(), ...probed, mode, slow: lateRecalls > 0, lag };
        state = { ...judge(circumstances), error: refusal, lag };
        if (!state.via) state.error = refusal = null; // the next step says more than an old refusal
        changed(state, before);
    }

    function schedule() {
        clearTimeout(timer);
        const pause = PAUSE[state.state];
        const { pending, opening } = state.health ?? {};
        const delay = pending || opening?.length ? Math.min(PENDING_PAUSE, pause) : pause;
        timer = setTimeout(() => (document.hidden ? schedule() : void check()), delay);
    }

    async function probeNow() {
        if (pageState().enabled) probed = await probe();
        checkedAt = Date.now();
    }

    /** Asks for the sidecar's health. Calls during a check wait for that check. @returns {Promise<void>} */
    function check() {
        checking ??= probeNow().finally(() => {
            checking = null;
            if (Date.now() - lateAt > SLOW_MEMORY) lateRecalls = 0;
            update();
            const { pending = 0 } = state.health ?? {};
            indexing.note(pending, checkedAt);
            update();
            schedule();
        });
        return checking;
    }

    /** @returns {Route | null} */
    function route() {
        if (state.via === null) return null;
        const { url, token } = routeSettings();
        return state.via === 'plugin' ? { kind: 'plugin' } : { kind: 'direct', url, token };
    }

    return {
        state: () => state,
        check,
        update,
        /** Whether a reply may wait for the sidecar. Checks once when the last check is old, but not for a
         * sidecar that is known to hang. @returns {Promise<boolean>} */
        async ready() {
            if (lateRecalls >= SLOW_LIMIT || (!route() && state.step === 'sidecar_slow')) {
                void check();
                return false;
            }
            if (!route() && Date.now() - checkedAt > FRESH) await check();
            return route() !== null;
        },
        /** @type {import('../base/types.js').Ask} */
        ask(method, path, body, options) {
            const by = route();
            if (by) return api.call(by, method, path, body, options);
            return Promise.reject(new ApiError('no way to the sidecar', { kind: 'network' }));
        },
        /** Notes how a recall ended. @param {unknown} error null after success */
        report(error) {
            const failure = error instanceof ApiError ? error : null;
            if (!failure) lateRecalls = 0;
            else if (failure.kind === 'timeout') lateRecalls++;
            lateAt = Date.now();
            refusal = failure?.kind === 'http' ? failure : null;
            update();
            if (failure && (failure.kind !== 'http' || failure.status >= 500)) void check();
        },
    };
}

/** @typedef {ReturnType<typeof createLink>} Link */
