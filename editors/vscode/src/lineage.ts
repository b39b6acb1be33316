// The lineage of a block: the records that brought its lines, newest first.

import * as path from "node:path";
import * as vscode from "vscode";
import type { Block, RecordBrief, Status, Why } from "./answers";
import type { Server } from "./server";
import { icon } from "./verdicts";
import { acceptedBy, ago, askedFor, claims, commitOf, lines, markdown, meaning, moment, newer, ofCommit, shares, verdict, visible, who } from "./words";

/** The block that a lineage is of. */
export interface Subject {
  root: string;
  uri: vscode.Uri;
  block: Block;
}

/** How long the cursor has to rest before the view follows it, in milliseconds. */
const SETTLES = 250;

/** A row of the view: a record that brought lines of the block or, without a step, the state of the block. */
export interface LineageNode {
  subject: Subject;
  step?: RecordBrief;
}

/** What is known of the innermost block around a line, unsaved text included. */
export async function subjectAt(server: Server, status: Status, uri: vscode.Uri, line: number): Promise<Subject | undefined> {
  const why = await server.ask<Why>("intent.why", { uri: uri.toString(), line });
  const block = why.blocks[0];
  return block && { root: status.root, uri, block };
}

/** The state of a block, and its records. */
export function rowsOf(subject: Subject): LineageNode[] {
  return [{ subject }, ...subject.block.lineage.map((step) => ({ subject, step }))];
}

/** What a row says: what it is, and who and when. */
export function words({ subject, step }: LineageNode): { label: string; description: string } {
  if (!step) return { label: verdict(subject.block), description: `now: ${meaning(subject.block)}` };
  const label = step.intent ? visible(step.intent) : "no intent";
  return { label, description: [who(step.contributor, step.tool), ago(step.timestamp)].filter(Boolean).join(" · ") };
}

export function intentIn({ subject, step }: LineageNode): string | undefined {
  return (step ? step.intent : subject.block.intent?.id) ?? undefined;
}

export class LineageView implements vscode.TreeDataProvider<LineageNode>, vscode.Disposable {
  private readonly changed = new vscode.EventEmitter<void>();
  private readonly view: vscode.TreeView<LineageNode>;
  private subject: Subject | undefined;
  private readonly owned: vscode.Disposable[];
  private timer: NodeJS.Timeout | undefined;
  readonly onDidChangeTreeData = this.changed.event;

  constructor(
    private readonly server: Server,
    private readonly status: () => Status | undefined,
  ) {
    this.view = vscode.window.createTreeView("intent.lineage", { treeDataProvider: this });
    this.owned = [
      this.view,
      this.changed,
      this.view.onDidChangeVisibility(() => this.followSoon()),
      vscode.window.onDidChangeActiveTextEditor(() => this.followSoon()),
      vscode.window.onDidChangeTextEditorSelection(() => this.followSoon()),
    ];
  }

  dispose(): void {
    clearTimeout(this.timer);
    for (const one of this.owned) one.dispose();
  }

  /** Shows the lineage of a block, until the cursor is in another. */
  async show(subject: Subject): Promise<void> {
    this.set(subject);
    await vscode.commands.executeCommand("intent.lineage.focus");
  }

  private followSoon(): void {
    clearTimeout(this.timer);
    this.timer = setTimeout(() => void this.follow(), SETTLES);
  }

  /** Shows the block at the cursor. Where there is none, what is shown stays; a view that nobody sees asks for nothing. */
  private async follow(): Promise<void> {
    const editor = vscode.window.activeTextEditor;
    const status = this.status();
    if (!this.view.visible || !editor || !status || editor.document.uri.scheme !== "file") return;
    const line = editor.selection.active.line + 1;
    const found = await subjectAt(this.server, status, editor.document.uri, line).catch(() => undefined);
    const moved = vscode.window.activeTextEditor !== editor || editor.selection.active.line + 1 !== line;
    if (found && !moved) this.set(found);
  }

  /** Asks again, where something was written since. */
  async again(): Promise<void> {
    const shown = this.subject;
    const status = this.status();
    if (!shown || !status) return;
    const again = await subjectAt(this.server, status, shown.uri, shown.block.start_line).catch(() => undefined);
    if (this.subject === shown && again?.block.qualified_name === shown.block.qualified_name) this.set(again);
  }

  private set(subject: Subject): void {
    this.subject = subject;
    this.view.description = visible(subject.block.qualified_name || subject.block.kind);
    this.view.message = undefined;
    this.changed.fire();
  }

  getChildren(node?: LineageNode): LineageNode[] {
    return node || !this.subject ? [] : rowsOf(this.subject);
  }

  getTreeItem(node: LineageNode): vscode.TreeItem {
    const { label, description } = words(node);
    const item = new vscode.TreeItem(label);
    item.description = description;
    item.iconPath = picture(node);
    item.tooltip = tooltip(node);
    item.contextValue = [node.step && "record", intentIn(node) && "intent"].filter(Boolean).join(".");
    item.accessibilityInformation = { label: `${label}, ${description}` };
    if (node.step) item.command = { command: "intent.editor.showRecord", title: "Show the Record", arguments: [node] };
    else item.command = { command: "intent.editor.openBlock", title: "Open", arguments: [{ ...node.subject, path: path.relative(node.subject.root, node.subject.uri.fsPath) }] };
    return item;
  }
}

export function picture({ subject, step }: LineageNode): vscode.ThemeIcon {
  return step ? new vscode.ThemeIcon("git-commit") : icon(subject.block);
}

function tooltip(node: LineageNode): vscode.MarkdownString {
  const { step, subject } = node;
  const { label, description } = words(node);
  const said = [`**${markdown(label)}** · ${markdown(description)}`];
  if (step) {
    said.push([moment(step.timestamp), step.contributor?.model_identifier ?? "", step.commit ? `commit ${step.commit.slice(0, 10)}` : "in no commit yet"].filter(Boolean).map(markdown).join(" · "));
    for (const one of step.reassigned ?? []) said.push(markdown(`${one.from} before ${one.by ?? "a person"} reassigned it ${ago(one.timestamp)}`));
    said.push(`record \`${visible(step.record)}\``);
  } else {
    const { block } = subject;
    const constraints = (block.asked?.constraints ?? []).map((constraint) => `must hold: ${markdown(constraint)}`);
    const accepted = block.accepted && `${acceptedBy(block.accepted.contributor)}, ${ago(block.accepted.timestamp)}`;
    const missing = block.history_missing && "this clone lacks history that says who brought some of its lines";
    const suspect = block.suspect && `suspect: ${block.suspect.message}`;
    const evidence = [block.strength && `evidence: ${block.strength}`, block.claimed && "claimed: not written by this clone"].filter(Boolean).join(", ");
    const facts = [accepted, missing, suspect, newer(block), askedFor(block), block.session && `session ${block.session}`, shares(block), lines(block), commitOf(block), ofCommit(block), ...claims(block), evidence];
    said.push(...constraints, ...facts.filter((part) => !!part).map((part) => markdown(String(part))));
    if (block.recorded && block.verdict === "moved") said.push(`recorded in ${markdown(block.recorded.path)} as ${markdown(block.recorded.name)}`);
  }
  return new vscode.MarkdownString(said.filter(Boolean).join("\n\n"));
}
