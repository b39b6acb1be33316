// Provenance at the end of the line or in the gutter, instead of lenses. Both show the answers of `intent.why`; only
// their position is computed here.

import * as path from "node:path";
import * as vscode from "vscode";
import type { Block } from "./answers";
import { BlockDecorations } from "./blocks";
import type { Server } from "./server";
import { surface, template } from "./settings";
import { TOKENS, render, unknownTokens } from "./template";
import { BARS } from "./verdicts";
import { shorten, visible } from "./words";

const LONGEST = 160;
const UNNAMED = new Set(["region", "paragraph"]);

export class Provenance extends BlockDecorations {
  private readonly line = vscode.window.createTextEditorDecorationType({
    rangeBehavior: vscode.DecorationRangeBehavior.ClosedClosed,
    after: { color: new vscode.ThemeColor("editorCodeLens.foreground"), margin: "0 0 0 3em", fontStyle: "normal" },
  });
  private readonly bars: Map<string, vscode.TextEditorDecorationType>;
  private complained = "";

  constructor(server: Server, media: vscode.Uri) {
    super(server, ["intent.provenance"]);
    this.bars = new Map(["same", "elsewhere", "changed", "unsure"].map((name) => [name, bar(media, name)]));
    this.own(this.line, ...this.bars.values());
    this.settingsChanged();
  }

  /** The lines of a document with a text at their end, from 0. */
  marked(document: vscode.TextDocument): Set<number> {
    const blocks = surface() === "endOfLine" ? this.knownBlocks(document) : undefined;
    return new Set(blocks?.filter(isShown).map((block) => block.start_line - 1));
  }

  protected override settingsChanged(): void {
    const typed = template();
    const unknown = unknownTokens(typed);
    if (unknown.length && typed !== this.complained) {
      this.complained = typed;
      void this.complain(unknown);
    }
    this.soon();
  }

  private async complain(unknown: string[]): Promise<void> {
    const settings = "Open Settings";
    const names = unknown.map((name) => `\${${shorten(visible(name), 40)}}`).join(", ");
    const message = `Intent: the template of provenance names ${names}, which nobody knows. There are ${TOKENS.map((name) => `\${${name}}`).join(", ")}.`;
    if ((await vscode.window.showWarningMessage(message, settings)) === settings) {
      await vscode.commands.executeCommand("workbench.action.openSettings", "intent.provenance.template");
    }
  }

  protected isWanted(): boolean {
    return surface() === "endOfLine" || surface() === "gutter";
  }

  protected decorate(editor: vscode.TextEditor, all: Block[]): void {
    const blocks = all.filter(isShown);
    editor.setDecorations(this.line, surface() === "endOfLine" ? endsOfLines(editor, blocks) : []);
    const barred = surface() === "gutter" ? barsOf(editor.document, blocks) : new Map<string, vscode.Range[]>();
    for (const [name, type] of this.bars) editor.setDecorations(type, barred.get(name) ?? []);
  }
}

function bar(media: vscode.Uri, name: string): vscode.TextEditorDecorationType {
  const gutterIconPath = vscode.Uri.file(path.join(media.fsPath, "gutter", `${name}.svg`));
  return vscode.window.createTextEditorDecorationType({ isWholeLine: true, gutterIconPath, gutterIconSize: "contain", rangeBehavior: vscode.DecorationRangeBehavior.ClosedClosed });
}

/** Definitions with a record. What lies between definitions says nothing. */
function isShown(block: Block): boolean {
  return block.verdict !== "unrecorded" && !UNNAMED.has(block.kind);
}

function endsOfLines({ document }: vscode.TextEditor, blocks: Block[]): vscode.DecorationOptions[] {
  return blocks.flatMap((block) => {
    const line = block.start_line - 1;
    const contentText = shorten(render(template(), block), LONGEST);
    if (line >= document.lineCount || !contentText) return [];
    const { end } = document.lineAt(line).range;
    return [{ range: new vscode.Range(end, end), renderOptions: { after: { contentText } } }];
  });
}

function barsOf(document: vscode.TextDocument, blocks: Block[]): Map<string, vscode.Range[]> {
  const bars = new Map<string, vscode.Range[]>();
  const last = Math.min(document.lineCount, blocks.reduce((most, block) => Math.max(most, block.end_line), 0));
  // Blocks are sorted by their start, so an inner block paints over the outer one.
  const names = new Array<string | undefined>(last);
  for (const block of blocks) names.fill(block.only_inside ? "same" : BARS[block.verdict], block.start_line - 1, Math.min(last, block.end_line));
  names.forEach((name, line) => {
    if (!name) return;
    const ranges = bars.get(name) ?? [];
    ranges.push(document.lineAt(line).range);
    bars.set(name, ranges);
  });
  return bars;
}
