// The page of the bin: deleted memories, and whole characters that were forgotten.

import { button, el } from '../base/dom.js';
import { failedJob } from '../widgets/error_text.js';
import { isUnfinished } from '../widgets/job_list.js';
import { memoryRow } from '../widgets/memory_badges.js';
import { paged } from '../widgets/paging.js';
import { createSelection } from './memory_selection.js';

/** @typedef {import('./browser_context.js').BrowserContext} BrowserContext */
/** @typedef {import('../base/types.js').AuditEntry} AuditEntry */
/** @typedef {import('../base/types.js').ListedMemory} ListedMemory */
/** @typedef {import('../base/strings.js').Key} Key */
/** @typedef {{id: string, name: string}} Soul */
/** @typedef {ReturnType<typeof createSelection>} Selection */

const MAX_ENTRIES = 1000; // of the audit that are looked through
const POLL = 500; // ms between looks at a job

/** @param {readonly AuditEntry[]} audit the newest first
 * @returns {Map<string, AuditEntry>} memory to the entry that moved it to the bin */
export function binnedBy(audit) {
    const entries = /** @type {Map<string, AuditEntry>} */ (new Map());
    for (const entry of audit) {
        const state = entry.after?.state;
        if (state && state !== 'active' && !entries.has(entry.target)) {
            entries.set(entry.target, entry);
        }
    }
    return entries;
}

/** @param {BrowserContext} context @param {HTMLElement} page */
export async function binPage(context, page) {
    const { say, memoryApi } = context;
    const chosen = createSelection(context, listAnew, true);
    let list = await memoryList(context, chosen);
    const days = context.binDays();
    page.append(el('small', { class: 'soulmem_hint', text: say('bin_hint', { days }) }));
    if (list.querySelector('.soulmem_restore')) page.append(chosen.bar);
    page.append(list);
    if (list.querySelector('.soulmem_purge')) page.append(emptyBinView(context));
    const soul = (await memoryApi.souls()).find(other => other.id === context.soul);
    if (soul) page.append(forgetSoulView(context, soul));
    await drawForgotten(context, page);

    async function listAnew() {
        const fresh = await memoryList(context, chosen);
        list.replaceWith(fresh);
        list = fresh;
        chosen.forget();
    }
}

/** @param {BrowserContext} context @param {Selection} chosen @returns {Promise<HTMLElement>} */
async function memoryList(context, chosen) {
    const { say, memoryApi } = context;
    const { audit } = await memoryApi.audit(context.soul, null, undefined, MAX_ENTRIES);
    const entries = binnedBy(audit);
    return paged({
        fetch: async cursor => {
            const answer = await memoryApi.list(context.soul, { state: 'bin' }, cursor);
            return { rows: answer.memories, cursor: answer.cursor };
        },
        draw: memory => binnedRow(context, memory, entries.get(memory.id), chosen),
        more: say('more'),
        none: say('bin_empty'),
        attempt: context.attempt,
    });
}

/** Who moved a memory to the bin and when; what else removed it when it was not moved there.
 * @param {BrowserContext} context @param {ListedMemory} memory @param {AuditEntry | undefined} entry */
function binnedText({ say, localTime }, memory, entry) {
    const when = entry ? localTime(entry.at) : '';
    if (memory.state === 'bin' && entry) {
        return say('binned_by', { who: say(/** @type {Key} */ (`by_${entry.actor}`)), when });
    }
    const state = say(/** @type {Key} */ (`value_${memory.state}`));
    return [state, when].filter(Boolean).join(', ');
}

/** @param {BrowserContext} context @param {ListedMemory} memory @param {AuditEntry | undefined} entry
 * @param {Selection} chosen */
function binnedRow(context, memory, entry, chosen) {
    const { say, memoryApi } = context;

    async function restore() {
        await memoryApi.restore(memory.id);
        const text = say('restored');
        row.replaceWith(el('li', { class: 'soulmem_item soulmem_hint', text }));
    }

    /** Deletes the memory for good, unless a chat or the card still states it. */
    async function purge() {
        try {
            await memoryApi.purge(memory.id);
            row.remove();
            context.showStatus(say('purged'));
        } catch (error) {
            if (/** @type {{code?: string}} */ (error).code !== 'conflict') throw error;
            context.showStatus(say('purge_told'));
        }
    }

    async function askAndPurge() {
        const isSure = await context.confirmTyped(
            say('purge_word'),
            'purge_question',
            say('purge'),
        );
        if (isSure) await context.attempt(purge);
    }

    const row = memoryRow(memory, say, {
        facts: binnedText(context, memory, entry),
        press: () => chosen.press(memory, row, () => context.show('memories', memory.id)),
        actions: [
            button('fa-trash-arrow-up', say('restore'), () => context.attempt(restore), {
                class: 'soulmem_restore',
            }),
            button('fa-fire', say('purge'), askAndPurge, { class: 'soulmem_purge' }),
        ],
    });
    return row;
}

/** @param {BrowserContext} context */
function emptyBinView(context) {
    const { say } = context;
    return el('div', { class: 'soulmem_whole' }, [
        el('small', { class: 'soulmem_hint', text: say('bin_empty_hint') }),
        button('fa-fire', say('bin_empty_now'), () => emptyBin(context), {
            id: 'soulmem_empty_bin',
        }),
    ]);
}

/** Deletes everything in the bin for good. It is a job: the page of background work shows it, and can stop it.
 * @param {BrowserContext} context */
async function emptyBin(context) {
    const { say, memoryApi } = context;
    const word = say('purge_word');
    const isSure = await context.confirmTyped(word, 'bin_empty_question', say('bin_empty_now'));
    if (!isSure) return;
    await context.attempt(async () => {
        const id = await memoryApi.startJob(context.soul, 'purge', { confirm: 'purge' });
        let job = await memoryApi.job(id);
        while (isUnfinished(job)) {
            const { done, total } = job.progress;
            context.showStatus(say('bin_emptying', { done, total }));
            await new Promise(resolve => setTimeout(resolve, POLL));
            job = await memoryApi.job(id);
        }
        if (job.state === 'failed') throw failedJob(job, say);
        if (job.state === 'done') {
            context.app.host.toast('success', say('bin_emptied', { n: job.result.purged }));
        }
        await context.redraw();
    });
}

/** @param {BrowserContext} context @param {Soul} soul */
function forgetSoulView(context, soul) {
    const { say } = context;
    const { name } = soul;
    return el('div', { class: 'soulmem_whole' }, [
        el('small', { class: 'soulmem_hint', text: say('soul_hint', { name }) }),
        button('fa-user-slash', say('soul_forget', { name }), () => forgetSoul(context, soul), {
            id: 'soulmem_forget_soul',
        }),
    ]);
}

/** @param {BrowserContext} context @param {Soul} soul */
async function forgetSoul(context, soul) {
    const { say, app } = context;
    const { name } = soul;
    if (!(await context.confirmTyped(name, 'soul_question', say('soul_forget', { name })))) return;
    if (!(await context.attempt(() => app.people.forget(soul)))) return;
    app.host.toast('success', say('soul_forgotten', { name, days: context.binDays() }));
    app.notify();
    await context.redraw();
}

/** Lists the forgotten characters. @param {BrowserContext} context @param {HTMLElement} page
 * @returns {Promise<boolean>} whether there are any */
export async function drawForgotten(context, page) {
    const { say, app } = context;
    const souls = await app.people.listForgotten();
    if (souls.length === 0) return false;
    const items = souls.map(soul => forgottenRow(context, soul));
    page.append(
        el('h4', { text: say('soul_bin') }),
        el('ol', { class: 'soulmem_list', id: 'soulmem_forgotten' }, items),
    );
    return true;
}

/** @param {BrowserContext} context @param {Soul} soul */
function forgottenRow(context, soul) {
    const { say, app } = context;

    async function revive() {
        await app.people.revive(soul);
        app.chatSync.reset();
        app.chatSync.scheduleSync();
        app.host.toast('success', say('soul_restored', { name: soul.name }));
        app.notify();
        await context.redraw();
    }

    return el('li', { class: 'soulmem_item soulmem_row', data: { soul: soul.id } }, [
        el('b', { class: 'flex1', text: soul.name }),
        button('fa-trash-arrow-up', say('restore'), () => context.attempt(revive), {
            class: 'soulmem_revive',
        }),
    ]);
}
