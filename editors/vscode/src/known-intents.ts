// What is known of the intents of a workspace. The registry answers at once. The files of an intent are asked for when
// somebody looks at them, and what all of them have produced is counted if that is quick, because all records are read
// for it. Until answers come, those before stay.

import * as path from "node:path";
import * as vscode from "vscode";
import type { Intent } from "./answers";
import type { Authors } from "./intents";
import { OBJECT } from "./places";
import { lines } from "./program";
import { words } from "./server";
import type { Server } from "./server";
import { who } from "./words";

/** If the files of an intent come within this time, in milliseconds, counting is quick too. */
const QUICK = 250;

/** The server names at most this many blocks. Then the files of an intent may not be all. */
const MOST = 500;

/** A file in which an intent has produced blocks, and how many. */
export interface IntentFile {
  path: string;
  blocks: number;
}

/** A record as `intent trace --json` prints it, as far as it is used here. */
interface TracedRecord {
  kind: string;
  intent_id?: string | null;
  tool?: { name?: string } | null;
  files?: { conversations?: { contributor?: { entity_type: string; model_identifier?: string | null; name?: string | null } }[] }[];
}

export class KnownIntents implements vscode.Disposable {
  /** Undefined until the first answer. */
  intents: Intent[] | undefined;
  /** Why there is no list. */
  problem = "";
  private list: Promise<void> | undefined;
  private readonly files = new Map<string, { asked: Promise<IntentFile[]>; known?: IntentFile[] }>();
  private question = new vscode.CancellationTokenSource();
  private isCounted = false;

  /** `changed` is called when more is known than was asked for. */
  constructor(
    private readonly server: Server,
    readonly root: string,
    private readonly changed: () => void,
  ) {}

  dispose(): void {
    this.question.cancel();
  }

  /** The list, once it is there. */
  listed(): Promise<void> {
    this.list ??= this.askList();
    return this.list;
  }

  /** The files of an intent, once they are there. */
  filesOf(id: string): Promise<IntentFile[]> {
    const known = this.files.get(id);
    if (known) return known.asked;
    const asked = this.askFiles(id);
    this.files.set(id, { asked });
    return asked;
  }

  /** The files of an intent, if they were asked for and are all. */
  knownFilesOf(id: string): IntentFile[] | undefined {
    return this.files.get(id)?.known;
  }

  /** Counts the files and lines of all intents, which may take long. */
  async count(): Promise<void> {
    this.isCounted = true;
    this.take(await this.ask<Intent[]>({ count: true }, this.question.token));
    this.changed();
  }

  /** The registry may be another. */
  forgetList(): void {
    this.list = undefined;
  }

  /** What was recorded may be more. */
  forgetFiles(): void {
    this.question.cancel();
    this.question = new vscode.CancellationTokenSource();
    this.files.clear();
    this.isCounted = false;
  }

  private async askList(): Promise<void> {
    try {
      this.take(await this.ask<Intent[]>({}));
      this.problem = "";
    } catch (error) {
      this.problem = words(error);
    }
  }

  private async askFiles(id: string): Promise<IntentFile[]> {
    const started = Date.now();
    const found = await this.server.symbols(id);
    const blocks = new Map<string, number>();
    for (const { name, kind, location } of found) {
      const file = path.relative(this.root, vscode.Uri.parse(location.uri).fsPath).split(path.sep).join("/");
      if (kind !== OBJECT && name.startsWith(`${id} `) && !file.startsWith("../")) blocks.set(file, (blocks.get(file) ?? 0) + 1);
    }
    const known = [...blocks].map(([path, blocks]) => ({ path, blocks })).sort((one, other) => (one.path < other.path ? -1 : 1));
    const held = this.files.get(id);
    if (held && found.length < MOST) held.known = known;
    // A newer question may take its place, or the server may end. The list stays as it is.
    if (!this.isCounted && Date.now() - started < QUICK) void this.count().catch(() => {});
    else if (this.intents?.find((intent) => intent.id === id)?.files !== known.length) this.changed();
    return known;
  }

  private ask<T>(argument: Record<string, unknown>, token?: vscode.CancellationToken): Promise<T> {
    return this.server.ask<T>("intent.list", argument, vscode.Uri.file(this.root), token);
  }

  private take(intents: Intent[]): void {
    const before = new Map(this.intents?.map((intent) => [intent.id, intent]));
    this.intents = intents.map((intent) => {
      const { files, lines, criteria } = before.get(intent.id) ?? {};
      const shown = intent.criteria && { ...intent.criteria, shown: intent.criteria.shown ?? criteria?.shown ?? null };
      return { ...intent, files: intent.files ?? files, lines: intent.lines ?? lines, criteria: shown };
    });
  }
}

/** Who has recorded something under which intents, from all records. */
export async function authorsIn(server: Server, root: string): Promise<Authors> {
  const authors = new Map<string, Set<string>>();
  await lines(server, ["trace", "--json"], root, (line) => {
    const record = JSON.parse(line) as TracedRecord;
    if (record.kind !== "mutation" || !record.intent_id) return;
    for (const { conversations = [] } of record.files ?? []) {
      for (const { contributor } of conversations) {
        const author = who(contributor, record.tool?.name);
        if (author) authors.set(author, (authors.get(author) ?? new Set()).add(record.intent_id));
      }
    }
  });
  return authors;
}
