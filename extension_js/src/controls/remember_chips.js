// Quiet signs of life: a line under a message, at most under one in five.

import { el } from '../base/dom.js';
import { slotOf, stampOf } from '../tavern/slots.js';
import { onShownMessages } from '../widgets/message_rows.js';
import { createChipKinds } from './chip_kinds.js';

/** @typedef {import('../app.js').App} App */
/** @typedef {import('../base/strings.js').Say} Say */
/** @typedef {import('./chip_kinds.js').Chip} Chip */

const LOOKS = [4000, 15_000]; // ms after a reply: by then the sidecar has mostly judged its lines
const APART = 5; // messages: at most one of so many has a chip

/** @param {App} app @param {Say} say */
export function mountRememberChips(app, say) {
    const { host, chatSync } = app;
    const kinds = createChipKinds(app, say);
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
        const moment = { chat, soul: app.settings().souls[member.avatar], name: member.name };
        const placed =
            kinds.fromEarlier(moment) ??
            (await kinds.willRemember(moment, slot => !chips.has(slot))) ??
            (await kinds.aboutToGo(moment));
        if (!placed || chatSync.state.chat !== chat || isTooSoon(chat)) return;
        chips.set(placed.slot, placed.chip);
        last = { chat, length: host.chat().length };
        redraw();
    }

    /** @param {string} chat */
    const isTooSoon = chat => last.chat === chat && host.chat().length - last.length < APART;

    /** @param {HTMLElement} row @param {Chip} chip */
    const chipOf = (row, { id, icon, text, tools }) =>
        el('div', { class: 'soulmem_will', role: 'status', data: { thing: id } }, [
            el('small', {}, [el('i', { class: `fa-solid ${icon}` }), ` ${text}`]),
            ...(tools?.(row) ?? []),
        ]);

    /** @param {HTMLElement} row @param {import('../base/types.js').StMessage | undefined} message */
    function decorate(row, message) {
        const isOff = !message || stampOf(message).off;
        const chip = isOff || !isWanted() ? undefined : chips.get(slotOf(message) ?? '');
        const drawn = /** @type {HTMLElement | null} */ (row.querySelector('.soulmem_will'));
        if (drawn?.dataset.thing === chip?.id) return;
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
