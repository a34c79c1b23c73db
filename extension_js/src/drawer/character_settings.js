// What can be set for one character, in its card?

import { byId, el } from '../base/dom.js';
import { bounded } from '../base/settings.js';
import { troubleOf } from '../widgets/error_text.js';

/** @typedef {import('../app.js').App} App */
/** @typedef {import('../base/strings.js').Say} Say */

/** The card's own settings; in a group, of the member chosen.
 * @param {App} app @param {Say} say */
export function bindCharacter(app, say) {
    const select = /** @type {HTMLSelectElement} */ (byId('soulmem_member'));
    const enabled = /** @type {HTMLInputElement} */ (byId('soulmem_card_enabled'));
    const general = /** @type {HTMLInputElement} */ (byId('soulmem_card_general'));
    const dial = /** @type {HTMLInputElement} */ (byId('soulmem_card_forgetting'));
    const scope = /** @type {HTMLSelectElement} */ (byId('soulmem_card_scope'));

    const chosen = () =>
        app.host.members().find(member => member.avatar === select.value) ?? app.host.members()[0];

    async function show() {
        const member = chosen();
        await app.people.look().catch(() => undefined); // no way there: it is looked again when there is one
        const config = member ? ((await app.host.cardField(member.avatar))?.config ?? {}) : {};
        const isGone =
            member !== undefined && app.people.isGone(app.settings().souls[member.avatar]);
        enabled.checked = config.enabled !== false && !isGone;
        byId('soulmem_card_gone').textContent = isGone ? say('soul_is_gone') : '';
        general.checked = config.forgetting === undefined;
        dial.disabled = general.checked;
        dial.value = String(config.forgetting ?? app.settings().forgetting);
        scope.value = config.scope ?? '';
    }

    async function save() {
        const member = chosen();
        await app.people.look().catch(() => undefined);
        const person = (await app.people.present()).find(one => one.avatar === member?.avatar);
        if (!person) return;
        if (enabled.checked && app.people.isGone(person.soul)) {
            await app.people.revive({ id: person.soul, name: person.name }).then(
                () => app.keeper.reset(),
                error => app.host.toast('error', troubleOf(app, error, say)),
            );
        }
        await app.people.configure(person, {
            enabled: enabled.checked ? undefined : false,
            forgetting: general.checked ? undefined : bounded('forgetting', dial.value),
            scope: scope.value === 'chat' || scope.value === 'character' ? scope.value : undefined,
        });
        app.keeper.enqueue();
        await show();
    }

    for (const input of [enabled, general, dial, scope])
        input.addEventListener('change', () => void save());
    select.addEventListener('change', () => void show());

    let via = app.link.state().via;
    app.subscribe(() => {
        const before = via;
        via = app.link.state().via;
        if (via && !before) void show();
    });

    return {
        chosen,
        async draw() {
            const members = app.host.members();
            byId('soulmem_character').hidden = members.length === 0;
            byId('soulmem_character_name').textContent =
                members.length === 1 ? members[0].name : '';
            select.hidden = members.length < 2;
            select.replaceChildren(
                ...members.map(member => el('option', { value: member.avatar, text: member.name })),
            );
            await show();
        },
    };
}
