// "Why is this here?": the answer for the block at the cursor, as a list. From there a person can go to the intent, to
// each record, or to the whole lineage.

import * as vscode from "vscode";
import type { Status } from "./answers";
import { intentIn, picture, rowsOf, subjectAt, words } from "./lineage";
import type { LineageNode, Subject } from "./lineage";
import type { Server } from "./server";
import { askedFor, author, ago, commitOf, count, shares, statusName, titleOf, visible } from "./words";

interface Row extends vscode.QuickPickItem {
  run?: () => Thenable<unknown>;
}

export async function whyHere(server: Server, status: Status, editor: vscode.TextEditor): Promise<void> {
  const { document, selection } = editor;
  const subject = await subjectAt(server, status, document.uri, selection.active.line + 1);
  if (!subject) return void vscode.window.showInformationMessage("Intent: there is no block here.");
  const { block } = subject;
  const lines = block.start_line === block.end_line ? `line ${block.start_line}` : `lines ${block.start_line}–${block.end_line}`;
  const chosen = await vscode.window.showQuickPick(rows(subject), {
    title: `Why is this here?  ${visible(`${block.kind} ${block.qualified_name}`.trim())}, ${lines}`,
    placeHolder: "Enter goes to the intent, or to a record",
    matchOnDescription: true,
    matchOnDetail: true,
  });
  await chosen?.run?.();
}

function rows(subject: Subject): Row[] {
  const [now, ...past] = rowsOf(subject);
  return [...intentRow(subject), ...(now ? [storyRow(now)] : []), ...(past.length ? [{ label: "newest first", kind: vscode.QuickPickItemKind.Separator }] : []), ...past.map(storyRow), ...next(subject)];
}

function intentRow({ root, block }: Subject): Row[] {
  const { intent } = block;
  if (!intent) return [{ label: "$(question) No intent brought half of its lines", detail: shares(block) }];
  const by = [askedFor(block), author(block), ago(block.timestamp), shares(block), commitOf(block)].filter(Boolean).join(" · ");
  return [{ label: `$(target) ${titleOf(intent)}`, description: statusName(intent.status), detail: by, run: () => vscode.commands.executeCommand("intent.editor.goTo", intent.id, root) }];
}

function storyRow(node: LineageNode): Row {
  const { label, description } = words(node);
  const intent = intentIn(node);
  const run = node.step ? () => vscode.commands.executeCommand("intent.editor.showRecord", node) : intent ? () => vscode.commands.executeCommand("intent.editor.goTo", intent, node.subject.root) : undefined;
  return { label: `$(${picture(node).id}) ${label}`, description, run };
}

function next(subject: Subject): Row[] {
  const records = subject.block.lineage.length;
  const more: Row[] = [{ label: "", kind: vscode.QuickPickItemKind.Separator }];
  if (records) more.push({ label: "$(history) Show the Lineage", description: count(records, "record"), run: () => vscode.commands.executeCommand("intent.editor.lineage", subject) });
  if (subject.block.verdict === "modified" || subject.block.verdict === "ambiguous") more.push({ label: "$(verified) Accept It as It Stands…", run: () => vscode.commands.executeCommand("intent.editor.accept") });
  if (subject.block.verdict === "unrecorded") more.push({ label: "$(record) Record This Block", run: () => vscode.commands.executeCommand("intent.editor.recordBlock") });
  return more.length > 1 ? more : [];
}
