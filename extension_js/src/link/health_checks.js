// The health checklist and the next step, in words.

/** @typedef {import('./link.js').LinkState} LinkState */
/** @typedef {import('../base/types.js').ChatState} ChatState */
/** @typedef {import('../base/types.js').Health} Health */
/** @typedef {import('../base/strings.js').Say} Say */
/** @typedef {import('../base/strings.js').Key} Key */
/** @typedef {'yes' | 'no' | 'wait' | 'warn'} Sign */
/** @typedef {{sign: Sign, text: string}} Check */
/** What the words of a step may need. `quarantined`: messages that vanished at once.
 * @typedef {{folder: string, origin: string, url: string, quarantined: number}} StepFacts */

/** The next step in words; empty when there is none.
 * @param {LinkState} link @param {StepFacts} facts @param {Say} say */
export function stepText(link, facts, say) {
    if (!link.step) return '';
    if (link.step === 'indexing' && link.lag) return lagText(link.lag, say);
    return say(/** @type {Key} */ (`step_${link.step}`), {
        folder: facts.folder,
        origin: facts.origin,
        url: facts.url,
        count: facts.quarantined,
        version: link.health?.version ?? '',
        detail: storeDetail(link.health?.store, say),
        notes: noteTexts(link.health, say).join(' '),
        macro: '{{soulmem}}',
    });
}

/** @param {import('./indexing.js').Lag} lag @param {Say} say */
function lagText({ n, seconds }, say) {
    if (seconds === null) return say('step_indexing', { n });
    return say('step_indexing_minutes', { n, minutes: Math.max(1, Math.ceil(seconds / 60)) });
}

/** @param {Health['store']} store @param {Say} say @returns {string} why it cannot be written; empty when it can */
const storeDetail = (store, say) => say.phrase(store?.detail, store?.detail_phrase);

/** @param {Health | null} health @param {Say} say @returns {string[]} what the sidecar wants the user to know */
const noteTexts = (health, say) =>
    (health?.notes ?? []).map((note, index) => say.phrase(note, health?.note_phrases?.[index]));

/** A model given as a folder is named by the folder's last part. @param {string} model */
function modelName(model) {
    const isFolder = /^(?:[/\\~]|[A-Za-z]:)/.test(model);
    return isFolder ? (model.split(/[/\\]/).filter(Boolean).at(-1) ?? model) : model;
}

/** @param {LinkState} link @param {string} url @param {Say} say @returns {Check[]} */
function connectionChecks({ via, step, health }, url, say) {
    const text = via === 'plugin' ? say('check_way_plugin') : say('check_way_direct', { url });
    const checks = /** @type {Check[]} */ ([{ sign: 'yes', text }]);
    if (step === 'read_only') checks.push({ sign: 'warn', text: say('check_read_only') });
    const isWrongVersion = step === 'sidecar_old' || step === 'sidecar_new';
    const version = say('check_version', { version: health?.version ?? '' });
    checks.push({ sign: isWrongVersion ? 'no' : 'yes', text: version });
    return checks;
}

/** @param {Health['store']} store @param {LinkState['step']} step @param {Say} say @returns {Check[]} */
function storeChecks(store, step, say) {
    if (!store) return [];
    const text = [say('check_store'), storeDetail(store, say)].filter(Boolean).join(': ');
    if (store.state !== 'ok') return [{ sign: 'no', text }];
    return [{ sign: step === 'store_read_only' ? 'warn' : 'yes', text }];
}

/** @param {Health['embedder']} embedder @param {Say} say @returns {Check[]} */
function embedderChecks(embedder, say) {
    if (!embedder) return [];
    if (embedder.state === 'loading') return [{ sign: 'wait', text: say('check_model_loading') }];
    if (embedder.state === 'none') return [{ sign: 'warn', text: say('check_model_none') }];
    const text = say('check_model', { model: modelName(embedder.model) });
    if (embedder.state !== 'ok') return [{ sign: 'no', text }];
    return [{ sign: embedder.fallback ? 'warn' : 'yes', text }];
}

/** @param {Health['llm']} llm @param {Say} say @returns {Check[]} */
function llmChecks(llm, say) {
    const checks = /** @type {Check[]} */ ([]);
    if (llm && llm.state !== 'off') {
        const key = llm.model === 'client' ? 'check_llm_own' : 'check_llm';
        const text = say(key, { model: modelName(llm.model ?? '') });
        checks.push({ sign: llm.state === 'ok' ? 'yes' : 'warn', text });
    }
    if (llm?.calls_this_hour) {
        const tokens = (llm.tokens_this_hour ?? 0).toLocaleString();
        checks.push({ sign: 'yes', text: say('check_hour', { n: llm.calls_this_hour, tokens }) });
    }
    return checks;
}

/** @param {Health} health @param {Say} say @returns {Check[]} */
function leftOutChecks({ core_left_out: leftOut }, say) {
    if (!leftOut?.length) return [];
    return [{ sign: 'warn', text: say('check_left_out', { n: leftOut.length }) }];
}

/** @param {Health} health @param {Say} say @returns {Check[]} */
function openingChecks({ opening = [] }, say) {
    return opening.map(({ name, memories, of }) => {
        const facts = { name, n: memories.toLocaleString(), total: of?.toLocaleString() ?? '' };
        const key = of === null ? 'check_opening_some' : 'check_opening';
        return { sign: 'wait', text: say(key, facts) };
    });
}

/** @param {LinkState['step']} step @param {Omit<ChatState, 'syncing' | 'paused'>} state @param {Say} say
 * @param {string | null} name @returns {Check} */
function chatCheck(step, { reading, quarantine, chat, error }, say, name) {
    if (reading) return { sign: 'wait', text: say('check_chat_reading', reading) };
    if (quarantine) return { sign: 'warn', text: say('held_title', { count: quarantine.count }) };
    if (step === 'chat_off') return { sign: 'no', text: say('check_chat_off') };
    if (chat) return { sign: error ? 'warn' : 'yes', text: say('check_chat') };
    return { sign: 'wait', text: name ? say('check_chat_new', { name }) : say('check_chat_none') };
}

/** @param {LinkState} link @param {Omit<ChatState, 'syncing' | 'paused'>} chatState @param {string} url @param {Say} say
 * @param {string | null} [name] of the chat that is open in SillyTavern
 * @returns {Check[]} in the order in which things have to work */
export function checklist(link, chatState, url, say, name = null) {
    const { health, step } = link;
    if (link.state === 'off') return [{ sign: 'no', text: say('check_on') }];
    const switchedOn = /** @type {Check} */ ({ sign: 'yes', text: say('check_on') });
    if (!health) return [switchedOn, { sign: 'no', text: say('check_way') }];
    const checks = [
        switchedOn,
        ...connectionChecks(link, url, say),
        ...storeChecks(health.store, step, say),
        ...embedderChecks(health.embedder, say),
        ...llmChecks(health.llm, say),
        ...leftOutChecks(health, say),
        ...openingChecks(health, say),
        chatCheck(step, chatState, say, name),
    ];
    if (health.pending) {
        checks.push({ sign: 'wait', text: say('check_searchable', { n: health.pending }) });
    }
    const trouble = link.error ?? chatState.error;
    if (trouble) {
        const error = say.phrase(trouble.message, trouble.phrase);
        checks.push({ sign: 'warn', text: say('check_error', { error }) });
    }
    return checks;
}
