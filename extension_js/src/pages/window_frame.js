// The frame of the memory window: whose memories are shown, and one line about the state of memory.

import { button, el } from '../base/dom.js';
import { checklist, stepText } from '../link/health_checks.js';
import { stepFacts } from '../widgets/error_text.js';
import { portraitImage, portraitOf, showPortrait } from '../widgets/soul_avatar.js';

/** @typedef {import('../base/strings.js').Say} Say */
/** @typedef {import('./browser_context.js').BrowserContext} BrowserContext */
/** @typedef {{id: string, name: string}} Soul */

/** The line at the foot: whether memory works, the open chat, and calls to a language model. What went wrong is told
 * with its remedy in `problem`, at the head.
 * @param {BrowserContext} context */
function stateLine({ app, say }) {
    const light = el('span', { class: 'soulmem_light' });
    const words = el('span', {});
    const line = el('small', { class: 'soulmem_state_line' }, [light, words]);
    const problem = el('p', { class: 'soulmem_problem' });

    function draw() {
        const link = app.link.state();
        const name = app.host.chatName();
        const checks = checklist(link, app.chatSync.state, app.settings().url, say, name);
        const calls = link.health?.llm?.calls_this_hour ?? 0;
        Object.assign(light.dataset, { state: link.state, step: link.step });
        words.textContent = [
            say(`state_${link.state}`),
            name ? say('chat_open', { name }) : say('check_chat_none'),
            say('state_calls', { n: calls }),
        ].join(' · ');
        line.title = checks.map(({ text }) => text).join('\n');
        problem.textContent = stepText(link, stepFacts(app), say);
        problem.hidden = !problem.textContent;
    }
    draw();
    return { line, problem, draw };
}

/** @param {BrowserContext} context @param {HTMLElement} tabs @param {() => unknown} close the window */
export function windowFrame(context, tabs, close) {
    const { say, app } = context;
    const who = /** @type {HTMLSelectElement} */ (
        el('select', {
            id: 'soulmem_who',
            class: 'text_pole margin0',
            'aria-label': say('browse_who'),
        })
    );
    const portrait = portraitImage();
    const title = el('h3', { class: 'margin0 soulmem_only_heard', text: say('browse_title') });
    const state = stateLine(context);
    const out = button('fa-xmark', say('recalled_close'), close, {
        id: 'soulmem_close',
        'aria-label': say('recalled_close'),
        title: say('recalled_close'),
    });
    const head = el('div', { class: 'soulmem_browser_head' }, [
        portrait,
        el('div', { class: 'soulmem_browser_name' }, [title, who]),
        tabs,
        out,
    ]);
    const foot = el('div', { class: 'soulmem_browser_foot' }, [state.line]);

    let known = /** @type {readonly Soul[]} */ ([]);

    return {
        head,
        foot,
        who,
        problem: state.problem,
        /** @param {readonly Soul[]} souls @param {string} chosen id */
        showSouls(souls, chosen) {
            known = souls;
            const options = souls.map(({ id, name }) => el('option', { value: id, text: name }));
            who.replaceChildren(...options);
            who.value = chosen;
            who.hidden = souls.length < 2;
            title.hidden = !who.hidden;
            title.textContent = this.nameOf(chosen) || say('browse_title');
            this.showPortrait(chosen);
        },
        /** @param {string} soul @returns {string} its name; empty where it is not known */
        nameOf: soul => known.find(({ id }) => id === soul)?.name ?? '',
        /** Another soul is shown. @param {string} soul */
        showPortrait: soul => showPortrait(portrait, portraitOf(app, soul)),
        /** Follows the state of memory until the window is closed. @returns {() => void} ends it */
        watch: () => app.subscribe(state.draw),
    };
}
