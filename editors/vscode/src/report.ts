// The report: one page for people who look rather than read, written by `intent report --html`.

import * as fs from "node:fs/promises";
import * as os from "node:os";
import * as path from "node:path";
import * as vscode from "vscode";
import { output } from "./program";
import type { Server } from "./server";

/** Writes the report to a folder of its own, which only this account can read, and opens it in the browser. */
export async function openReport(server: Server, root: string): Promise<void> {
  const folder = await fs.mkdtemp(path.join(os.tmpdir(), "intent-report-"));
  const file = path.join(folder, `${path.basename(root)}.html`);
  await vscode.window.withProgress({ location: vscode.ProgressLocation.Notification, title: "Intent: writing the report" }, () => output(server, ["report", "--html", file], root));
  if (!(await vscode.env.openExternal(vscode.Uri.file(file)))) void vscode.window.showInformationMessage(`Intent: the report is at ${file}`);
}
