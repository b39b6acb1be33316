// Lists to choose from: the intent to work under, and an intent to go to.

import * as vscode from "vscode";
import type { Intent, Status } from "./answers";
import { waitingWords } from "./requests";
import type { Server } from "./server";
import { statusName, titleOf, visible } from "./words";

interface Row extends vscode.QuickPickItem {
  intent?: Intent;
  command?: string;
}

/** What one intent has to say in a row: status, scope and owner. */
function row(intent: Intent): Row {
  const scope = intent.owned_scope.map(visible).join(", ") || "owns nothing";
  const owner = intent.owner ? ` · ${visible(intent.owner)}` : "";
  return {
    label: `$(${intent.selected ? "check" : intent.status === "IN_PROGRESS" ? "target" : "circle-outline"}) ${titleOf(intent)}`,
    description: statusName(intent.status),
    detail: `${scope}${owner}`,
    intent,
  };
}

function separator(label: string): Row {
  return { label, kind: vscode.QuickPickItemKind.Separator };
}

/** Lets a person say what they work under. What is not in progress cannot be selected; it is shown instead. */
export async function pickSelection(server: Server, status: Status | undefined): Promise<void> {
  const intents = await server.ask<Intent[]>("intent.list", {});
  const open = intents.filter((intent) => intent.status === "IN_PROGRESS");
  const closed = intents.filter((intent) => intent.status !== "IN_PROGRESS");
  const rows: Row[] = [];
  if (status?.waiting) rows.push({ label: `$(bell-dot) ${waitingWords(status.waiting)}`, detail: "Puts the questions again", command: "intent.editor.review" });
  if (rows.length) rows.push(separator(""));
  rows.push(...open.map(row));
  if (closed.length) rows.push(separator("not in progress: opened in the registry"), ...closed.map(row));
  rows.push(separator(""));
  if (status?.selection) rows.push({ label: "$(close) Select None", command: "intent.editor.clear" });
  rows.push({ label: "$(add) New Intent…", command: "intent.editor.new" });
  const chosen = await vscode.window.showQuickPick(rows, {
    title: "Which intent are you working under?",
    placeHolder: intents.length ? "An id, a name or a path of its scope" : "There is no intent yet",
    matchOnDescription: true,
    matchOnDetail: true,
  });
  if (chosen?.command) return vscode.commands.executeCommand(chosen.command);
  if (!chosen?.intent) return;
  const { id } = chosen.intent;
  if (chosen.intent.status !== "IN_PROGRESS") return vscode.commands.executeCommand("intent.editor.goTo", id);
  await server.ask("intent.select", { id });
}

/** An intent of a person's choice; undefined where they chose none. */
export async function pickIntent(server: Server, title: string): Promise<string | undefined> {
  const intents = await server.ask<Intent[]>("intent.list", {});
  const chosen = await vscode.window.showQuickPick(intents.map(row), { title, matchOnDescription: true, matchOnDetail: true });
  return chosen?.intent?.id;
}
