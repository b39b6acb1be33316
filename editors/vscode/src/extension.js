// Starts `intent lsp` and shows what it says. No policy here: what can be asked of the server is asked of the server.
"use strict";

const fs = require("node:fs");
const path = require("node:path");
const vscode = require("vscode");
const { LanguageClient, TransportKind, RevealOutputChannelOn } = require("vscode-languageclient/node");

const SECTION = "intent";
// What the server is told; `intent.server.path` and the client's own trace are none of its business.
const FORWARDED = ["levels", "codeLens", "inlayHints"];

/** @type {LanguageClient | undefined} */
let client;
/** @type {vscode.LogOutputChannel} */
let log;
/** @type {vscode.StatusBarItem} */
let status;

exports.activate = async function activate(context) {
  log = vscode.window.createOutputChannel("Intent", { log: true });
  status = vscode.window.createStatusBarItem("intent.status", vscode.StatusBarAlignment.Left, 10);
  status.name = "Intent";
  status.command = "intent.pick";
  context.subscriptions.push(
    log,
    status,
    vscode.commands.registerCommand("intent.restartServer", restart),
    vscode.commands.registerCommand("intent.showOutput", () => log.show()),
    vscode.commands.registerCommand("intent.pick", () => reported(pick)),
    vscode.window.onDidChangeActiveTextEditor(() => showStatus()),
    vscode.workspace.onDidChangeConfiguration((event) => {
      if (event.affectsConfiguration("intent.server.path")) restart();
    }),
  );
  await start();
};

exports.deactivate = async function deactivate() {
  await stop();
};

async function start() {
  const command = findServer();
  if (!command) {
    await sayMissing();
    return;
  }
  log.info(`starting ${command} lsp`);
  const server = { command, args: ["lsp"], transport: TransportKind.stdio };
  client = new LanguageClient(SECTION, "Intent", { run: server, debug: server }, {
    documentSelector: [{ scheme: "file" }],
    outputChannel: log,
    revealOutputChannelOn: RevealOutputChannelOn.Never,
    initializationOptions: { interactive: true, ...settings() },
    synchronize: { configurationSection: SECTION },
    middleware: {
      workspace: {
        // The server asks for the whole section; it gets what it understands.
        configuration: (params) => params.items.map((item) => (item.section === SECTION ? settings(item.scopeUri) : null)),
        didChangeConfiguration: async (_sections, next) => {
          await next([]);
          await client?.sendNotification("workspace/didChangeConfiguration", { settings: { [SECTION]: settings() } });
        },
      },
      // A lens may change what is selected: the status follows at once.
      executeCommand: async (command, args, next) => {
        const answer = await next(command, args);
        void showStatus();
        return answer;
      },
    },
  });
  try {
    await client.start();
    await showStatus();
  } catch (error) {
    log.error(`the server did not start: ${error}`);
    void vscode.window.showErrorMessage(`intent: the server did not start (${error.message ?? error}). See the output channel "Intent".`);
  }
}

async function stop() {
  const running = client;
  client = undefined;
  status?.hide();
  if (running?.needsStop()) await running.stop();
}

async function restart() {
  await stop();
  await start();
}

function settings(scope) {
  const section = vscode.workspace.getConfiguration(SECTION, scope ? vscode.Uri.parse(scope) : undefined);
  return Object.fromEntries(FORWARDED.map((key) => [key, section.get(key)]));
}

/** The program: the machine's setting, else the first on PATH. Never a path that a workspace chose. */
function findServer() {
  const inspected = vscode.workspace.getConfiguration(SECTION).inspect("server.path");
  const chosen = (inspected?.globalValue ?? "").trim();
  if (chosen) return path.isAbsolute(chosen) && isProgram(chosen) ? chosen : undefined;
  const names = process.platform === "win32" ? ["intent.exe"] : ["intent"];
  for (const folder of (process.env.PATH ?? "").split(path.delimiter)) {
    // A relative entry of PATH would be looked up in the workspace.
    if (!path.isAbsolute(folder)) continue;
    for (const name of names) {
      const candidate = path.join(folder, name);
      if (isProgram(candidate)) return candidate;
    }
  }
  return undefined;
}

function isProgram(file) {
  try {
    fs.accessSync(file, fs.constants.X_OK);
    return fs.statSync(file).isFile();
  } catch {
    return false;
  }
}

async function sayMissing() {
  log.warn("no `intent` program found");
  const settingsButton = "Open Settings";
  const answer = await vscode.window.showWarningMessage(
    'No `intent` program was found on your PATH. Install it, or set "intent.server.path" to an absolute path.',
    settingsButton,
  );
  if (answer === settingsButton) await vscode.commands.executeCommand("workbench.action.openSettings", "intent.server.path");
}

/** The folder that commands are about: that of the active editor, else the first. */
function here() {
  const active = vscode.window.activeTextEditor?.document.uri;
  if (active?.scheme === "file") return { uri: active.toString() };
  const folder = vscode.workspace.workspaceFolders?.[0]?.uri;
  return folder ? { uri: folder.toString() } : {};
}

async function ask(command, argument) {
  if (!client?.isRunning()) throw new Error("the server is not running");
  return client.sendRequest("workspace/executeCommand", { command, arguments: [{ ...here(), ...argument }] });
}

async function pick() {
  const intents = await ask("intent.list", {});
  const list = Array.isArray(intents) ? intents : (intents?.intents ?? []);
  const items = list.map((intent) => ({
    label: `${intent.selected ? "$(check) " : ""}${intent.id}`,
    description: intent.name,
    detail: `${intent.status ?? "no known status"} · ${intent.files} files · ${intent.blocks} blocks`,
    id: intent.id,
    selected: intent.selected,
  }));
  const clear = { label: "$(close) Select none", id: undefined };
  const some = items.some((item) => item.selected);
  const chosen = await vscode.window.showQuickPick(some ? [...items, clear] : items, {
    title: "Which intent are you working under?",
    matchOnDescription: true,
  });
  if (!chosen) return;
  if (chosen.id) await ask("intent.select", { id: chosen.id });
  else await ask("intent.clear", {});
  await showStatus();
}

async function showStatus() {
  try {
    const answer = await ask("intent.status", {});
    if (!answer?.governed) return status.hide();
    const selected = answer.selected;
    status.text = selected ? `$(target) ${selected.id}` : "$(target) no intent";
    status.tooltip = selected ? `${selected.id} ${selected.name}` : "No intent is selected. Click to select one.";
    status.show();
  } catch (error) {
    log.debug(`no status: ${error}`);
    status.hide();
  }
}

async function reported(action) {
  try {
    await action();
  } catch (error) {
    void vscode.window.showErrorMessage(`intent: ${error.message ?? error}`);
  }
}
