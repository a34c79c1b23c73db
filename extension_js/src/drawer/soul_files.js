// The buttons that save a character's whole memory as a file, take such a file in, back up all characters, and import
// what other memory extensions keep.

import { byId, onPress } from '../base/dom.js';
import { fileNameOf } from '../base/file_name.js';
import { createSidecarJob } from '../link/sidecar_job.js';
import { createStoreFinder } from '../chat/store_finder.js';
import { ApiError } from '../link/api.js';
import { createMemoryApi } from '../link/memory_api.js';
import { createTavernFiles } from '../tavern/tavern_files.js';
import { errorTextOf, jobError, WordedError } from '../widgets/error_text.js';
import { countsOf, doesSomething, offerView, remarksOn } from './import_offer.js';

/** @typedef {import('../app.js').App} App */
/** @typedef {import('../base/strings.js').Say} Say */
/** @typedef {import('../link/sidecar_job.js').SidecarJob} SidecarJob */
/** @typedef {import('../chat/people.js').Person} Person */
/** @typedef {import('../chat/store_finder.js').Store} Store */
/** @typedef {import('./import_offer.js').Offer} Offer */

const EXPORT_TIMEOUT = 300_000; // ms

/** @param {App} app @param {Say} say
 * @param {() => {avatar: string, name: string} | undefined} chosen the character that is meant */
export function bindSoulFiles(app, say, chosen) {
    const { host } = app;
    const memoryApi = createMemoryApi(app.link.ask);
    const runJob = createSidecarJob(app.link.ask);
    const find = createStoreFinder(host, createTavernFiles(host));
    const place = byId('soulmem_files_text');
    const bundleFile = /** @type {HTMLInputElement} */ (byId('soulmem_bundle_file'));
    const storeFile = /** @type {HTMLInputElement} */ (byId('soulmem_store_file'));
    const undo = byId('soulmem_files_undo');
    let undoable = /** @type {{soul: string, jobs: string[]} | null} */ (null);
    let running = /** @type {AbortController | null} */ (null);
    let shownFor = ''; // avatar to which the text belongs

    /** @param {string} text */
    function show(text) {
        place.textContent = text;
        shownFor = chosen()?.avatar ?? '';
    }

    function draw() {
        if (!running && (chosen()?.avatar ?? '') !== shownFor) {
            place.textContent = '';
            undoable = null;
        }
        undo.hidden = running !== null || undoable === null;
        byId('soulmem_files_cancel').hidden = running === null;
    }

    /** @returns {Promise<Person>} the chosen character, which the sidecar knows then */
    async function findPerson() {
        const member = chosen();
        if (member && !app.link.state().via) await app.link.check();
        const people = member ? await app.people.inChat() : [];
        const person = people.find(other => other.avatar === member?.avatar);
        if (!person) throw new WordedError(say('no_chat'));
        if (app.people.isForgotten(person.soul)) throw new WordedError(say('soul_is_gone'));
        await app.people.push([person]);
        return person;
    }

    /** Runs one piece of work at a time; its result, or its failure, is shown.
     * @param {(person: Person, signal: AbortSignal) => Promise<string>} work */
    async function run(work) {
        if (running) return;
        running = new AbortController();
        const { signal } = running;
        undoable = null;
        draw();
        try {
            show(await work(await findPerson(), signal));
        } catch (error) {
            show(signal.aborted ? say('import_stopped') : errorTextOf(app, error, say));
        } finally {
            running = null;
            bundleFile.value = storeFile.value = '';
            draw();
            void app.link.check();
        }
    }

    /** @param {Person} person */
    async function save({ soul, name }) {
        show(say('export_going'));
        const options = { raw: true, timeout: EXPORT_TIMEOUT };
        const text = await app.link.ask('GET', `/export?soul=${soul}`, undefined, options);
        const file = fileNameOf(name, 'jsonl');
        host.download(file, new Blob([text], { type: 'application/jsonl' }));
        return say('export_done', { file });
    }

    /** Backs up all characters on the PC of the sidecar. @param {Person} person @param {AbortSignal} signal */
    async function saveAll({ soul }, signal) {
        show(say('backup_going'));
        const job = await runJob({ kind: 'backup', soul }, () => undefined, signal, '/jobs');
        if (job.state !== 'done') throw new WordedError(jobError(job, say));
        return say('backup_done', { file: job.result.file });
    }

    /** @param {string} name of a file @param {SidecarJob} job that failed */
    const unreadFile = (name, job) =>
        new WordedError(say('files_unread', { name, reason: jobError(job, say) }));

    /** What each file would do.
     * @param {Person} person @param {'bundle' | 'memory_store'} format @param {readonly Store[]} stores
     * @param {AbortSignal} signal @returns {Promise<Offer[]>} */
    async function offersOf({ soul }, format, stores, signal) {
        const offers = /** @type {Offer[]} */ ([]);
        for (const { name, text } of stores) {
            show(say('files_look', { name }));
            const body = { soul, format, name, text, persona: host.persona() };
            const job = await runJob({ ...body, dry_run: true }, () => undefined, signal);
            if (job.state !== 'done') throw unreadFile(name, job);
            offers.push({ body, name, counts: countsOf(job.result) });
        }
        return offers;
    }

    /** Asks the user, then imports. @param {Person} person @param {'bundle' | 'memory_store'} format
     * @param {readonly Store[]} stores @param {AbortSignal} signal @returns {Promise<string>} the result in words */
    async function importAll(person, format, stores, signal) {
        const offers = await offersOf(person, format, stores, signal);
        const wanted = offers.filter(({ counts }) => doesSomething(counts));
        if (wanted.length === 0) {
            const nothing = say('files_nothing', { name: person.name });
            return [nothing, ...remarksOn(offers, say)].join('\n');
        }
        const question = offerView(offers, person.name, say);
        const isSure = await host.ask(question, say('import_go'), say('import_not_now'));
        if (!isSure) return '';
        const jobs = /** @type {string[]} */ ([]);
        let memories = 0;
        for (const { body, name } of wanted) {
            const seen = (/** @type {SidecarJob} */ { job, progress }) => {
                show(progress.total ? say('files_step', { name, ...progress }) : say('files_look', { name }));
                if (progress.done === 0 || jobs.includes(job)) return;
                jobs.push(job);
                undoable = { soul: person.soul, jobs }; // also when it is stopped, or a later file fails
            };
            const job = await runJob({ ...body, dry_run: false }, seen, signal);
            if (job.state !== 'done') throw unreadFile(name, job);
            memories += countsOf(job.result).memories;
        }
        return say('files_done', { name: person.name, n: memories });
    }

    /** @param {HTMLInputElement} input @param {'bundle' | 'memory_store'} format */
    async function importFile(input, format) {
        const file = input.files?.[0];
        if (!file) return;
        await run(async (person, signal) => {
            const store = { name: file.name, text: await file.text() };
            return importAll(person, format, [store], signal);
        });
    }

    /** @param {Person} person @param {AbortSignal} signal */
    async function importStores(person, signal) {
        const stores = await find(person.avatar, signal, (done, total) =>
            show(say('stores_look', { done, total })),
        );
        if (stores.length === 0) return say('stores_none', { name: person.name });
        return importAll(person, 'memory_store', stores, signal);
    }

    /** Takes back what a job made. @param {string} soul @param {string} job
     * @returns {Promise<number>} memories; 0 of a job that was stopped before it made any */
    async function undone(soul, job) {
        try {
            return (await memoryApi.undo(soul, { job })).memories.length;
        } catch (error) {
            if (error instanceof ApiError && error.code === 'not_found') return 0;
            throw error;
        }
    }

    async function takeBack() {
        if (!undoable) return '';
        const { soul, jobs } = undoable;
        let n = 0;
        for (const job of [...jobs].reverse()) n += await undone(soul, job);
        return say('files_undone', { n });
    }

    onPress(byId('soulmem_soul_export'), () => run(save));
    onPress(byId('soulmem_backup'), () => run(saveAll));
    onPress(byId('soulmem_soul_import'), () => bundleFile.click());
    onPress(byId('soulmem_stores'), () => run(importStores));
    onPress(byId('soulmem_store_choose'), () => storeFile.click());
    onPress(byId('soulmem_files_cancel'), () => running?.abort());
    onPress(undo, async () => {
        try {
            show(await takeBack());
            undoable = null;
        } catch (error) {
            show(errorTextOf(app, error, say));
        }
        draw();
    });
    bundleFile.addEventListener('change', () => void importFile(bundleFile, 'bundle'));
    storeFile.addEventListener('change', () => void importFile(storeFile, 'memory_store'));
    return { draw };
}
