// The frame of the memory window: whose memories are shown, the tabs, and one line about the state of memory.

import { button, el } from '../base/dom.js';
import { checklist, stepText } from '../link/health_checks.js';
import { stepFacts } from '../widgets/error_text.js';
import { avatarOf } from './soul_avatar.js';

/** @typedef {import('../base/strings.js').Say} Say */
/** @typedef {import('./browser_context.js').BrowserContext} BrowserContext */
/** @typedef {{id: string, name: string}} Soul */

/** A row of tabs whose focus moves by arrow keys, Home and End. @param {string} label @param {string} [style] */
function tabRow(label, style = '') {
    const about = { class: `soulmem_tabs ${style}`.trim(), role: 'tablist', 'aria-label': label };
    const tabs = el('div', about);
    tabs.addEventListener('keydown', event => {
        const all = /** @type {HTMLElement[]} */ ([...tabs.children]);
        const from = all.findIndex(tab => tab.contains(document.activeElement));
        const places = { ArrowRight: from + 1, ArrowLeft: from - 1, Home: 0, End: all.length - 1 };
        const to = places[/** @type {keyof typeof places} */ (event.key)];
        if (from < 0 || to === undefined) return;
        event.preventDefault();
        all[(to + all.length) % all.length]?.focus();
    });
    return tabs;
}

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

/** The portrait of a soul's character; hidden where this SillyTavern has no card of it.
 * @param {BrowserContext} context */
function portraitOf({ app }) {
    const image = /** @type {HTMLImageElement} */ (
        el('img', { class: 'soulmem_portrait', alt: '' })
    );
    /** @param {string} soul */
    function show(soul) {
        const avatar = avatarOf(app, soul);
        image.hidden = avatar === undefined;
        if (avatar !== undefined) image.setAttribute('src', app.host.portrait(avatar));
    }
    return { image, show };
}

/** @param {BrowserContext} context @param {() => unknown} close the window */
export function windowFrame(context, close) {
    const { say, app } = context;
    const who = /** @type {HTMLSelectElement} */ (
        el('select', {
            id: 'soulmem_who',
            class: 'text_pole margin0',
            'aria-label': say('browse_who'),
        })
    );
    const portrait = portraitOf(context);
    const title = el('h3', { class: 'margin0', text: say('browse_title') });
    const tabs = tabRow(say('browse_title'));
    const footTabs = tabRow(say('browse_behind'), 'soulmem_foot_tabs');
    const state = stateLine(context);
    const out = button('fa-xmark', say('recalled_close'), close, {
        id: 'soulmem_close',
        'aria-label': say('recalled_close'),
        title: say('recalled_close'),
    });
    const head = el('div', { class: 'soulmem_browser_head' }, [
        portrait.image,
        el('div', { class: 'soulmem_browser_name' }, [title, who]),
        tabs,
        out,
    ]);
    const foot = el('div', { class: 'soulmem_browser_foot' }, [state.line, footTabs]);

    return {
        head,
        foot,
        tabs,
        footTabs,
        who,
        problem: state.problem,
        /** @param {readonly Soul[]} souls @param {string} chosen id */
        showSouls(souls, chosen) {
            const options = souls.map(({ id, name }) => el('option', { value: id, text: name }));
            who.replaceChildren(...options);
            who.value = chosen;
            who.hidden = souls.length < 2;
            title.hidden = !who.hidden;
            const name = souls.find(({ id }) => id === chosen)?.name;
            title.textContent = name ?? say('browse_title');
            portrait.show(chosen);
        },
        /** Another soul is shown. @param {string} soul */
        showPortrait: soul => portrait.show(soul),
        /** Follows the state of memory until the window is closed. @returns {() => void} ends it */
        watch: () => app.subscribe(state.draw),
    };
}
