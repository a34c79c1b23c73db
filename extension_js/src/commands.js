// Everything of us that scripts, presets and other parts of SillyTavern can use.

import { createCommandParts } from './controls/command_parts.js';
import { registerDataBankSource } from './controls/data_bank.js';
import { registerDebugReport } from './controls/debug_report.js';
import { registerMacros } from './controls/macros.js';
import { memoryCommands } from './controls/memory_commands.js';
import { recallCommands } from './controls/recall_commands.js';

/** @typedef {import('./app.js').App} App */
/** @typedef {import('./base/strings.js').Say} Say */

/** @param {App} app @param {Say} say */
export function registerCommands(app, say) {
    const parts = createCommandParts(app, say);
    const commands = [...recallCommands(app, say, parts), ...memoryCommands(app, say, parts)];
    for (const command of commands) app.host.registerCommand(command);
    registerMacros(app, say);
    registerDataBankSource(app, say);
    registerDebugReport(app, say);
}
