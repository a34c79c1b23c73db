// "Think longer": a deep search from the view of a recall, with its steps as they come, and its answer.

import { button, el } from '../base/dom.js';
import { createMemoryApi } from '../link/memory_api.js';
import { deepSearch } from '../recall/deep_search.js';
import { reasonLanguage } from '../recall/recall_request.js';
import { errorTextOf, jobError } from '../widgets/error_text.js';
import { recalledParts } from '../widgets/recalled_parts.js';

/** @typedef {import('../app.js').App} App */
/** @typedef {import('../base/strings.js').Say} Say */
/** @typedef {import('../base/strings.js').Key} Key */
/** @typedef {import('../base/types.js').Job} Job */
/** @typedef {import('../base/types.js').Memory} Memory */
/** @typedef {import('../base/types.js').RecallAnswer} RecallAnswer */
/** @typedef {{step: string, ask: string, found: string[], calls: number}} DeepStep */
/** What the user can do with a memory of the answer.
 * @typedef {(trace: string, memory: Memory) => HTMLElement | null} DeepActionsOf */

const STEPS = ['plan', 'explore', 'reflect', 'back'];
const ENDINGS = ['enough', 'exhausted', 'calls', 'time'];
const FAILURES = ['unreachable', 'timeout', 'refused', 'server'];

/** @param {DeepStep} step @param {number} n how many memories it found for the first time, or weighed as useful
 * @param {Say} say @returns {string} */
export function stepText({ step, ask }, n, say) {
    if (!STEPS.includes(step)) return ask;
    return say(/** @type {Key} */ (`thought_${step}`), { ask, n });
}

/** How a search ended, and what it cost. @param {Job} job @param {Say} say @returns {string} */
export function endingText(job, say) {
    if (job.state === 'cancelled') return say('deep_stopped');
    if (job.state === 'failed') return say('stand_failed', { reason: jobError(job, say) });
    const { answer, calls, ended, failure, failure_kind: kind } = job.result;
    const found = say('deep_result', { n: answer.memories.length, calls });
    const why = ENDINGS.includes(ended) ? say(/** @type {Key} */ (`ended_${ended}`)) : '';
    const reason = FAILURES.includes(kind) ? say(/** @type {Key} */ (`failure_${kind}`)) : failure;
    const unasked = failure ? say('deep_failure', { reason }) : '';
    return [why, found, unasked].filter(Boolean).join(' ');
}

/** @param {RecallAnswer} answer @param {Say} say @param {DeepActionsOf} actionsOf */
function answerItems({ trace, memories }, say, actionsOf) {
    return memories.map(memory =>
        el('li', { class: 'soulmem_recalled_item', data: { memory: memory.id } }, [
            ...recalledParts(memory, [], say),
            actionsOf(trace, memory),
        ]),
    );
}

/** The panel: a question that can be changed, and a button that searches for it.
 * @param {App} app @param {Say} say @param {{soul: string, chat: string, query: string}} start
 * @param {DeepActionsOf} actionsOf */
export function deepPanel(app, say, { soul, chat, query }, actionsOf) {
    const memoryApi = createMemoryApi(app.link.ask);
    const label = say('deep_question');
    const input = /** @type {HTMLInputElement} */ (
        el('input', {
            class: 'text_pole flex1 soulmem_deep_question',
            type: 'text',
            maxlength: 2000,
            'aria-label': label,
            placeholder: label,
        })
    );
    input.value = query.slice(0, 2000);
    const bar = el('progress', { class: 'soulmem_job_bar', 'aria-label': say('job_deep') });
    const stop = button('fa-stop', say('read_cancel'), () => (isStopped = true), {
        class: 'soulmem_deep_stop',
    });
    const steps = el('ol', { class: 'soulmem_search_steps soulmem_deep_steps' });
    const running = el('div', { class: 'soulmem_deep_running' }, [bar, stop]);
    const outcome = el('small', { class: 'soulmem_deep_outcome', role: 'status' });
    const answers = el('ol', { class: 'soulmem_recalled_list' });
    const go = button('fa-hourglass-half', say('deep_button'), search, {
        class: 'soulmem_deep_go',
        title: say('deep_hint'),
    });
    const row = el('div', { class: 'soulmem_row' }, [input, go]);
    const panel = el('div', { class: 'soulmem_deep' }, [row, running, steps, outcome, answers]);
    let isStopped = false;
    let shownSteps = 0;
    const seen = /** @type {Set<string>} */ (new Set()); // ids of memories that were found
    running.hidden = true;
    input.addEventListener('keydown', event => {
        if (event.key !== 'Enter') return;
        event.preventDefault(); // it would close the window
        go.click();
    });

    /** Steps that are new are added, so that nothing moves. @param {Job} job */
    function show({ progress, result }) {
        if (progress.total) {
            bar.setAttribute('max', String(progress.total));
            bar.setAttribute('value', String(progress.done));
        }
        const all = /** @type {DeepStep[]} */ (result?.steps ?? []);
        for (const step of all.slice(shownSteps)) {
            const isSearch = step.step === 'explore';
            const counted = step.found.filter(id => !isSearch || !seen.has(id));
            if (isSearch) step.found.forEach(id => seen.add(id));
            const data = { step: step.step };
            steps.append(el('li', { text: stepText(step, counted.length, say), data }));
        }
        shownSteps = all.length;
    }

    async function search() {
        const text = input.value.trim();
        if (!text) return;
        isStopped = false;
        shownSteps = 0;
        seen.clear();
        steps.replaceChildren();
        answers.replaceChildren();
        outcome.textContent = '';
        running.hidden = false;
        const isUnwanted = () => isStopped || !panel.isConnected;
        try {
            const language = reasonLanguage(app.host.locale());
            const question = { soul, chat, query: text, language };
            const job = await deepSearch(memoryApi, question, { shown: show, isUnwanted });
            outcome.textContent = endingText(job, say);
            const answer = job.state === 'done' ? job.result.answer : null;
            if (answer) answers.append(...answerItems(answer, say, actionsOf));
        } catch (error) {
            outcome.textContent = errorTextOf(app, error, say);
        } finally {
            running.hidden = true;
        }
    }

    return panel;
}
