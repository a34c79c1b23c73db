// Where do new ids come from? crypto.randomUUID is absent on http pages that are not loopback; getRandomValues is not.

/** @param {string} prefix one letter that tells ids apart in a file @returns {string} the prefix and 20 random hex digits */
export function newId(prefix) {
    const bytes = crypto.getRandomValues(new Uint8Array(10));
    return prefix + [...bytes].map(byte => byte.toString(16).padStart(2, '0')).join('');
}

/** Could the sidecar take this as an id? @param {unknown} value @returns {value is string} */
export const isId = value => typeof value === 'string' && /^[A-Za-z0-9_-]{1,64}$/.test(value);
