// The messages of the open chat that SillyTavern shows: what we draw on them is drawn anew when they change.

/** @typedef {import('../app.js').App} App */
/** @typedef {import('../base/types.js').StMessage} StMessage */

/** Calls `draw` for every shown message, soon after messages came or went, or our state changed.
 * @param {App} app @param {(row: HTMLElement, message: StMessage | undefined) => void} draw
 * @returns {() => void} draws them all anew, soon */
export function onShownMessages(app, draw) {
    function drawAll() {
        const rows = /** @type {NodeListOf<HTMLElement>} */ (
            document.querySelectorAll('#chat .mes')
        );
        for (const row of rows) draw(row, app.host.chat()[Number(row.getAttribute('mesid'))]);
    }
    let frame = 0;
    const schedule = () => {
        cancelAnimationFrame(frame);
        frame = requestAnimationFrame(drawAll);
    };
    const chat = document.getElementById('chat');
    if (chat) new MutationObserver(schedule).observe(chat, { childList: true });
    app.subscribe(schedule);
    schedule();
    return schedule;
}
