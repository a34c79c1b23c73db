// Asynchronous work that runs one piece after another.

/** A queue of its own. A piece that fails does not hold up the next.
 * @returns {<T>(work: () => Promise<T>) => Promise<T>} starts the work when all work before it has ended */
export function createQueue() {
    let last = /** @type {Promise<unknown>} */ (Promise.resolve());
    return work => {
        const result = last.then(work);
        last = result.catch(() => undefined);
        return result;
    };
}
