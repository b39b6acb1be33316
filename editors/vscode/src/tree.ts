// The tree: the selected intent, the others by state, the files in which each has produced blocks, and those blocks with
// their verdicts. Blocks are requested when a file is opened in the tree.

import * as path from "node:path";
import * as vscode from "vscode";
import type { Intent, Why } from "./answers";
import { pickFilter } from "./filter";
import { NO_FILTER, filterWords, grouped, isFiltered, passes } from "./intents";
import type { Authors, Filter } from "./intents";
import { KnownIntents, authorsIn } from "./known-intents";
import { waitingWords } from "./requests";
import { rowOf } from "./rows";
import type { BlockNode, FileNode, GroupNode, IntentNode, Node, NoteNode, WorkspaceNode } from "./rows";
import type { Server } from "./server";
import type { StatusBar } from "./status";
import { author, count, visible } from "./words";

const SETTLES = 250;

export class IntentTree implements vscode.TreeDataProvider<Node>, vscode.Disposable {
  private readonly changed = new vscode.EventEmitter<void>();
  private readonly view: vscode.TreeView<Node>;
  private readonly owned: vscode.Disposable[];
  private readonly known = new Map<string, KnownIntents>();
  private blocks = new Map<string, Promise<(BlockNode | NoteNode)[]>>();
  private filter: Filter = NO_FILTER;
  private authors: Authors = new Map();
  private timer: NodeJS.Timeout | undefined;
  private shown = "";
  private recorded = "";
  readonly onDidChangeTreeData = this.changed.event;

  constructor(
    private readonly server: Server,
    private readonly status: StatusBar,
  ) {
    this.view = vscode.window.createTreeView("intent.intents", { treeDataProvider: this, showCollapseAll: true });
    this.owned = [this.view, this.changed, vscode.workspace.onDidSaveTextDocument(({ uri }) => this.saved(uri))];
  }

  dispose(): void {
    clearTimeout(this.timer);
    for (const one of [...this.owned, ...this.known.values()]) one.dispose();
  }

  /** Another state of a workspace: the questions on the badge, and the intents in the tree. */
  statusChanged(): void {
    const { all } = this.status;
    const waiting = all.reduce((sum, status) => sum + status.waiting, 0);
    this.view.badge = waiting ? { value: waiting, tooltip: waitingWords(waiting) } : undefined;
    this.say();
    const shown = JSON.stringify(all);
    if (shown === this.shown) return;
    this.shown = shown;
    const recorded = JSON.stringify(all.map(({ root, head, open_records }) => [root, head, open_records]));
    if (recorded !== this.recorded) for (const one of this.known.values()) one.forgetFiles();
    this.recorded = recorded;
    this.forget();
  }

  refresh(): void {
    for (const one of this.known.values()) one.forgetFiles();
    this.forget();
  }

  /** Counts the files and lines of all intents. */
  async count(): Promise<void> {
    const location = { viewId: "intent.intents" };
    await vscode.window.withProgress({ location }, () => Promise.all(this.status.all.map(({ root }) => this.of(root).count())));
  }

  /** Lets a person say what the tree shows. */
  async choose(): Promise<void> {
    const roots = this.status.all.map(({ root }) => root);
    const intents = async () => {
      await Promise.all(roots.map((root) => this.of(root).listed()));
      return roots.flatMap((root) => this.of(root).intents ?? []);
    };
    const authors = async () => {
      const found = vscode.workspace.isTrusted ? await Promise.all(roots.map((root) => authorsIn(this.server, root))) : [];
      const names = new Set(found.flatMap((one) => [...one.keys()]));
      return new Map([...names].map((name) => [name, new Set(found.flatMap((one) => [...(one.get(name) ?? [])]))]));
    };
    const chosen = await pickFilter(intents, authors, this.filter);
    if (chosen) this.show(chosen.filter, chosen.authors);
  }

  showAll(): void {
    this.show(NO_FILTER, this.authors);
  }

  private show(filter: Filter, authors: Authors): void {
    this.filter = filter;
    this.authors = authors;
    this.view.description = filterWords(filter);
    void vscode.commands.executeCommand("setContext", "intent.filtered", isFiltered(filter));
    this.changed.fire();
  }

  private forget(): void {
    clearTimeout(this.timer);
    this.timer = setTimeout(() => {
      for (const one of this.known.values()) one.forgetList();
      this.blocks.clear();
      this.changed.fire();
    }, SETTLES);
  }

  private saved({ fsPath }: vscode.Uri): void {
    if (fsPath.includes(`${path.sep}.orchestration${path.sep}`)) return this.forget();
    for (const key of this.blocks.keys()) if (fsPath === key.split("\n")[0]) this.blocks.delete(key);
    this.changed.fire();
  }

  /** Shows the block in the tree. */
  async reveal(root: string, relative: string, line: number): Promise<boolean> {
    this.showAll();
    const uri = vscode.Uri.file(path.join(root, relative)).toString();
    const [block] = (await this.server.ask<Why>("intent.why", { uri, line })).blocks;
    await this.of(root).listed();
    const { children } = this.workspace(root);
    const intents = children.flatMap((child) => (child.type === "group" ? child.intents : [child]));
    const intent = intents.find(({ intent }) => intent.id === block?.intent?.id);
    const file = intent && (await this.filesOf(intent)).find((file) => file.file.path === relative);
    const nodes = file ? await this.blocksOf(file) : [];
    const found = nodes.find((node) => node.type === "block" && node.block.start_line === block?.start_line && node.block.qualified_name === block.qualified_name);
    if (found) await this.view.reveal(found, { select: true, focus: true, expand: true });
    return found !== undefined;
  }

  async getChildren(node?: Node): Promise<Node[]> {
    switch (node?.type) {
      case undefined:
        return this.roots();
      case "workspace":
        return node.children;
      case "group":
        return node.intents;
      case "intent":
        return this.withNote(node);
      case "file":
        return this.filteredBlocks(node);
      default:
        return [];
    }
  }

  getParent(node: Node): Node | undefined {
    if (node.type === "workspace") return undefined;
    return node.parent.type === "workspace" && this.status.all.length < 2 ? undefined : node.parent;
  }

  getTreeItem(node: Node): vscode.TreeItem {
    return rowOf(node);
  }

  private async roots(): Promise<Node[]> {
    const roots = this.status.all.map(({ root }) => root);
    this.say();
    await Promise.all(roots.map((root) => this.of(root).listed()));
    const workspaces = roots.map((root) => this.workspace(root));
    this.say(workspaces);
    return workspaces.length > 1 ? workspaces : (workspaces[0]?.children ?? []);
  }

  /** Says above the tree what is still read, or why it is empty. */
  private say(workspaces: WorkspaceNode[] = []): void {
    const all = this.status.all.map((status) => ({ status, known: this.known.get(status.root) }));
    const unread = all.filter(({ known }) => !known?.intents && !known?.problem);
    const problem = all.flatMap(({ known }) => known?.problem || [])[0];
    const reading = unread.length ? `reading ${count(unread.reduce((sum, { status }) => sum + status.intents, 0), "intent")}…` : this.status.reading;
    const isEmpty = all.length > 0 && all.every(({ known }) => known?.intents?.length === 0);
    const isLeftEmpty = workspaces.length > 0 && !isEmpty && workspaces.every(({ children }) => children.length === 0);
    this.view.message = reading || (problem && visible(problem)) || (isLeftEmpty && `No intent is left: the tree shows what is ${filterWords(this.filter)}.`) || undefined;
    void vscode.commands.executeCommand("setContext", "intent.none", isEmpty && !reading);
  }

  private of(root: string): KnownIntents {
    const known = this.known.get(root) ?? new KnownIntents(this.server, root, () => this.changed.fire());
    this.known.set(root, known);
    return known;
  }

  private workspace(root: string): WorkspaceNode {
    const known = this.of(root);
    const intents = (known.intents ?? []).map((intent) => ({ ...intent, files: known.knownFilesOf(intent.id)?.length ?? intent.files }));
    const node: WorkspaceNode = { type: "workspace", root, intents: intents.length, children: [] };
    const left = intents.filter((intent) => passes(intent, this.filter, this.authors));
    const groups = grouped(left.filter(({ selected }) => !selected)).map(({ state, intents }): GroupNode => {
      const group: GroupNode = { type: "group", root, parent: node, state, intents: [] };
      group.intents = intents.map((intent) => intentNode(group, intent));
      return group;
    });
    const selected = left.filter(({ selected }) => selected).map((intent) => intentNode(node, intent));
    node.children = [...selected, ...groups];
    return node;
  }

  private async withNote(node: IntentNode): Promise<Node[]> {
    const files = await this.filesOf(node);
    const areAll = this.of(node.root).knownFilesOf(node.intent.id) !== undefined;
    return areAll ? files : [...files, { type: "note", text: "and more: the server names no more blocks", parent: node }];
  }

  private async filesOf(node: IntentNode): Promise<FileNode[]> {
    const files = await this.of(node.root).filesOf(node.intent.id);
    return files.map((file) => ({ type: "file", root: node.root, id: node.intent.id, file, parent: node }));
  }

  private async filteredBlocks(node: FileNode): Promise<(BlockNode | NoteNode)[]> {
    const { agents } = this.filter;
    const all = await this.blocksOf(node);
    if (agents.size === 0) return all;
    const left = all.filter((one) => one.type === "note" || agents.has(author(one.block)));
    return left.length ? left : [{ type: "note", text: `Nothing of it ${filterWords({ states: new Set(), agents })}`, parent: node }];
  }

  private blocksOf(node: FileNode): Promise<(BlockNode | NoteNode)[]> {
    const key = `${path.join(node.root, node.file.path)}\n${node.id}`;
    const known = this.blocks.get(key);
    if (known) return known;
    const asked = this.askBlocks(node);
    this.blocks.set(key, asked);
    return asked;
  }

  private async askBlocks(node: FileNode): Promise<(BlockNode | NoteNode)[]> {
    try {
      const uri = vscode.Uri.file(path.join(node.root, node.file.path)).toString();
      const why = await this.server.ask<Why>("intent.why", { uri });
      const own = why.blocks.filter((block) => block.intent?.id === node.id);
      if (own.length) return own.map((block) => ({ type: "block", root: node.root, path: node.file.path, block, parent: node }));
      return [{ type: "note", text: visible(why.note ?? "Nothing of it is found any more"), parent: node }];
    } catch (error) {
      return [{ type: "note", text: visible(error instanceof Error ? error.message : String(error)), parent: node }];
    }
  }
}

function intentNode(parent: WorkspaceNode | GroupNode, intent: Intent): IntentNode {
  return { type: "intent", root: parent.root, parent, intent };
}
