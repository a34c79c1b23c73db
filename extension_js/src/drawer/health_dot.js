// How does the health dot at the send form look, and what does a click on it do?

import { stepText } from '../link/health_checks.js';
import { el, onPress } from '../base/dom.js';
import { facts } from '../widgets/error_text.js';

/** @typedef {import('../app.js').App} App */
/** @typedef {import('../base/strings.js').Say} Say */

/** Opens the extensions panel at our drawer. */
function openDrawer() {
    const panel = document.getElementById('rm_extensions_block');
    if (panel && !panel.classList.contains('openDrawer'))
        /** @type {HTMLElement | null} */ (
            document.querySelector('#extensions-settings-button .drawer-toggle')
        )?.click();
    const drawer = document.getElementById('soulmem_drawer');
    const icon = drawer?.querySelector('.inline-drawer-icon');
    if (icon?.classList.contains('down'))
        /** @type {HTMLElement | null} */ (drawer?.querySelector('.inline-drawer-toggle'))?.click();
    setTimeout(() => drawer?.scrollIntoView({ block: 'start', behavior: 'smooth' }), 300);
}

/** @param {App} app @param {Say} say */
export function mountDot(app, say) {
    const dot = el('div', {
        id: 'soulmem_dot',
        class: 'fa-solid fa-brain interactable',
        tabindex: '0',
        role: 'button',
    });
    document.getElementById('leftSendForm')?.append(dot);
    onPress(dot, openDrawer);

    function draw() {
        const link = app.link.state();
        const last = app.recaller.last();
        dot.dataset.state = link.state;
        dot.dataset.step = link.step;
        dot.classList.toggle(
            'soulmem_busy',
            app.keeper.state.reading !== null && app.keeper.state.syncing,
        );
        const lines = [`SoulMem: ${say(`state_${link.state}`)}`, stepText(link, facts(app), say)];
        if (last?.error) lines.push(say('recalled_failed', { error: last.error }));
        else if (last)
            lines.push(
                say('recalled_last', {
                    n: last.sent.length,
                    tokens: last.tokens,
                    ms: Math.round(last.took_ms.total ?? 0),
                }),
            );
        dot.title = lines.filter(Boolean).join('\n');
        dot.setAttribute('aria-label', dot.title);
    }
    app.subscribe(draw);
    draw();
}
