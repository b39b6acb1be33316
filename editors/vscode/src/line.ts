// Whose the line under the cursor is, at its end and in the status bar. The server is asked when the cursor has rested,
// one question at a time.

import * as vscode from "vscode";
import { textOf, textsAt } from "./glance";
import type { Glance } from "./glance";
import type { Server } from "./server";
import { lines } from "./settings";
import { markdown, shorten } from "./words";

/** How long the cursor rests, and how long nobody has typed, before the server is asked. In milliseconds. */
const RESTS = 150;
const SETTLES = 1000;
const LONGEST_ITEM = 60;
/** The addresses of files, and of the cells of notebooks. */
const CODE = new Set(["file", "vscode-notebook-cell"]);

interface Known {
  version: number;
  glances: Map<number, Glance | undefined>;
}

export class LineText implements vscode.Disposable {
  private readonly text = vscode.window.createTextEditorDecorationType({
    rangeBehavior: vscode.DecorationRangeBehavior.ClosedOpen,
    after: { color: new vscode.ThemeColor("editorCodeLens.foreground"), margin: "0 0 0 3em", fontStyle: "normal" },
  });
  private readonly item = vscode.window.createStatusBarItem("intent.line", vscode.StatusBarAlignment.Right, 100);
  private readonly owned: vscode.Disposable[];
  private known = new WeakMap<vscode.TextDocument, Known>();
  private question = new vscode.CancellationTokenSource();
  private timer: NodeJS.Timeout | undefined;
  private editedAt = 0;
  /** Where the cursor is. */
  private at: [vscode.TextDocument | undefined, number] = [undefined, -1];

  /** `taken` returns the lines that have another text of ours at their end. */
  constructor(
    private readonly server: Server,
    private readonly taken: (document: vscode.TextDocument) => Set<number>,
  ) {
    this.item.name = "Intent: Whose This Line Is";
    this.item.command = "intent.editor.why";
    this.owned = [
      this.text,
      this.item,
      vscode.window.onDidChangeActiveTextEditor(() => this.moved()),
      vscode.window.onDidChangeTextEditorSelection(({ textEditor }) => {
        if (textEditor === vscode.window.activeTextEditor) this.moved();
      }),
      vscode.window.onDidChangeTextEditorVisibleRanges(() => {
        if (lines() === "all") this.soon();
      }),
      vscode.workspace.onDidChangeTextDocument(({ document, contentChanges }) => {
        if (document !== vscode.window.activeTextEditor?.document || contentChanges.length === 0) return;
        this.editedAt = Date.now();
        this.draw();
        this.soon();
      }),
      vscode.workspace.onDidChangeConfiguration((event) => {
        if (["intent.lines", "intent.provenance", "gitlens.currentLine", "git.blame"].some((key) => event.affectsConfiguration(key))) this.again();
      }),
    ];
    this.again();
  }

  dispose(): void {
    clearTimeout(this.timer);
    this.question.cancel();
    for (const one of this.owned) one.dispose();
  }

  /** Something was recorded, or the server is another. */
  forget(): void {
    this.known = new WeakMap();
    this.soon();
  }

  private again(): void {
    this.draw();
    this.soon();
  }

  private moved(): void {
    const editor = vscode.window.activeTextEditor;
    const [document, line] = this.at;
    if (editor?.document === document && editor?.selection.active.line === line) return;
    this.at = [editor?.document, editor?.selection.active.line ?? -1];
    this.again();
  }

  private soon(): void {
    this.question.cancel();
    clearTimeout(this.timer);
    const wait = Math.max(RESTS, this.editedAt + SETTLES - Date.now());
    this.timer = setTimeout(() => void this.ask(), wait);
  }

  private async ask(): Promise<void> {
    const editor = vscode.window.activeTextEditor;
    if (!editor || !this.isAsked(editor)) return this.draw();
    const question = new vscode.CancellationTokenSource();
    this.question = question;
    const { document } = editor;
    const { glances } = this.knownOf(document);
    for (const line of linesOf(editor)) {
      if (glances.has(line)) continue;
      const argument = { uri: document.uri.toString(), position: { line, character: 0 } };
      try {
        const glance = await this.server.ask<Glance | null>("intent.why", argument, undefined, question.token);
        if (question.token.isCancellationRequested) return;
        glances.set(line, glance ?? undefined);
      } catch {
        // The answer was not wanted any more, the server is still reading, or the file is in no workspace.
        return;
      }
      if (line === editor.selection.active.line) this.draw();
    }
    this.draw();
  }

  private isAsked({ document }: vscode.TextEditor): boolean {
    return lines() !== "off" && CODE.has(document.uri.scheme) && this.server.condition === "running";
  }

  private knownOf(document: vscode.TextDocument): Known {
    const known = this.known.get(document);
    if (known?.version === document.version) return known;
    const fresh = { version: document.version, glances: new Map<number, Glance | undefined>() };
    this.known.set(document, fresh);
    return fresh;
  }

  /** Shows what is known, and takes away what may be wrong. */
  private draw(): void {
    const active = vscode.window.activeTextEditor;
    for (const editor of vscode.window.visibleTextEditors) if (editor !== active) editor.setDecorations(this.text, []);
    this.item.hide();
    if (!active) return;
    if (!this.isAsked(active)) return active.setDecorations(this.text, []);
    const { glances } = this.knownOf(active.document);
    const cursor = active.selection.active.line;
    const blamed = isBlamed();
    const shown = linesOf(active).map((line): [number, string] => [line, textOf(glances.get(line), blamed)]);
    const taken = this.taken(active.document);
    const texts = textsAt(new Map(shown), cursor).filter(([line]) => !taken.has(line));
    active.setDecorations(
      this.text,
      texts.map(([line, contentText]) => {
        const { end } = active.document.lineAt(line).range;
        return { range: new vscode.Range(end, end), renderOptions: { after: { contentText } } };
      }),
    );
    this.drawItem(textOf(glances.get(cursor), blamed), glances.get(cursor));
  }

  private drawItem(text: string, glance: Glance | undefined): void {
    if (!text) return;
    // `$(…)` would be an icon.
    this.item.text = shorten(text, LONGEST_ITEM).replaceAll("$(", "$ (");
    this.item.tooltip = new vscode.MarkdownString([text, ...(glance?.lines ?? [])].map(markdown).join("\n\n"));
    this.item.show();
  }
}

/** The lines that say whose they are, the cursor's first. Blank ones say nothing. */
function linesOf({ document, selection, visibleRanges }: vscode.TextEditor): number[] {
  const cursor = selection.active.line;
  const seen = lines() === "all" ? visibleRanges.flatMap(({ start, end }) => Array.from({ length: end.line - start.line + 1 }, (_, at) => start.line + at)) : [];
  return [...new Set([cursor, ...seen])].filter((line) => line < document.lineCount && !document.lineAt(line).isEmptyOrWhitespace);
}

/** Whether another extension says at the end of the line what git knows of it. */
function isBlamed(): boolean {
  const set = (name: string, key: string) => vscode.workspace.getConfiguration(name).get<boolean>(key, false);
  const gitlens = vscode.extensions.getExtension("eamodio.gitlens") !== undefined && set("gitlens", "currentLine.enabled");
  return gitlens || set("git", "blame.editorDecoration.enabled");
}
