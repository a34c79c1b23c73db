// Which language model works at rest, does it answer, what did that cost, and what would the next run cost?

import { button, el } from '../base/dom.js';

/** @typedef {import('./browser_context.js').Desk} Desk */
/** @typedef {import('../base/types.js').Job} Job */
/** @typedef {import('../base/types.js').Ledger} Ledger */
/** @typedef {import('../base/types.js').Spent} Spent */
/** @typedef {import('../base/strings.js').Say} Say */

const LOOK = 500; // ms between looks at a test

/** What the due calls would cost, going by the calls so far. @param {Ledger} ledger
 * @returns {{calls: number, minutes: number | null, tokens: number | null}} null where no call was made to tell by */
export function priceOf({ due, totals }) {
    const spent = totals.consolidation;
    const tokens = spent?.calls
        ? Math.round(
              (due.calls * (spent.prompt_tokens + spent.answer_tokens)) / spent.calls / 100,
          ) * 100
        : null;
    return { calls: due.calls, minutes: due.minutes, tokens };
}

/** @param {number | null} minutes @param {Say} say @returns {string} */
export const minutesWords = (minutes, say) =>
    minutes === null
        ? say('price_unknown')
        : minutes < 1
          ? say('import_under_a_minute')
          : say('import_minutes', { n: Math.ceil(minutes) });

/** @param {Ledger} ledger @returns {Spent} of all work together */
export const spentInAll = ({ totals }) =>
    Object.values(totals).reduce(
        (sum, one) => ({
            calls: sum.calls + one.calls,
            failed: sum.failed + one.failed,
            prompt_tokens: sum.prompt_tokens + one.prompt_tokens,
            answer_tokens: sum.answer_tokens + one.answer_tokens,
            seconds: sum.seconds + one.seconds,
            memories: sum.memories + one.memories,
        }),
        { calls: 0, failed: 0, prompt_tokens: 0, answer_tokens: 0, seconds: 0, memories: 0 },
    );

/** What a test of the model found, in words. @param {Job} job @param {Say} say @returns {{sign: 'yes' | 'no' | 'warn', text: string, answer?: string}} */
export function verdictOn({ state, error, result }, say) {
    if (state !== 'done') return { sign: 'no', text: say('test_broke', { reason: error ?? '' }) };
    const about = { seconds: result.seconds ?? 0, reason: result.reason ?? '' };
    if (result.state === 'ok')
        return { sign: 'yes', text: say('test_ok', about), answer: result.answer };
    if (result.state === 'unreadable') return { sign: 'warn', text: say('test_unreadable', about) };
    return { sign: 'no', text: say(result.state === 'off' ? 'model_off' : 'test_failed', about) };
}

/** @param {Desk} desk @param {() => unknown} started a job was begun
 * @returns {{element: HTMLElement, draw: (ledger: Ledger, jobs: readonly Job[]) => void}} */
export function modelCard(desk, started) {
    const { say, app, memories } = desk;
    const light = el('span', { class: 'soulmem_light' });
    const name = el('b', { class: 'flex1' });
    const facts = el('ul', { class: 'soulmem_facts' });
    const found = el('div', { id: 'soulmem_test_result', role: 'status' });
    const test = button('fa-stethoscope', say('test_model'), () => desk.attempt(testModel), {
        id: 'soulmem_test_model',
    });
    const run = button('fa-play', say('run_now'), () => desk.attempt(runNow), {
        id: 'soulmem_run_now',
    });
    const element = el('div', { class: 'soulmem_card', id: 'soulmem_model' }, [
        el('div', { class: 'soulmem_row' }, [light, name]),
        facts,
        el('div', { class: 'soulmem_row' }, [run, test]),
        found,
    ]);
    let ledger = /** @type {Ledger | null} */ (null);

    async function testModel() {
        const wait = (/** @type {'test_going' | 'stand_queued'} */ key) =>
            found.replaceChildren(el('i', { class: 'fa-solid fa-hourglass-half' }), ` ${say(key)}`);
        wait('test_going');
        const language = app.host.locale().startsWith('zh') ? 'zh' : 'en';
        const id = await memories.startJob(desk.soul, 'model_test', { language }).catch(error => {
            found.replaceChildren();
            throw error;
        });
        app.llm.soon();
        let job = await memories.job(id);
        while (element.isConnected && (job.state === 'queued' || job.state === 'running')) {
            await new Promise(resolve => setTimeout(resolve, LOOK));
            job = await memories.job(id);
            wait(job.state === 'queued' ? 'stand_queued' : 'test_going');
        }
        const { sign, text, answer } = verdictOn(job, say);
        const icon = {
            yes: 'fa-circle-check',
            no: 'fa-circle-xmark',
            warn: 'fa-triangle-exclamation',
        }[sign];
        found.replaceChildren(
            el('div', { class: `soulmem_verdict soulmem_${sign}`, data: { sign } }, [
                el('i', { class: `fa-solid ${icon}` }),
                el('span', { text }),
            ]),
            ...(answer ? [el('q', { text: answer })] : []),
        );
        void app.link.look();
    }

    async function runNow() {
        if (!ledger) return;
        if (!(await app.host.ask(quote(desk, ledger), say('run_go'), say('import_not_now'))))
            return;
        await memories.startJob(desk.soul, 'consolidate');
        app.llm.soon();
        await started();
    }

    return {
        element,
        draw(now, jobs) {
            ledger = now;
            const llm = app.link.state().health?.llm;
            const off = !llm || llm.state === 'off';
            const profile = app.host.profiles().find(one => one.id === app.settings().llm_profile);
            light.dataset.state = off
                ? 'off'
                : llm.state === 'ok' && now.down === null
                  ? 'ok'
                  : 'degraded';
            name.textContent = off
                ? say('model_none')
                : llm.model !== 'client'
                  ? say('check_llm', { model: llm.model ?? '' })
                  : profile
                    ? say('model_profile', { name: profile.name })
                    : say('check_llm_own');
            test.hidden = run.hidden = off;
            const going = jobs.some(
                job =>
                    job.kind === 'consolidate' &&
                    (job.state === 'running' || job.state === 'queued'),
            );
            run.classList.toggle('disabled', now.due.calls === 0 || going);
            run.hidden ||= now.due.calls === 0 || going;
            facts.replaceChildren(
                ...(off ? [say('model_off')] : factsOf(desk, now)).map(text => el('li', { text })),
            );
        },
    };
}

/** @param {Desk} desk @param {Ledger} ledger @returns {string[]} */
function factsOf({ say, when }, ledger) {
    const { calls, minutes } = priceOf(ledger);
    const all = spentInAll(ledger);
    return [
        calls ? say('due', { n: calls, time: minutesWords(minutes, say) }) : say('due_none'),
        ledger.down ? say('model_down', { reason: ledger.down }) : '',
        ...ledger.parked.map(one =>
            say('parked', { reason: one.reason, n: one.attempts, when: when(one.again) }),
        ),
        all.calls
            ? say('spent', {
                  calls: all.calls,
                  failed: all.failed,
                  tokens: (all.prompt_tokens + all.answer_tokens).toLocaleString(),
                  memories: all.memories,
              })
            : '',
        all.calls
            ? say('spent_hour', { calls: ledger.this_hour.calls, most: ledger.most_an_hour.calls })
            : '',
    ].filter(Boolean);
}

/** The price, before a run. @param {Desk} desk @param {Ledger} ledger */
function quote({ say }, ledger) {
    const { calls, minutes, tokens } = priceOf(ledger);
    const rows = [
        say('price_calls', { n: calls }),
        minutesWords(minutes, say),
        tokens === null ? '' : say('price_tokens', { n: tokens.toLocaleString() }),
        say('price_safe'),
    ];
    return el('div', { class: 'soulmem_quote', id: 'soulmem_price' }, [
        el('h3', { text: say('run_question') }),
        el(
            'ul',
            {},
            rows.filter(Boolean).map(text => el('li', { text })),
        ),
    ]);
}
