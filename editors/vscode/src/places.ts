// Finds where an intent and a record are written, and goes there.

import { createHash } from "node:crypto";
import * as fs from "node:fs/promises";
import * as path from "node:path";
import * as vscode from "vscode";
import type { Server } from "./server";

/** What the protocol calls an object: an intent among the symbols. */
export const OBJECT = 19;

/** The id of an intent in its registry. */
export async function intentLocation(server: Server, id: string, root: string): Promise<vscode.Location> {
  const named = (await server.symbols(id)).filter((symbol) => symbol.kind === OBJECT && (symbol.name === id || symbol.name.startsWith(`${id} `)));
  const governing = path.join(root, ".orchestration") + path.sep;
  const found = named.map((symbol) => location(symbol.location)).find((place) => place.uri.fsPath.startsWith(governing));
  if (!found) throw new Error(`the registry does not hold ${id}`);
  return found;
}

function location(from: { uri: string; range: { start: { line: number; character: number }; end: { line: number; character: number } } }): vscode.Location {
  const { start, end } = from.range;
  return new vscode.Location(vscode.Uri.parse(from.uri), new vscode.Range(start.line, start.character, end.line, end.character));
}

export async function show(place: vscode.Location, options: vscode.TextDocumentShowOptions = {}): Promise<vscode.TextEditor> {
  const selection = new vscode.Range(place.range.start, place.range.start);
  const editor = await vscode.window.showTextDocument(place.uri, { preview: true, ...options, selection });
  editor.revealRange(place.range, vscode.TextEditorRevealType.InCenterIfOutsideViewport);
  return editor;
}

/** A stored record, and where it stands. */
export interface StoredRecord {
  file: string;
  line: number;
  text: string;
}

/** Looks for a record in the ledger, newest segments first. One file is read at a time, and only when somebody asks. */
export async function findRecord(root: string, id: string): Promise<StoredRecord> {
  const folder = path.join(root, ".orchestration");
  const segments = await ledgerFiles(path.join(folder, "agent_trace"));
  for (const file of [...segments.sort().reverse(), path.join(folder, "agent_trace.jsonl")]) {
    const text = await fs.readFile(file, "utf8").catch(() => "");
    const lines = text.split("\n");
    const [section, nth] = id.split(":");
    const at = section && nth
      ? lineOfEvidence(lines, section, Number(nth))
      : lines.findIndex((line) => line.includes(id) && idOf(line) === id);
    if (at >= 0) return { file, line: at + 1, text: lines[at] ?? "" };
  }
  throw new Error(`the ledger does not hold the record ${id}`);
}

/** A record of evidence is known by the digest of its section and by its place behind the header; -1 where it is not here. */
function lineOfEvidence(lines: string[], section: string, nth: number): number {
  const isHeader = (line: string | undefined) => line?.startsWith('{"evidence":');
  for (let from = 0; from < lines.length; from += 1) {
    if (!isHeader(lines[from])) continue;
    let to = from + 1;
    while (to < lines.length && lines[to] && !isHeader(lines[to])) to += 1;
    const text = lines.slice(from, to).map((line) => `${line}\n`).join("");
    const digest = createHash("sha256").update(text).digest("hex").slice(0, 32);
    if (digest === section) return from + 1 + nth < to ? from + 1 + nth : -1;
  }
  return -1;
}

function idOf(line: string): unknown {
  try {
    return (JSON.parse(line) as { id?: unknown }).id;
  } catch {
    return undefined;
  }
}

async function ledgerFiles(folder: string): Promise<string[]> {
  const entries = await fs.readdir(folder, { withFileTypes: true }).catch(() => []);
  const below = entries.map(async (entry) => {
    const name = path.join(folder, entry.name);
    if (entry.isDirectory()) return ledgerFiles(name);
    return entry.isFile() && entry.name.endsWith(".jsonl") ? [name] : [];
  });
  return (await Promise.all(below)).flat();
}
