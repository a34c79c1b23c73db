// The button "Import everything of this character": shows what there is and what it costs, then imports it. It can
// be stopped and continued.

import { byId, el, onPress } from '../base/dom.js';
import { createImporter } from '../chat/importer.js';
import { createTavernFiles } from '../tavern/tavern_files.js';
import { errorTextOf } from '../widgets/error_text.js';

/** @typedef {import('../app.js').App} App */
/** @typedef {import('../base/strings.js').Say} Say */
/** @typedef {import('../chat/importer.js').Quote} Quote */
/** @typedef {import('../chat/importer.js').Step} Step */
/** @typedef {import('../chat/people.js').Person} Person */

/** @param {App} app @param {Say} say
 * @param {() => {avatar: string, name: string} | undefined} chosen the character to import */
export function bindImport(app, say, chosen) {
    const importer = createImporter(createTavernFiles(app.host), app.link.ask);
    const start = byId('soulmem_import');
    const cancel = byId('soulmem_import_cancel');
    const bar = /** @type {HTMLProgressElement} */ (byId('soulmem_import_progress'));
    const text = byId('soulmem_import_text');
    const stopped = /** @type {Set<string>} */ (new Set()); // avatars whose import was stopped
    let running = /** @type {AbortController | null} */ (null);
    let shownFor = ''; // avatar to which the text on the page belongs

    /** @param {string} words */
    const showText = words => {
        text.textContent = words;
    };

    /** @param {Step} step */
    function showStep(step) {
        bar.max = step.files;
        bar.value = step.file - 1 + (step.total ? step.done / step.total : 0);
        showText(say(step.total ? 'import_step' : 'import_look', { ...step }));
    }

    /** @param {Person} person @param {AbortSignal} signal
     * @returns {Promise<string>} the result in words; empty when the user did not want it */
    async function importAll(person, signal) {
        await app.people.push([person], signal);
        const openChat = app.host.group() ? null : app.host.chatName();
        const { soul, avatar, name } = person;
        const target = { soul, avatar, persona: app.host.persona(), leaveOut: openChat };
        const { sources, quote } = await importer.preflight(target, showStep, signal);
        const question = quoteView(quote, name, say);
        const isSure = await app.host.ask(question, say('import_go'), say('import_not_now'));
        if (!isSure) return '';
        const imported = await importer.run(sources, target, showStep, signal);
        if (openChat !== null && openChat === app.host.chatName()) await app.chatSync.readAll();
        const { messages, memories, failed } = imported;
        const done = say('import_done', { messages, memories, name });
        return [done, failedText(failed, say)].join(' ').trim();
    }

    /** @returns {Promise<Person | undefined>} the chosen character; undefined when it cannot be imported */
    async function findPerson() {
        const member = chosen();
        if (member && !app.link.state().via) await app.link.check();
        const people = member ? await app.people.inChat() : [];
        const person = people.find(other => other.avatar === member?.avatar);
        if (!person) app.host.toast('info', say('no_chat'));
        else if (app.people.isForgotten(person.soul)) app.host.toast('info', say('soul_is_gone'));
        else return person;
    }

    async function run() {
        const person = await findPerson();
        if (!person) return;
        running = new AbortController();
        const { signal } = running;
        stopped.delete(person.avatar);
        draw();
        try {
            showText(await importAll(person, signal));
        } catch (error) {
            if (signal.aborted) stopped.add(person.avatar);
            const reason = errorTextOf(app, error, say);
            showText(
                signal.aborted ? say('import_stopped') : say('import_failed', { error: reason }),
            );
        } finally {
            running = null;
            draw();
            void app.link.check();
        }
    }

    onPress(start, () => void run());
    onPress(cancel, () => running?.abort());

    function draw() {
        const avatar = chosen()?.avatar ?? '';
        const isRunning = running !== null;
        if (!isRunning && avatar !== shownFor) {
            showText('');
            shownFor = avatar;
        }
        start.hidden = isRunning;
        cancel.hidden = bar.hidden = !isRunning;
        const label = say(stopped.has(avatar) ? 'import_resume' : 'import_all');
        byId('soulmem_import_label').textContent = label;
    }
    return { draw };
}

/** What there is to import and what it costs. @param {Quote} quote @param {string} name @param {Say} say
 * @returns {HTMLElement} */
export function quoteView(quote, name, say) {
    const { chats, messages, added, changed, memories, worlds, names, failed } = quote;
    const minutes = Math.ceil(quote.minutes);
    const rows = [
        say('import_quote_chats', { chats, messages, added: added + changed }),
        say('import_quote_lore', { memories, worlds, names }),
        ...entriesLeftOut(quote, say),
        quote.minutes < 1 ? say('import_under_a_minute') : say('import_minutes', { n: minutes }),
        say('import_quote_safe'),
        failedText(failed, say),
    ];
    return el('div', { class: 'soulmem_quote', id: 'soulmem_quote' }, [
        el('h3', { text: say('import_question', { name }) }),
        el(
            'ul',
            {},
            rows.filter(Boolean).map(text => el('li', { text })),
        ),
    ]);
}

/** What is left out of worlds and cards. @param {Quote} quote @param {Say} say */
const entriesLeftOut = ({ disabled, instructions }, say) => [
    disabled ? say('files_disabled', { n: disabled }) : '',
    instructions ? say('files_instructions', { n: instructions }) : '',
];

/** @param {readonly string[]} failed names of files @param {Say} say @returns {string} */
const failedText = (failed, say) =>
    failed.length ? say('import_left_out', { names: failed.join(', ') }) : '';
