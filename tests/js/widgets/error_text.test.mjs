import assert from 'node:assert/strict';
import { test } from 'node:test';
import { say } from '../texts.mjs';
import { ApiError } from '../../../extension_js/src/link/api.js';
import { errorText } from '../../../extension_js/src/widgets/error_text.js';


test('a failure is told with what helps', () => {
    const facts = { folder: 'F', origin: 'O', url: 'U', quarantined: 0 };
    const link = /** @type {any} */ ({
        state: 'ok',
        step: '',
        via: 'plugin',
        health: null,
        error: null,
    });
    const away = { ...link, state: 'down', step: 'sidecar_down', via: null };
    const http = (/** @type {string} */ code, status = 409) =>
        new ApiError('memory m1 is at revision 2', { kind: 'http', status, code });
    assert.match(errorText(http('conflict'), link, facts, say), /changed elsewhere.*revision 2/s);
    assert.match(errorText(http('forbidden', 403), link, facts, say), /remove "permanent"/);
    assert.match(
        errorText(http('sidecar_down', 502), away, facts, say),
        /nothing was changed. Nothing answers at U. Start SoulMem/,
    );
    assert.match(errorText(new ApiError('x', { kind: 'network' }), away, facts, say), /Start\.bat/);
    assert.match(errorText(new ApiError('x', { kind: 'timeout' }), link, facts, say), /Try again/);
    assert.match(errorText(http('internal', 500), link, facts, say), /did not work: memory m1/);
    assert.match(errorText(new Error('odd'), link, facts, say), /odd/);
    const phrase = { code: 'no_memory', text: 'no memory', values: { memory: 'm1' } };
    const gone = new ApiError('gone', { kind: 'http', status: 404, code: 'not_found', phrase });
    assert.match(errorText(gone, link, facts, say), /no memory 'm1'/);
});
