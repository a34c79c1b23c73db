// What does the health checklist say?

/** @typedef {import('./link.js').LinkState} LinkState */
/** @typedef {import('../chat/chat_sync.js').KeeperState} KeeperState */
/** @typedef {import('../base/strings.js').Say} Say */
/** @typedef {import('../base/strings.js').Key} Key */
/** @typedef {{sign: 'yes' | 'no' | 'wait' | 'warn', text: string}} Check */

/** The next step in words; empty when there is none.
 * @param {LinkState} link @param {{folder: string, origin: string, url: string, held: number, notes?: string[]}} facts @param {Say} say */
export function stepText(link, facts, say) {
    if (!link.step) return '';
    return say(/** @type {Key} */ (`step_${link.step}`), {
        folder: facts.folder,
        origin: facts.origin,
        url: facts.url,
        count: facts.held,
        version: link.health?.version ?? '',
        detail: link.health?.store?.detail ?? '',
        notes: (facts.notes ?? []).join(' '),
    });
}

/** A model given as a folder goes by the folder's name. @param {string} model */
const modelName = model =>
    /^(?:[/\\~]|[A-Za-z]:)/.test(model)
        ? (model.split(/[/\\]/).filter(Boolean).at(-1) ?? model)
        : model;

/** @param {LinkState} link @param {Pick<KeeperState, 'chat' | 'reading' | 'error' | 'held'>} keeper @param {string} url @param {Say} say
 * @returns {Check[]} in the order in which things have to work */
export function checklist(link, keeper, url, say) {
    const { health, via } = link;
    if (link.state === 'off') return [{ sign: 'no', text: say('check_on') }];
    const checks = /** @type {Check[]} */ ([{ sign: 'yes', text: say('check_on') }]);
    if (!health) return [...checks, { sign: 'no', text: say('check_way') }];
    checks.push({
        sign: 'yes',
        text: via === 'plugin' ? say('check_way_plugin') : say('check_way_direct', { url }),
    });
    if (link.step === 'read_only') checks.push({ sign: 'warn', text: say('check_read_only') });
    checks.push({
        sign: link.step === 'sidecar_old' || link.step === 'sidecar_new' ? 'no' : 'yes',
        text: say('check_version', { version: health.version }),
    });
    if (health.store)
        checks.push({
            sign:
                health.store.state !== 'ok'
                    ? 'no'
                    : link.step === 'store_read_only'
                      ? 'warn'
                      : 'yes',
            text: [say('check_store'), health.store.detail].filter(Boolean).join(': '),
        });
    const embedder = health.embedder;
    if (embedder?.state === 'loading')
        checks.push({ sign: 'wait', text: say('check_model_loading') });
    else if (embedder)
        checks.push({
            sign: embedder.state !== 'ok' ? 'no' : embedder.fallback ? 'warn' : 'yes',
            text: say('check_model', { model: modelName(embedder.model) }),
        });
    const llm = health.llm;
    if (llm && llm.state !== 'off')
        checks.push({
            sign: llm.state === 'ok' ? 'yes' : 'warn',
            text: say(llm.model === 'client' ? 'check_llm_own' : 'check_llm', {
                model: modelName(llm.model ?? ''),
            }),
        });
    if (llm?.calls_this_hour)
        checks.push({
            sign: 'yes',
            text: say('check_hour', {
                n: llm.calls_this_hour,
                tokens: (llm.tokens_this_hour ?? 0).toLocaleString(),
            }),
        });
    const left = health.core_left_out?.length ?? 0;
    if (left) checks.push({ sign: 'warn', text: say('check_left_out', { n: left }) });
    if (keeper.reading)
        checks.push({ sign: 'wait', text: say('check_chat_reading', keeper.reading) });
    else if (keeper.held)
        checks.push({ sign: 'warn', text: say('held_title', { count: keeper.held.count }) });
    else if (link.step === 'chat_off') checks.push({ sign: 'no', text: say('check_chat_off') });
    else if (keeper.chat)
        checks.push({ sign: keeper.error ? 'warn' : 'yes', text: say('check_chat') });
    else checks.push({ sign: 'wait', text: say('check_chat_none') });
    if (health.pending)
        checks.push({ sign: 'wait', text: say('check_searchable', { n: health.pending }) });
    const error = link.error ?? keeper.error;
    if (error) checks.push({ sign: 'warn', text: say('check_error', { error }) });
    return checks;
}
