// The settings of one character, kept in its card.

import { byId, el } from '../base/dom.js';
import { bounded, mirrored } from '../base/settings.js';
import { errorTextOf } from '../widgets/error_text.js';
import { cardConfig } from '../tavern/identity.js';
import { bindLimits } from './character_limits.js';
import { bindWeights } from './weights.js';

/** @typedef {import('../app.js').App} App */
/** @typedef {import('../base/strings.js').Say} Say */
/** @typedef {import('../chat/people.js').Person} Person */

/** A dial with its box "as below". @param {'forgetting' | 'restraint'} key */
function bindDial(key) {
    const general = /** @type {HTMLInputElement} */ (byId(`soulmem_card_general_${key}`));
    const dial = /** @type {HTMLInputElement} */ (byId(`soulmem_card_${key}`));
    const isMirrored = dial.dataset.mirrored !== undefined; // the largest value is on the left
    dial.addEventListener('change', () => {
        general.checked = false; // who moves it wants a value of its own
    });

    return {
        inputs: [general, dial],
        /** @param {number | undefined} own the card's value @param {number} below for all characters */
        show(own, below) {
            const value = own ?? below;
            general.checked = own === undefined;
            dial.value = String(isMirrored ? mirrored(key, value) : value);
        },
        /** @returns {number | undefined} the card's value; undefined follows the general setting */
        value() {
            if (general.checked) return undefined;
            const number = bounded(key, dial.value);
            return isMirrored ? mirrored(key, number) : number;
        },
    };
}

/** @param {App} app @param {Say} say */
export function bindCharacter(app, say) {
    const select = /** @type {HTMLSelectElement} */ (byId('soulmem_member')); // in a group: whose settings
    const enabled = /** @type {HTMLInputElement} */ (byId('soulmem_card_enabled'));
    const forgetting = bindDial('forgetting');
    const restraint = bindDial('restraint');
    const scope = /** @type {HTMLSelectElement} */ (byId('soulmem_card_scope'));
    const weights = bindWeights(say);
    const limits = bindLimits(say);
    const push = /** @type {HTMLSelectElement} */ (byId('soulmem_card_push'));

    let shownSettings = 0; // how often settings had been saved when they were shown last

    /** @returns {import('../tavern/host.js').Member | undefined} the member whose settings are shown */
    function chosen() {
        const members = app.host.members();
        return members.find(member => member.avatar === select.value) ?? members[0];
    }

    // A sidecar that is away is asked again when it is back
    const loadForgotten = () => app.people.loadForgotten().catch(() => undefined);

    async function show() {
        shownSettings = app.people.timesConfigured();
        const member = chosen();
        await loadForgotten();
        const config = member ? cardConfig(await app.host.cardField(member.avatar)) : {};
        const { souls, ...general } = app.settings();
        const isForgotten = member !== undefined && app.people.isForgotten(souls[member.avatar]);
        enabled.checked = config.enabled !== false && !isForgotten;
        byId('soulmem_card_gone').textContent = isForgotten ? say('soul_is_gone') : '';
        forgetting.show(config.forgetting, general.forgetting);
        restraint.show(config.restraint, general.restraint);
        scope.value = config.scope ?? '';
        push.value = config.push ?? '';
        weights.show(config.weights);
        limits.show(config, app.settings());
    }

    /** Restores a forgotten character. @param {Person} person */
    async function revive({ soul, name }) {
        await app.people.revive({ id: soul, name }).then(
            () => app.chatSync.reset(),
            error => app.host.toast('error', errorTextOf(app, error, say)),
        );
    }

    /** The settings as the inputs show them. @returns {import('../tavern/identity.js').CardConfig} */
    const shown = () => ({
        enabled: enabled.checked ? undefined : false,
        forgetting: forgetting.value(),
        restraint: restraint.value(),
        weights: weights.value(),
        push: push.value === 'rare' || push.value === 'often' ? push.value : undefined,
        scope: scope.value === 'chat' || scope.value === 'character' ? scope.value : undefined,
        ...limits.value(),
    });

    async function save() {
        const member = chosen();
        const changed = shown(); // before they are drawn anew
        await loadForgotten();
        const people = await app.people.inChat();
        const person = people.find(other => other.avatar === member?.avatar);
        if (!person) return;
        if (changed.enabled !== false && app.people.isForgotten(person.soul)) await revive(person);
        // also what other pages set
        await app.people.configure(person, { ...person.config, ...changed });
        app.chatSync.scheduleSync();
        await show();
    }

    const dials = [...forgetting.inputs, ...restraint.inputs, ...weights.inputs];
    for (const input of [enabled, scope, push, ...dials, ...limits.inputs]) {
        input.addEventListener('change', () => void save());
    }
    select.addEventListener('change', () => void show());

    let isConnected = app.link.state().via !== null;
    app.subscribe(() => {
        const wasConnected = isConnected;
        isConnected = app.link.state().via !== null;
        const isChanged = app.people.timesConfigured() !== shownSettings;
        if ((isConnected && !wasConnected) || isChanged) void show();
    });

    return {
        chosen,
        async draw() {
            const members = app.host.members();
            byId('soulmem_character').hidden = members.length === 0;
            const single = members.length === 1 ? members[0].name : '';
            byId('soulmem_character_name').textContent = single;
            select.hidden = members.length < 2;
            select.replaceChildren(
                ...members.map(({ avatar, name }) => el('option', { value: avatar, text: name })),
            );
            await show();
        },
    };
}
