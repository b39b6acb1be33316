// Shows a record as a read-only document, formatted for reading. In the ledger it is a single line.

import * as path from "node:path";
import * as vscode from "vscode";
import { findRecord } from "./places";

const SCHEME = "intent-record";

export class RecordTexts implements vscode.TextDocumentContentProvider, vscode.Disposable {
  private readonly registration = vscode.workspace.registerTextDocumentContentProvider(SCHEME, this);

  dispose(): void {
    this.registration.dispose();
  }

  async provideTextDocumentContent(uri: vscode.Uri): Promise<string> {
    const root = decodeURIComponent(uri.query);
    const id = path.posix.basename(uri.path, ".jsonc");
    const { file, line, text } = await findRecord(root, id);
    const where = `${path.relative(root, file).split(path.sep).join("/")}:${line}`;
    return `// A record of the ledger, laid out for reading. It is stored in ${where}\n${JSON.stringify(JSON.parse(text), null, 2)}\n`;
  }
}

export async function showRecord(root: string, id: string): Promise<void> {
  const uri = vscode.Uri.from({ scheme: SCHEME, path: `/${id}.jsonc`, query: encodeURIComponent(root) });
  await vscode.window.showTextDocument(uri, { preview: true });
}
