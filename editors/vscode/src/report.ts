// The report: one page, written by `intent report --html`.

import * as vscode from "vscode";
import { output } from "./program";
import type { Server } from "./server";

/** Writes the report where the program keeps it, below `.orchestration/local/`, and opens it in the browser. */
export async function openReport(server: Server, root: string): Promise<void> {
  const title = "Intent: writing the report";
  const told = await vscode.window.withProgress({ location: vscode.ProgressLocation.Notification, title }, () => output(server, ["report", "--html", "--json"], root));
  const { written } = JSON.parse(told) as { written: string };
  const page = vscode.Uri.joinPath(vscode.Uri.file(root), written);
  // In a browser or on a remote machine no file can be opened; the message then says where the file is.
  const opened = vscode.env.uiKind === vscode.UIKind.Desktop && !vscode.env.remoteName && (await vscode.env.openExternal(page));
  if (!opened) void vscode.window.showInformationMessage(`Intent: the report is at ${page.fsPath}`);
}
