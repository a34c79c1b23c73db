// What is the state of the connection now, and when do we look again?

import { ApiError } from './api.js';
import { createProbe, judge } from './connection.js';

/** @typedef {import('./api.js').Api} Api */
/** @typedef {import('./api.js').Route} Route */
/** @typedef {import('./connection.js').Finding} Finding */
/** @typedef {import('./connection.js').Circumstances} Circumstances */
/** @typedef {ReturnType<typeof judge> & {error: string | null}} LinkState */

/** ms between looks, by state; a page in the background is not looked after. */
const PAUSE = { ok: 60_000, degraded: 20_000, starting: 3_000, down: 8_000, off: 60_000 };
const COUNTING = 5_000; // ms at most between looks while some messages are not searchable yet: their count is shown
const FRESH = 3_000; // ms for which a failed look is believed
const SLOW_MEMORY = 15_000; // ms after which a healthy look clears the note that a recall was late
const SLOW_LIMIT = 3; // recalls in a row that ran out of time before replies stop waiting for the next

/** @param {Api} api
 * @param {() => {mode: 'auto' | 'plugin' | 'direct', url: string, token: string}} way
 * @param {() => Pick<Circumstances, 'enabled' | 'page' | 'held' | 'vectors' | 'missing' | 'readOnly' | 'chatOff'>} circumstances
 * @param {(state: LinkState, before: LinkState) => void} changed */
export function createLink(api, way, circumstances, changed) {
    const probe = createProbe(api, way);
    let found = /** @type {{plugin: Finding | null, direct: Finding | null}} */ ({
        plugin: null,
        direct: null,
    });
    let state = /** @type {LinkState} */ ({
        state: 'off',
        step: 'turned_off',
        via: null,
        health: null,
        error: null,
    });
    let looking = /** @type {Promise<void> | null} */ (null);
    let lookedAt = 0;
    let slow = 0;
    let slowAt = 0;
    let refusal = /** @type {string | null} */ (null);
    let timer = /** @type {ReturnType<typeof setTimeout> | undefined} */ (undefined);

    function update() {
        const before = state;
        state = {
            ...judge({ ...circumstances(), mode: way().mode, ...found, slow: slow > 0 }),
            error: refusal,
        };
        if (!state.via) state.error = refusal = null; // the missing step says more than what was refused before
        changed(state, before);
    }

    function schedule() {
        clearTimeout(timer);
        timer = setTimeout(
            () => (document.hidden ? schedule() : void look()),
            state.health?.pending ? Math.min(COUNTING, PAUSE[state.state]) : PAUSE[state.state],
        );
    }

    /** Asks for the sidecar's health. @returns {Promise<void>} */
    function look() {
        looking ??= (async () => {
            if (circumstances().enabled) found = await probe();
            lookedAt = Date.now();
        })().finally(() => {
            looking = null;
            if (Date.now() - slowAt > SLOW_MEMORY) slow = 0;
            update();
            schedule();
        });
        return looking;
    }

    /** @returns {Route | null} */
    const route = () =>
        state.via === 'plugin'
            ? { kind: 'plugin' }
            : state.via === 'direct'
              ? { kind: 'direct', url: way().url, token: way().token }
              : null;

    return {
        state: () => state,
        look,
        update,
        /** Is there a way? A reply waits for one look when the last was long ago, but not for a sidecar known to hang.
         * @returns {Promise<boolean>} */
        async ready() {
            if (slow >= SLOW_LIMIT || (!route() && state.step === 'sidecar_slow')) {
                void look();
                return false;
            }
            if (!route() && Date.now() - lookedAt > FRESH) await look();
            return route() !== null && state.step !== 'sidecar_old' && state.step !== 'sidecar_new';
        },
        /** @type {import('../chat/people.js').Ask} */
        ask(method, path, body, options) {
            const by = route();
            if (!by)
                return Promise.reject(new ApiError('no way to the sidecar', { kind: 'network' }));
            return api.call(by, method, path, body, options);
        },
        /** How an attempt ended. @param {unknown} error null when well */
        report(error) {
            const trouble = error instanceof ApiError ? error : null;
            slow = trouble?.kind === 'timeout' ? slow + 1 : trouble ? slow : 0;
            slowAt = Date.now();
            refusal = trouble?.kind === 'http' ? trouble.message : null;
            update();
            if (trouble && (trouble.kind !== 'http' || trouble.status >= 500)) void look();
        },
    };
}

/** @typedef {ReturnType<typeof createLink>} Link */
