// The settings drawer: the health of memory, the buttons of the open chat, and all settings.

import { byId, el, onPress } from '../base/dom.js';
import { addressOf, BOUNDS, bounded, mirrored } from '../base/settings.js';
import { checklist, stepText } from '../link/health_checks.js';
import { bindQuickReplies } from '../controls/quick_replies.js';
import { mountMemoryBrowser } from '../pages/memory_browser.js';
import { confirmRemoval } from '../pages/quarantine_notice.js';
import { watchDeletionRequests } from '../pages/waiting_requests.js';
import { stepFacts } from '../widgets/error_text.js';
import { bindCard } from './character_card.js';
import { bindCharacter } from './character_settings.js';
import { bindForgetting } from './forget_button.js';
import { bindImport } from './import_button.js';
import { bindPresets } from './presets.js';
import { bindPromptSections } from './prompt_sections.js';
import { bindReading } from './read_button.js';
import { bindSoulFiles } from './soul_files.js';

/** @typedef {import('../app.js').App} App */
/** @typedef {import('../base/strings.js').Say} Say */
/** @typedef {import('../base/strings.js').Key} Key */
/** @typedef {import('../base/settings.js').Settings} Settings */
/** @typedef {HTMLInputElement | HTMLSelectElement} Input */

const ICONS = {
    yes: 'fa-circle-check',
    no: 'fa-circle-xmark',
    wait: 'fa-hourglass-half',
    warn: 'fa-triangle-exclamation',
};
/** A change of these settings is followed by a check of the connection. */
const CONNECTION_SETTINGS = ['enabled', 'route', 'url', 'read_only'];
/** These are for the characters whose card has no setting of its own. */
const CHARACTER_SETTINGS = ['forgetting', 'restraint', 'scope'];

/** @param {App} app @param {Say} say
 * @returns {Promise<ReturnType<typeof mountMemoryBrowser> | null>} the memory window; null without a place for
 *   the drawer */
export async function mountSettingsPanel(app, say) {
    const place = document.getElementById('extensions_settings2');
    if (!place) return null;
    place.insertAdjacentHTML('beforeend', await app.host.template('settings'));
    fillTexts(say);
    const settings = bindSettings(app, say);
    const sections = bindPromptSections(app, say);
    bindPresets(app, say, () => {
        settings.draw();
        sections.draw();
    });
    bindQuickReplies(app, say);
    bindToken(app);
    const profiles = bindProfiles(app, say);
    const character = bindCharacter(app, say);
    const card = bindCard(app, say, character.chosen);
    const reading = bindReading(app, say);
    const importing = bindImport(app, say, character.chosen);
    const files = bindSoulFiles(app, say, character.chosen);
    const forgetting = bindForgetting(app, say);
    const browser = mountMemoryBrowser(app, say, character.chosen);
    watchDeletionRequests(app, say, () => browser.open('waiting'));

    onPress(byId('soulmem_look'), () => app.link.check());
    onPress(byId('soulmem_held_review'), () => browser.open('waiting'));
    onPress(byId('soulmem_held_confirm'), () => confirmRemoval(app, say));

    function draw() {
        drawHealth(app, say);
        for (const part of [profiles, reading, importing, files, forgetting, card]) part.draw();
    }

    app.subscribe(draw);
    app.host.on('CHAT_CHANGED', () => void character.draw());
    app.host.on('GROUP_UPDATED', () => void character.draw());
    draw();
    await character.draw();
    return browser;
}

/** Puts in what `data-i18n` names: SillyTavern does so only where it has a translation. @param {Say} say */
function fillTexts(say) {
    const elements = /** @type {NodeListOf<HTMLElement>} */ (
        document.querySelectorAll('#soulmem_drawer [data-i18n]')
    );
    for (const element of elements) {
        const [, attribute, key] =
            /^(?:\[([\w-]+)\])?soulmem\.(\w+)$/.exec(element.dataset.i18n ?? '') ?? [];
        const text = say(/** @type {Key} */ (key));
        if (attribute) element.setAttribute(attribute, text);
        else element.textContent = text;
    }
}

/** @param {App} app @param {Say} say */
function drawHealth(app, say) {
    const link = app.link.state();
    const lights = /** @type {NodeListOf<HTMLElement>} */ (
        document.querySelectorAll('.soulmem_light, #soulmem_health')
    );
    for (const light of lights) Object.assign(light.dataset, { state: link.state, step: link.step });
    byId('soulmem_state').textContent = say(`state_${link.state}`);
    byId('soulmem_step').textContent = stepText(link, stepFacts(app), say);
    const checks = checklist(link, app.chatSync.state, app.settings().url, say, app.host.chatName());
    const items = checks.map(({ sign, text }) =>
        el('li', { class: `soulmem_${sign}` }, [
            el('i', { class: `fa-solid fa-fw ${ICONS[sign]}` }),
            el('span', { text }),
        ]),
    );
    byId('soulmem_checks').replaceChildren(...items);
    byId('soulmem_held').hidden = app.chatSync.state.quarantine === null;
}

/** @param {App} app @param {Say} say */
function bindSettings(app, say) {
    const inputs = /** @type {NodeListOf<Input>} */ (
        document.querySelectorAll('#soulmem_drawer [data-setting]')
    );
    const rows = [...inputs].map(input => bindSetting(app, say, input));
    return { draw: () => rows.forEach(({ show }) => show()) };
}

/** @param {App} app @param {Say} say @param {Input} input whose `data-setting` names the setting */
function bindSetting(app, say, input) {
    const key = /** @type {keyof Settings} */ (input.dataset.setting);
    const isBox = input instanceof HTMLInputElement && input.type === 'checkbox';
    const isMirrored = input.dataset.mirrored !== undefined; // the largest value is on the left
    const numberKey = key in BOUNDS ? /** @type {keyof typeof BOUNDS} */ (key) : null;
    if (numberKey) {
        const [least, most] = BOUNDS[numberKey];
        input.setAttribute('min', String(least));
        input.setAttribute('max', String(most));
    }

    function show() {
        const value = app.settings()[key];
        if (isBox) input.checked = Boolean(value);
        else if (isMirrored && numberKey) input.value = String(mirrored(numberKey, Number(value)));
        else input.value = String(value);
    }

    function valueOf() {
        if (isBox) return input.checked;
        if (!numberKey) return input.value.trim();
        const number = bounded(numberKey, input.value);
        return isMirrored ? mirrored(numberKey, number) : number;
    }

    function save() {
        if (key === 'url' && addressOf(input.value) === null) {
            const values = { url: input.value.trim(), kept: app.settings().url };
            app.host.toast('warning', say('url_refused', values));
            show();
            return;
        }
        Object.assign(app.host.stored(), { [key]: valueOf() });
        show(); // as it was corrected
        app.host.saveSettings();
        if (CONNECTION_SETTINGS.includes(key)) void app.link.check();
        if (key === 'tools') app.notify();
        if (key === 'read_only') app.chatSync.scheduleSync(0); // what was said while it was on
        if (CHARACTER_SETTINGS.includes(key)) app.chatSync.scheduleSync();
    }

    input.addEventListener('change', save);
    show();
    return { show };
}

/** @param {App} app */
function bindToken(app) {
    const input = byId('soulmem_token');
    if (!(input instanceof HTMLInputElement)) return;
    input.value = app.token.get();
    input.addEventListener('change', () => {
        app.token.set(input.value.trim());
        void app.link.check();
    });
}

/** The connection profile for background work; shown only when the sidecar uses SillyTavern's connection.
 * @param {App} app @param {Say} say */
function bindProfiles(app, say) {
    const select = /** @type {HTMLSelectElement} */ (byId('soulmem_llm_profile'));
    const parts = /** @type {NodeListOf<HTMLElement>} */ (
        document.querySelectorAll('#soulmem_drawer .soulmem_llm')
    );
    select.addEventListener('change', () => {
        app.host.stored().llm_profile = select.value;
        app.host.saveSettings();
    });
    let shown = ''; // profiles as JSON

    return {
        draw() {
            const isWanted = app.link.state().health?.llm?.model === 'client';
            for (const part of parts) part.hidden = !isWanted;
            const profiles = isWanted ? app.host.profiles() : [];
            const json = JSON.stringify(profiles);
            // A list that is the same is left alone: the user may have it open
            if (json !== shown) {
                shown = json;
                const current = el('option', { value: '', text: say('llm_profile_current') });
                const options = profiles.map(({ id, name }) =>
                    el('option', { value: id, text: name }),
                );
                select.replaceChildren(current, ...options);
            }
            const chosen = app.settings().llm_profile;
            select.value = profiles.some(profile => profile.id === chosen) ? chosen : '';
        },
    };
}
