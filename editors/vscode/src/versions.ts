// Differences between versions of a block: what the commit of a record changed in it, and what has changed since. Texts
// come from git, and `intent why REV:PATH` says where the block was.

import { execFile } from "node:child_process";
import * as path from "node:path";
import * as vscode from "vscode";
import type { Block, Why } from "./answers";
import { findOnPath, surroundings } from "./find";
import type { LineageNode } from "./lineage";
import { findRecord } from "./places";
import { output } from "./program";
import type { Server } from "./server";
import { visible } from "./words";

const SCHEME = "intent-version";
const LONGEST = 20_000;
const MOST = 16 * 1024 * 1024;

/** A text, and where the block is in it, from 0. Without lines, the block was not found. */
interface Version {
  name: string;
  text: string;
  lines?: [number, number];
}

export class Versions implements vscode.TextDocumentContentProvider, vscode.Disposable {
  private readonly changed = new vscode.EventEmitter<vscode.Uri>();
  private readonly texts = new Map<string, string>();
  private readonly owned = [
    this.changed,
    vscode.workspace.registerTextDocumentContentProvider(SCHEME, this),
    vscode.workspace.onDidCloseTextDocument(({ uri }) => this.texts.delete(uri.toString())),
  ];
  readonly onDidChange = this.changed.event;

  constructor(private readonly server: Server) {}

  dispose(): void {
    for (const one of this.owned) one.dispose();
  }

  provideTextDocumentContent(uri: vscode.Uri): string {
    return this.texts.get(uri.toString()) ?? "";
  }

  /** Shows what the commit of a record changed in the block; for a record in no commit, what changed since the last one. */
  async showChange(node: LineageNode): Promise<void> {
    const { subject } = node;
    const commit = node.step?.commit;
    const file = await fileOf(node);
    const before = commit ? await this.inCommit(node, file, `${commit}^`, `before ${short(commit)}`) : await this.inCommit(node, file, "HEAD");
    const after = commit ? await this.inCommit(node, file, commit) : await this.now(node);
    if (!before.text && !after.text) throw new Error(`git has no text of ${subject.block.qualified_name} there`);
    await this.show(node, before, after);
  }

  /** Shows what has changed in the block since the commit of a record. */
  async showSince(node: LineageNode): Promise<void> {
    const before = await this.inCommit(node, await fileOf(node), node.step?.commit ?? "HEAD");
    await this.show(node, before, await this.now(node));
  }

  /** The file at a revision; an empty text where it was not there. */
  private async inCommit({ subject }: LineageNode, file: string, revision: string, name = short(revision)): Promise<Version> {
    const text = await git(subject.root, ["cat-file", "blob", `${revision}:${file}`]).catch(() => "");
    if (!text) return { name, text };
    const why = JSON.parse(await output(this.server, ["why", "--json", "--", `${revision}:${file}`], subject.root)) as Why;
    return { name, text, lines: placeOf(subject.block, why) };
  }

  /** The file as the editor has it. */
  private async now({ subject }: LineageNode): Promise<Version> {
    const document = await vscode.workspace.openTextDocument(subject.uri);
    const why = await this.server.ask<Why>("intent.why", { uri: subject.uri.toString() });
    return { name: "now", text: document.getText().replace(/\r\n/g, "\n"), lines: placeOf(subject.block, why) };
  }

  /** Shows only the block, if it was found in both. A block that one side has under another name is found in the whole file. */
  private async show({ subject }: LineageNode, before: Version, after: Version): Promise<void> {
    const isWhole = [before, after].some(({ text, lines }) => text && !lines);
    const [left, right] = [before, after].map((version) => {
      const { name, lines } = version;
      const text = isWhole || !lines ? version.text : `${version.text.split("\n").slice(...lines).join("\n")}\n`;
      const uri = vscode.Uri.from({ scheme: SCHEME, path: subject.uri.path, query: JSON.stringify([name, subject.block.qualified_name, isWhole]) });
      this.texts.set(uri.toString(), text);
      // It may be open already, with an older text.
      this.changed.fire(uri);
      return uri;
    });
    if (!left || !right) return;
    const what = isWhole ? path.basename(subject.uri.fsPath) : subject.block.qualified_name || subject.block.kind;
    const title = `${visible(what)} (${before.name} ↔ ${after.name})`;
    const selection = isWhole && after.lines ? new vscode.Range(after.lines[0], 0, after.lines[0], 0) : undefined;
    await vscode.commands.executeCommand("vscode.diff", left, right, title, { preview: true, selection });
  }
}

/** The lines of a block among those of an answer, if exactly one has its kind and name. */
function placeOf({ kind, qualified_name }: Block, { blocks }: Why): [number, number] | undefined {
  const [found, ...more] = blocks.filter((block) => block.kind === kind && block.qualified_name === qualified_name);
  return found && more.length === 0 ? [found.start_line - 1, found.end_line] : undefined;
}

function short(commit: string): string {
  return commit.slice(0, 10);
}

/** The file of a record when it was recorded: it may have another name since. */
async function fileOf(node: LineageNode): Promise<string> {
  const { root, uri } = node.subject;
  const present = path.relative(root, uri.fsPath).split(path.sep).join("/");
  const stored = await findRecord(root, node.step?.record ?? "").catch(() => undefined);
  if (!stored) return present;
  const record = JSON.parse(stored.text) as { path?: string; files?: { relative_path: string }[] };
  return record.path ?? (record.files?.length === 1 ? record.files[0]?.relative_path : undefined) ?? present;
}

/** What git prints. It is started by an absolute path, and only in a trusted workspace. */
function git(root: string, args: string[]): Promise<string> {
  if (!vscode.workspace.isTrusted) throw new Error("this workspace is not trusted, so no program is run in it");
  const program = findOnPath("git", surroundings());
  if (!program) throw new Error("git is not on the PATH");
  return new Promise((resolve, reject) => {
    execFile(program, ["-C", root, ...args], { timeout: LONGEST, maxBuffer: MOST, windowsHide: true }, (error, printed) => (error ? reject(error) : resolve(printed)));
  });
}
