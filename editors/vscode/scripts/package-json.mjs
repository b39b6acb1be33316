// node scripts/package-json.mjs [--write]: the settings for the levels of diagnostics in package.json, held against the
// project's own list (docs/diagnostics/README.md). Fails where a code is missing, gone, or told otherwise; --write
// brings package.json up to date. It also holds commands against the source: each is declared and registered.
import fs from "node:fs";

const here = new URL("../", import.meta.url);
const read = (name) => fs.readFileSync(new URL(name, here), "utf8");
const pages = fs.readdirSync(new URL("../../docs/diagnostics/", here)).filter((name) => name !== "README.md").map((name) => name.replace(/\.md$/, ""));

/** The rows `| [`code`](code.md) | editor | check | sentence |`, by section. */
function listed() {
  const codes = [];
  for (const line of read("../../docs/diagnostics/README.md").split("\n")) {
    const row = /^\| \[`([a-z-]+)`\]\([a-z-]+\.md\) \| (\w+) \| \w+ \| (.+) \|$/.exec(line);
    if (row) codes.push({ code: row[1], level: row[2], sentence: row[3] });
  }
  return codes;
}

const LEVELS = ["default", "off", "hint", "info", "warning", "error"];

function setting({ level, sentence }, order) {
  return {
    type: "string",
    enum: LEVELS,
    default: "default",
    scope: "resource",
    order,
    markdownDescription: `${sentence} Unless you or the workspace's policy say otherwise: \`${level}\`.`,
    enumDescriptions: ["What the workspace's policy says, else the default.", "Not shown.", "A hint.", "Information.", "A warning.", "An error."],
  };
}

const problems = [];
const codes = listed();
const missing = pages.filter((page) => !codes.some(({ code }) => code === page));
if (missing.length || codes.length !== pages.length) problems.push(`docs/diagnostics/README.md does not list ${missing.join(", ") || "what has a page"}`);

const manifest = JSON.parse(read("package.json"));
const sections = manifest.contributes.configuration;
const levels = sections.find(({ title }) => title === "Diagnostics");
const wanted = Object.fromEntries(codes.map((code, at) => [`intent.levels.${code.code}`, setting(code, at)]));
if (process.argv.includes("--write")) {
  levels.properties = wanted;
  fs.writeFileSync(new URL("package.json", here), `${JSON.stringify(manifest, null, 2)}\n`);
}
for (const name of new Set([...Object.keys(wanted), ...Object.keys(levels.properties)])) {
  if (JSON.stringify(wanted[name]) !== JSON.stringify(levels.properties[name])) problems.push(`the setting ${name} is not as docs/diagnostics has it; run with --write`);
}

const registered = [...read("src/commands.ts").matchAll(/^ {2}"(intent\.editor\.\w+)"/gm)].map((found) => found[1]);
const declared = manifest.contributes.commands.map(({ command }) => command);
for (const name of registered) if (!declared.includes(name)) problems.push(`the command ${name} is not declared`);
for (const name of declared) if (!registered.includes(name)) problems.push(`the command ${name} is not registered`);

for (const problem of problems) console.error(problem);
if (!problems.length) console.log(`${codes.length} levels, ${registered.length} commands`);
process.exit(problems.length ? 1 : 0);
