// The choice of the model for memory work: none, SillyTavern's connection, or a server of its own.

import { button, el } from '../base/dom.js';

/** @typedef {import('./browser_context.js').BrowserContext} BrowserContext */
/** @typedef {import('../base/strings.js').Key} Key */
/** The choice in force, as the sidecar tells it.
 * @typedef {{use: string, model: string, base_url: string, has_key: boolean}} Chosen */

const USES = ['settings', 'none', 'client', 'server'];

/** @param {BrowserContext} context @param {() => unknown} changed called after a choice came into force */
export function modelChoice(context, changed) {
    const { app, say, memoryApi } = context;
    const use = /** @type {HTMLSelectElement} */ (
        el(
            'select',
            { id: 'soulmem_model_use', class: 'text_pole margin0' },
            USES.map(value => el('option', { value, text: say(/** @type {Key} */ (`use_${value}`)) })),
        )
    );
    const profile = /** @type {HTMLSelectElement} */ (
        el('select', { id: 'soulmem_model_profile', class: 'text_pole margin0' })
    );
    /** @param {string} id @param {string} type */
    const field = (id, type) =>
        /** @type {HTMLInputElement} */ (
            el('input', { id, type, class: 'text_pole margin0', autocomplete: 'off', spellcheck: 'false' })
        );
    const url = field('soulmem_model_url', 'text');
    const name = field('soulmem_model_name', 'text');
    const key = field('soulmem_model_key', 'password');
    url.setAttribute('placeholder', 'http://127.0.0.1:5001/v1');
    const hint = el('small', { class: 'soulmem_hint' });

    /** @param {Key} label @param {HTMLElement} input */
    const row = (label, input) => {
        const parts = [el('label', { for: input.id, text: say(label) }), input];
        return { parts, hide: (/** @type {boolean} */ isHidden) => parts.forEach(part => (part.hidden = isHidden)) };
    };
    const profileRow = row('model_profile_label', profile);
    const serverRows = [row('model_url', url), row('model_name', name), row('model_key', key)];

    function drawFields() {
        profileRow.hide(use.value !== 'client');
        for (const fields of serverRows) fields.hide(use.value !== 'server');
        hint.textContent = use.value === 'client' ? say('model_client_hint') : '';
    }

    function drawProfiles() {
        const current = el('option', { value: '', text: say('llm_profile_current') });
        const options = app.host
            .profiles()
            .map(({ id, name: text }) => el('option', { value: id, text }));
        profile.replaceChildren(current, ...options);
        profile.value = app.settings().llm_profile;
    }

    /** @param {Chosen} chosen */
    function show(chosen) {
        use.value = chosen.use;
        url.value = chosen.base_url;
        name.value = chosen.model;
        key.value = '';
        key.setAttribute('placeholder', chosen.has_key ? say('model_key_kept') : '');
        drawProfiles();
        drawFields();
    }

    async function choose() {
        const isServer = use.value === 'server';
        const body = {
            use: use.value,
            ...(isServer && { base_url: url.value.trim(), model: name.value.trim() }),
            ...(isServer && key.value && { api_key: key.value }),
        };
        if (use.value === 'client') {
            app.host.stored().llm_profile = profile.value;
            app.host.saveSettings();
        }
        show(await memoryApi.chooseModel(body));
        await app.link.check();
        context.showStatus(say(use.value === 'none' ? 'model_chosen_none' : 'model_chosen'));
        await changed();
    }

    use.addEventListener('change', drawFields);
    const element = el('details', { id: 'soulmem_model_choice', class: 'soulmem_weights' }, [
        el('summary', { text: say('model_use') }),
        el('div', { class: 'soulmem_grid' }, [
            ...row('model_use', use).parts,
            ...profileRow.parts,
            ...serverRows.flatMap(({ parts }) => parts),
        ]),
        hint,
        el('div', { class: 'soulmem_row' }, [
            button('fa-check', say('model_choose'), () => context.attempt(choose), {
                id: 'soulmem_model_choose',
            }),
        ]),
    ]);
    element.hidden = true;
    // Hidden while it cannot be asked for
    memoryApi.chosenModel().then(
        chosen => {
            element.hidden = false;
            show(chosen);
        },
        () => undefined,
    );
    return element;
}
