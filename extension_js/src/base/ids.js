// Ids. crypto.randomUUID is missing on http pages that are not loopback, so they come from getRandomValues.

/** @param {string} prefix a letter for the kind of id @returns {string} the prefix and 20 random hex digits */
export function newId(prefix) {
    const bytes = crypto.getRandomValues(new Uint8Array(10));
    return prefix + [...bytes].map(byte => byte.toString(16).padStart(2, '0')).join('');
}

/** Whether the sidecar takes a value as an id. @param {unknown} value @returns {value is string} */
export const isId = value => typeof value === 'string' && /^[A-Za-z0-9_-]{1,64}$/.test(value);
