// How far the sidecar lags behind with making memories searchable by meaning.

/** `seconds` until all are, by the pace since it began; null while nothing is known of the pace.
 * @typedef {{n: number, seconds: number | null}} Lag */

/** What becomes searchable between two looks is no lag. */
export function createIndexing() {
    let began = /** @type {{at: number, most: number} | null} */ (null); // since when some wait, and how many at most
    let lag = /** @type {Lag | null} */ (null);

    return {
        /** @returns {Lag | null} null while it keeps up */
        lag: () => lag,
        /** @param {number} pending that are not searchable by meaning yet @param {number} now ms since the epoch */
        note(pending, now) {
            if (pending <= 0) {
                began = lag = null;
                return;
            }
            if (!began || pending > began.most) {
                lag = began ? { n: pending, seconds: null } : null;
                began = { at: now, most: pending };
                return;
            }
            const done = began.most - pending;
            const seconds = done > 0 ? ((now - began.at) / 1000 / done) * pending : null;
            lag = { n: pending, seconds };
        },
    };
}
