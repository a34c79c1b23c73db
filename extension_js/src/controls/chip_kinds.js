// What a chip under a message says: what will be remembered, what came from an earlier chat, what is about to be forgotten.

import { button } from '../base/dom.js';
import { createMemoryApi } from '../link/memory_api.js';
import { slotOf, stampOf } from '../tavern/slots.js';
import { errorTextOf } from '../widgets/error_text.js';
import { dearest, GIST } from '../widgets/faded_text.js';
import { createKeptMessages } from './kept_messages.js';

/** @typedef {import('../app.js').App} App */
/** @typedef {import('../base/strings.js').Say} Say */
/** @typedef {import('../base/types.js').KnownThing} KnownThing */
/** Whose memories are meant, in which chat. @typedef {{soul: string, name: string, chat: string}} Moment */
/** `id`: of what it tells; `tools`: its buttons, in the row of its message
 * @typedef {{id: string, icon: string, text: string, tools?: (row: HTMLElement) => HTMLElement[]}} Chip */
/** @typedef {{slot: string, chip: Chip}} Placed */

const NEWEST = 4; // messages that are looked at
const ASKED = 10; // of the latest things that are known
const AHEAD = 300; // turns within which something is about to be forgotten
const FADING = 50; // memories that fade most, which are looked at
const DEAR = 0.35; // 0..1, importance from which on a memory is missed; one that says nothing special has 0.2
const QUESTION = /[?？][^\p{L}\p{N}]*$/u;
const STYLE = 'soulmem_icon_only';

const CLEAR = 0.35; // 0..1, of `sure`: of lines below it one in three is banter

/** Facts come last, the clearest first. @param {KnownThing} a @param {KnownThing} b */
const order = (a, b) =>
    Number(a.kind === 'fact') - Number(b.kind === 'fact') || (b.sure ?? 1) - (a.sure ?? 1);

/** @param {App} app @param {Say} say */
export function createChipKinds(app, say) {
    const { host } = app;
    const memoryApi = createMemoryApi(app.link.ask);
    const kept = createKeptMessages(app, say);

    /** @param {unknown} error */
    const tellFailure = error => void host.toast('warning', errorTextOf(app, error, say));

    /** @param {string} icon @param {string} label @param {string} name @param {() => Promise<unknown>} press */
    const tool = (icon, label, name, press) =>
        button(icon, label, () => press().catch(tellFailure), {
            ...{ class: `${STYLE} ${name}`, title: label, 'aria-label': label },
        });

    /** A button that keeps a memory for ever, and lets go of it again. @param {string} memory
     * @param {{isPinned: boolean}} state */
    function pin(memory, state) {
        const press = async () => {
            if (state.isPinned) await memoryApi.change(await memoryApi.read(memory), { permanent: false });
            else await memoryApi.keepForEver(memory);
            state.isPinned = !state.isPinned;
            element.setAttribute('aria-pressed', String(state.isPinned));
        };
        const element = tool('fa-thumbtack', say('thing_pin'), 'soulmem_will_pin', press);
        element.setAttribute('aria-pressed', String(state.isPinned));
        return { element, press };
    }

    /** Something lasting that one of the newest messages says. @param {Moment} moment
     * @param {(slot: string) => boolean} isFree whether a message has no chip yet
     * @returns {Promise<{placed: Placed | null, isJudged: boolean}>} `isJudged`: no more will be known of them */
    async function willRemember({ soul, name }, isFree) {
        const { known, unread } = await memoryApi.known(soul, {}, ASKED, null);
        const newest = host.chat().slice(-NEWEST).filter(message => !stampOf(message).off);
        const slots = new Set(newest.map(slotOf));
        const [thing] = known
            .filter(({ slot, until, sure = 1 }) => slot && !until && sure >= CLEAR && slots.has(slot) && isFree(slot))
            .sort(order);
        if (!thing?.slot) return { placed: null, isJudged: !unread };
        const state = { isPinned: false };
        /** @param {HTMLElement} row */
        function tools(row) {
            const { element, press } = pin(thing.memory, state);
            // Nobody remembers the message; a click on what is said takes that back.
            const undo = async () => {
                if (state.isPinned) await press();
                const { text, undo: takeBack } = await kept.forget(Number(row.getAttribute('mesid')));
                const onclick = () => void takeBack().catch(tellFailure);
                host.toast('success', `${text} ${say('click_to_undo')}`, { onclick });
            };
            return [element, tool('fa-rotate-left', say('will_not'), 'soulmem_will_undo', undo)];
        }
        const text = say('will_remember', { who: name, text: thing.quote });
        return { placed: { slot: thing.slot, chip: { id: thing.id, icon: 'fa-feather', text, tools } }, isJudged: true };
    }

    /** What the first reply of a chat remembers of another one. @param {Moment} moment @returns {Placed | null} */
    function fromEarlier({ chat, soul }) {
        const replies = host.chat().filter(message => !message.is_user && !message.is_system);
        const reply = host.chat().at(-1);
        const slot = reply && slotOf(reply);
        const record = app.recaller.last();
        // The greeting is no reply.
        if (!slot || reply.is_user || replies.length > 2 || record?.chat !== chat || record.soul !== soul) return null;
        const earlier = record.memories.filter(
            ({ id, sources }) => record.sent.includes(id) && sources.length && sources.every(at => at.chat !== chat),
        );
        // What was asked says less than an answer
        const memory = earlier.find(({ text }) => !QUESTION.test(text)) ?? earlier[0];
        if (!memory) return null;
        const text = say('from_earlier', { text: memory.text });
        return { slot, chip: { id: memory.id, icon: 'fa-clock-rotate-left', text } };
    }

    /** Once a day: what is about to be forgotten. @param {Moment} moment @returns {Promise<Placed | null>} */
    async function aboutToGo({ soul, name }) {
        const asked = app.settings().asked_to_keep;
        const today = new Date().toDateString();
        const slot = slotOf(host.chat().at(-1));
        if (!slot || asked[soul] === today) return null;
        asked[soul] = today;
        host.saveSettings();
        const { memories } = await memoryApi.fading(soul, { turns: AHEAD, limit: FADING }, null);
        const [goes] = dearest(memories)
            .filter(({ kind, importance }) => kind === 'episode' && importance >= DEAR)
            .filter(({ visibility, visibility_then: then }) => visibility >= GIST && then < GIST);
        if (!goes) return null;
        const state = { isPinned: false };
        const text = say('forgets', { who: name, text: goes.text });
        const tools = () => [pin(goes.id, state).element];
        return { slot, chip: { id: goes.id, icon: 'fa-hourglass-half', text, tools } };
    }

    return { willRemember, fromEarlier, aboutToGo };
}
