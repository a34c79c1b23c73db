// What lies in the bin, since when and why, and how does it come back?

import { button, el } from '../base/dom.js';
import { row } from '../widgets/memory_badges.js';
import { isGoing } from '../widgets/job_list.js';
import { paged } from '../widgets/paging.js';

/** @typedef {import('./browser_context.js').Desk} Desk */
/** @typedef {import('../base/types.js').AuditEntry} AuditEntry */
/** @typedef {import('../base/strings.js').Key} Key */

const LOOKED_AT = 1000; // entries of the audit
const LOOK = 500; // ms between looks at a job

/** @param {readonly AuditEntry[]} audit the newest first @returns {Map<string, AuditEntry>} memory to the entry that put it into the bin */
export function binnedBy(audit) {
    const found = /** @type {Map<string, AuditEntry>} */ (new Map());
    for (const entry of audit)
        if (entry.after?.state && entry.after.state !== 'active' && !found.has(entry.target))
            found.set(entry.target, entry);
    return found;
}

/** @param {Desk} desk @param {HTMLElement} page */
export async function binPage(desk, page) {
    const { say, memories } = desk;
    const why = binnedBy((await memories.audit(desk.soul, null, undefined, LOOKED_AT)).audit);

    /** @param {import('../base/types.js').Listed} memory */
    function story(memory) {
        const entry = why.get(memory.id);
        if (memory.state !== 'bin' || !entry)
            return [
                say(/** @type {Key} */ (`value_${memory.state}`)),
                entry ? desk.when(entry.at) : '',
            ]
                .filter(Boolean)
                .join(', ');
        return say('binned_by', {
            who: say(/** @type {Key} */ (`by_${entry.actor}`)),
            when: desk.when(entry.at),
        });
    }

    /** @param {import('../base/types.js').Listed} memory @param {() => void} gone */
    async function purge(memory, gone) {
        if (!(await desk.typed(say('purge_word'), 'purge_question', say('purge')))) return;
        await desk.attempt(async () => {
            await memories.purge(memory.id).then(
                () => {
                    gone();
                    desk.tell(say('purged'));
                },
                error => {
                    if (error.code !== 'conflict') throw error;
                    desk.tell(say('purge_told'));
                },
            );
        });
    }

    const list = await paged({
        fetch: cursor =>
            memories
                .list(desk.soul, { state: 'bin' }, cursor)
                .then(answer => ({ rows: answer.memories, cursor: answer.cursor })),
        draw: memory => {
            const item = row(memory, say, {
                facts: story(memory),
                press: () => desk.show('memories', memory.id),
                actions: [
                    button(
                        'fa-trash-arrow-up',
                        say('restore'),
                        () =>
                            desk.attempt(async () => {
                                await memories.restore(memory.id);
                                item.replaceWith(
                                    el('li', {
                                        class: 'soulmem_item soulmem_hint',
                                        text: say('restored'),
                                    }),
                                );
                            }),
                        { class: 'soulmem_restore' },
                    ),
                    button('fa-fire', say('purge'), () => purge(memory, () => item.remove()), {
                        class: 'soulmem_purge',
                    }),
                ],
            });
            return item;
        },
        more: say('more'),
        none: say('bin_empty'),
        attempt: desk.attempt,
    });
    page.append(
        el('small', { class: 'soulmem_hint', text: say('bin_hint', { days: desk.days() }) }),
        list,
    );
    if (list.querySelector('.soulmem_purge'))
        page.append(
            el('div', { class: 'soulmem_whole' }, [
                el('small', { class: 'soulmem_hint', text: say('bin_empty_hint') }),
                button('fa-fire', say('bin_empty_now'), () => emptied(desk), {
                    id: 'soulmem_empty_bin',
                }),
            ]),
        );
    const soul = (await memories.souls()).find(one => one.id === desk.soul);
    if (soul)
        page.append(
            el('div', { class: 'soulmem_whole' }, [
                el('small', { class: 'soulmem_hint', text: say('soul_hint', { name: soul.name }) }),
                button(
                    'fa-user-slash',
                    say('soul_forget', { name: soul.name }),
                    () => forgetSoul(desk, soul),
                    { id: 'soulmem_forget_soul' },
                ),
            ]),
        );
    await drawForgotten(desk, page);
}

/** All of it goes for good, as a job that the page of the work at rest shows and stops. @param {Desk} desk */
async function emptied(desk) {
    const { say, memories } = desk;
    const word = say('purge_word');
    if (!(await desk.typed(word, 'bin_empty_question', say('bin_empty_now')))) return;
    await desk.attempt(async () => {
        let job = await memories.job(
            await memories.startJob(desk.soul, 'purge', { confirm: 'purge' }),
        );
        while (isGoing(job)) {
            const { done, total } = job.progress;
            desk.tell(say('bin_emptying', { done, total }));
            await new Promise(resolve => setTimeout(resolve, LOOK));
            job = await memories.job(job.job);
        }
        if (job.state === 'failed') throw new Error(job.error ?? '');
        if (job.state === 'done')
            desk.app.host.toast('success', say('bin_emptied', { n: job.result.purged })); // else it was stopped
        await desk.again();
    });
}

/** @param {Desk} desk @param {{id: string, name: string}} soul */
async function forgetSoul(desk, soul) {
    if (
        !(await desk.typed(
            soul.name,
            'soul_question',
            desk.say('soul_forget', { name: soul.name }),
        ))
    )
        return;
    if (await desk.attempt(() => desk.app.people.forget(soul))) {
        desk.app.host.toast(
            'success',
            desk.say('soul_forgotten', { name: soul.name, days: desk.days() }),
        );
        desk.app.changed();
        await desk.again();
    }
}

/** The characters that lie in the bin themselves. @param {Desk} desk @param {HTMLElement} page @returns {Promise<boolean>} whether there are any */
export async function drawForgotten(desk, page) {
    const { say, app } = desk;
    const souls = await app.people.forgotten();
    if (souls.length === 0) return false;
    page.append(
        el('h4', { text: say('soul_bin') }),
        el(
            'ol',
            { class: 'soulmem_list', id: 'soulmem_forgotten' },
            souls.map(soul =>
                el('li', { class: 'soulmem_item soulmem_row', data: { soul: soul.id } }, [
                    el('b', { class: 'flex1', text: soul.name }),
                    button(
                        'fa-trash-arrow-up',
                        say('restore'),
                        () =>
                            desk.attempt(async () => {
                                await app.people.revive(soul);
                                app.keeper.reset();
                                app.keeper.enqueue();
                                app.host.toast(
                                    'success',
                                    say('soul_restored', { name: soul.name }),
                                );
                                app.changed();
                                await desk.again();
                            }),
                        { class: 'soulmem_revive' },
                    ),
                ]),
            ),
        ),
    );
    return true;
}
