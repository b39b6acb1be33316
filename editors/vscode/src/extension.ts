// Puts the parts together. Everything that the server can answer is asked there; no rule is decided here.

import * as vscode from "vscode";
import { Colours } from "./colours";
import { register } from "./commands";
import { sayMissing } from "./install";
import { LineText } from "./line";
import { LineageView } from "./lineage";
import { Provenance } from "./provenance";
import { RecordTexts } from "./record-text";
import { Server } from "./server";
import { chosenProgram } from "./settings";
import { StatusBar } from "./status";
import { IntentTree } from "./tree";
import { Versions } from "./versions";

let server: Server | undefined;

export async function activate(context: vscode.ExtensionContext): Promise<void> {
  const log = vscode.window.createOutputChannel("Intent", { log: true });
  const running = new Server(log, vscode.Uri.joinPath(context.extensionUri, "server").fsPath, context.globalState);
  server = running;
  const status = new StatusBar(running);
  const tree = new IntentTree(running, status);
  const lineage = new LineageView(running, () => status.current);
  const provenance = new Provenance(running, vscode.Uri.joinPath(context.extensionUri, "media"));
  const colours = new Colours(running);
  const versions = new Versions(running);
  const line = new LineText(running, (document) => provenance.marked(document));
  context.subscriptions.push(
    log,
    running,
    status,
    tree,
    lineage,
    provenance,
    line,
    colours,
    versions,
    new RecordTexts(),
    ...register({ server: running, status, tree, lineage, versions, log }),
    running.onDidChange((condition) => {
      void vscode.commands.executeCommand("setContext", "intent.server", condition);
      provenance.forget();
      line.forget();
      colours.forget();
      if (condition === "missing") void sayMissing(running);
    }),
    running.onStatus(() => {
      provenance.forget();
      line.forget();
      colours.forget();
      void lineage.again();
    }),
    status.onDidChange(() => tree.statusChanged()),
    vscode.workspace.onDidChangeConfiguration((event) => {
      // Changes that only a workspace made are ignored.
      if (event.affectsConfiguration("intent.server.path") && chosenProgram() !== running.chosen) void running.restart();
    }),
    vscode.workspace.onDidGrantWorkspaceTrust(() => void running.restart()),
  );
  await running.restart();
}

export async function deactivate(): Promise<void> {
  await server?.stop();
}
