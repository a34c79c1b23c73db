// What does the user say to a memory that was recalled, and how is that taken back?

import { button, el } from '../base/dom.js';
import { createMemories } from '../link/memory_api.js';
import { troubleOf } from '../widgets/error_text.js';

/** @typedef {import('../app.js').App} App */
/** @typedef {import('../base/strings.js').Say} Say */
/** @typedef {import('../base/strings.js').Key} Key */

const VERDICTS = /** @type {const} */ ({
    stronger: 'fa-arrow-up',
    not_now: 'fa-clock',
    never_here: 'fa-ban',
    wrong: 'fa-xmark',
});

/** The buttons, and after a press the words of what came of it. @param {App} app @param {Say} say
 * @param {{trace: string, soul: string}} recall @param {string} memory */
export function verdicts(app, say, recall, memory) {
    const memories = createMemories(app.link.ask);
    const place = el('div', { class: 'soulmem_row soulmem_verdicts' });

    /** @param {() => Promise<unknown>} work */
    const attempt = work =>
        work().catch(error => app.host.toast('warning', troubleOf(app, error, say)));

    const offer = () =>
        place.replaceChildren(
            ...Object.entries(VERDICTS).map(([verdict, icon]) =>
                button(
                    icon,
                    say(/** @type {Key} */ (`verdict_${verdict}`)),
                    () =>
                        attempt(async () => {
                            const { change } = await memories.judge(recall.trace, memory, verdict);
                            told(verdict, change);
                        }),
                    {
                        class: `soulmem_verdict_${verdict}`,
                        title: say(/** @type {Key} */ (`verdict_help_${verdict}`)),
                    },
                ),
            ),
        );

    /** @param {string} verdict @param {string} change by which it is taken back */
    const told = (verdict, change) =>
        place.replaceChildren(
            el('small', { class: 'soulmem_said' }, [
                el('i', { class: 'fa-solid fa-circle-check' }),
                say(/** @type {Key} */ (`verdict_help_${verdict}`)),
            ]),
            button(
                'fa-rotate-left',
                say('undo'),
                () =>
                    attempt(async () => {
                        await memories.undo(recall.soul, { change });
                        offer();
                    }),
                { class: 'soulmem_verdict_undo' },
            ),
        );

    offer();
    return place;
}
