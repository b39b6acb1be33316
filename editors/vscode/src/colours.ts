// Colours beside the lines and in the overview ruler: one for each intent or each contributor. Off by default. The legend
// is in the status bar.

import * as vscode from "vscode";
import type { Block, Why } from "./answers";
import { COLOURS, Palette, stripes } from "./palette";
import type { ColouredBy, Stripe } from "./palette";
import type { Server } from "./server";
import { colouredBy, surface } from "./settings";
import { markdown } from "./words";

/** How long nobody has typed when the answers are asked for again, in milliseconds. */
const SETTLES = 300;

interface Known {
  version: number;
  blocks: Block[];
}

export class Colours implements vscode.Disposable {
  private readonly item = vscode.window.createStatusBarItem("intent.colours", vscode.StatusBarAlignment.Right, 99);
  private readonly bars = COLOURS.map((colour) => bar(colour, true));
  /** Where the gutter shows verdicts, colours are only in the overview ruler. */
  private readonly marks = COLOURS.map((colour) => bar(colour, false));
  private readonly palettes: Record<ColouredBy, Palette> = { off: new Palette(), intent: new Palette(), contributor: new Palette() };
  private readonly owned: vscode.Disposable[];
  private known = new WeakMap<vscode.TextDocument, Known>();
  private timer: NodeJS.Timeout | undefined;

  constructor(private readonly server: Server) {
    this.item.name = "Intent: Colours";
    this.item.command = "intent.editor.colours";
    this.owned = [
      this.item,
      ...this.bars,
      ...this.marks,
      vscode.window.onDidChangeVisibleTextEditors(() => this.soon()),
      vscode.window.onDidChangeActiveTextEditor(() => this.soon()),
      vscode.workspace.onDidChangeTextDocument(() => this.soon()),
      vscode.workspace.onDidChangeConfiguration((event) => {
        if (["intent.colours", "intent.provenance.surface"].some((key) => event.affectsConfiguration(key))) this.soon();
      }),
    ];
    this.soon();
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

  private soon(): void {
    clearTimeout(this.timer);
    this.timer = setTimeout(() => void this.showEverywhere(), SETTLES);
  }

  private async showEverywhere(): Promise<void> {
    await Promise.all(vscode.window.visibleTextEditors.filter(({ document }) => document.uri.scheme === "file").map((editor) => this.show(editor)));
    this.showLegend();
  }

  private async show(editor: vscode.TextEditor): Promise<void> {
    const blocks = await this.blocksOf(editor.document);
    if (!blocks) return;
    const by = colouredBy();
    const [shown, hidden] = surface() === "gutter" ? [this.marks, this.bars] : [this.bars, this.marks];
    const ranges = COLOURS.map((): vscode.Range[] => []);
    for (const { start, end, owner } of stripes(blocks, by)) {
      if (end < editor.document.lineCount) ranges[this.palettes[by].of(owner)]?.push(new vscode.Range(start, 0, end, 0));
    }
    shown.forEach((type, at) => editor.setDecorations(type, ranges[at] ?? []));
    for (const type of hidden) editor.setDecorations(type, []);
  }

  /** The blocks of a document; none where no colours are wanted, undefined where they are out of date. */
  private async blocksOf(document: vscode.TextDocument): Promise<Block[] | undefined> {
    if (colouredBy() === "off" || this.server.condition !== "running") return [];
    const { version } = document;
    const known = this.known.get(document);
    if (known?.version === version) return known.blocks;
    // A file outside every workspace is refused, because nothing is known about it.
    const why = await this.server.ask<Why>("intent.why", { uri: document.uri.toString() }).catch(() => undefined);
    if (document.version !== version) return undefined;
    this.known.set(document, { version, blocks: why?.blocks ?? [] });
    return why?.blocks ?? [];
  }

  private showLegend(): void {
    const by = colouredBy();
    const document = vscode.window.activeTextEditor?.document;
    const blocks = document && this.known.get(document)?.blocks;
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
