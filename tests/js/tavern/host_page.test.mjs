import assert from 'node:assert/strict';
import { test } from 'node:test';
import { createHost } from '../../../extension_js/src/tavern/host.js';

/** @param {any} context */
const hostOf = context => createHost(() => context);

/** A SillyTavern whose popups are answered. @param {unknown} answer */
function popups(answer) {
    const shown = /** @type {any[]} */ ([]);
    const labels = /** @type {string[][]} */ ([]);
    class Popup {
        static show = {
            confirm: async (/** @type {any[]} */ ...about) => (shown.push(about), answer),
        };
        constructor(/** @type {any[]} */ ...about) {
            shown.push(about);
            this.mainInput = {
                setAttribute: (/** @type {string[]} */ ...label) => void labels.push(label),
            };
        }
        async show() {
            return answer;
        }
        completeCancelled() {
            shown.push('cancelled');
        }
    }
    const context = {
        Popup,
        POPUP_TYPE: { TEXT: 1, CONFIRM: 2, INPUT: 3 },
        POPUP_RESULT: { AFFIRMATIVE: 1, NEGATIVE: 0 },
    };
    return { shown, labels, host: hostOf(context) };
}

test('only the affirmative answer is a yes', async () => {
    const content = /** @type {any} */ ({});
    for (const [answer, isYes] of [
        [1, true],
        [0, false],
        [null, false],
    ]) {
        const { host } = popups(answer);
        assert.equal(await host.confirm('Sure?'), isYes);
        assert.equal(await host.ask(content, 'Go', 'Not now'), isYes);
    }
});

test('a question is plain text: names with signs of HTML are shown as they are', async () => {
    const { host, shown } = popups(1);
    await host.confirm('Forget <b>"Mira" & Ben</b>?');
    assert.doesNotMatch(shown[0][1], /[<>"]/);
    assert.match(shown[0][1], /&#60;b&#62;&#34;Mira&#34; &#38; Ben/);
});

test('what the user typed is handed back; cancelled is null', async () => {
    const typed = popups('for good');
    assert.equal(await typed.host.prompt('Type <it>', 'Delete'), 'for good');
    assert.deepEqual(typed.shown[0], ['<h3>SoulMem</h3>Type &#60;it&#62;', 3, '', { okButton: 'Delete' }]);
    assert.deepEqual(typed.labels, [['aria-label', 'Type <it>']]);
    assert.equal(await typed.host.prompt('Type it'), 'for good');
    assert.deepEqual(typed.shown[1][3], {});
    for (const cancelled of [undefined, null, false])
        assert.equal(await popups(cancelled).host.prompt('Type it'), null);
    assert.equal(await popups('').host.prompt('Type it'), '');
});

test('a window can be closed from outside and asks before it closes', async () => {
    const { host, shown } = popups(null);
    const mayClose = async () => false;
    const { closed, close } = host.popup(/** @type {any} */ ({}), 'Close', { large: true, mayClose });
    assert.equal(await closed, null);
    close();
    assert.equal(shown[0][3].onClosing, mayClose);
    assert.equal(shown[0][3].large, true);
    assert.equal(shown[1], 'cancelled');
    host.popup(/** @type {any} */ ({}), 'Close');
    assert.deepEqual([shown[2][3].large, shown[2][3].onClosing], [false, null]);
});

test('the page is on this machine when its address says so', () => {
    const at = (/** @type {string} */ hostname) => {
        Object.assign(globalThis, {
            location: { hostname, origin: `http://${hostname}` },
            window: { isSecureContext: true },
        });
        return hostOf({}).page();
    };
    for (const hostname of ['127.0.0.1', 'localhost', '[::1]'])
        assert.equal(at(hostname).loopback, true);
    const { loopback, origin, secure } = at('192.168.0.7');
    assert.deepEqual([loopback, origin, secure], [false, 'http://192.168.0.7', true]);
});

test('dates are written in the language of the page, else in that of the browser', () => {
    const browser = 'fr-FR';
    Object.defineProperty(globalThis, 'navigator', {
        value: { language: browser },
        configurable: true,
    });
    const locale = (/** @type {any} */ value) => hostOf({ getCurrentLocale: () => value }).locale();
    assert.equal(locale('zh-cn'), 'zh-cn');
    assert.equal(locale(undefined), browser);
    assert.equal(locale(7), browser);
    assert.equal(locale('xx-klingon'), browser);
    assert.equal(hostOf({}).locale(), browser);
});
