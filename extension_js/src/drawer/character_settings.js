// The settings of one character, kept in its card.

import { byId, el } from '../base/dom.js';
import { bounded } from '../base/settings.js';
import { errorTextOf } from '../widgets/error_text.js';

/** @typedef {import('../app.js').App} App */
/** @typedef {import('../base/strings.js').Say} Say */
/** @typedef {import('../chat/people.js').Person} Person */

/** @param {App} app @param {Say} say */
export function bindCharacter(app, say) {
    const select = /** @type {HTMLSelectElement} */ (byId('soulmem_member')); // in a group: whose settings
    const enabled = /** @type {HTMLInputElement} */ (byId('soulmem_card_enabled'));
    const general = /** @type {HTMLInputElement} */ (byId('soulmem_card_general'));
    const dial = /** @type {HTMLInputElement} */ (byId('soulmem_card_forgetting'));
    const scope = /** @type {HTMLSelectElement} */ (byId('soulmem_card_scope'));

    /** @returns {import('../tavern/host.js').Member | undefined} the member whose settings are shown */
    function chosen() {
        const members = app.host.members();
        return members.find(member => member.avatar === select.value) ?? members[0];
    }

    // A sidecar that is away is asked again when it is back
    const loadForgotten = () => app.people.loadForgotten().catch(() => undefined);

    async function show() {
        const member = chosen();
        await loadForgotten();
        const config = member ? ((await app.host.cardField(member.avatar))?.config ?? {}) : {};
        const { souls, forgetting } = app.settings();
        const isForgotten = member !== undefined && app.people.isForgotten(souls[member.avatar]);
        enabled.checked = config.enabled !== false && !isForgotten;
        byId('soulmem_card_gone').textContent = isForgotten ? say('soul_is_gone') : '';
        general.checked = config.forgetting === undefined;
        dial.disabled = general.checked;
        dial.value = String(config.forgetting ?? forgetting);
        scope.value = config.scope ?? '';
    }

    /** Restores a forgotten character. @param {Person} person */
    async function revive({ soul, name }) {
        await app.people.revive({ id: soul, name }).then(
            () => app.chatSync.reset(),
            error => app.host.toast('error', errorTextOf(app, error, say)),
        );
    }

    async function save() {
        const member = chosen();
        await loadForgotten();
        const people = await app.people.inChat();
        const person = people.find(other => other.avatar === member?.avatar);
        if (!person) return;
        if (enabled.checked && app.people.isForgotten(person.soul)) await revive(person);
        const { value } = scope;
        await app.people.configure(person, {
            enabled: enabled.checked ? undefined : false,
            forgetting: general.checked ? undefined : bounded('forgetting', dial.value),
            scope: value === 'chat' || value === 'character' ? value : undefined,
        });
        app.chatSync.scheduleSync();
        await show();
    }

    for (const input of [enabled, general, dial, scope]) {
        input.addEventListener('change', () => void save());
    }
    select.addEventListener('change', () => void show());

    let isConnected = app.link.state().via !== null;
    app.subscribe(() => {
        const wasConnected = isConnected;
        isConnected = app.link.state().via !== null;
        if (isConnected && !wasConnected) void show();
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
