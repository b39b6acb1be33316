// Run by vscode.sh: what a person would do, and see, in the workbench.
import { createRequire } from "node:module";
import fs from "node:fs";
import path from "node:path";

const { chromium } = createRequire(import.meta.url)(process.env.PLAYWRIGHT);
const pictures = process.env.PICTURES;
if (pictures) fs.mkdirSync(pictures, { recursive: true });

const browser = await chromium.launch({
  executablePath: process.env.CHROMIUM ?? "/usr/bin/chromium",
  args: ["--no-sandbox", "--disable-gpu", "--disable-background-networking", "--disable-component-update"],
});
const page = await browser.newPage({ viewport: { width: 1180, height: 640 } });
page.setDefaultTimeout(15_000);

let failures = 0;
async function check(name, deed) {
  try {
    const detail = await deed();
    console.log(`ok   ${name} ${detail ?? ""}`);
  } catch (error) {
    failures += 1;
    console.log(`FAIL ${name}: ${String(error.message).split("\n")[0]}`);
    await picture(`failed-${failures}`);
  }
}
async function picture(name) {
  if (pictures) await page.screenshot({ path: path.join(pictures, `vscode-${name}.png`) });
}
async function open(file, text) {
  await page.keyboard.press("Control+P");
  await page.locator(".quick-input-widget input").first().waitFor();
  await page.keyboard.type(file, { delay: 15 });
  await page.locator(".quick-input-list .monaco-list-row", { hasText: path.basename(file) }).first().waitFor();
  await page.keyboard.press("Enter");
  await page.locator(".monaco-editor .view-line", { hasText: text }).first().waitFor();
}
const flat = (text) => text.replace(/\s+/g, " ").trim();

await page.goto(process.argv[2]);
await page.locator(".monaco-workbench").waitFor();
await page.waitForTimeout(1500);

await check("opens a file", () => open("src/auth/middleware.ts", "AuthMiddleware"));
await check("shows a lens above the recorded method", async () => {
  const lens = page.locator(".codelens-decoration a", { hasText: "INT-001" });
  await lens.first().waitFor();
  return flat(await lens.first().innerText());
});
await check("hovers", async () => {
  const word = page.locator(".view-line span span", { hasText: /verify/ }).first();
  await word.hover({ position: { x: 20, y: 8 } });
  const hover = page.locator(".monaco-hover:visible", { hasText: "INT-001" }).first();
  await hover.waitFor();
  // TypeScript's own server takes its time to say its part.
  await page.locator(".monaco-hover:visible", { hasText: "Loading" }).waitFor({ state: "detached" }).catch(() => {});
  return flat(await hover.innerText()).slice(0, 90);
});
await picture("hover");
await page.keyboard.press("Escape");
await check("says in the status bar what is selected", async () => {
  const item = page.locator(".statusbar-item", { hasText: "INT-001" });
  await item.first().waitFor();
});
await check("marks an edit out of scope as an error", async () => {
  await open("src/billing/invoice.ts", "Math.round");
  await page.locator(".squiggly-error").first().waitFor();
});
await check("tells in the problems panel", async () => {
  await page.keyboard.press("Control+Shift+M");
  const row = page.locator(".markers-panel .monaco-list-row", { hasText: "Scope Violation" });
  await row.first().waitFor();
  return flat(await row.first().innerText()).slice(0, 90);
});
await check("offers the intent that owns the file, and the error is gone", async () => {
  await page.locator(".view-line", { hasText: "total" }).first().click({ position: { x: 140, y: 8 } });
  await page.keyboard.press("Control+.");
  const row = page.locator(".action-widget .monaco-list-row", { hasText: "INT-002" }).first();
  await row.waitFor();
  await picture("scope");
  // A row of this menu takes Enter, not a click; the preferred one stands first.
  for (let step = 0; step < 6; step += 1) {
    const focused = page.locator(".action-widget .monaco-list-row.focused");
    if ((await focused.count()) && /elect.*INT-002/.test(await focused.first().innerText())) break;
    await page.keyboard.press("ArrowDown");
  }
  await page.keyboard.press("Enter");
  await page.locator(".squiggly-error").waitFor({ state: "detached", timeout: 10_000 });
});
await check("shows the intents of the registry", async () => {
  await page.keyboard.press("Control+J"); // the panel would cover them
  await open(".orchestration/active_intents.yaml", "active_intents");
  await page.keyboard.press("Control+End");
  const lens = page.locator(".codelens-decoration a", { hasText: "blocks" });
  await lens.first().waitFor();
  return flat(await lens.first().innerText());
});
await picture("registry");

console.log(`${failures} failed`);
await browser.close();
process.exit(failures ? 1 : 0);
