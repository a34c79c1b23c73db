// The language model for background work: its state, a test, its cost so far and the price of the next run.

import { button, el } from '../base/dom.js';
import { jobError } from '../widgets/error_text.js';
import { isUnfinished } from '../widgets/job_list.js';
import { modelChoice } from './model_choice.js';

/** @typedef {import('./browser_context.js').BrowserContext} BrowserContext */
/** @typedef {import('../base/types.js').Job} Job */
/** @typedef {import('../base/types.js').UsageLedger} UsageLedger */
/** @typedef {import('../base/types.js').Usage} Usage */
/** @typedef {import('../base/strings.js').Say} Say */
/** @typedef {{sign: 'yes' | 'no' | 'warn', text: string, answer?: string}} TestVerdict */

const POLL = 500; // ms between looks at a test
const TEST_ICONS = {
    yes: 'fa-circle-check',
    no: 'fa-circle-xmark',
    warn: 'fa-triangle-exclamation',
};

/** What the calls that are due would cost, by the calls so far. Null where no call was made yet.
 * @param {UsageLedger} ledger @returns {{calls: number, minutes: number | null, tokens: number | null}} */
export function priceOf({ due, totals }) {
    const { calls, minutes } = due;
    const usage = totals.consolidation;
    if (!usage?.calls) return { calls, minutes, tokens: null };
    const perCall = (usage.prompt_tokens + usage.answer_tokens) / usage.calls;
    return { calls, minutes, tokens: Math.round((calls * perCall) / 100) * 100 };
}

/** @param {number | null} minutes null when they are not known @param {Say} say @returns {string} */
export function durationText(minutes, say) {
    if (minutes === null) return say('price_unknown');
    if (minutes < 1) return say('import_under_a_minute');
    return say('import_minutes', { n: Math.ceil(minutes) });
}

/** @param {UsageLedger} ledger @returns {Usage} of all kinds of work together */
export function totalUsage({ totals }) {
    const sum = {
        calls: 0,
        failed: 0,
        prompt_tokens: 0,
        answer_tokens: 0,
        seconds: 0,
        memories: 0,
    };
    const names = /** @type {(keyof Usage)[]} */ (Object.keys(sum));
    for (const usage of Object.values(totals)) {
        for (const name of names) sum[name] += usage[name];
    }
    return sum;
}

/** The result of a test of the model in words. @param {Job} job @param {Say} say @returns {TestVerdict} */
export function testVerdict(job, say) {
    const { state, result } = job;
    if (state !== 'done') return { sign: 'no', text: say('test_broke', { reason: jobError(job, say) }) };
    const values = { seconds: result.seconds ?? 0, reason: say.phrase(result.reason, result.reason_phrase) };
    switch (result.state) {
        case 'ok':
            return {
                sign: 'yes',
                text: say(result.asked ? 'test_ok_of' : 'test_ok', {
                    ...values,
                    right: result.right ?? 0,
                    asked: result.asked ?? 0,
                }),
                answer: result.answer,
            };
        case 'weak': {
            const { right = 0, asked = 0 } = result;
            return { sign: 'warn', text: say('test_weak', { ...values, right, asked }) };
        }
        case 'unreadable':
            return { sign: 'warn', text: say('test_unreadable', values) };
        case 'off':
            return { sign: 'no', text: say('model_off', values) };
        default:
            return { sign: 'no', text: say('test_failed', values) };
    }
}

/** @param {BrowserContext} context @param {() => unknown} started called after a run was started
 * @returns {{element: HTMLElement, draw: (ledger: UsageLedger, jobs: readonly Job[]) => void}} */
export function modelCard(context, started) {
    const { say, app, memoryApi } = context;
    const light = el('span', { class: 'soulmem_light' });
    const name = el('b', { class: 'flex1' });
    const facts = el('ul', { class: 'soulmem_facts' });
    const result = el('div', { id: 'soulmem_test_result', role: 'status' });
    const test = button('fa-stethoscope', say('test_model'), () => context.attempt(testModel), {
        id: 'soulmem_test_model',
    });
    const run = button('fa-play', say('run_now'), () => context.attempt(runNow), {
        id: 'soulmem_run_now',
    });
    const element = el('div', { class: 'soulmem_card', id: 'soulmem_model' }, [
        el('div', { class: 'soulmem_row' }, [light, name]),
        facts,
        modelChoice(context, started),
        el('div', { class: 'soulmem_row' }, [run, test]),
        result,
    ]);
    let ledger = /** @type {UsageLedger | null} */ (null);
    run.hidden = true; // a press before the price is known would do nothing

    /** @param {'test_going' | 'stand_queued'} key */
    const showWait = key =>
        result.replaceChildren(el('i', { class: 'fa-solid fa-hourglass-half' }), ` ${say(key)}`);

    async function testModel() {
        showWait('test_going');
        const language = app.host.locale().startsWith('zh') ? 'zh' : 'en';
        const starting = memoryApi.startJob(context.soul, 'model_test', { language });
        const id = await starting.catch(error => {
            result.replaceChildren();
            throw error;
        });
        app.llmCalls.soon();
        let job = await memoryApi.job(id);
        while (element.isConnected && isUnfinished(job)) {
            await new Promise(resolve => setTimeout(resolve, POLL));
            job = await memoryApi.job(id);
            showWait(job.state === 'queued' ? 'stand_queued' : 'test_going');
        }
        result.replaceChildren(...verdictView(testVerdict(job, say)));
        void app.link.check();
    }

    async function runNow() {
        if (!ledger) return;
        const isSure = await app.host.ask(
            priceView(context, ledger),
            say('run_go'),
            say('import_not_now'),
        );
        if (!isSure) return;
        await memoryApi.startJob(context.soul, 'consolidate');
        app.llmCalls.soon();
        await started();
    }

    return {
        element,
        draw(current, jobs) {
            ledger = current;
            const llm = app.link.state().health?.llm;
            const isOff = !llm || llm.state === 'off';
            const isWell = llm?.state === 'ok' && current.down === null;
            if (isOff) light.dataset.state = 'off';
            else light.dataset.state = isWell ? 'ok' : 'degraded';
            name.textContent = modelName(context);
            const isRunning = jobs.some(job => job.kind === 'consolidate' && isUnfinished(job));
            const nothingToRun = current.due.calls === 0 || isRunning;
            test.hidden = isOff;
            run.hidden = isOff || nothingToRun;
            run.classList.toggle('disabled', nothingToRun);
            const texts = isOff ? [say('model_off')] : factTexts(context, current);
            facts.replaceChildren(...texts.map(text => el('li', { text })));
        },
    };
}

/** @param {TestVerdict} verdict @returns {HTMLElement[]} */
function verdictView({ sign, text, answer }) {
    const line = el('div', { class: `soulmem_verdict soulmem_${sign}`, data: { sign } }, [
        el('i', { class: `fa-solid ${TEST_ICONS[sign]}` }),
        el('span', { text }),
    ]);
    return answer ? [line, el('q', { text: answer })] : [line];
}

/** @param {BrowserContext} context @returns {string} the model that is used, in words */
function modelName({ say, app }) {
    const llm = app.link.state().health?.llm;
    if (!llm || llm.state === 'off') return say('model_none');
    if (llm.model !== 'client') return say('check_llm', { model: llm.model ?? '' });
    const chosen = app.settings().llm_profile;
    const profile = app.host.profiles().find(other => other.id === chosen);
    return profile ? say('model_profile', { name: profile.name }) : say('check_llm_own');
}

/** @param {BrowserContext} context @param {UsageLedger} ledger @returns {string[]} */
function factTexts({ say, localTime }, ledger) {
    const { calls, minutes } = priceOf(ledger);
    const due = { n: calls, time: durationText(minutes, say) };
    const texts = [calls ? say('due', due) : say('due_none')];
    if (ledger.down) texts.push(say('model_down', { reason: say.phrase(ledger.down, ledger.down_phrase) }));
    for (const { reason: text, reason_phrase: phrase, attempts, again } of ledger.parked) {
        const reason = say.phrase(text, phrase);
        texts.push(say('parked', { reason, n: attempts, when: localTime(again) }));
    }
    const usage = totalUsage(ledger);
    if (usage.calls) {
        const tokens = (usage.prompt_tokens + usage.answer_tokens).toLocaleString();
        texts.push(say('spent', { ...usage, tokens }));
        const most = ledger.most_an_hour.calls;
        texts.push(say('spent_hour', { calls: ledger.this_hour.calls, most }));
    }
    return texts;
}

/** The question before a run, with its price. @param {BrowserContext} context @param {UsageLedger} ledger */
function priceView({ say }, ledger) {
    const { calls, minutes, tokens } = priceOf(ledger);
    const rows = [say('price_calls', { n: calls }), durationText(minutes, say)];
    if (tokens !== null) rows.push(say('price_tokens', { n: tokens.toLocaleString() }));
    rows.push(say('price_safe'));
    return el('div', { class: 'soulmem_quote', id: 'soulmem_price' }, [
        el('h3', { text: say('run_question') }),
        el(
            'ul',
            {},
            rows.map(text => el('li', { text })),
        ),
    ]);
}
