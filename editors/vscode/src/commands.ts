// The commands of the palette and the menus, a few lines each.

import * as path from "node:path";
import * as vscode from "vscode";
import type { Recorded, Status } from "./answers";
import { install } from "./install";
import { intentIn, subjectAt } from "./lineage";
import type { LineageNode, LineageView, Subject } from "./lineage";
import { pickIntent, pickSelection } from "./pick";
import { intentLocation, show } from "./places";
import { inTerminal, output } from "./program";
import { showRecord } from "./record-text";
import { openReport } from "./report";
import { review } from "./requests";
import type { BlockNode, FileNode, IntentNode } from "./rows";
import { words } from "./server";
import type { Server } from "./server";
import { chooseNext } from "./settings";
import { openSpec } from "./spec";
import type { StatusBar } from "./status";
import type { IntentTree } from "./tree";
import type { Versions } from "./versions";
import { whyHere } from "./why";
import { count, visible } from "./words";

/** What the commands act on. */
export interface Parts {
  server: Server;
  status: StatusBar;
  tree: IntentTree;
  lineage: LineageView;
  versions: Versions;
  log: vscode.LogOutputChannel;
}

type Deed = (parts: Parts, ...args: never[]) => unknown;

const COMMANDS: Record<string, Deed> = {
  "intent.editor.select": ({ server, status }) => pickSelection(server, status.current),
  "intent.editor.selectThis": ({ server }, node: IntentNode) => server.ask("intent.select", { id: node.intent.id }, vscode.Uri.file(node.root)),
  "intent.editor.clear": ({ server }) => server.ask("intent.clear", {}),
  "intent.editor.new": newIntent,
  "intent.editor.start": start,
  "intent.editor.complete": complete,
  "intent.editor.goTo": goTo,
  "intent.editor.openSpec": spec,
  "intent.editor.blocks": blocksOf,
  "intent.editor.rename": rename,
  "intent.editor.why": async ({ server, status }) => whyHere(server, governed(status), editor()),
  "intent.editor.lineage": lineageHere,
  "intent.editor.showChange": ({ versions }, node: LineageNode) => versions.showChange(node),
  "intent.editor.showSince": ({ versions }, node: LineageNode) => versions.showSince(node),
  "intent.editor.lines": () => cycle("lines", { off: "no line says whose it is", line: "the cursor's line says whose it is", all: "every line says whose it is" }),
  "intent.editor.colours": () => cycle("colours", { off: "no colours", intent: "one colour for each intent", contributor: "one colour for each contributor" }),
  "intent.editor.reveal": reveal,
  "intent.editor.openBlock": (_, node: BlockNode) => openBlock(node),
  "intent.editor.openFile": (_, node: FileNode) => vscode.window.showTextDocument(vscode.Uri.file(path.join(node.root, node.file.path))),
  "intent.editor.showRecord": (_, node: LineageNode) => showRecord(node.subject.root, node.step?.record ?? ""),
  "intent.editor.recordBlock": recordBlock,
  "intent.editor.recordFile": recordFile,
  "intent.editor.recordAll": recordAll,
  "intent.editor.accept": accept,
  "intent.editor.review": ({ server }) => review(server),
  "intent.editor.approveInTerminal": ({ server, status }, code?: string) => inTerminal(server, code ? ["approve", code] : ["approve"], governed(status).root),
  "intent.editor.report": ({ server, status }) => openReport(server, governed(status).root),
  "intent.editor.doctor": ({ server, status }) => inTerminal(server, ["doctor"], status.current?.root ?? folder()),
  "intent.editor.gitHooks": ({ server, status }) => inTerminal(server, ["setup", "git-hooks", "--install"], governed(status).root),
  "intent.editor.init": init,
  "intent.editor.install": ({ server }) => install(server),
  "intent.editor.filter": ({ tree }) => tree.choose(),
  "intent.editor.showAll": ({ tree }) => tree.showAll(),
  "intent.editor.count": ({ tree }) => tree.count(),
  "intent.editor.refresh": ({ tree }) => tree.refresh(),
  "intent.editor.restart": ({ server }) => server.restart(),
  "intent.editor.showLog": ({ log }) => log.show(),
  "intent.editor.walkthrough": () => vscode.commands.executeCommand("workbench.action.openWalkthrough", "intent-lsp.intent-lsp#intent.start", false),
};

/** Registers them all. What goes wrong is said, and never twice. */
export function register(parts: Parts): vscode.Disposable[] {
  const guarded = (deed: Deed) => async (...args: unknown[]) => {
    try {
      return await deed(parts, ...(args as never[]));
    } catch (error) {
      parts.log.warn(words(error));
      void vscode.window.showErrorMessage(`Intent: ${words(error)}`);
      return undefined;
    }
  };
  return Object.entries(COMMANDS).map(([name, deed]) => vscode.commands.registerCommand(name, guarded(deed)));
}

function governed(status: StatusBar): Status {
  if (!status.current) throw new Error("there is no .orchestration/ here; \"Intent: Start in This Folder\" makes one");
  return status.current;
}

function folder(): string {
  const at = vscode.workspace.workspaceFolders?.find((folder) => folder.uri.scheme === "file");
  if (!at) throw new Error("open a folder first");
  return at.uri.fsPath;
}

function editor(): vscode.TextEditor {
  const active = vscode.window.activeTextEditor;
  if (active?.document.uri.scheme !== "file") throw new Error("open a file first");
  return active;
}

/** Writes an intent down, and opens its file, where the scope is still to be said. */
async function newIntent({ server, status }: Parts): Promise<void> {
  const { root } = governed(status);
  const name = await vscode.window.showInputBox({ title: "New Intent", prompt: "What is asked for, in a few words" });
  if (!name) return;
  const made = JSON.parse(await output(server, ["new", "--json", "--", name], root)) as { id: string; path: string };
  const { document } = await vscode.window.showTextDocument(vscode.Uri.file(path.join(root, made.path)));
  // An editor that was open shows the text before for a moment.
  for (let waited = 0; waited < 2000 && !document.getText().includes(made.id); waited += 50) await new Promise((resolve) => setTimeout(resolve, 50));
  const start = document.positionAt(document.getText().lastIndexOf(made.id));
  await show(new vscode.Location(document.uri, start));
}

/** The id that a command is about: named, of a row, or picked. */
async function chosenId(server: Server, given: unknown, title: string): Promise<string | undefined> {
  if (typeof given === "string") return given;
  const row = given as Partial<IntentNode> & Partial<LineageNode>;
  if (row?.intent) return row.intent.id;
  if (row?.subject) return intentIn(row as LineageNode);
  return pickIntent(server, title);
}

/** The id of an intent to be changed, and its workspace. The registry has to be saved, because the file is changed. */
async function toChange({ server, status }: Parts, given: unknown, title: string): Promise<[string, string] | undefined> {
  const root = rootOf(given) ?? governed(status).root;
  const id = await chosenId(server, given, title);
  if (!id) return undefined;
  for (const document of vscode.workspace.textDocuments) if (document.uri.fsPath.startsWith(path.join(root, ".orchestration") + path.sep)) await saved(document);
  return [id, root];
}

function rootOf(given: unknown): string | undefined {
  return (given as Partial<IntentNode> | undefined)?.root;
}

async function start(parts: Parts, given?: unknown): Promise<void> {
  const [id, root] = (await toChange(parts, given, "Start an intent")) ?? [];
  if (id && root) await output(parts.server, ["start", "--json", "--", id], root);
}

/** Completes an intent, and says how many of its criteria no passed test has shown. */
async function complete(parts: Parts, given?: unknown): Promise<void> {
  const [id, root] = (await toChange(parts, given, "Complete an intent")) ?? [];
  if (!id || !root) return;
  const { criteria } = JSON.parse(await output(parts.server, ["complete", "--json", "--", id], root)) as { criteria: { standing: string }[] };
  const open = criteria.filter(({ standing }) => standing !== "passed").length;
  const criteriaSaid = open ? ` No passed test shows ${open} of its ${count(criteria.length, "criterion", "criteria")}.` : "";
  void vscode.window.showInformationMessage(`Intent: ${visible(id)} is completed.${criteriaSaid}`);
}

async function spec({ server, status }: Parts, given?: unknown): Promise<void> {
  const id = await chosenId(server, given, "Open the spec of an intent");
  if (id) await openSpec(server, id, rootOf(given) ?? governed(status).root);
}

async function goTo({ server, status }: Parts, given?: unknown, root?: unknown): Promise<void> {
  const id = await chosenId(server, given, "Go to an intent");
  if (id) await show(await intentLocation(server, id, typeof root === "string" ? root : governed(status).root));
}

async function blocksOf({ server, status }: Parts, given?: unknown): Promise<void> {
  const id = await chosenId(server, given, "Show all code of an intent");
  if (!id) return;
  const place = await intentLocation(server, id, governed(status).root);
  await show(place);
  const found = (await vscode.commands.executeCommand<vscode.Location[]>("vscode.executeReferenceProvider", place.uri, place.range.start)) ?? [];
  await vscode.commands.executeCommand("editor.action.peekLocations", place.uri, place.range.start, found, "peek");
}

async function rename({ server, status }: Parts, given?: unknown): Promise<void> {
  const id = await chosenId(server, given, "Rename an intent");
  if (!id) return;
  await show(await intentLocation(server, id, governed(status).root));
  await vscode.commands.executeCommand("editor.action.rename");
}

async function lineageHere({ server, status, lineage }: Parts, given?: Subject | BlockNode | Place): Promise<void> {
  if (given && "uri" in given && "block" in given) return lineage.show(given);
  const [uri, line] = placeOf(given);
  const subject = await subjectAt(server, governed(status), uri, line);
  if (!subject) throw new Error("there is no block here");
  await lineage.show(subject);
}

/** A line of a file, as the link in a hover names it. */
interface Place {
  uri: string;
  line: number;
}

function placeOf(given?: BlockNode | Place): [vscode.Uri, number] {
  if (!given) return [editor().document.uri, editor().selection.active.line + 1];
  if ("uri" in given) return [vscode.Uri.parse(given.uri), given.line];
  return [vscode.Uri.file(path.join(given.root, given.path)), given.block.start_line];
}

/** Chooses the next value of a setting, and tells what it means. */
async function cycle(key: string, meanings: Record<string, string>): Promise<void> {
  vscode.window.setStatusBarMessage(`Intent: ${meanings[await chooseNext(key, Object.keys(meanings))]}`, 4000);
}

async function reveal({ status, tree }: Parts): Promise<void> {
  const { document, selection } = editor();
  const relative = path.relative(governed(status).root, document.uri.fsPath).split(path.sep).join("/");
  const found = await tree.reveal(governed(status).root, relative, selection.active.line + 1);
  if (!found) void vscode.window.showInformationMessage("Intent: no intent has produced what stands here.");
}

async function openBlock(node: { root: string; path: string; block: { start_line: number } }): Promise<void> {
  const start = new vscode.Position(node.block.start_line - 1, 0);
  await show(new vscode.Location(vscode.Uri.file(path.join(node.root, node.path)), start));
}

/** The records of the block at the cursor, as it stands. */
async function recordBlock({ server, status }: Parts): Promise<void> {
  const { document, selection } = editor();
  const { root } = governed(status);
  const subject = await subjectAt(server, governed(status), document.uri, selection.active.line + 1);
  if (!subject) throw new Error("there is no block here");
  await saved(document);
  const { start_line, end_line } = subject.block;
  sayRecorded(await printed(server, ["record", "--json", "--contributor", "human", "--all", "--lines", `${start_line}-${end_line}`, document.uri.fsPath], root));
}

async function recordFile({ server, status }: Parts): Promise<void> {
  const { document } = editor();
  governed(status);
  await saved(document);
  sayRecorded(await server.ask<Recorded>("intent.record", { paths: [document.uri.toString()] }, document.uri));
}

async function recordAll({ server, status }: Parts): Promise<void> {
  const { root } = governed(status);
  if (!(await vscode.workspace.saveAll(false))) throw new Error("not everything is saved, so nothing was recorded");
  sayRecorded(await printed(server, ["record", "--json", "--contributor", "human", "."], root));
}

async function printed(server: Server, args: string[], root: string): Promise<Recorded> {
  return JSON.parse(await output(server, args, root)) as Recorded;
}

async function saved(document: vscode.TextDocument): Promise<void> {
  if (document.isDirty && !(await document.save())) throw new Error("the file is not saved, so nothing was recorded");
}

function sayRecorded({ recorded, skipped }: Recorded): void {
  const blocks = recorded.reduce((sum, file) => sum + file.blocks, 0);
  const ids = [...new Set(recorded.map((file) => visible(file.intent)))].join(", ");
  if (blocks === 0) {
    const only = skipped.length === 1 ? skipped[0] : undefined;
    return void vscode.window.showInformationMessage(`Intent: nothing was recorded. ${only ? visible(`${only.path}: ${only.reason}.`) : "Nothing differs from what was recorded or committed before."}`);
  }
  const against = recorded.filter((file) => file.outcome === "deny").map((file) => visible(file.path));
  const said = `Intent: ${count(blocks, "block")} of ${count(recorded.length, "file")} recorded under ${ids}.`;
  if (against.length) void vscode.window.showWarningMessage(`${said} The gate is against ${against.join(", ")}: it is outside of the scope.`);
  else void vscode.window.showInformationMessage(said);
}

async function accept({ server }: Parts): Promise<void> {
  const { document, selection } = editor();
  await saved(document);
  await server.ask("intent.accept", { uri: document.uri.toString(), line: selection.active.line + 1 }, document.uri);
}

/** Makes the first files. */
async function init({ server, status }: Parts): Promise<void> {
  const at = folder();
  if (status.current) throw new Error(`${status.current.root} has its .orchestration/ already`);
  const yes = "Start Here";
  const sure = await vscode.window.showInformationMessage(`Make an .orchestration/ for intents and records in ${at}?`, { modal: true }, yes);
  if (sure !== yes) return;
  await output(server, ["init", "--json"], at);
  await server.restart();
}
