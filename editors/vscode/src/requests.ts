// Requests of agents. The server opens a dialog for each question, and the person decides there, not here. A question
// that is too long for a dialog opens a terminal.

import * as vscode from "vscode";
import { MessageType } from "vscode-languageclient/node";
import type { MessageActionItem, ShowMessageParams, ShowMessageRequestParams } from "vscode-languageclient/node";
import { count } from "./words";
import type { Server } from "./server";

const OPEN_TERMINAL = "Open a Terminal";
const INSTALL_HOOKS = "Install the Hooks";
const NEVER_AGAIN = "Never Again";
/** In what the server says about missing hooks. */
const DECLINE_HOOKS = "`git config intent.hooks false`";
const HOOKS_NEVER = "hooks.never";
const NEEDS_TERMINAL = /`intent approve ([A-Z0-9]+)` in a terminal/;

/** Shows a question of the server, with a way to the terminal where it has to be answered there. */
export async function putQuestion(params: ShowMessageRequestParams): Promise<MessageActionItem | null> {
  const code = NEEDS_TERMINAL.exec(params.message)?.[1];
  const titles = (params.actions ?? []).map((action) => action.title);
  const shown = code ? [OPEN_TERMINAL, ...titles] : titles;
  const chosen = await dialog(params.type)(params.message, ...shown);
  if (chosen === OPEN_TERMINAL && code) {
    await vscode.commands.executeCommand("intent.editor.approveInTerminal", code);
    return null;
  }
  return params.actions?.find((action) => action.title === chosen) ?? null;
}

/** Shows what the server says. It says once in a clone that git's hooks are missing; later the status bar does. */
export async function showMessage(params: ShowMessageParams, memory: vscode.Memento): Promise<void> {
  if (!params.message.includes(DECLINE_HOOKS)) return void dialog(params.type)(params.message);
  if (memory.get(HOOKS_NEVER, false)) return;
  const install = params.message.includes("`intent setup git-hooks --install`") ? [INSTALL_HOOKS] : [];
  const chosen = await dialog(params.type)(params.message, ...install, NEVER_AGAIN);
  if (chosen === INSTALL_HOOKS) await vscode.commands.executeCommand("intent.editor.gitHooks");
  if (chosen === NEVER_AGAIN) await memory.update(HOOKS_NEVER, true);
}

function dialog(type: MessageType): (message: string, ...items: string[]) => Thenable<string | undefined> {
  switch (type) {
    case MessageType.Error:
      return vscode.window.showErrorMessage;
    case MessageType.Warning:
      return vscode.window.showWarningMessage;
    default:
      return vscode.window.showInformationMessage;
  }
}

/** Puts again what waits, also what was closed without an answer. */
export async function review(server: Server): Promise<void> {
  if (!server.offers("intent.review")) return vscode.commands.executeCommand("intent.editor.approveInTerminal");
  const answer = await server.ask<{ waiting: number }>("intent.review", {});
  if (answer.waiting === 0) void vscode.window.showInformationMessage("Intent: no agent asks for anything.");
}

/** What waits, in words; empty when nothing does. */
export function waitingWords(waiting: number): string {
  return waiting === 0 ? "" : `${count(waiting, "request")} of agents ${waiting === 1 ? "waits" : "wait"} for you`;
}
