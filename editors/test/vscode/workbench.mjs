// VS Code's workbench as a person has it before them: started, driven by keys and clicks, looked at, and ended.
import { spawn, spawnSync } from "node:child_process";
import fs from "node:fs";
import { createRequire } from "node:module";
import net from "node:net";
import path from "node:path";

/** How long anything may take to appear. */
export const PATIENCE = 20_000;

export const flat = (text) => text.replace(/[\s\u00a0]+/g, " ").trim();

/** The words of some elements from top to bottom: lists of the workbench keep their rows in no order. */
export async function words(locator) {
  const told = await locator.evaluateAll((found) =>
    found.map((one) => {
      const parts = [...one.querySelectorAll(".label-name, .label-description")].map((part) => part.innerText);
      return [one.getBoundingClientRect().top, parts.join(" ") || one.innerText];
    }),
  );
  return told.sort(([one], [other]) => one - other).map(([, text]) => flat(text));
}

/** Runs a program to its end and gives what it printed. */
export function run(program, args, options = {}) {
  const done = spawnSync(program, args, { encoding: "utf8", timeout: 120_000, ...options });
  if (done.status !== 0 && !(options.allow ?? []).includes(done.status)) {
    throw new Error(`${path.basename(program)} ${args.join(" ")}: ${done.error?.message ?? `exit ${done.status}`}\n${done.stdout}${done.stderr}`.slice(0, 2000));
  }
  return done.stdout;
}

async function freePort() {
  const probe = net.createServer().listen(0, "127.0.0.1");
  await new Promise((resolve) => probe.once("listening", resolve));
  const { port } = probe.address();
  await new Promise((resolve) => probe.close(resolve));
  return port;
}

/** Waits until `look` gives something; what it throws counts as nothing. */
export async function until(what, look, patience = PATIENCE) {
  const end = Date.now() + patience;
  for (let last; ; ) {
    try {
      const seen = await look();
      if (seen) return seen;
      last = "";
    } catch (error) {
      last = `: ${error.message}`;
    }
    if (Date.now() > end) throw new Error(`${what} did not come within ${patience / 1000} s${last}`);
    await new Promise((resolve) => setTimeout(resolve, 100));
  }
}

function isThere(pid) {
  try {
    process.kill(pid, 0);
    return true;
  } catch {
    return false;
  }
}

/** What a process has started, and what that has. */
function below(pid) {
  let children = "";
  try {
    children = fs.readFileSync(`/proc/${pid}/task/${pid}/children`, "utf8");
  } catch {
    return [];
  }
  const direct = children.split(" ").filter(Boolean).map(Number);
  return direct.flatMap((child) => [child, ...below(child)]);
}

/** The server of the workbench, on a loopback port of its own. */
export class CodeServer {
  constructor(place, scratch, environment) {
    this.entry = path.join(place, "package/out/node/entry.js");
    this.node = path.join(place, "bin/node");
    this.scratch = scratch;
    this.environment = environment;
    this.user = path.join(scratch, "user");
    this.flags = ["--config", path.join(scratch, "config.yaml"), "--user-data-dir", this.user, "--extensions-dir", path.join(scratch, "extensions"), "--disable-telemetry", "--disable-update-check"];
    for (const part of ["User", "Machine"]) fs.mkdirSync(path.join(this.user, part), { recursive: true });
  }

  /** Writes settings: of the `User`, or of this `Machine`. The workbench sees them by itself. */
  settings(whose, values) {
    fs.writeFileSync(path.join(this.user, whose, "settings.json"), JSON.stringify(values, null, 2));
  }

  install(vsix) {
    run(this.node, [this.entry, ...this.flags, "--install-extension", vsix, "--force"], { env: this.environment });
  }

  async start() {
    const port = await freePort();
    this.address = `http://127.0.0.1:${port}`;
    const log = fs.openSync(path.join(this.scratch, "server.log"), "a");
    this.process = spawn(this.node, [this.entry, ...this.flags, "--auth", "none", "--bind-addr", `127.0.0.1:${port}`, "--disable-getting-started-override", "--app-name", "Intent"], {
      env: this.environment,
      stdio: ["ignore", log, log],
    });
    await until("the workbench's server", async () => (await fetch(`${this.address}/healthz`)).ok, 60_000);
  }

  /** Ends it, and by their ids all that it has started. */
  async stop() {
    const { process: main } = this;
    if (!main?.pid || main.exitCode !== null) return;
    const all = [main.pid, ...below(main.pid)];
    main.kill("SIGTERM");
    const alive = () => all.filter((pid) => isThere(pid));
    await until("the end of the workbench's server", () => alive().length === 0, 5000).catch(() => {});
    for (const pid of alive()) {
      try {
        process.kill(pid, "SIGKILL");
      } catch {
        // It has ended meanwhile.
      }
    }
  }

  /** The last lines of what the extension logged. */
  logs() {
    const folder = path.join(this.user, "logs");
    const files = fs.existsSync(folder) ? fs.readdirSync(folder, { recursive: true }) : [];
    return files
      .filter((file) => /Intent[^/]*\.log$/.test(file))
      .map((file) => fs.readFileSync(path.join(folder, file), "utf8").split("\n").slice(-25).join("\n"))
      .join("\n");
  }
}

/** One window of it, and what a person does there. */
export class Window {
  static async open(place, address, folder) {
    const { chromium } = createRequire(path.join(place, "driver/package.json"))("playwright-core");
    const browser = await chromium.launch({
      executablePath: process.env.CHROMIUM ?? "/usr/bin/chromium",
      args: ["--no-sandbox", "--disable-gpu", "--no-first-run", "--disable-background-networking", "--disable-component-update", "--disable-sync"],
    });
    const page = await browser.newPage({ viewport: { width: 1280, height: 800 }, colorScheme: "dark" });
    page.setDefaultTimeout(PATIENCE);
    // Nothing but this machine is ever reached.
    await page.route("**/*", (route) => {
      const host = new URL(route.request().url()).hostname;
      return host === "127.0.0.1" || host.endsWith("localhost") ? route.continue() : route.abort();
    });
    await page.goto(`${address}/?folder=${folder}`, { waitUntil: "domcontentloaded" });
    await page.locator(".monaco-workbench").waitFor({ timeout: 60_000 });
    return new Window(browser, page);
  }

  constructor(browser, page) {
    this.browser = browser;
    this.page = page;
  }

  async close() {
    await this.browser.close();
  }

  get rows() {
    return this.page.locator(".quick-input-widget:visible .monaco-list-row");
  }

  get squiggles() {
    return this.page.locator(".squiggly-error");
  }

  key(name) {
    return this.page.keyboard.press(name);
  }

  async type(text) {
    await this.page.keyboard.type(text, { delay: 8 });
  }

  /** Types into the box of a pick or a question. */
  async fill(text) {
    const box = this.page.locator(".quick-input-widget:visible input").first();
    await box.waitFor();
    await box.fill(text);
  }

  async open(file, text) {
    const name = path.basename(file);
    await this.key("Control+P");
    await this.fill(file);
    // The rows of the last question stand there until the answer comes, and Enter takes what has the focus.
    const focused = this.page.locator(".quick-input-widget:visible .monaco-list-row.focused");
    await until(`${file} in quick open`, async () => flat(await focused.innerText()).startsWith(name));
    await this.key("Enter");
    await this.page.locator(".tab.active", { hasText: name }).waitFor();
    await this.page.locator(".monaco-editor .view-line:visible", { hasText: text }).first().waitFor();
  }

  /** Makes the side bar this wide. */
  async sideBar(width) {
    const edge = await this.page.locator(".part.sidebar").boundingBox();
    await this.page.mouse.move(edge.x + edge.width, 300);
    await this.page.mouse.down();
    await this.page.mouse.move(edge.x + width, 300, { steps: 4 });
    await this.page.mouse.up();
  }

  async command(title) {
    await this.key("F1");
    await this.fill(`>${title}`);
    await this.rows.filter({ hasText: title }).first().waitFor();
    await this.key("Enter");
  }

  /** Whether the palette has it. */
  async has(title) {
    await this.key("F1");
    await this.fill(`>${title}`);
    await until("an answer of the palette", async () => (await this.rows.count()) > 0);
    const found = (await words(this.rows)).some((row) => row.includes(title));
    await this.key("Escape");
    return found;
  }

  /** Takes the row with these words in the pick that is open. */
  async choose(words) {
    const row = this.rows.filter({ hasText: words }).first();
    await row.waitFor();
    await row.click();
  }

  async goToLine(line, column = 1) {
    await this.key("Control+G");
    await this.fill(`:${line}:${column}`);
    await this.key("Enter");
    await until(`the cursor in line ${line}`, async () => (await this.cursor()).line === line);
  }

  async cursor() {
    const text = await this.page.locator("#status\\.editor\\.selection").innerText();
    const [, line, column] = /Ln (\d+), Col (\d+)/.exec(text) ?? [];
    return { line: Number(line), column: Number(column) };
  }

  notice(words) {
    return this.page.locator(".notifications-toasts .notification-list-item", { hasText: words });
  }

  async click(notice, button) {
    await notice.locator(".notification-list-item-buttons-container .monaco-button", { hasText: button }).first().click();
  }

  async clearNotices() {
    await this.command("Notifications: Clear All Notifications");
    await until("no notification", async () => (await this.page.locator(".notifications-toasts .notification-list-item").count()) === 0);
  }

  async clickStatus() {
    await this.page.locator("#intent-lsp\\.intent-lsp\\.intent\\.status a").first().click();
  }

  /** What stands in the terminals. */
  async terminal() {
    return (await words(this.page.locator(".terminal-wrapper:visible .xterm-rows"))).join(" ");
  }

  status() {
    return this.page.locator("#intent-lsp\\.intent-lsp\\.intent\\.status");
  }

  /** What decorations put behind lines: their text is only in the style. */
  behindLines() {
    return this.page.evaluate(() => {
      const told = [];
      for (const span of document.querySelectorAll(".monaco-editor .view-line span")) {
        const { content } = getComputedStyle(span, "::after");
        if (content && content !== "none" && content !== "normal") told.push(content.replace(/^"|"$/g, "").replace(/\u00a0/g, " "));
      }
      return told;
    });
  }

  /** Agrees to an edit that asks to be looked at first, if it does; `done` tells that it is made. */
  async agree(done) {
    const panel = this.page.locator(".bulk-edit-panel:visible");
    const apply = panel.locator(".monaco-button", { hasText: /^Apply$/ });
    await until("the edit, or its preview", async () => (await apply.count()) > 0 || (await done()));
    if ((await apply.count()) === 0) return;
    // A box of a file ticks those below it, and may untick itself while it does.
    const boxes = panel.locator(".edit-checkbox");
    await until("every part of the edit ticked", async () => {
      const all = await boxes.evaluateAll((found) => found.map((box) => box.checked ?? box.getAttribute("aria-checked") === "true"));
      const open = all.indexOf(false);
      if (open >= 0) await boxes.nth(open).click();
      return all.length > 0 && open < 0;
    });
    await apply.click();
    await until("the edit", done);
  }

  async saveAll() {
    await this.command("File: Save All Files");
  }
}
