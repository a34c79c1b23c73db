// A quiet sign of life: a line under a message in which something worth keeping was said, with a pin and a way to undo.

import { button, el } from '../base/dom.js';
import { createMemoryApi } from '../link/memory_api.js';
import { slotOf, stampOf } from '../tavern/slots.js';
import { errorTextOf } from '../widgets/error_text.js';
import { onShownMessages } from '../widgets/message_rows.js';
import { createKeptMessages } from './kept_messages.js';

/** @typedef {import('../app.js').App} App */
/** @typedef {import('../base/strings.js').Say} Say */
/** @typedef {import('../base/types.js').KnownThing} KnownThing */
/** @typedef {{thing: KnownThing, name: string, isPinned: boolean}} Chip `name`: of who will remember */

const LOOKS = [4000, 15_000]; // ms after a reply: by then the sidecar has mostly judged its lines
const APART = 5; // messages: at most one of so many has a chip
const NEWEST = 4; // messages that are looked at
const ASKED = 10; // of the latest things that are known

/** Facts come last: one in four of them is banter. @param {KnownThing} thing */
const rank = ({ kind }) => Number(kind === 'fact');

/** @param {App} app @param {Say} say */
export function mountRememberChips(app, say) {
    const { host, chatSync } = app;
    const memoryApi = createMemoryApi(app.link.ask);
    const kept = createKeptMessages(app, say);
    const chips = /** @type {Map<string, Chip>} */ (new Map()); // by the slot of the message
    let last = { chat: '', length: 0 }; // of the chat when the latest chip came

    const isWanted = () => {
        const { enabled, chips: wanted, read_only: isReadOnly } = app.settings();
        return enabled && wanted && !isReadOnly;
    };

    async function look() {
        const { chat } = chatSync.state;
        const member = host.members().find(({ avatar }) => app.settings().souls[avatar]);
        if (!isWanted() || !chat || !member || isTooSoon(chat)) return;
        const { known } = await memoryApi.known(app.settings().souls[member.avatar], {}, ASKED, null);
        if (chatSync.state.chat !== chat || isTooSoon(chat)) return;
        const newest = host.chat().slice(-NEWEST).filter(message => !stampOf(message).off);
        const slots = new Set(newest.map(slotOf));
        const [thing] = known
            .filter(({ slot, until }) => slot && !until && slots.has(slot) && !chips.has(slot))
            .sort((a, b) => rank(a) - rank(b));
        if (!thing?.slot) return;
        chips.set(thing.slot, { thing, name: member.name, isPinned: false });
        last = { chat, length: host.chat().length };
        redraw();
    }

    /** @param {string} chat */
    const isTooSoon = chat => last.chat === chat && host.chat().length - last.length < APART;

    /** @param {unknown} error */
    const tellFailure = error => void host.toast('warning', errorTextOf(app, error, say));

    /** @param {Chip} chip */
    async function turnPin(chip) {
        const { memory } = chip.thing;
        if (chip.isPinned) await memoryApi.change(await memoryApi.read(memory), { permanent: false });
        else await memoryApi.keepForEver(memory);
        chip.isPinned = !chip.isPinned;
    }

    /** Nobody remembers the message; a click on what is said takes that back. @param {HTMLElement} row
     * @param {Chip} chip */
    async function undo(row, chip) {
        if (chip.isPinned) await turnPin(chip);
        const { text, undo: takeBack } = await kept.forget(Number(row.getAttribute('mesid')));
        const onclick = () => void takeBack().catch(tellFailure);
        host.toast('success', `${text} ${say('click_to_undo')}`, { onclick });
    }

    /** @param {HTMLElement} row @param {Chip} chip */
    function chipOf(row, chip) {
        const { thing, name } = chip;
        const style = 'soulmem_icon_only';
        const pinLabel = say('thing_pin');
        const pin = button('fa-thumbtack', pinLabel, pressPin, {
            class: `${style} soulmem_will_pin`,
            title: pinLabel,
            'aria-label': pinLabel,
            'aria-pressed': String(chip.isPinned),
        });
        async function pressPin() {
            await turnPin(chip).catch(tellFailure);
            pin.setAttribute('aria-pressed', String(chip.isPinned));
        }
        const label = say('will_not');
        const about = { class: `${style} soulmem_will_undo`, title: label, 'aria-label': label };
        return el('div', { class: 'soulmem_will', role: 'status', data: { thing: thing.id } }, [
            el('small', {}, [
                el('i', { class: 'fa-solid fa-feather' }),
                ` ${say('will_remember', { who: name, text: thing.quote })}`,
            ]),
            pin,
            button('fa-rotate-left', label, () => undo(row, chip).catch(tellFailure), about),
        ]);
    }

    /** @param {HTMLElement} row @param {import('../base/types.js').StMessage | undefined} message */
    function decorate(row, message) {
        const isOff = !message || stampOf(message).off;
        const chip = isOff || !isWanted() ? undefined : chips.get(slotOf(message) ?? '');
        const drawn = /** @type {HTMLElement | null} */ (row.querySelector('.soulmem_will'));
        if (drawn?.dataset.thing === chip?.thing.id) return;
        drawn?.remove();
        if (chip) (row.querySelector('.mes_block') ?? row).append(chipOf(row, chip));
    }

    const redraw = onShownMessages(app, decorate);
    host.on('MESSAGE_RECEIVED', () => {
        if (!isWanted()) return;
        const failed = (/** @type {any} */ error) =>
            console.debug('[SoulMem] what was said cannot be asked for:', error.message);
        for (const pause of LOOKS) setTimeout(() => void look().catch(failed), pause);
    });
}
