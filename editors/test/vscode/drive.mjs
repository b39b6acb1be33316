// Run by `drive`: what a person does in VS Code, and what they see. One line for each check.
import fs from "node:fs";
import path from "node:path";
import { CodeServer, Window, flat, run, until, words } from "./workbench.mjs";

const { PLACE, SCRATCH, PICTURES, INTENT_BIN } = process.env;
const [vsix] = process.argv.slice(2);
const here = import.meta.dirname ?? path.dirname(new URL(import.meta.url).pathname);
const work = path.join(SCRATCH, "shop");
const home = path.join(SCRATCH, "home");
const environment = { PATH: `${path.dirname(INTENT_BIN)}:${process.env.PATH}`, HOME: home, LANG: "C.UTF-8" };
const REGISTRY = ".orchestration/active_intents.yaml";
const MIDDLEWARE = "src/auth/middleware.ts";
const INVOICE = "src/billing/invoice.ts";
const PAYMENTS = "src/payments/payment.ts";
const NOTEBOOK = "src/billing/prices.ipynb";

const intent = (...args) => run(INTENT_BIN, args, { cwd: work, env: environment, allow: [1] });
const asked = (...args) => JSON.parse(intent(...args, "--json"));
const onDisk = (file) => fs.readFileSync(path.join(work, file), "utf8");
const write = (file, text) => {
  fs.mkdirSync(path.dirname(path.join(work, file)), { recursive: true });
  fs.writeFileSync(path.join(work, file), text);
};
const git = (...args) => run("git", ["-c", "user.name=Ada Marsh", "-c", "user.email=ada@example.invalid", ...args], { cwd: work, env: environment });
/** The line of a file, from 1, that holds this text outside of a comment. */
const lineOf = (file, text) => onDisk(file).split("\n").findIndex((line) => line.includes(text) && !line.startsWith("#")) + 1;

let failures = 0;
let shown;
/** One check. Its detail is what it gives; what it throws is a failure, with a picture of it beside the others. */
async function check(key, deed) {
  const started = Date.now();
  try {
    const detail = await deed();
    console.log(`ok ${key} ${flat(String(detail ?? "")).slice(0, 160)}`);
  } catch (error) {
    failures += 1;
    console.log(`FAIL ${key} ${flat(error.message).slice(0, 400)}`);
    await shown?.page.screenshot({ path: path.join(SCRATCH, `failed-${key}.png`) }).catch(() => {});
    await shown?.key("Escape").catch(() => {});
  }
  console.error(`  ${key}: ${((Date.now() - started) / 1000).toFixed(1)} s`);
}
/** A screenshot of what has come to rest: nothing fades in any more, and two pictures in a row are the same. */
async function still() {
  const { page } = shown;
  const isFading = () => page.locator(".monaco-hover:visible, .action-widget:visible, .quick-input-widget:visible")
    .evaluateAll((found) => found.some((one) => Number(getComputedStyle(one).opacity) < 1));
  let last = Buffer.alloc(0);
  await until("a picture that stays as it is", async () => {
    const before = last;
    // What fades or blinks is shown at its end.
    last = await page.screenshot({ animations: "disabled" });
    return !(await isFading()) && last.equals(before);
  });
  return last;
}

/** A screenshot, and beside it the words of what matters in it. */
async function picture(name, shownWords) {
  if (!PICTURES) return;
  fs.mkdirSync(PICTURES, { recursive: true });
  fs.writeFileSync(path.join(PICTURES, `vscode-${name}.png`), await still());
  fs.writeFileSync(path.join(PICTURES, `vscode-${name}.txt`), `${shownWords.map(flat).filter(Boolean).join("\n")}\n`);
}
function must(condition, complaint) {
  if (!condition) throw new Error(complaint);
}

const COOKIES = `export function cookie(header: string, name: string): string | undefined {
  const pairs = header.split(";").map((part) => part.trim().split("="));
  return pairs.find((pair) => pair[0] === name)?.[1];
}

export function expires(issued: Date, age: number): Date {
  const end = new Date(issued);
  end.setSeconds(end.getSeconds() + age);
  return end;
}

export const SESSION = "shop.session";
`;
const DISCOUNT = `export function discount(sum: number, percent: number): number {
  return Math.round(sum * (100 - percent)) / 100;
}
`;

/** The shop, with what these checks need besides, done yesterday: more records, a word about an intent, and a trap. */
function prepare() {
  const yesterday = (program, ...args) => run("faketime", ["-f", "-1d", program, ...args], { cwd: work, env: environment });
  const intent = (...args) => yesterday(INTENT_BIN, ...args);
  const git = (...args) => yesterday("git", "-c", "user.name=Ada Marsh", "-c", "user.email=ada@example.invalid", ...args);
  fs.mkdirSync(home, { recursive: true });
  run(path.join(here, "../workspace.sh"), ["--in-project", work], { env: environment, timeout: 240_000 });
  git("checkout", "-q", "--", INVOICE);
  const change = (from, to) => {
    const text = onDisk(MIDDLEWARE);
    must(text.includes(from), `${MIDDLEWARE} does not hold ${from}`);
    write(MIDDLEWARE, text.replace(from, to));
  };
  change("clockTolerance: 5 }", 'clockTolerance: 5, issuer: "shop" }');
  intent("--quiet", "record", MIDDLEWARE, "--agent", "codex", "--model", "example/model-2");
  // Nobody records this one.
  change('issuer: "shop"', 'issuer: this.issuer');
  git("commit", "-qam", "Take the issuer from the settings");
  change("clockTolerance: 5,", "clockTolerance: 10,");
  intent("--quiet", "record", MIDDLEWARE, "--agent", "claude-code", "--model", "example/model-1");
  // One of each: as recorded, changed since, renamed throughout.
  write("src/auth/cookies.ts", COOKIES);
  write("src/billing/discount.ts", DISCOUNT);
  intent("--quiet", "record", "src/auth/cookies.ts", "--all", "--yes", "--agent", "codex", "--model", "example/model-2");
  intent("--quiet", "record", "src/billing/discount.ts", "--all", "--yes", "--intent", "INT-002", "--agent", "claude-code", "--model", "example/model-1");
  git("add", "-A");
  git("commit", "-qm", "Cookies and discounts");
  const cookies = `${COOKIES}\nexport const DOMAIN = "shop.example";\n`;
  write("src/auth/cookies.ts", cookies);
  intent("--quiet", "record", "src/auth/cookies.ts", "--agent", "codex", "--model", "example/model-2");
  write("src/auth/cookies.ts", cookies.replace("return pairs.find", "const pair = pairs.find").replace("?.[1];", ";\n  return pair && decodeURIComponent(pair[1]);").replaceAll("age", "seconds"));
  write("docs/rounding.md", "# Rounding\n");
  write(REGISTRY, onDisk(REGISTRY).replace('owned_scope: ["src/billing/**"]', '$&\n    related_specs: ["docs/rounding.md"]'));
  write("docs/notes.md", "# Notes\n\nINT-002 rounds every line of an invoice, not its sum.\n");
  // A workspace that names a program of its own. It must never be started.
  write("tools/intent", `#!/bin/sh\ntouch "${SCRATCH}/trap"\n`);
  fs.chmodSync(path.join(work, "tools/intent"), 0o755);
  write(".vscode/settings.json", JSON.stringify({ "intent.server.path": path.join(work, "tools/intent") }));
  git("add", "-A");
  git("commit", "-qm", "Notes");
}

const QUIET = {
  "telemetry.telemetryLevel": "off",
  "update.mode": "none",
  "extensions.autoCheckUpdates": false,
  "extensions.autoUpdate": false,
  "extensions.ignoreRecommendations": true,
  "workbench.startupEditor": "none",
  // Without it, TypeScript's part of a hover begins with "(loading...)" for a long time.
  "typescript.tsserver.useSyntaxServer": "never",
  // They would stand over the words that a picture is about.
  "editor.occurrencesHighlight": "off",
  "editor.lightbulb.enabled": "off",
  "workbench.enableExperiments": false,
  "workbench.tips.enabled": false,
  "workbench.reduceMotion": "on",
  // Newer versions open some pages over everything else.
  "workbench.editor.useModal": "off",
  "workbench.colorTheme": "Default Dark Modern",
  "workbench.secondarySideBar.defaultVisibility": "hidden",
  "workbench.layoutControl.enabled": false,
  "chat.commandCenter.enabled": false,
  "chat.disableAIFeatures": true,
  "window.commandCenter": false,
  "editor.minimap.enabled": false,
  "editor.fontSize": 13,
  "diffEditor.useInlineViewWhenSpaceIsLimited": false,
  "git.enabled": false,
  "typescript.validate.enable": false,
  "typescript.surveys.enabled": false,
  "files.autoSave": "off",
  // Else a terminal is a picture, in which no words are found.
  "terminal.integrated.gpuAcceleration": "off",
  "security.workspace.trust.startupPrompt": "always",
  "security.workspace.trust.banner": "never",
};

prepare();
const server = new CodeServer(PLACE, SCRATCH, environment);
// The workbench sees a change of the machine's settings by itself; those of the user it reads once.
server.settings("User", QUIET);
const settings = (more, program = INTENT_BIN) => server.settings("Machine", { "intent.server.path": program, ...more });
settings({}, "/nowhere/intent");
const end = async () => {
  await Promise.allSettled([server.stop(), shown?.close()]);
};
for (const [signal, code] of [["SIGTERM", 143], ["SIGINT", 130]]) process.once(signal, () => end().finally(() => process.exit(code)));

/** A part of the run in which every check stands or falls by itself. */
async function main() {
  server.install(vsix);
  await server.start();
  shown = await Window.open(PLACE, server.address, work);
  const { page } = shown;
  await beginnings(page);
  await reading(page);
  await working(page);
  await surfaces(page);
  await rest(page);
}

async function beginnings(page) {
  await check("restricted", async () => {
    // Whoever opens a folder is asked first; here they say no.
    await page.locator(".monaco-dialog-box .monaco-button", { hasText: /don't trust/ }).click();
    const notice = shown.notice("no program with an absolute path").first();
    // Extensions start when all else has, which takes its time on a busy machine.
    await notice.waitFor({ timeout: 60_000 });
    must(!fs.existsSync(path.join(SCRATCH, "trap")), "the workspace's program was started");
    return (await notice.innerText()).slice(0, 140);
  });
  await check("missing", async () => {
    settings({});
    // It is seen by itself; else a person tries again.
    await shown.status().filter({ hasText: "INT-001" }).waitFor();
    return "the notice says so, and a corrected setting starts the server";
  });
  await check("reading", async () => {
    const slow = path.join(SCRATCH, "slow-intent");
    fs.writeFileSync(slow, `#!/bin/sh\n[ "$1" = lsp ] && sleep 6\nexec "${INTENT_BIN}" "$@"\n`, { mode: 0o755 });
    settings({}, slow);
    await shown.status().filter({ hasText: "reading the intents…" }).waitFor();
    await page.locator(".activitybar .action-label[aria-label=Intent]").click();
    const pane = page.locator(".pane", { hasText: "Intents" }).first();
    await pane.locator(".message", { hasText: "reading the intents…" }).waitFor();
    must(!(await pane.innerText()).includes("holds no intent"), "the tree says that there is nothing");
    await pane.locator(".monaco-list-row", { hasText: "INT-001" }).first().waitFor();
    await until("no word of reading", async () => (await pane.locator(".message:visible", { hasText: "reading" }).count()) === 0);
    settings({});
    await shown.status().filter({ hasText: "INT-001" }).waitFor();
    return "the tree and the status bar say so until the server has answered";
  });
  await check("untrusted", async () => {
    await shown.clearNotices();
    await shown.open(MIDDLEWARE, "AuthMiddleware");
    await page.locator(".codelens-decoration a", { hasText: "INT-001" }).first().waitFor();
    await shown.clickStatus();
    await shown.choose("INT-002");
    const notice = shown.notice("not trusted").first();
    await notice.waitFor();
    must(asked("status").selection === "INT-001", "something was selected");
    must(!(await shown.has("Intent: Record All Changes")), "the palette offers to record");
    const said = await notice.innerText();
    await shown.clearNotices();
    await shown.command("Workspaces: Manage Workspace Trust");
    await page.locator(".workspace-trust-editor .monaco-button", { hasText: /^Trust/ }).first().click();
    await until("the server anew", () => shown.has("Intent: Record All Changes"));
    await shown.command("View: Close All Editors");
    return said;
  });
}

async function reading(page) {
  await check("glance", async () => {
    await shown.open(MIDDLEWARE, "AuthMiddleware");
    await shown.command("View: Close Primary Side Bar");
    const lens = page.locator(".codelens-decoration a", { hasText: "INT-001 JWT Authentication Migration" }).first();
    await lens.waitFor();
    return lens.innerText();
  });
  await check("line", async () => {
    const of = (text) => async () => {
      const lines = (await shown.behindLines()).filter((line) => text.test(line));
      return lines.length > 0 && lines;
    };
    const own = /^INT-001 · claude-code, /;
    const older = /^INT-001 · codex, /;
    await shown.goToLine(lineOf(MIDDLEWARE, "clockTolerance"), 5);
    const [said] = await until("the words of the line", of(own));
    const item = page.locator(".statusbar-item", { hasText: said });
    await item.first().waitFor();
    await shown.goToLine(lineOf(MIDDLEWARE, "this.keys.current"), 5);
    await until("the words of the other line", of(older));
    must(!(await of(own)()), "the line that was left still says whose it is");
    const cycle = () => shown.command("Intent: Whose a Line Is");
    await cycle();
    const all = await until("the words of all lines", async () => (await of(older)()) && of(own)());
    await cycle();
    await until("no words", async () => !(await of(own)()) && !(await of(older)()));
    await cycle();
    await until("the words of the line again", of(older));
    must(!(await of(own)()), "another line says whose it is");
    return `${said}; all: ${all.length} lines of claude-code`;
  });
  await check("hover", async () => {
    // TypeScript's own server takes its time to say its part.
    await until("TypeScript", async () => !/Analyzing|Initializing/.test(await page.locator(".part.statusbar").innerText()));
    const hover = page.locator(".monaco-hover:visible", { hasText: /INT-00/ }).first();
    const look = async (name) => {
      await page.mouse.move(900, 700);
      await page.locator(".view-line span span", { hasText: name }).first().hover({ position: { x: 20, y: 8 } });
      await hover.waitFor();
      await until("the whole hover", async () => !/loading/i.test(await hover.innerText()));
    };
    await look(/^verify$/);
    const text = flat(await hover.innerText());
    for (const expected of ["INT-001 JWT Authentication Migration", "claude-code, ", " lines", "History"]) must(text.includes(expected), `the hover lacks ${expected}: ${text}`);
    await shown.key("Escape");
    // In a file of 300 lines, on dark and on light ground.
    await shown.open(PAYMENTS, "largestPayments");
    await page.locator(".codelens-decoration a", { hasText: "INT-009" }).first().waitFor();
    const inLong = async (name) => {
      await look(/^largestPayments$/);
      // TypeScript says its part below ours, when it is ready.
      const ours = hover.locator(".hover-row", { hasText: "INT-009" }).first();
      await picture(name, [await ours.innerText(), ...(await words(page.locator(".codelens-decoration")))]);
      await shown.key("Escape");
    };
    await inLong("hover");
    await inLight(() => inLong("hover-light"));
    await shown.open(MIDDLEWARE, "AuthMiddleware");
    return text;
  });
  await check("status", async () => {
    const item = shown.status();
    await item.filter({ hasText: "INT-001" }).waitFor();
    return item.innerText();
  });
  await check("goto", async () => {
    await page.locator(".codelens-decoration a", { hasText: "INT-001 JWT Authentication Migration" }).first().click();
    await page.locator(".tab.active", { hasText: "active_intents.yaml" }).waitFor();
    const line = lineOf(REGISTRY, "  - id: INT-001");
    await until(`line ${line}`, async () => (await shown.cursor()).line === line);
    return `the lens leads to line ${line} of ${REGISTRY}`;
  });
  await check("registry", async () => {
    const lens = page.locator(".codelens-decoration", { hasText: /^(selected|Select)( · .*)?$/ });
    // A lens is there before it has its place.
    await until("every lens in its place", async () => {
      const tops = await lens.evaluateAll((found) => found.map((one) => one.getBoundingClientRect().top));
      return tops.length >= 2 && tops.every((top) => top > 0) && new Set(tops).size === tops.length;
    });
    const told = await words(lens);
    must(told.some((text) => text.includes("selected")) && told.some((text) => text.includes("Select")), `what is selected is not told: ${told.join(" | ")}`);
    await picture("registry", told);
    return told.join(" | ");
  });
  await check("why", async () => {
    await shown.open(MIDDLEWARE, "AuthMiddleware");
    await shown.goToLine(lineOf(MIDDLEWARE, "this.keys.current"), 10);
    await shown.command("Intent: Why Is This Here?");
    await shown.rows.filter({ hasText: "INT-001 JWT Authentication Migration" }).first().waitFor();
    const told = await words(shown.rows);
    must(told.some((row) => row.includes("1 line git: Ada")), `no line without a record among ${told.join(" | ")}`);
    must(told.some((row) => row.includes("codex")), `no codex among ${told.join(" | ")}`);
    await shown.choose("codex");
    await page.locator(".tab.active", { hasText: ".jsonc" }).waitFor();
    await page.locator(".view-line", { hasText: "A record of the ledger" }).first().waitFor();
    return told.join(" | ");
  });
  const pane = page.locator(".pane", { hasText: "Intents" }).first();
  const rows = pane.locator(".monaco-list-row");
  const row = (text) => rows.filter({ hasText: text }).first();
  await check("intents", async () => {
    await shown.command("View: Close All Editors");
    await shown.open(MIDDLEWARE, "AuthMiddleware");
    await shown.goToLine(lineOf(MIDDLEWARE, "this.keys.current"), 10);
    await shown.command("Intent: Reveal This Block in the Tree");
    await row("AuthMiddleware.verify").waitFor();
    await shown.sideBar(520);
    // Folded, the other view leaves room for the whole tree.
    const lineage = page.locator(".pane-header", { hasText: "Lineage" }).first();
    if ((await lineage.getAttribute("aria-expanded")) === "true") await lineage.click();
    // Rows move while the counts come.
    await row(/INT-001.* lines/).waitFor();
    await row("INT-002").click();
    await row("discount.ts").waitFor();
    for (const text of ["cookies.ts", "discount.ts", "Completed"]) {
      await row(text).click();
      await until(`${text} unfolded`, async () => (await row(text).getAttribute("aria-expanded")) === "true");
    }
    for (const expected of [/modified/, /renamed/, /^discount(?!\.)/, "0 of 3 criteria · 3 files · ", "INT-003"]) await row(expected).waitFor();
    const told = await words(rows);
    must(told[0].startsWith("INT-001"), `what is selected is not on top: ${told[0]}`);
    for (const expected of ["In progress", "INT-002", "middleware.ts", "bearer"]) must(told.some((one) => one.includes(expected)), `no ${expected} in the tree: ${told.join(" | ")}`);
    await row("bearer").click();
    const line = lineOf(MIDDLEWARE, "function bearer");
    await until("the block", async () => (await shown.cursor()).line === line);
    // Where there is room for the words behind the line.
    await shown.goToLine(line + 3);
    await until("the words of the line", async () => (await shown.behindLines()).some((said) => said.startsWith("INT-001 · claude-code")));
    await picture("tree", told);
    await inLight(() => picture("tree-light", told));
    return told.join(" | ");
  });
  await check("filter", async () => {
    await shown.command("Intent: Filter the Intents");
    await shown.rows.filter({ hasText: "gemini-cli" }).first().waitFor();
    const offered = await words(shown.rows);
    for (const expected of ["In progress 6 intents", "Completed 8 intents", "codex 7 intents", "gemini-cli 2 intents"]) must(offered.some((one) => one.includes(expected)), `no ${expected} among ${offered.join(" | ")}`);
    for (const text of ["Completed", "gemini-cli"]) await shown.rows.filter({ hasText: text }).first().locator("input, .monaco-checkbox").first().click();
    await page.locator(".quick-input-widget:visible .monaco-button", { hasText: "OK" }).first().click();
    await row("INT-001").waitFor({ state: "detached" });
    await pane.locator(".pane-header .description", { hasText: "completed, by gemini-cli" }).waitFor();
    const left = await words(rows);
    must(left.some((one) => one.includes("INT-003")), `INT-003 is gone: ${left.join(" | ")}`);
    await shown.command("Intent: Show All Intents");
    await row("INT-001").waitFor();
    return `${offered.join(" | ")}; left: ${left.join(" | ")}`;
  });
  await check("state", async () => {
    await inMenu(page, row("INT-003"), "Start an Intent");
    await until("INT-003 in progress", () => asked("list").some((one) => one.id === "INT-003" && one.status === "IN_PROGRESS"));
    await row(/Completed\s*7/).waitFor();
    await inMenu(page, row("INT-003"), "Complete an Intent");
    const notice = shown.notice("INT-003 is completed").first();
    await notice.waitFor();
    must(asked("list").some((one) => one.id === "INT-003" && one.status === "COMPLETED"), "it is not completed");
    await row(/Completed\s*8/).waitFor();
    const said = await notice.innerText();
    await shown.clearNotices();
    return flat(said);
  });
  await check("spec", async () => {
    await inMenu(page, row("INT-002"), "Open the Spec of an Intent");
    await page.locator(".tab.active", { hasText: "rounding.md" }).waitFor();
    return "docs/rounding.md, which the registry names";
  });
  await check("history", async () => {
    await shown.open(MIDDLEWARE, "AuthMiddleware");
    await shown.goToLine(lineOf(MIDDLEWARE, "this.keys.current"), 10);
    await shown.command("Intent: Show the Lineage of This Block");
    const lineage = page.locator(".pane", { hasText: "Lineage" }).last();
    const records = lineage.locator(".monaco-list-row");
    // The view may still show another block, so it waits for a record that only this one has.
    await records.filter({ hasText: "gemini-cli" }).first().waitFor();
    const told = await words(records);
    must(/^exact/.test(told[0]) && told.length === 4, `not the whole story: ${told.join(" | ")}`);
    await page.mouse.move(900, 600);
    await picture("lineage", told);
    return told.join(" | ");
  });
  await check("versions", async () => {
    const record = page.locator(".pane", { hasText: "Lineage" }).last().locator(".monaco-list-row", { hasText: "gemini-cli" }).first();
    await inMenu(page, record, "Show What It Changed");
    const side = async (which) => (await words(page.locator(`.monaco-diff-editor:visible .${which} .view-line`))).join(" ");
    await shown.sideBar(300);
    await page.mouse.move(700, 400);
    await until("both versions", async () => (await side("modified")).includes("const { payload }"));
    const [before, after] = [await side("original"), await side("modified")];
    must(before.includes("return (await jwtVerify(token, key)) as Claims") && !before.includes("import") && !after.includes("import"), `not the block before: ${before} | ${after}`);
    const title = flat(await page.locator(".tab.active").innerText());
    await picture("versions", [title, before, after]);
    await shown.sideBar(520);
    await inMenu(page, record, "Compare with Now");
    await until("the present text", async () => (await side("modified")).includes("clockTolerance: 10"));
    await shown.command("View: Close Editor");
    await shown.command("View: Close Editor");
    return title;
  });
  await check("lineage-follows", async () => {
    await shown.open(MIDDLEWARE, "AuthMiddleware");
    await shown.goToLine(lineOf(MIDDLEWARE, "scheme.toLowerCase"), 10);
    const header = page.locator(".pane-header", { hasText: "Lineage" }).filter({ hasText: "bearer" }).first();
    await header.waitFor();
    return flat(await header.innerText());
  });
  await check("notebook", async () => {
    fs.copyFileSync(path.join(here, "../prices.ipynb"), path.join(work, NOTEBOOK));
    intent("--quiet", "record", NOTEBOOK, "--all", "--yes", "--intent", "INT-002", "--agent", "codex");
    await shown.command("View: Close All Editors");
    await shown.key("Control+P");
    await shown.fill(NOTEBOOK);
    await until("the notebook in quick open", async () => flat(await page.locator(".quick-input-widget:visible .monaco-list-row.focused").innerText()).startsWith("prices.ipynb"));
    await shown.key("Enter");
    const cell = page.locator(".notebook-editor .cell .view-line", { hasText: "return round" }).first();
    await cell.click();
    await until("the words of the line", async () => (await shown.behindLines()).some((line) => /^INT-002 · codex, /.test(line)));
    await page.locator(".notebook-editor .view-line span span", { hasText: /rounded/ }).first().hover();
    const hover = page.locator(".monaco-hover:visible", { hasText: "INT-002" }).first();
    await hover.waitFor();
    const said = flat(await hover.innerText());
    await picture("notebook", [said]);
    await shown.command("View: Close All Editors");
    fs.rmSync(path.join(work, NOTEBOOK));
    return said;
  });
  await check("blocks", async () => {
    await shown.command("Intent: Show All Code of an Intent");
    await shown.choose("INT-001");
    const peek = page.locator(".reference-zone-widget");
    await peek.locator(".ref-tree .monaco-list-row", { hasText: "middleware.ts" }).first().waitFor();
    const list = () => words(peek.locator(".ref-tree .monaco-list-row"));
    const file = peek.locator(".ref-tree .monaco-list-row", { hasText: "middleware.ts" }).first();
    if (!(await list()).some((row) => row.includes("bearer"))) await file.click();
    await until("both blocks", async () => {
      const told = (await list()).join(" | ");
      return told.includes("verify") && told.includes("bearer");
    });
    const told = await list();
    await shown.key("Escape");
    return told.join(" | ");
  });
}

async function working(page) {
  await check("select", async () => {
    for (const id of ["INT-002", "INT-001"]) {
      await shown.clickStatus();
      await shown.choose(id);
      await until(`${id} selected`, () => asked("status").selection === id);
      await shown.status().filter({ hasText: id }).waitFor();
    }
    return "by the status bar's pick, and back";
  });
  await check("scope", async () => {
    await shown.open(INVOICE, "reduce");
    must((await shown.squiggles.count()) === 0, "there is an error before anything was typed");
    await shown.command("View: Close Primary Side Bar");
    await shown.goToLine(lineOf(INVOICE, "line.price"), 1);
    await shown.key("End");
    await shown.type(" // rounded");
    await shown.key("Home");
    await shown.squiggles.first().waitFor();
    must(!onDisk(INVOICE).includes("rounded"), "it was saved");
    await shown.command("Problems: Focus on Problems View");
    const row = page.locator(".markers-panel .monaco-list-row", { hasText: "Scope Violation" }).first();
    await row.waitFor();
    const said = await row.innerText();
    await menu(page, "Add src/billing/invoice.ts");
    const fixes = await words(page.locator(".action-widget .monaco-list-row"));
    await picture("scope", [said, ...fixes.filter((fix) => /INT-|Put /.test(fix))]);
    return said;
  });
  await check("widen", async () => {
    if (!(await page.locator(".action-widget .monaco-list-row").count())) await menu(page, "Add src/billing/invoice.ts");
    await take(page, /Add src\/billing\/invoice\.ts to the scope of INT-001/);
    await until("the path in the registry", () => asked("list").some((one) => one.id === "INT-001" && one.owned_scope.includes(INVOICE)));
    await shown.squiggles.first().waitFor({ state: "detached" });
    return `${REGISTRY} owns it, and the error is gone`;
  });
  await check("record", async () => {
    await shown.command("Intent: Record the Changes in This File");
    const notice = shown.notice("recorded under INT-001").first();
    await notice.waitFor();
    const [block] = asked("why", `${INVOICE}:2`).blocks;
    must(block.intent?.id === "INT-001" && block.verdict === "exact", `why says ${JSON.stringify(block.intent)} ${block.verdict}`);
    const said = await notice.innerText();
    await shown.clearNotices();
    return said;
  });
  await check("record-block", async () => {
    await shown.open(MIDDLEWARE, "AuthMiddleware");
    await shown.goToLine(lineOf(MIDDLEWARE, "this.keys.current"), 10);
    const before = asked("status").open_records;
    await shown.command("Intent: Record This Block");
    const notice = shown.notice("1 block of 1 file recorded").first();
    await notice.waitFor();
    must(asked("status").open_records > before, "no record was added");
    await shown.clearNotices();
    return "the block at the cursor, as it stands";
  });
  await check("approve", async () => {
    intent("request-scope", "--intent", "INT-001", "--add", "src/billing/**", "--reason", "the invoice belongs to it");
    const question = shown.notice("widen the scope").first();
    await question.waitFor();
    await shown.status().filter({ hasText: "1" }).waitFor();
    await shown.click(question, "Approve");
    await until("the wider scope", () => asked("list").some((one) => one.id === "INT-001" && one.owned_scope.includes("src/billing/**")));
    await until("nothing waits", () => asked("approve").length === 0);
    await shown.clearNotices();
    return "in the server's dialog; the registry has it, nothing waits";
  });
  await check("review", async () => {
    intent("request-scope", "--intent", "INT-001", "--add", "tests/**", "--reason", "its tests");
    const question = shown.notice("tests/**").first();
    await question.waitFor();
    await shown.clearNotices();
    await shown.command("Intent: Review Agents' Requests");
    await question.waitFor();
    await shown.click(question, "Reject");
    await until("nothing waits", () => asked("approve").length === 0);
    must(!onDisk(REGISTRY).includes("tests/**"), "the scope is wider");
    await shown.clearNotices();
    return "a closed question is put again, and rejected";
  });
  await check("terminal", async () => {
    // Too long for a dialog: it can be rejected there, and read and approved in a terminal.
    const reason = `${"the tests of the invoices live in a folder of their own and ".repeat(4)}so it has to own them`;
    intent("request-scope", "--intent", "INT-001", "--add", "checks/**", "--reason", reason);
    const question = shown.notice("more than fits here").first();
    await question.waitFor();
    must((await question.locator(".monaco-button", { hasText: "Approve" }).count()) === 0, "it can be approved unread");
    await shown.click(question, "Open a Terminal");
    await until("the question in the terminal", async () => /Type yes to approve/.test(await shown.terminal()));
    await shown.type("yes");
    await shown.key("Enter");
    await until("the wider scope", () => asked("list").some((one) => one.id === "INT-001" && one.owned_scope.includes("checks/**")));
    await shown.clearNotices();
    await shown.command("Terminal: Kill All Terminals");
    return "read and approved with `intent approve CODE` in the editor's terminal";
  });
  await check("accept", async () => {
    await shown.open("src/auth/cookies.ts", "cookie");
    await shown.goToLine(lineOf("src/auth/cookies.ts", "decodeURIComponent"), 3);
    must(asked("why", "src/auth/cookies.ts:2").blocks[0].verdict === "modified", "there is nothing to accept");
    await shown.command("Intent: Accept This Block as It Stands");
    const question = shown.notice("as it stands? This is recorded for good").first();
    await question.waitFor();
    await shown.click(question, "Accept it");
    await until("the acceptance", () => asked("why", "src/auth/cookies.ts:2").blocks[0].verdict === "exact");
    await page.locator(".codelens-decoration a", { hasText: "accepted" }).first().waitFor();
    return "after the server's question; the lens says so";
  });
  await check("rename", async () => {
    await shown.command("Intent: Rename an Intent");
    await shown.choose("INT-002");
    const box = page.locator(".rename-box input, input.rename-input").first();
    await box.waitFor();
    await box.fill("INT-ROUND");
    await shown.key("Enter");
    await shown.agree(async () => (await page.locator(".view-line:visible", { hasText: "INT-ROUND" }).count()) > 0);
    await shown.saveAll();
    await until("the registry", () => asked("list").some((one) => one.id === "INT-ROUND"));
    await until("the mention", () => onDisk("docs/notes.md").includes("INT-ROUND rounds"));
    must(!onDisk(REGISTRY).includes("id: INT-002"), "the old id is still there");
    const renamed = asked("list", "--count").find((one) => one.id === "INT-ROUND");
    must(renamed.blocks > 0, "what was recorded under the old id is lost");
    return "in the registry and in docs/notes.md";
  });
}

/** Takes an item of the menu of a row. */
async function inMenu(page, row, title) {
  await row.click({ button: "right" });
  await page.locator(".monaco-menu:visible .action-label", { hasText: title }).first().hover();
  // A menu that was opened by a click takes no other for a moment.
  await shown.key("Enter");
}

/** What is done while the colours are light. */
async function inLight(deed) {
  const toggle = () => shown.command("Preferences: Toggle between Light/Dark Themes");
  await toggle();
  await shown.page.locator(".monaco-workbench.vs").waitFor();
  await deed();
  await toggle();
  await shown.page.locator(".monaco-workbench.vs-dark").waitFor();
}

/** Opens the menu of fixes at the error. */
async function menu(page, title) {
  await shown.command("View: Focus Active Editor Group");
  await shown.goToLine(lineOf(INVOICE, "line.price"), 3);
  await shown.key("Control+.");
  await page.locator(".action-widget .monaco-list-row", { hasText: title }).first().waitFor();
}

/** Takes a row of that menu, which takes Enter and no click. */
async function take(page, title) {
  for (let step = 0; step < 12; step += 1) {
    const focused = page.locator(".action-widget .monaco-list-row.focused");
    if ((await focused.count()) && title.test(flat(await focused.first().innerText()))) return shown.key("Enter");
    await shown.key("ArrowDown");
  }
  throw new Error(`the menu has no ${title}`);
}

async function surfaces(page) {
  await check("end-of-line", async () => {
    await shown.open(MIDDLEWARE, "AuthMiddleware");
    settings({ "intent.provenance.surface": "endOfLine", "intent.provenance.template": "${intent} by ${who}: ${verdict} · ${changed}" });
    const told = await until("the template's words", async () => {
      const lines = await shown.behindLines();
      return lines.some((line) => /^INT-001 by .*: exact$/.test(line)) && lines;
    });
    await page.locator(".codelens-decoration a", { hasText: "INT-001" }).first().waitFor({ state: "detached" });
    return `${told.join(" | ")}; no lens beside it`;
  });
  await check("template", async () => {
    settings({ "intent.provenance.surface": "endOfLine", "intent.provenance.template": "${intent} ${colour}" });
    const notice = shown.notice("${colour}");
    await notice.first().waitFor();
    await until("the rest of the template", async () => (await shown.behindLines()).some((line) => line === "INT-001 ${colour}"));
    must((await notice.count()) === 1, "it is said more than once");
    const said = await notice.first().innerText();
    await shown.clearNotices();
    return said;
  });
  await check("gutter", async () => {
    settings({ "intent.provenance.surface": "gutter", "intent.lines": "off" });
    return until("a bar", async () => {
      const bars = await page.evaluate(() => [...document.querySelectorAll(".monaco-editor .margin-view-overlays *, .monaco-editor .glyph-margin-widgets *")].filter((one) => getComputedStyle(one).backgroundImage.includes("same.svg")).length);
      return bars >= 5 && (await shown.behindLines()).every((line) => !line.includes("INT-001")) && `${bars} lines with a bar`;
    });
  });
  await check("colours", async () => {
    settings({ "intent.lines": "off" });
    const bars = () => page.evaluate(() => new Set([...document.querySelectorAll(".monaco-editor .margin-view-overlays *, .monaco-editor .glyph-margin-widgets *")].map((one) => getComputedStyle(one).backgroundImage).filter((image) => image.includes("data:image/svg"))).size);
    must((await bars()) === 0, "there are colours although nobody asked for them");
    const item = page.locator("#intent-lsp\\.intent-lsp\\.intent\\.colours");
    const legend = async (by) => {
      await shown.command("Intent: Colours");
      await item.filter({ hasText: `by ${by}` }).waitFor();
      await item.hover();
      const told = page.locator(".monaco-hover:visible", { hasText: "No colour" }).first();
      await told.waitFor();
      return [flat(await told.innerText()), await until("a colour", bars)];
    };
    const [intents] = await legend("intent");
    must(intents.includes("INT-001 JWT Authentication Migration"), intents);
    await page.mouse.move(600, 300);
    const [people, number] = await legend("contributor");
    for (const expected of ["claude-code", "a person"]) must(people.includes(expected), people);
    must(number >= 2, `${number} colours`);
    await picture("colours", [people]);
    await page.mouse.move(600, 300);
    await shown.command("Intent: Colours");
    await until("no colours", async () => (await bars()) === 0);
    return `${intents}; ${people}`;
  });
  await check("inlay", async () => {
    settings({ "intent.provenance.surface": "inlay" });
    const told = page.locator(".view-line span:visible", { hasText: /^INT-001\s·\s/ });
    await told.first().waitFor();
    return told.first().innerText();
  });
  await check("level", async () => {
    settings({ "intent.levels.differs-from-record": "warning" });
    await page.locator(".codelens-decoration a", { hasText: "INT-001" }).first().waitFor();
    must((await page.locator(".squiggly-warning").count()) === 0, "there is a warning already");
    await shown.open(MIDDLEWARE, "clockTolerance");
    await shown.key("Home");
    await shown.type("/* now */ void 0;\n");
    await page.locator(".squiggly-warning").first().waitFor();
    settings({ "intent.levels.differs-from-record": "off" });
    await page.locator(".squiggly-warning").first().waitFor({ state: "detached" });
    await shown.command("File: Revert File");
    return "differs-from-record as a warning, and off again";
  });
}

async function rest(page) {
  await check("walkthrough", async () => {
    await shown.command("Intent: First Steps");
    await page.locator(".gettingStartedContainer", { hasText: "Say what you work under" }).first().waitFor();
    const steps = await page.locator(".gettingStartedContainer .step-title").allInnerTexts();
    must(steps.length >= 6, `only ${steps.length} steps`);
    return steps.map(flat).filter(Boolean).join(" | ");
  });
  await check("new", async () => {
    await shown.command("Intent: New Intent");
    await shown.fill("Gift vouchers");
    await shown.key("Enter");
    await page.locator(".tab.active", { hasText: "active_intents.yaml" }).waitFor();
    await page.locator(".view-line:visible", { hasText: "name: Gift vouchers" }).waitFor();
    const made = await until("the intent", () => asked("list").find((one) => one.name === "Gift vouchers"));
    return `${made.id} ${made.status}`;
  });
  await check("doctor", async () => {
    await shown.command("Intent: Check the Setup (doctor)");
    await until("the doctor's answer", async () => /records can be written/.test(await shown.terminal()));
    await shown.command("Terminal: Kill All Terminals");
    return "in a terminal";
  });
  await check("report", async () => {
    const at = path.join(work, ".orchestration/local/report.html");
    must(!fs.existsSync(at), "there is a report already");
    await shown.command("Intent: Open Report");
    const notice = page.locator(".notifications-toasts .notification-list-item", { hasText: "the report is at" }).first();
    await notice.waitFor();
    must((await notice.innerText()).includes("report.html"), "the notice does not say where");
    must(fs.readFileSync(at, "utf8").includes("JWT Authentication Migration"), "the page lacks an intent");
    return "written, and said where";
  });
  await check("quiet", async () => {
    const bare = path.join(SCRATCH, "bare");
    fs.mkdirSync(bare);
    fs.writeFileSync(path.join(bare, "main.py"), "def main():\n    pass\n");
    run("git", ["init", "-q", bare], { env: environment });
    await page.goto(`${server.address}/?folder=${bare}`, { waitUntil: "domcontentloaded" });
    await page.locator(".monaco-dialog-box .monaco-button", { hasText: /^(Yes, I )?trust/i }).click();
    await shown.open("main.py", "def main");
    // The extension has started once its command is there that makes sense here.
    await until("the extension", () => shown.has("Intent: Start in This Folder (init)"));
    must((await shown.status().count()) === 0, "the status bar speaks of a folder without intents");
    must((await page.locator(".activitybar .action-label[aria-label=Intent]").count()) === 0, "there is an empty view");
    must((await page.locator(".notifications-toasts .notification-list-item", { hasText: "Intent" }).count()) === 0, "there is a notice");
    must(!(await shown.has("Intent: Record All Changes")), "the palette offers to record");
    must(!fs.existsSync(path.join(bare, ".orchestration")), "something was made unasked");
    return "no status, no view, no notice where nothing is governed";
  });
  await check("init", async () => {
    await shown.command("Intent: Start in This Folder (init)");
    await page.locator(".monaco-dialog-box .monaco-button", { hasText: "Start Here" }).click();
    await shown.status().filter({ hasText: "no intent" }).waitFor();
    return "makes the first files after a question, and the status bar appears";
  });
  await check("hooks", async () => {
    // `init` put them in.
    fs.rmSync(path.join(SCRATCH, "bare/.git/hooks"), { recursive: true });
    await shown.command("Intent: Restart Server");
    const notice = shown.notice("Git's hooks are missing");
    await notice.filter({ hasText: "Never Again" }).first().waitFor();
    const said = await notice.first().innerText();
    await shown.clearNotices();
    await shown.command("Intent: Restart Server");
    await shown.status().filter({ hasText: "no intent" }).waitFor();
    await page.waitForTimeout(3000);
    must((await notice.count()) === 0, "it is said again");
    return flat(said);
  });
  await check("folders", async () => {
    const both = path.join(SCRATCH, "both.code-workspace");
    fs.writeFileSync(both, JSON.stringify({ folders: [{ path: work }, { path: path.join(SCRATCH, "bare") }] }));
    // VS Code in a browser sometimes opens such a file as a workspace without folders; it opens them when asked again.
    const explorer = page.locator(".explorer-folders-view .monaco-list-row", { hasText: "shop" });
    await until("the folders", async () => {
      await page.goto(`${server.address}/?workspace=${both}`, { waitUntil: "domcontentloaded" });
      return explorer.first().waitFor({ timeout: 15_000 }).then(() => true, () => false);
    }, 60_000);
    // Looking needs no trust.
    await page.locator(".monaco-dialog-box .monaco-button", { hasText: /^No/ }).click();
    // The extensions of a workspace that is not trusted start late on a busy machine.
    await page.locator(".activitybar .action-label[aria-label=Intent]").click({ timeout: 60_000 });
    const rows = page.locator(".pane", { hasText: "Intents" }).locator(".monaco-list-row");
    for (const folder of [/^shop/, /^bare/]) await rows.filter({ hasText: folder }).first().waitFor();
    return (await words(rows)).join(" | ");
  });
  await check("workspace-path", async () => {
    must(!fs.existsSync(path.join(SCRATCH, "trap")), "the workspace's program was started");
    must(onDisk(".vscode/settings.json").includes("tools/intent"), "the workspace names no program any more");
    return "a workspace that sets intent.server.path has no effect";
  });
}

try {
  await main();
} catch (error) {
  failures += 1;
  console.log(`FAIL run ${flat(error.message).slice(0, 300)}`);
}
if (failures) console.error(server.logs());
await end();
process.exit(failures ? 1 : 0);
