// Shows a message of the open chat that may lie thousands of messages above the shown part.

import { button, el } from '../base/dom.js';

/** @typedef {import('../base/strings.js').Say} Say */
/** @typedef {Pick<import('../tavern/host.js').Host, 'firstShown' | 'showEarlier' | 'showMessage'>} Host */

// Messages that SillyTavern puts on the page in one step, in which the page does not answer. Fewer would take longer
// in all: the more are on the page already, the longer a step takes.
const AT_ONCE = 500;

/** Scrolls to a message. What lies above the shown part is loaded in parts, with a bar and a button that stops it.
 * @param {Host} host @param {Say} say @param {number} index */
export async function showFarMessage(host, say, index) {
    const total = host.firstShown() - index;
    if (total <= AT_ONCE) {
        await host.showMessage(index);
        return;
    }
    let isStopped = false;
    const notice = loadingNotice(say, total, () => (isStopped = true));
    try {
        let first = host.firstShown();
        while (first - index > AT_ONCE && !isStopped) {
            notice.show(total - (first - index));
            await new Promise(resolve => setTimeout(resolve)); // the page draws, and hears the button
            await host.showEarlier(AT_ONCE);
            const next = host.firstShown();
            if (next >= first) return; // another chat was opened
            first = next;
        }
    } finally {
        notice.close();
    }
    if (!isStopped) await host.showMessage(index);
}

/** @param {Say} say @param {number} total messages to load @param {() => unknown} stop */
function loadingNotice(say, total, stop) {
    const text = el('span');
    const bar = /** @type {HTMLProgressElement} */ (el('progress', { max: String(total), value: '0' }));
    const stopButton = button('fa-stop', say('read_cancel'), stop);
    const box = el('div', { class: 'soulmem_far_message', role: 'status' }, [text, bar, stopButton]);
    document.body.append(box);
    stopButton.focus();
    return {
        /** @param {number} done */
        show(done) {
            text.textContent = say('jump_loading', { done, total });
            bar.setAttribute('aria-label', text.textContent);
            bar.value = done;
        },
        close: () => box.remove(),
    };
}
