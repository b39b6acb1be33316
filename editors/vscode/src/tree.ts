// The tree: intents, the files in which each has produced blocks, and those blocks with their verdicts. Blocks are
// requested when a file is opened in the tree.

import * as path from "node:path";
import * as vscode from "vscode";
import type { Block, Intent, MapAnswer, MapFile, Status, Why } from "./answers";
import { waitingWords } from "./requests";
import type { Server } from "./server";
import { icon } from "./verdicts";
import { ago, author, count, difference, markdown, meaning, statusName, titleOf, verdict, visible } from "./words";

/** A workspace, where the window has several. */
export interface WorkspaceNode {
  type: "workspace";
  root: string;
  intents: IntentNode[];
}

export interface IntentNode {
  type: "intent";
  root: string;
  parent: WorkspaceNode;
  intent: Intent;
  files: FileNode[];
}

export interface FileNode {
  type: "file";
  root: string;
  id: string;
  file: MapFile;
  parent: IntentNode | undefined;
}

export interface BlockNode {
  type: "block";
  root: string;
  path: string;
  block: Block;
  parent: FileNode;
}

interface NoteNode {
  type: "note";
  text: string;
  parent: FileNode;
}

export type Node = WorkspaceNode | IntentNode | FileNode | BlockNode | NoteNode;

const SETTLES = 250;

export class IntentTree implements vscode.TreeDataProvider<Node>, vscode.Disposable {
  private readonly changed = new vscode.EventEmitter<void>();
  private readonly view: vscode.TreeView<Node>;
  private readonly owned: vscode.Disposable[];
  private workspaces: Promise<WorkspaceNode[]> | undefined;
  private blocks = new Map<string, Promise<(BlockNode | NoteNode)[]>>();
  private timer: NodeJS.Timeout | undefined;
  private shown = "";
  readonly onDidChangeTreeData = this.changed.event;

  constructor(
    private readonly server: Server,
    private readonly statuses: () => Status[],
  ) {
    this.view = vscode.window.createTreeView("intent.intents", { treeDataProvider: this, showCollapseAll: true });
    this.owned = [this.view, this.changed, vscode.workspace.onDidSaveTextDocument(() => this.refreshSoon())];
  }

  dispose(): void {
    clearTimeout(this.timer);
    for (const one of this.owned) one.dispose();
  }

  /** Another state of a workspace: the questions on the badge, and the records in the tree. */
  statusChanged(): void {
    const statuses = this.statuses();
    const waiting = statuses.reduce((sum, status) => sum + status.waiting, 0);
    this.view.badge = waiting ? { value: waiting, tooltip: waitingWords(waiting) } : undefined;
    const key = JSON.stringify(statuses);
    if (key === this.shown) return;
    this.shown = key;
    this.refreshSoon();
  }

  refresh(): void {
    this.workspaces = undefined;
    this.blocks.clear();
    this.changed.fire();
  }

  private refreshSoon(): void {
    clearTimeout(this.timer);
    this.timer = setTimeout(() => this.refresh(), SETTLES);
  }

  /** Shows the block in the tree. */
  async reveal(root: string, relative: string, line: number): Promise<boolean> {
    const workspace = (await this.load()).find((workspace) => workspace.root === root);
    for (const intent of workspace?.intents ?? []) {
      const file = intent.files.find((file) => file.file.path === relative);
      const nodes = file ? await this.blocksOf(file) : [];
      const around = nodes.filter((node): node is BlockNode => node.type === "block" && node.block.start_line <= line && line <= node.block.end_line);
      const innermost = around.sort((one, other) => other.block.start_line - one.block.start_line)[0];
      if (!innermost) continue;
      await this.view.reveal(innermost, { select: true, focus: true, expand: true });
      return true;
    }
    return false;
  }

  async getChildren(node?: Node): Promise<Node[]> {
    if (!node) {
      const workspaces = await this.load();
      return workspaces.length > 1 ? workspaces : (workspaces[0]?.intents ?? []);
    }
    if (node.type === "workspace") return node.intents;
    if (node.type === "intent") return node.files;
    return node.type === "file" ? this.blocksOf(node) : [];
  }

  getParent(node: Node): Node | undefined {
    if (node.type === "workspace") return undefined;
    if (node.type === "intent") return this.statuses().length > 1 ? node.parent : undefined;
    return node.parent;
  }

  getTreeItem(node: Node): vscode.TreeItem {
    switch (node.type) {
      case "workspace":
        return workspaceItem(node);
      case "intent":
        return intentItem(node);
      case "file":
        return fileItem(node);
      case "block":
        return blockItem(node);
      case "note":
        return new vscode.TreeItem(node.text);
    }
  }

  private load(): Promise<WorkspaceNode[]> {
    this.workspaces ??= Promise.all(this.statuses().map(({ root }) => this.workspace(root))).catch((error: unknown) => {
      this.workspaces = undefined;
      throw error;
    });
    return this.workspaces;
  }

  private async workspace(root: string): Promise<WorkspaceNode> {
    const where = vscode.Uri.file(root);
    const [intents, map] = await Promise.all([this.server.ask<Intent[]>("intent.list", {}, where), this.server.ask<MapAnswer>("intent.map", {}, where)]);
    const files = new Map(map.intents.map((intent) => [intent.id, intent.files]));
    const node: WorkspaceNode = { type: "workspace", root, intents: [] };
    const nodes = intents.map((intent) => intentNode(node, intent, files.get(intent.id) ?? []));
    node.intents = [...nodes.filter(isOpen), ...nodes.filter((one) => !isOpen(one))];
    return node;
  }

  private blocksOf(node: FileNode): Promise<(BlockNode | NoteNode)[]> {
    const key = `${node.root}\n${node.id}\n${node.file.path}`;
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

function isOpen(node: IntentNode): boolean {
  return node.intent.status === "IN_PROGRESS";
}

function intentNode(parent: WorkspaceNode, intent: Intent, files: MapFile[]): IntentNode {
  const { root } = parent;
  const node: IntentNode = { type: "intent", root, parent, intent, files: [] };
  node.files = files.map((file) => ({ type: "file", root, id: intent.id, file, parent: node }));
  return node;
}

const STATUS_ICONS: Record<string, [string, string]> = {
  IN_PROGRESS: ["target", "charts.blue"],
  COMPLETED: ["pass-filled", "testing.iconPassed"],
  BLOCKED: ["error", "charts.red"],
};

function workspaceItem({ root, intents }: WorkspaceNode): vscode.TreeItem {
  const item = new vscode.TreeItem(visible(path.basename(root)), vscode.TreeItemCollapsibleState.Expanded);
  item.description = count(intents.length, "intent");
  item.tooltip = visible(root);
  item.iconPath = vscode.ThemeIcon.Folder;
  item.contextValue = "workspace";
  item.id = `workspace:${root}`;
  return item;
}

function intentItem({ root, intent, files }: IntentNode): vscode.TreeItem {
  const state = files.length ? vscode.TreeItemCollapsibleState.Expanded : vscode.TreeItemCollapsibleState.None;
  const item = new vscode.TreeItem(titleOf(intent), state);
  const blocks = files.reduce((sum, { file }) => sum + file.blocks.length, 0);
  const done = files.length ? `${count(files.length, "file")} · ${count(blocks, "block")}` : "nothing yet";
  const status = intent.status === "IN_PROGRESS" ? "" : ` · ${statusName(intent.status)}`;
  item.description = `${intent.selected ? "selected · " : ""}${done}${status}`;
  const [name, colour] = intent.selected ? ["circle-filled", "charts.green"] : (STATUS_ICONS[intent.status ?? ""] ?? ["circle-outline", "disabledForeground"]);
  item.iconPath = new vscode.ThemeIcon(name, new vscode.ThemeColor(colour));
  item.contextValue = `intent${isOpen({ intent } as IntentNode) ? ".open" : ""}${intent.selected ? ".selected" : ""}`;
  const scope = intent.owned_scope.map((glob) => `\`${visible(glob).replace(/`/g, "'")}\``).join(", ") || "nothing";
  item.tooltip = new vscode.MarkdownString(`**${markdown(intent.id)} ${markdown(intent.name)}** · ${markdown(statusName(intent.status))}\n\nOwns ${scope}${intent.owner ? `\n\nAsked for by ${markdown(intent.owner)}` : ""}`);
  item.id = `intent:${root}:${intent.id}`;
  return item;
}

function fileItem(node: FileNode): vscode.TreeItem {
  const item = new vscode.TreeItem(vscode.Uri.file(path.join(node.root, node.file.path)), vscode.TreeItemCollapsibleState.Collapsed);
  item.iconPath = vscode.ThemeIcon.File;
  const folder = path.posix.dirname(node.file.path);
  item.description = [folder === "." ? "" : visible(folder), count(node.file.blocks.length, "block")].filter(Boolean).join(" · ");
  item.contextValue = "file";
  item.id = `file:${node.root}:${node.id}:${node.file.path}`;
  return item;
}

function blockItem(node: BlockNode): vscode.TreeItem {
  const { block } = node;
  const item = new vscode.TreeItem(visible(block.qualified_name || block.name || block.kind));
  item.iconPath = icon(block);
  item.description = [difference(block), author(block), ago(block.timestamp)].filter(Boolean).join(" · ");
  item.tooltip = new vscode.MarkdownString(`${markdown(block.kind)} **${markdown(block.qualified_name)}**, lines ${block.start_line}–${block.end_line}\n\n**${markdown(verdict(block))}**: ${markdown(meaning(block))}`);
  item.accessibilityInformation = { label: `${visible(block.qualified_name)}, ${verdict(block)}` };
  item.contextValue = "block";
  item.command = { command: "intent.editor.openBlock", title: "Open", arguments: [node] };
  return item;
}
