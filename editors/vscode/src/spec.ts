// Opens the specification of an intent: the file or folder that it is in another format, or what the registry names.

import * as fs from "node:fs/promises";
import * as path from "node:path";
import * as vscode from "vscode";
import type { Intent } from "./answers";
import type { Server } from "./server";
import { visible } from "./words";

/** The files of a folder in the order in which a person wants to read them. */
const FIRST = ["proposal.md", "spec.md", "requirements.md", "plan.md"];

export async function openSpec(server: Server, id: string, root: string): Promise<void> {
  const where = vscode.Uri.file(root);
  const { unit } = (await server.ask<Intent[]>("intent.list", {}, where)).find((intent) => intent.id === id) ?? {};
  const named = unit ? [unit] : (await server.ask<{ related_specs: string[] }>("intent.context", { id }, where)).related_specs;
  const places = await Promise.all(named.map((name) => fileIn(root, name)));
  const files = places.filter((file) => file !== undefined);
  const chosen = files.length > 1 ? await pick(files, root) : files[0];
  if (chosen) await vscode.window.showTextDocument(vscode.Uri.file(chosen), { preview: true });
  else if (files.length === 0) void vscode.window.showInformationMessage(`Intent: ${visible(id)} names no specification that is a file here.`);
}

async function pick(files: string[], root: string): Promise<string | undefined> {
  const rows = files.map((file) => ({ label: visible(path.relative(root, file)), file }));
  return (await vscode.window.showQuickPick(rows, { title: "Which specification?" }))?.file;
}

/** The file to read, of a file or folder of the workspace; undefined for anything else, such as `REQ-001`. */
async function fileIn(root: string, name: string): Promise<string | undefined> {
  const whole = path.join(root, name);
  if (!whole.startsWith(root + path.sep)) return undefined;
  const found = await fs.stat(whole).catch(() => undefined);
  if (!found?.isDirectory()) return found && whole;
  const inside = (await fs.readdir(whole)).filter((file) => file.endsWith(".md")).sort();
  const first = FIRST.find((file) => inside.includes(file)) ?? inside[0];
  return first && path.join(whole, first);
}
