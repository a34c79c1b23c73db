// The health dot at the send form: its state, its tooltip, and a press that opens the settings drawer.

import { el, onPress } from '../base/dom.js';
import { stepText } from '../link/health_checks.js';
import { errorTextOf, stepFacts } from '../widgets/error_text.js';

/** @typedef {import('../app.js').App} App */
/** @typedef {import('../base/strings.js').Say} Say */

const SCROLL_DELAY = 300; // ms until SillyTavern has opened its panel
const FLASH_TIME = 4000; // ms that the number of memories for a reply is shown

/** @param {Element | null | undefined} element */
const click = element => /** @type {HTMLElement | null | undefined} */ (element)?.click();

/** Opens SillyTavern's extensions panel at our drawer. */
function openDrawer() {
    const panel = document.getElementById('rm_extensions_block');
    if (panel && !panel.classList.contains('openDrawer')) {
        click(document.querySelector('#extensions-settings-button .drawer-toggle'));
    }
    const drawer = document.getElementById('soulmem_drawer');
    const icon = drawer?.querySelector('.inline-drawer-icon');
    if (icon?.classList.contains('down')) click(drawer?.querySelector('.inline-drawer-toggle'));
    const scroll = () => drawer?.scrollIntoView({ block: 'start', behavior: 'smooth' });
    setTimeout(scroll, SCROLL_DELAY);
}

/** @param {App} app @param {Say} say @returns {string} the last recall in words; empty when there was none */
function lastRecallText(app, say) {
    const record = app.recaller.last();
    if (!record) return '';
    if (record.error) {
        if (!app.link.state().via) return ''; // the next step says why
        return say('recalled_failed', { error: errorTextOf(app, record.error, say) });
    }
    if (record.nowhere) return say('recalled_last_nowhere', { n: record.memories.length });
    const ms = Math.round(record.took_ms.total ?? 0);
    const n = record.withheld ?? 0;
    if (record.memories.length === 0)
        return n > 0 ? say('recalled_last_silent', { n, ms }) : say('recalled_last_none');
    return say('recalled_last', { n: record.sent.length, tokens: record.tokens, ms });
}

/** @param {App} app @param {Say} say @param {Promise<unknown>} mounted the drawer stands there */
export function mountHealthDot(app, say, mounted) {
    const dot = el('div', {
        id: 'soulmem_dot',
        class: 'fa-solid fa-brain interactable',
        tabindex: '0',
        role: 'button',
    });
    document.getElementById('leftSendForm')?.append(dot);
    onPress(dot, () => mounted.then(openDrawer));

    let isWhole = false;
    void mounted.then(() => {
        isWhole = true;
        draw();
    });

    function draw() {
        const link = app.link.state();
        const { reading, syncing } = app.chatSync.state;
        // Green says that everything is there to be pressed
        dot.dataset.state = link.state === 'ok' && !isWhole ? 'starting' : link.state;
        dot.dataset.step = link.step;
        dot.classList.toggle('soulmem_busy', reading !== null && syncing);
        const lines = [
            `SoulMem: ${say(`state_${link.state}`)}`,
            stepText(link, stepFacts(app), say),
            lastRecallText(app, say),
        ];
        dot.title = lines.filter(Boolean).join('\n');
        dot.setAttribute('aria-label', dot.title);
    }

    let flashed = /** @type {unknown} */ (null); // the recall that was shown last
    /** Shows for a moment how many memories the reply got. */
    function flash() {
        const record = app.recaller.last();
        if (!record || record === flashed || record.error || record.sent.length === 0) return;
        flashed = record;
        const text = say('reply_count', { n: record.sent.length });
        const note = el('span', { id: 'soulmem_flash', role: 'status', text });
        document.getElementById('soulmem_flash')?.remove();
        dot.append(note);
        setTimeout(() => note.remove(), FLASH_TIME);
    }

    app.subscribe(draw);
    app.host.on('MESSAGE_RECEIVED', flash);
    draw();
}
