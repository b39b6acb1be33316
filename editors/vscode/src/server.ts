// Starts `intent lsp`. Only this file talks to it.

import * as path from "node:path";
import * as vscode from "vscode";
import { CancellationToken, CodeLensRequest, LanguageClient, RevealOutputChannelOn, ShowMessageNotification, ShowMessageRequest, State, TransportKind } from "vscode-languageclient/node";
import type { LanguageClientOptions, ServerOptions, ShowMessageParams } from "vscode-languageclient/node";
import type { Status } from "./answers";
import { findIntent, isOlder, surroundings } from "./find";
import { putQuestion, showMessage } from "./requests";
import { SECTION, chosenProgram, forServer, surface } from "./settings";

/** The oldest server with all that this extension asks of it. */
export const LEAST_VERSION = "0.1.0";

/** What only reads. Everything else waits until the workspace is trusted. */
const READING = new Set(["intent.list", "intent.status", "intent.context", "intent.gate", "intent.why", "intent.map", "intent.verify", "intent.show"]);

/** A symbol of the workspace: an intent in its registry, or a block. */
export interface Symbol {
  name: string;
  kind: number;
  location: { uri: string; range: { start: { line: number; character: number }; end: { line: number; character: number } } };
}

/** The command behind *History* in a hover. */
const HISTORY = "intent.editor.lineage";

/** How a start may end. */
export type Condition = "stopped" | "starting" | "running" | "missing" | "failed";

export class Server implements vscode.Disposable {
  private client: LanguageClient | undefined;
  private turn: Promise<void> = Promise.resolve();
  private readonly changed = new vscode.EventEmitter<Condition>();
  private readonly told = new vscode.EventEmitter<Status>();

  /** Where the program is, once it was found. */
  program: string | undefined;
  /** What a person's setting said when it was looked for. */
  chosen = "";
  /** What was looked for in vain. */
  tried = "";
  condition: Condition = "stopped";
  readonly onDidChange = this.changed.event;
  /** What the server says of a workspace, whenever that changes. */
  readonly onStatus = this.told.event;

  /** `brought` is where the extension has its own server, where it was made for one platform. */
  constructor(
    private readonly log: vscode.LogOutputChannel,
    private readonly brought: string,
    private readonly memory: vscode.Memento,
  ) {}

  /** Ends what runs and starts anew. Calls follow each other. */
  restart(): Promise<void> {
    this.turn = this.turn.then(() => this.stopNow()).then(() => this.startNow());
    return this.turn;
  }

  stop(): Promise<void> {
    this.turn = this.turn.then(() => this.stopNow());
    return this.turn;
  }

  dispose(): void {
    void this.stop();
    this.changed.dispose();
    this.told.dispose();
  }

  /** Whether the running server has this command. */
  offers(command: string): boolean {
    return this.client?.initializeResult?.capabilities.executeCommandProvider?.commands.includes(command) ?? false;
  }

  /** Runs a command of the server. `where` says which workspace is meant; `token` takes the question back. */
  async ask<T>(command: string, argument: Record<string, unknown>, where?: vscode.Uri, token: vscode.CancellationToken = CancellationToken.None): Promise<T> {
    if (!this.client?.isRunning()) throw new Error("the server is not running");
    refuseUntrusted(command);
    const uri = (where ?? here())?.toString();
    const filled = argument.path || argument.uri || !uri ? argument : { uri, ...argument };
    return this.client.sendRequest("workspace/executeCommand", { command, arguments: [filled] }, token);
  }

  /** Where ids and blocks are, by the server's own index. */
  async symbols(query: string): Promise<Symbol[]> {
    if (!this.client?.isRunning()) throw new Error("the server is not running");
    return (await this.client.sendRequest<Symbol[] | null>("workspace/symbol", { query })) ?? [];
  }

  private async startNow(): Promise<void> {
    this.chosen = chosenProgram();
    const found = findIntent(this.chosen, surroundings(this.brought));
    if ("missing" in found) {
      this.program = undefined;
      this.tried = found.tried;
      this.log.warn(`no program: ${found.missing === "setting" ? `"${SECTION}.server.path" is ${found.tried}` : `no \`${found.tried}\` on PATH`}`);
      return this.is("missing");
    }
    this.program = found.program;
    this.log.info(`starting ${found.program} lsp`);
    this.is("starting");
    const client = new LanguageClient(SECTION, "Intent", started(found.program), this.options());
    this.client = client;
    // The client's own handlers are replaced: some questions need a terminal, and some messages a button.
    client.onRequest(ShowMessageRequest.method, putQuestion);
    client.onNotification(ShowMessageNotification.method, (params: ShowMessageParams) => showMessage(params, this.memory));
    client.onRequest("intent/save", ({ uri }: { uri: string }) => save(vscode.Uri.parse(uri)));
    client.onNotification("intent/status", (status: Status) => this.told.fire(status));
    client.onDidChangeState(({ newState }) => {
      if (this.client !== client) return;
      if (newState === State.Running) this.is("running");
      if (newState === State.Stopped && this.condition === "running") this.is("stopped");
    });
    try {
      await client.start();
      this.is("running");
      this.judgeVersion(client);
    } catch (error) {
      this.log.error(`the server did not start: ${words(error)}`);
      this.is("failed");
      void this.sayFailed(error);
    }
  }

  private async stopNow(): Promise<void> {
    const client = this.client;
    this.client = undefined;
    if (client?.needsStop()) await client.stop().catch((error: unknown) => this.log.warn(`the server did not stop in order: ${words(error)}`));
    await client?.dispose().catch(() => {});
    this.is("stopped");
  }

  private is(condition: Condition): void {
    if (this.condition === condition) return;
    this.condition = condition;
    this.changed.fire(condition);
  }

  private options(): LanguageClientOptions {
    return {
      documentSelector: [{ scheme: "file" }, { notebook: "jupyter-notebook" }],
      outputChannel: this.log,
      revealOutputChannelOn: RevealOutputChannelOn.Never,
      // In a workspace that is not trusted, nobody is asked to approve anything.
      initializationOptions: { interactive: vscode.workspace.isTrusted, saves: true, status: true, historyCommand: HISTORY, ...forServer() },
      // A hover may run this one command, which only shows something.
      markdown: { isTrusted: { enabledCommands: [HISTORY] } },
      synchronize: { configurationSection: SECTION },
      middleware: {
        provideCodeLenses: async (document, token, next) => {
          const lenses = await next(document, token);
          return surface() === "lens" ? lenses : lenses?.filter((lens) => !isOfBlock(lens));
        },
        workspace: {
          // The server asks for the whole section and gets only the keys that it knows.
          configuration: (params) => params.items.map((item) => (item.section === SECTION ? forServer(item.scopeUri ? vscode.Uri.parse(item.scopeUri) : undefined) : null)),
          didChangeConfiguration: async () => {
            await this.client?.sendNotification("workspace/didChangeConfiguration", { settings: { [SECTION]: forServer() } });
            this.refreshLenses();
          },
        },
        executeCommand: (command, args, next) => {
          refuseUntrusted(command);
          return next(command, args);
        },
      },
    };
  }

  private refreshLenses(): void {
    const feature = this.client?.getFeature(CodeLensRequest.method);
    for (const document of vscode.workspace.textDocuments) feature?.getProvider(document)?.onDidChangeCodeLensEmitter.fire();
  }

  private judgeVersion(client: LanguageClient): void {
    const version = client.initializeResult?.serverInfo?.version ?? "";
    this.log.info(`the server is ${version || "of no known version"}`);
    if (!isOlder(version, LEAST_VERSION)) return;
    void vscode.window.showWarningMessage(`Intent: the server at ${this.program} is ${version}; this extension needs ${LEAST_VERSION} or newer. Some of it will not work.`);
  }

  private async sayFailed(error: unknown): Promise<void> {
    const log = "Show Log";
    const again = "Try Again";
    const chosen = await vscode.window.showErrorMessage(`Intent: the server did not start (${words(error)}).`, log, again);
    if (chosen === log) this.log.show();
    if (chosen === again) await this.restart();
  }
}

function started(program: string): ServerOptions {
  // Not in the workspace, so that no relative name can find a file there.
  const run = { command: program, args: ["lsp"], transport: TransportKind.stdio, options: { cwd: path.dirname(program) } };
  return { run, debug: run };
}

/** Saves a file of the registry that an action of the server has just changed. */
async function save(uri: vscode.Uri): Promise<null> {
  const document = await vscode.workspace.openTextDocument(uri);
  if (document.isDirty && !(await document.save())) throw new Error("the editor did not save it");
  return null;
}

function isOfBlock(lens: vscode.CodeLens): boolean {
  const data = (lens as { data?: { about?: string } }).data;
  return data?.about === "block";
}

function refuseUntrusted(command: string): void {
  if (vscode.workspace.isTrusted || READING.has(command)) return;
  throw new Error("this workspace is not trusted, so nothing is written in it");
}

/** The file or folder that a command is about: that of the active editor, else the first folder. */
export function here(): vscode.Uri | undefined {
  const active = vscode.window.activeTextEditor?.document.uri;
  if (active?.scheme === "file") return active;
  return vscode.workspace.workspaceFolders?.find((folder) => folder.uri.scheme === "file")?.uri;
}

export function words(error: unknown): string {
  return error instanceof Error ? error.message : String(error);
}
