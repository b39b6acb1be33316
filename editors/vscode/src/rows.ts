// The rows of the tree: what each says and how it looks.

import * as path from "node:path";
import * as vscode from "vscode";
import type { Block, Intent } from "./answers";
import { canComplete, canStart, progress, sourceName, stateName } from "./intents";
import type { IntentFile } from "./known-intents";
import { icon } from "./verdicts";
import { ago, author, count, difference, markdown, meaning, statusName, titleOf, verdict, visible } from "./words";

/** A workspace, where the window has several. */
export interface WorkspaceNode {
  type: "workspace";
  root: string;
  intents: number;
  /** The selected intent, and the others by state. */
  children: (IntentNode | GroupNode)[];
}

/** The intents of one state. */
export interface GroupNode {
  type: "group";
  root: string;
  parent: WorkspaceNode;
  state: string;
  intents: IntentNode[];
}

export interface IntentNode {
  type: "intent";
  root: string;
  parent: WorkspaceNode | GroupNode;
  intent: Intent;
}

export interface FileNode {
  type: "file";
  root: string;
  id: string;
  file: IntentFile;
  parent: IntentNode;
}

export interface BlockNode {
  type: "block";
  root: string;
  path: string;
  block: Block;
  parent: FileNode;
}

export interface NoteNode {
  type: "note";
  text: string;
  parent: IntentNode | FileNode;
}

export type Node = WorkspaceNode | GroupNode | IntentNode | FileNode | BlockNode | NoteNode;

const STATUS_ICONS: Record<string, [string, string]> = {
  IN_PROGRESS: ["target", "charts.blue"],
  COMPLETED: ["pass-filled", "testing.iconPassed"],
  BLOCKED: ["error", "charts.red"],
};

const { Collapsed, Expanded, None } = vscode.TreeItemCollapsibleState;

export function rowOf(node: Node): vscode.TreeItem {
  switch (node.type) {
    case "workspace":
      return workspaceRow(node);
    case "group":
      return groupRow(node);
    case "intent":
      return intentRow(node);
    case "file":
      return fileRow(node);
    case "block":
      return blockRow(node);
    case "note":
      return new vscode.TreeItem(node.text);
  }
}

function workspaceRow({ root, intents }: WorkspaceNode): vscode.TreeItem {
  const item = new vscode.TreeItem(visible(path.basename(root)), Expanded);
  item.description = count(intents, "intent");
  item.tooltip = visible(root);
  item.iconPath = vscode.ThemeIcon.Folder;
  item.contextValue = "workspace";
  item.id = `workspace:${root}`;
  return item;
}

function groupRow({ root, state, intents }: GroupNode): vscode.TreeItem {
  const item = new vscode.TreeItem(stateName(state), state === "IN_PROGRESS" || state === "BLOCKED" ? Expanded : Collapsed);
  item.description = String(intents.length);
  item.contextValue = "group";
  item.id = `group:${root}:${state}`;
  return item;
}

function intentRow({ root, intent }: IntentNode): vscode.TreeItem {
  const item = new vscode.TreeItem(titleOf(intent), intent.files === 0 ? None : intent.selected ? Expanded : Collapsed);
  const known = [...progress(intent), sourceName(intent)].filter(Boolean);
  item.description = known.join(" · ");
  const state = intent.selected ? "selected" : intent.current ? "of this branch" : "";
  item.accessibilityInformation = { label: [titleOf(intent), state, ...known].filter(Boolean).join(", ") };
  const [name, colour] = intent.selected ? ["circle-filled", "charts.green"] : (STATUS_ICONS[intent.status ?? ""] ?? ["circle-outline", "disabledForeground"]);
  item.iconPath = new vscode.ThemeIcon(name, new vscode.ThemeColor(colour));
  item.contextValue = ["intent", intent.status === "IN_PROGRESS" && "open", canStart(intent) && "startable", canComplete(intent) && "completable", intent.selected && "selected"].filter(Boolean).join(".");
  item.tooltip = tooltip(intent, [state, ...known].filter(Boolean));
  item.id = `intent:${root}:${intent.id}`;
  return item;
}

function tooltip(intent: Intent, known: string[]): vscode.MarkdownString {
  const scope = intent.owned_scope.map((glob) => `\`${visible(glob).replace(/`/g, "'")}\``).join(", ") || "nothing";
  const said = [
    `**${markdown(intent.id)} ${markdown(intent.name)}** · ${markdown(statusName(intent.status))}`,
    markdown(known.join(" · ")),
    intent.criteria?.shown != null ? "Of its criteria, those count that a passed test shows" : "",
    intent.note ? markdown(intent.note) : "",
    `Owns ${scope}`,
    intent.owner ? `Asked for by ${markdown(intent.owner)}` : "",
  ];
  return new vscode.MarkdownString(said.filter(Boolean).join("\n\n"));
}

function fileRow(node: FileNode): vscode.TreeItem {
  const item = new vscode.TreeItem(vscode.Uri.file(path.join(node.root, node.file.path)), Collapsed);
  item.iconPath = vscode.ThemeIcon.File;
  const folder = path.posix.dirname(node.file.path);
  item.description = [folder === "." ? "" : visible(folder), count(node.file.blocks, "block")].filter(Boolean).join(" · ");
  item.contextValue = "file";
  item.id = `file:${node.root}:${node.id}:${node.file.path}`;
  return item;
}

function blockRow(node: BlockNode): vscode.TreeItem {
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
