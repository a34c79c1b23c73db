// SHA-256 in plain JS, and what is made of it. crypto.subtle is missing on http pages that are not loopback.

// prettier-ignore
const K = new Uint32Array([
    0x428a2f98, 0x71374491, 0xb5c0fbcf, 0xe9b5dba5, 0x3956c25b, 0x59f111f1, 0x923f82a4, 0xab1c5ed5,
    0xd807aa98, 0x12835b01, 0x243185be, 0x550c7dc3, 0x72be5d74, 0x80deb1fe, 0x9bdc06a7, 0xc19bf174,
    0xe49b69c1, 0xefbe4786, 0x0fc19dc6, 0x240ca1cc, 0x2de92c6f, 0x4a7484aa, 0x5cb0a9dc, 0x76f988da,
    0x983e5152, 0xa831c66d, 0xb00327c8, 0xbf597fc7, 0xc6e00bf3, 0xd5a79147, 0x06ca6351, 0x14292967,
    0x27b70a85, 0x2e1b2138, 0x4d2c6dfc, 0x53380d13, 0x650a7354, 0x766a0abb, 0x81c2c92e, 0x92722c85,
    0xa2bfe8a1, 0xa81a664b, 0xc24b8b70, 0xc76c51a3, 0xd192e819, 0xd6990624, 0xf40e3585, 0x106aa070,
    0x19a4c116, 0x1e376c08, 0x2748774c, 0x34b0bcb5, 0x391c0cb3, 0x4ed8aa4a, 0x5b9cca4f, 0x682e6ff3,
    0x748f82ee, 0x78a5636f, 0x84c87814, 0x8cc70208, 0x90befffa, 0xa4506ceb, 0xbef9a3f7, 0xc67178f2,
]);
const BASE32 = 'abcdefghijklmnopqrstuvwxyz234567';
const utf8 = new TextEncoder();

/** @param {Uint8Array} bytes @returns {Uint8Array} length + 1 + zeros + 8, a multiple of 64 */
function padded(bytes) {
    const out = new Uint8Array((bytes.length + 72) & ~63);
    out.set(bytes);
    out[bytes.length] = 0x80;
    const view = new DataView(out.buffer);
    view.setUint32(out.length - 8, Math.floor(bytes.length / 2 ** 29));
    view.setUint32(out.length - 4, bytes.length << 3);
    return out;
}

/** SHA-256 of the UTF-8 bytes of a text, as 64 hex digits.
 * @param {string} text @returns {string} */
export function sha256(text) {
    const data = padded(utf8.encode(text));
    const view = new DataView(data.buffer);
    const h = new Uint32Array([
        0x6a09e667, 0xbb67ae85, 0x3c6ef372, 0xa54ff53a, 0x510e527f, 0x9b05688c, 0x1f83d9ab,
        0x5be0cd19,
    ]);
    const w = new Uint32Array(64);
    for (let start = 0; start < data.length; start += 64) {
        for (let i = 0; i < 16; i++) w[i] = view.getUint32(start + i * 4);
        for (let i = 16; i < 64; i++) {
            const x = w[i - 15];
            const y = w[i - 2];
            const s0 = ((x >>> 7) | (x << 25)) ^ ((x >>> 18) | (x << 14)) ^ (x >>> 3);
            const s1 = ((y >>> 17) | (y << 15)) ^ ((y >>> 19) | (y << 13)) ^ (y >>> 10);
            w[i] = w[i - 16] + s0 + w[i - 7] + s1;
        }
        let [a, b, c, d, e, f, g, k] = h;
        for (let i = 0; i < 64; i++) {
            const s1 = ((e >>> 6) | (e << 26)) ^ ((e >>> 11) | (e << 21)) ^ ((e >>> 25) | (e << 7));
            const t1 = (k + s1 + ((e & f) ^ (~e & g)) + K[i] + w[i]) | 0;
            const s0 =
                ((a >>> 2) | (a << 30)) ^ ((a >>> 13) | (a << 19)) ^ ((a >>> 22) | (a << 10));
            const t2 = (s0 + ((a & b) ^ (a & c) ^ (b & c))) | 0;
            // prettier-ignore
            k = g;
            g = f;
            f = e;
            e = (d + t1) | 0;
            d = c;
            c = b;
            b = a;
            a = (t1 + t2) | 0;
        }
        h[0] += a;
        h[1] += b;
        h[2] += c;
        h[3] += d;
        h[4] += e;
        h[5] += f;
        h[6] += g;
        h[7] += k;
    }
    return [...h].map(word => word.toString(16).padStart(8, '0')).join('');
}

/** The text with U+FFFD for lone surrogates, which JSON and UTF-8 cannot hold. A reply that was cut inside
 * an emoji has one.
 * @param {unknown} text @returns {string} */
export function wellFormed(text) {
    const surrogates = /[\uD800-\uDBFF][\uDC00-\uDFFF]|[\uD800-\uDFFF]/g;
    return String(text ?? '').replace(surrogates, match => (match.length === 2 ? match : '\uFFFD'));
}

/** @param {string} text @returns {string} first 16 hex digits of its SHA-256 */
export const textHash = text => sha256(text).slice(0, 16);

/** @typedef {{slot: string, hash: string, hidden: boolean}} Version */

/** The line of a message in a digest. @param {Version} message @returns {string} */
export const digestLine = ({ slot, hash, hidden }) => `${slot}:${hash}:${hidden ? 1 : 0}\n`;

/** The contract's digest of a chat's first messages. @param {readonly Version[]} messages @returns {string} */
export const digestOf = messages => sha256(messages.map(digestLine).join(''));

/** An id that depends only on the parts, as the sidecar derives it: 128 bits of their SHA-256 in base 32.
 * @param {string} prefix @param {readonly string[]} parts @returns {string} */
export function derivedId(prefix, parts) {
    const hex = sha256(parts.map(wellFormed).join('\x1f')).slice(0, 32);
    const bits = [...hex].map(digit => parseInt(digit, 16).toString(2).padStart(4, '0')).join('');
    const groups = bits.match(/.{1,5}/g) ?? [];
    return prefix + groups.map(group => BASE32[parseInt(group.padEnd(5, '0'), 2)]).join('');
}
