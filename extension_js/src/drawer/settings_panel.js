// What does the settings drawer show and change?

import { checklist, stepText } from '../link/health_checks.js';
import { mountBrowser } from '../pages/memory_browser.js';
import { bindCharacter } from './character_settings.js';
import { byId, el, onPress } from '../base/dom.js';
import { bindForgetting } from './forget_button.js';
import { confirmRemoval } from '../pages/quarantine_notice.js';
import { bindImport } from './import_button.js';
import { bindReading } from './read_button.js';
import { BOUNDS, addressOf, bounded } from '../base/settings.js';
import { facts } from '../widgets/error_text.js';
import { watchWaiting } from '../pages/waiting_requests.js';

/** @typedef {import('../app.js').App} App */
/** @typedef {import('../base/strings.js').Say} Say */
/** @typedef {import('../base/settings.js').Settings} Settings */

const SIGNS = {
    yes: 'fa-circle-check',
    no: 'fa-circle-xmark',
    wait: 'fa-hourglass-half',
    warn: 'fa-triangle-exclamation',
};
/** Changing these means looking for the sidecar anew. */
const WAY = ['enabled', 'route', 'url', 'read_only'];

/** @param {App} app @param {Say} say @returns {Promise<ReturnType<typeof mountBrowser> | null>} the window of all memories */
export async function mountPanel(app, say) {
    const place = document.getElementById('extensions_settings2');
    if (!place) return null;
    place.insertAdjacentHTML('beforeend', await app.host.template('settings'));
    bindSettings(app, say);
    const profiles = bindProfiles(app, say);
    const character = bindCharacter(app, say);
    const reading = bindReading(app, say);
    const importing = bindImport(app, say, character.chosen);
    const forgetting = bindForgetting(app, say);
    const browser = mountBrowser(app, say, character.chosen);
    watchWaiting(app, say, () => browser.open('waiting'));

    onPress(byId('soulmem_look'), () => app.link.look());
    onPress(byId('soulmem_held_review'), () => browser.open('waiting'));
    onPress(byId('soulmem_held_confirm'), () => confirmRemoval(app, say));

    function draw() {
        const link = app.link.state();
        for (const light of document.querySelectorAll('.soulmem_light, #soulmem_health'))
            /** @type {HTMLElement} */ (light).dataset.state = link.state;
        byId('soulmem_state').textContent = say(`state_${link.state}`);
        byId('soulmem_step').textContent = stepText(link, facts(app), say);
        byId('soulmem_checks').replaceChildren(
            ...checklist(link, app.keeper.state, app.settings().url, say).map(({ sign, text }) =>
                el('li', { class: `soulmem_${sign}` }, [
                    el('i', { class: `fa-solid fa-fw ${SIGNS[sign]}` }),
                    el('span', { text }),
                ]),
            ),
        );
        byId('soulmem_held').hidden = app.keeper.state.held === null;
        profiles.draw();
        reading.draw();
        importing.draw();
        forgetting.draw();
    }

    app.subscribe(draw);
    app.host.on('CHAT_CHANGED', () => void character.draw());
    app.host.on('GROUP_UPDATED', () => void character.draw());
    draw();
    await character.draw();
    return browser;
}

/** @param {App} app @param {Say} say */
function bindSettings(app, say) {
    for (const input of /** @type {NodeListOf<HTMLInputElement | HTMLSelectElement>} */ (
        document.querySelectorAll('#soulmem_drawer [data-setting]')
    )) {
        const key = /** @type {keyof Settings} */ (input.dataset.setting);
        const box = input instanceof HTMLInputElement && input.type === 'checkbox' ? input : null;
        const bounds = key in BOUNDS ? BOUNDS[/** @type {keyof typeof BOUNDS} */ (key)] : null;
        if (bounds) {
            input.setAttribute('min', String(bounds[0]));
            input.setAttribute('max', String(bounds[1]));
        }
        const show = () => {
            const value = app.settings()[key];
            if (box) box.checked = Boolean(value);
            else input.value = String(value);
        };
        input.addEventListener('change', () => {
            if (key === 'url' && addressOf(input.value) === null) {
                app.host.toast(
                    'warning',
                    say('url_refused', { url: input.value.trim(), kept: app.settings().url }),
                );
                return show();
            }
            const raw = box
                ? box.checked
                : bounds
                  ? bounded(/** @type {keyof typeof BOUNDS} */ (key), input.value)
                  : input.value.trim();
            Object.assign(app.host.stored(), { [key]: raw });
            show(); // as repaired
            app.host.saveSettings();
            if (WAY.includes(key)) void app.link.look();
            if (key === 'read_only') app.keeper.enqueue(0); // what was said meanwhile
            if (key === 'forgetting' || key === 'scope') app.keeper.enqueue();
        });
        show();
    }
    const token = byId('soulmem_token');
    if (token instanceof HTMLInputElement) {
        token.value = app.token.get();
        token.addEventListener('change', () => {
            app.token.set(token.value.trim());
            void app.link.look();
        });
    }
}

/** Which connection the sidecar's work at rest runs on; shown when the sidecar is set to use SillyTavern's.
 * @param {App} app @param {Say} say */
function bindProfiles(app, say) {
    const select = /** @type {HTMLSelectElement} */ (byId('soulmem_llm_profile'));
    select.addEventListener('change', () => {
        app.host.stored().llm_profile = select.value;
        app.host.saveSettings();
    });
    let shown = '';
    return {
        draw() {
            const wanted = app.link.state().health?.llm?.model === 'client';
            for (const part of /** @type {NodeListOf<HTMLElement>} */ (
                document.querySelectorAll('#soulmem_drawer .soulmem_llm')
            ))
                part.hidden = !wanted;
            const profiles = wanted ? app.host.profiles() : [];
            if (JSON.stringify(profiles) !== shown) {
                // an open list is not drawn anew
                shown = JSON.stringify(profiles);
                select.replaceChildren(
                    el('option', { value: '', text: say('llm_profile_current') }),
                    ...profiles.map(one => el('option', { value: one.id, text: one.name })),
                );
            }
            select.value = profiles.some(one => one.id === app.settings().llm_profile)
                ? app.settings().llm_profile
                : '';
        },
    };
}
