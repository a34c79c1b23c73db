// "Import everything of this character": asks what there is and what it costs, takes it in, can be stopped and goes on later.

import { byId, el, onPress } from '../base/dom.js';
import { createImporter } from '../chat/importer.js';
import { createTavernFiles } from '../tavern/tavern_files.js';

/** @typedef {import('../app.js').App} App */
/** @typedef {import('../base/strings.js').Say} Say */
/** @typedef {import('../chat/importer.js').Quote} Quote */
/** @typedef {import('../chat/importer.js').Step} Step */

/** @param {App} app @param {Say} say @param {() => {avatar: string, name: string} | undefined} chosen whose memory is meant */
export function bindImport(app, say, chosen) {
    const importer = createImporter(createTavernFiles(app.host), app.link.ask);
    const start = byId('soulmem_import');
    const cancel = byId('soulmem_import_cancel');
    const bar = /** @type {HTMLProgressElement} */ (byId('soulmem_import_progress'));
    const text = byId('soulmem_import_text');
    const stopped = /** @type {Set<string>} */ (new Set()); // avatars whose import was stopped
    let going = /** @type {AbortController | null} */ (null);
    let about = ''; // whose import the words on the screen tell of

    /** @param {string} words */
    const tell = words => {
        text.textContent = words;
    };

    /** @param {Step} step */
    function show(step) {
        bar.max = step.files;
        bar.value = step.file - 1 + (step.total ? step.done / step.total : 0);
        tell(say(step.total ? 'import_step' : 'import_look', { ...step }));
    }

    async function go() {
        const member = chosen();
        if (!member) return app.host.toast('info', say('no_chat'));
        if (!app.link.state().via) await app.link.look();
        const person = (await app.people.present()).find(one => one.avatar === member.avatar);
        if (!person) return app.host.toast('info', say('no_chat'));
        if (app.people.isGone(person.soul)) return app.host.toast('info', say('soul_is_gone'));
        going = new AbortController();
        const { signal } = going;
        stopped.delete(member.avatar);
        draw();
        try {
            await app.people.push([person], signal);
            const open = app.host.group() ? null : app.host.chatName();
            const about = {
                soul: person.soul,
                avatar: member.avatar,
                persona: app.host.persona(),
                leaveOut: open,
            };
            const { sources, quote } = await importer.preflight(about, show, signal);
            if (
                !(await app.host.ask(
                    quoteView(quote, member.name, say),
                    say('import_go'),
                    say('import_not_now'),
                ))
            )
                return tell('');
            const done = await importer.run(sources, about, show, signal);
            if (open !== null && open === app.host.chatName()) await app.keeper.readAll();
            const { messages, memories, failed } = done;
            tell(
                [
                    say('import_done', { messages, memories, name: member.name }),
                    failedWords(failed, say),
                ]
                    .join(' ')
                    .trim(),
            );
        } catch (error) {
            if (signal.aborted) stopped.add(member.avatar);
            tell(
                signal.aborted
                    ? say('import_stopped')
                    : say('import_failed', { error: /** @type {Error} */ (error).message }),
            );
        } finally {
            going = null;
            draw();
            void app.link.look();
        }
    }

    onPress(start, () => void go());
    onPress(cancel, () => going?.abort());

    function draw() {
        const avatar = chosen()?.avatar;
        if (going === null && avatar !== about) tell('');
        if (going === null) about = avatar ?? '';
        start.hidden = going !== null;
        cancel.hidden = bar.hidden = going === null;
        byId('soulmem_import_label').textContent = say(
            avatar && stopped.has(avatar) ? 'import_resume' : 'import_all',
        );
    }
    return { draw };
}

/** What there is and what it costs. @param {Quote} quote @param {string} name @param {Say} say @returns {HTMLElement} */
export function quoteView(quote, name, say) {
    const minutes =
        quote.minutes < 1
            ? say('import_under_a_minute')
            : say('import_minutes', { n: Math.ceil(quote.minutes) });
    const rows = [
        say('import_quote_chats', {
            chats: quote.chats,
            messages: quote.messages,
            added: quote.added + quote.changed,
        }),
        say('import_quote_lore', {
            memories: quote.memories,
            worlds: quote.worlds,
            names: quote.names,
        }),
        minutes,
        say('import_quote_safe'),
        failedWords(quote.failed, say),
    ];
    return el('div', { class: 'soulmem_quote', id: 'soulmem_quote' }, [
        el('h3', { text: say('import_question', { name }) }),
        el(
            'ul',
            {},
            rows.filter(Boolean).map(row => el('li', { text: row })),
        ),
    ]);
}

/** @param {readonly string[]} failed @param {Say} say @returns {string} */
const failedWords = (failed, say) =>
    failed.length ? say('import_left_out', { names: failed.join(', ') }) : '';
