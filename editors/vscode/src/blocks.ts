// What is drawn of the blocks of the documents that are seen. The server is asked once for each text.

import * as vscode from "vscode";
import type { Block, Why } from "./answers";
import type { Server } from "./server";

/** How long nobody has typed when the answers are asked for again, in milliseconds. */
const SETTLES = 300;

export abstract class BlockDecorations implements vscode.Disposable {
  private known = new WeakMap<vscode.TextDocument, { version: number; blocks: Block[] }>();
  private timer: NodeJS.Timeout | undefined;
  private readonly owned: vscode.Disposable[];

  /** `settings` are those after whose change it is drawn again. */
  constructor(
    private readonly server: Server,
    settings: string[],
  ) {
    this.owned = [
      vscode.window.onDidChangeVisibleTextEditors(() => this.soon()),
      vscode.workspace.onDidChangeTextDocument(() => this.soon()),
      vscode.workspace.onDidChangeConfiguration((event) => {
        if (settings.some((key) => event.affectsConfiguration(key))) this.settingsChanged();
      }),
    ];
  }

  dispose(): void {
    clearTimeout(this.timer);
    for (const one of this.owned) one.dispose();
  }

  /** Something was recorded, or the server is another. */
  forget(): void {
    this.known = new WeakMap();
    this.soon();
  }

  protected own(...more: vscode.Disposable[]): void {
    this.owned.push(...more);
  }

  protected settingsChanged(): void {
    this.soon();
  }

  protected soon(): void {
    clearTimeout(this.timer);
    this.timer = setTimeout(() => void this.showEverywhere(), SETTLES);
  }

  protected knownBlocks(document: vscode.TextDocument): Block[] | undefined {
    return this.known.get(document)?.blocks;
  }

  protected abstract isWanted(): boolean;

  protected abstract decorate(editor: vscode.TextEditor, blocks: Block[]): void;

  protected async showEverywhere(): Promise<void> {
    await Promise.all(vscode.window.visibleTextEditors.filter(({ document }) => document.uri.scheme === "file").map((editor) => this.show(editor)));
  }

  private async show(editor: vscode.TextEditor): Promise<void> {
    const blocks = await this.blocksOf(editor.document);
    if (blocks) this.decorate(editor, blocks);
  }

  /** The blocks of a document; none where they are not wanted, undefined where somebody typed meanwhile: another answer follows. */
  private async blocksOf(document: vscode.TextDocument): Promise<Block[] | undefined> {
    if (!this.isWanted() || this.server.condition !== "running") return [];
    const { version } = document;
    const known = this.known.get(document);
    if (known?.version === version) return known.blocks;
    // A file outside every workspace is refused, because nothing is known about it.
    const why = await this.server.ask<Why>("intent.why", { uri: document.uri.toString() }).catch(() => undefined);
    if (document.version !== version) return undefined;
    const blocks = why?.blocks ?? [];
    this.known.set(document, { version, blocks });
    return blocks;
  }
}
