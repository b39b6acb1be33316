// Colours beside the lines and in the overview ruler: one for each intent or each contributor. Off by default. The legend
// is in the status bar.

import * as vscode from "vscode";
import type { Block } from "./answers";
import { BlockDecorations } from "./blocks";
import { COLOURS, Palette, stripes } from "./palette";
import type { ColouredBy, Stripe } from "./palette";
import type { Server } from "./server";
import { colouredBy, surface } from "./settings";
import { markdown } from "./words";

export class Colours extends BlockDecorations {
  private readonly item = vscode.window.createStatusBarItem("intent.colours", vscode.StatusBarAlignment.Right, 99);
  private readonly bars = COLOURS.map((colour) => bar(colour, true));
  /** Where the gutter shows verdicts, colours are only in the overview ruler. */
  private readonly marks = COLOURS.map((colour) => bar(colour, false));
  private readonly palettes: Record<ColouredBy, Palette> = { off: new Palette(), intent: new Palette(), contributor: new Palette() };

  constructor(server: Server) {
    super(server, ["intent.colours", "intent.provenance.surface"]);
    this.item.name = "Intent: Colours";
    this.item.command = "intent.editor.colours";
    this.own(this.item, ...this.bars, ...this.marks, vscode.window.onDidChangeActiveTextEditor(() => this.soon()));
    this.soon();
  }

  protected isWanted(): boolean {
    return colouredBy() !== "off";
  }

  protected override async showEverywhere(): Promise<void> {
    await super.showEverywhere();
    this.showLegend();
  }

  protected decorate(editor: vscode.TextEditor, blocks: Block[]): void {
    const by = colouredBy();
    const [shown, hidden] = surface() === "gutter" ? [this.marks, this.bars] : [this.bars, this.marks];
    const ranges = COLOURS.map((): vscode.Range[] => []);
    for (const { start, end, owner } of stripes(blocks, by)) {
      if (end < editor.document.lineCount) ranges[this.palettes[by].of(owner)]?.push(new vscode.Range(start, 0, end, 0));
    }
    shown.forEach((type, at) => editor.setDecorations(type, ranges[at] ?? []));
    for (const type of hidden) editor.setDecorations(type, []);
  }

  private showLegend(): void {
    const by = colouredBy();
    const document = vscode.window.activeTextEditor?.document;
    const blocks = document && this.knownBlocks(document);
    if (by === "off" || !blocks) return this.item.hide();
    this.item.text = `$(symbol-color) by ${by}`;
    this.item.tooltip = this.legend(stripes(blocks, by), by);
    this.item.show();
  }

  private legend(found: Stripe[], by: ColouredBy): vscode.MarkdownString {
    const owners = [...new Set(found.map(({ owner }) => owner))];
    const rows = owners.map((owner) => `<span style="color:${COLOURS[this.palettes[by].of(owner)]};">■</span> ${markdown(owner)}`);
    const shown = new vscode.MarkdownString([...rows, "No colour: no record says it"].join("\n\n"));
    shown.supportHtml = true;
    return shown;
  }
}

function bar(colour: string, isInGutter: boolean): vscode.TextEditorDecorationType {
  const picture = `<svg xmlns="http://www.w3.org/2000/svg" width="16" height="16" viewBox="0 0 16 16" preserveAspectRatio="none"><rect x="11" width="3" height="16" fill="${colour}"/></svg>`;
  return vscode.window.createTextEditorDecorationType({
    isWholeLine: true,
    rangeBehavior: vscode.DecorationRangeBehavior.ClosedClosed,
    overviewRulerColor: colour,
    overviewRulerLane: vscode.OverviewRulerLane.Left,
    ...(isInGutter && { gutterIconPath: vscode.Uri.parse(`data:image/svg+xml;base64,${Buffer.from(picture).toString("base64")}`), gutterIconSize: "100% 100%" }),
  });
}
