// Quiet signs of life: a line under a message, at most under one in five.

import { el } from '../base/dom.js';
import { slotOf, stampOf } from '../tavern/slots.js';
import { onShownMessages } from '../widgets/message_rows.js';
import { createChipKinds } from './chip_kinds.js';

/** @typedef {import('../app.js').App} App */
/** @typedef {import('../base/strings.js').Say} Say */
/** @typedef {import('./chip_kinds.js').Chip} Chip */

/** ms before each look after a reply, until the sidecar has judged its lines. */
const LOOKS = [1000, 1000, 2000, 3000, 5000, 8000, 12_000, 20_000];
const APART = 5; // messages: at most one of so many has a chip

/** @param {App} app @param {Say} say */
export function mountRememberChips(app, say) {
    const { host, chatSync } = app;
    const kinds = createChipKinds(app, say);
    const chips = /** @type {Map<string, Chip>} */ (new Map()); // by the slot of the message
    let last = { chat: '', length: 0 }; // of the chat when the latest chip came
    let latest = {}; // reply

    const isWanted = () => {
        const { enabled, chips: wanted, read_only: isReadOnly } = app.settings();
        return enabled && wanted && !isReadOnly;
    };

    /** @returns {Promise<boolean>} whether another look is of no use */
    async function look() {
        const { chat } = chatSync.state;
        const member = host.members().find(({ avatar }) => app.settings().souls[avatar]);
        if (!chat || !member) return false;
        if (isTooSoon(chat)) return true;
        const moment = { chat, soul: app.settings().souls[member.avatar], name: member.name };
        let placed = kinds.fromEarlier(moment);
        if (!placed) {
            // What the reply answers is told from others once the reply is stored
            if (!chatSync.storedSlots().has(slotOf(host.chat().at(-1)) ?? '')) return false;
            const told = await kinds.willRemember(moment, slot => !chips.has(slot));
            if (!told.placed && !told.isJudged) return false;
            placed = told.placed ?? (await kinds.aboutToGo(moment));
        }
        if (!placed || chatSync.state.chat !== chat || isTooSoon(chat)) return true;
        chips.set(placed.slot, placed.chip);
        last = { chat, length: host.chat().length };
        redraw();
        return true;
    }

    /** Looks until the lines are judged, the time is over, or another reply comes. @param {object} reply */
    async function follow(reply) {
        latest = reply;
        for (const pause of LOOKS) {
            await new Promise(done => setTimeout(done, pause));
            if (latest !== reply || !isWanted() || (await look())) return;
        }
    }

    /** @param {string} chat */
    const isTooSoon = chat => last.chat === chat && host.chat().length - last.length < APART;

    /** @param {HTMLElement} row @param {Chip} chip */
    const chipOf = (row, { id, icon, text, tools }) =>
        el('div', { class: 'soulmem_will', role: 'status', data: { thing: id } }, [
            // A quote needs no marks of gestures
            el('small', {}, [el('i', { class: `fa-solid ${icon}` }), ` ${text.replaceAll('*', '')}`]),
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
        const failed = (/** @type {any} */ error) =>
            console.debug('[SoulMem] what was said cannot be asked for:', error.message);
        void follow({}).catch(failed);
    });
}
