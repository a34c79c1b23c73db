// An entry of SillyTavern's debug menu: the last recall and the state of the connection, without texts of the chat.

/** @typedef {import('../app.js').App} App */
/** @typedef {import('../base/strings.js').Say} Say */
/** @typedef {import('../base/types.js').RecallRecord} RecallRecord */

/** A recall without any text: ids, kinds, scores and counts. @param {RecallRecord | null} record */
function outlineOf(record) {
    if (!record) return null;
    const { memories, blocks, speaker: _speaker, ...rest } = record;
    return {
        ...rest,
        memories: memories.map(({ id, kind, score, hops, permanent, age_turns, visibility }) => ({
            id,
            kind,
            score,
            hops,
            permanent,
            age_turns,
            visibility,
        })),
        blocks: blocks.map(({ section, position, depth, tokens, items }) => ({
            section,
            position,
            depth,
            tokens,
            items: items.length,
        })),
    };
}

/** @param {App} app @returns {string} JSON that can be shown to anybody: no text, no token */
export function debugReport(app) {
    const { souls: _souls, kept: _kept, ...settings } = app.settings();
    const report = {
        state: app.handle.state(),
        settings,
        last_recall: outlineOf(app.recaller.last()),
        messages: app.host.chat().length,
    };
    return JSON.stringify(report, null, 2);
}

/** @param {App} app @param {Say} say */
export function registerDebugReport(app, say) {
    app.host.registerDebugEntry('soulmem_report', say('debug_name'), say('debug_help'), async () => {
        const report = debugReport(app);
        console.info('[SoulMem]', report);
        app.host.download('soulmem-report.json', new Blob([report], { type: 'application/json' }));
        app.host.toast('success', say('debug_done'));
    });
}
