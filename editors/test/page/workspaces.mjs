// The workspaces whose reports are looked at, each made with the tool itself.
import { spawnSync } from "node:child_process";
import fs from "node:fs";
import path from "node:path";
import { fileURLToPath } from "node:url";

const { SCRATCH, INTENT_BIN } = process.env;
const home = path.join(SCRATCH, "home");
fs.mkdirSync(home, { recursive: true });

// Nothing of who runs this: a variable of an agent's session would make an agent of the tests.
const clean = {
  PATH: `${path.dirname(INTENT_BIN)}:${process.env.PATH}`, HOME: home, LANG: "C.UTF-8",
  GIT_CONFIG_GLOBAL: "/dev/null", GIT_CONFIG_NOSYSTEM: "1",
  GIT_AUTHOR_NAME: "Ada", GIT_AUTHOR_EMAIL: "ada@example.invalid", GIT_COMMITTER_NAME: "Ada", GIT_COMMITTER_EMAIL: "ada@example.invalid",
};

function run(program, words, cwd) {
  const done = spawnSync(program, words, { cwd, env: clean, timeout: 300_000, maxBuffer: 1 << 28, stdio: ["ignore", "pipe", "pipe"] });
  if (done.error) throw done.error;
  if (done.status !== 0) throw new Error(`${path.basename(program)} ${words.join(" ").slice(0, 200)}: ${done.stderr}`);
  return done.stdout.toString();
}

function folder(name) {
  const root = path.join(SCRATCH, name);
  fs.mkdirSync(root);
  run("git", ["init", "-q", "-b", "main"], root);
  const write = (file, text) => {
    fs.mkdirSync(path.dirname(path.join(root, file)), { recursive: true });
    fs.writeFileSync(path.join(root, file), text);
  };
  const intent = (...words) => run(INTENT_BIN, words, root);
  const commit = () => { run("git", ["add", "-A"], root); run("git", ["commit", "-qm", "a commit"], root); };
  return { root, write, intent, commit };
}

/// The page of a workspace, and the data that is in it.
export function report(root) {
  const page = path.join(SCRATCH, `${path.basename(root)}.html`);
  const started = Date.now();
  run(INTENT_BIN, ["report", "--html", "--out", page], root);
  const made = Date.now() - started;
  const [, data] = /<script type="application\/json" id="data">(.*?)<\/script>/s.exec(fs.readFileSync(page, "utf8"));
  return { root, page, made, data: JSON.parse(data) };
}

/// The same data as programs get it.
export const reportAsData = (root) => JSON.parse(run(INTENT_BIN, ["report", "--json"], root));

export function shop() {
  const root = path.join(SCRATCH, "shop");
  run("bash", [fileURLToPath(new URL("../workspace.sh", import.meta.url)), root], SCRATCH);
  return root;
}

const PARTS = 10;
const FILES = 25;
const BLOCKS = 80;
/// How many blocks the large workspace has at least.
export const MANY = PARTS * FILES * BLOCKS;
const MODELS = ["example/model-1", "example/model-2", "other/large", "other/small"];

/// 20,000 blocks of ten intents by four models and a person; some changed since, some recorded twice, some new.
export function large() {
  const { root, write, intent, commit } = folder("large");
  intent("init", "--quiet");
  const name = (part, file) => `parts/part${part}/area${file % 5}/file${part}x${file}.ts`;
  const block = (part, file, at) => {
    const id = `${part}x${file}x${at}`;
    return `export function handler${id}(input: number): number {\n  const first = step${id}(input, ${part * 1000 + file});\n  return first * ${at} + again${id}(first);\n}\n`;
  };
  const text = (part, file, changed = (text) => text) => Array.from({ length: BLOCKS }, (_, at) => changed(block(part, file, at), at)).join("\n");
  let registry = "active_intents:\n";
  for (let part = 0; part < PARTS; part += 1) {
    // Two own a part of another's.
    const more = { 2: ["parts/part1/**"], 9: ["parts/part8/**"] }[part] ?? [];
    const scope = JSON.stringify([...more, `parts/part${part}/**`]);
    registry += `  - id: INT-${String(part + 1).padStart(3, "0")}\n    name: Part ${part} of the works\n    status: IN_PROGRESS\n    owned_scope: ${scope}\n    owner: "@ada"\n    acceptance_criteria: [Everything has a reason]\n`;
    for (let file = 0; file < FILES; file += 1) write(name(part, file), text(part, file));
  }
  write(".orchestration/active_intents.yaml", registry);
  commit();
  const by = (part) => (part === 4 ? ["--contributor", "human"] : ["--agent", "codex", "--model", MODELS[part % MODELS.length]]);
  for (let part = 0; part < PARTS; part += 1) intent("record", "--quiet", "--all", "--yes", `parts/part${part}`, "--intent", `INT-${String(part + 1).padStart(3, "0")}`, ...by(part));
  for (let file = 0; file < FILES; file += 1) write(name(1, file), text(1, file, (body, at) => (at === 3 ? body.replace("= step", "= 7 + step").replace("return first", "return 7 * first") : body)));
  intent("record", "--quiet", "parts/part1", "--intent", "INT-003", ...by(3));
  for (let file = 0; file < FILES; file += 1) {
    write(name(2, file), text(2, file, (body, at) => (at === 5 ? body.replace("return first", "return first - 1 + first") : body)));
    write(name(6, file), text(6, file, (body, at) => (at === 1 ? body.replace("  return", "  // why\n  return") : body)));
  }
  fs.appendFileSync(path.join(root, name(3, 0)), "\nexport function unheardOf(input: string): string {\n  return input.trim().toUpperCase();\n}\n");
  return root;
}

/// What it would run if it were read as markup, what turns text around, and what cannot be seen.
export const EVIL = `</script><script>window.pwned=1</script><img src=x onerror="window.pwned=2"><svg onload=window.pwned=3>\u202eB\u200bC`;

/// Names of everything that can be named by others, chosen to break out.
export function hostile() {
  const { root, write, intent, commit } = folder("hostile");
  intent("init", "--quiet");
  const yaml = (text) => JSON.stringify(text).replace(/[^\x20-\x7e]/g, (c) => `\\u${c.charCodeAt(0).toString(16).padStart(4, "0")}`);
  const long = "long ".repeat(13_108).trim();
  const css = `x" style="background:url(https://evil.example/x)}; body{display:none} @import "//evil.example"; {`;
  write(".orchestration/active_intents.yaml", [
    "active_intents:",
    `  - id: INT-001\n    name: ${yaml(EVIL)}\n    status: IN_PROGRESS\n    owned_scope: ["src/**", ${yaml(EVIL)}, ${yaml(css)}]\n    constraints: [${yaml(EVIL)}, ${yaml(long)}]\n    acceptance_criteria: [${yaml(css)}]\n    owner: ${yaml("javascript:window.pwned=4")}`,
    `  - id: INT-002\n    name: ${yaml(long)}\n    status: IN_PROGRESS\n    owned_scope: ["src/**"]\n    owner: ${yaml(long)}`,
    `  - id: ${yaml(EVIL)}\n    name: ${yaml(css)}\n    status: ${yaml(EVIL)}\n    owned_scope: ["src/**"]`,
    `  - id: "__proto__"\n    name: ${yaml("javascript:window.pwned=5")}\n    status: DRAFT\n    owned_scope: ["docs/**"]`,
  ].join("\n") + "\n");
  write("src/a.md", `# ${EVIL}\n\nOne.\n\n## javascript:window.pwned=6\n\nTwo.\n\n## constructor\n\nThree.\n`);
  write("src/c.md", `# ${"x".repeat(20_000)}\n\nFour.\n`);
  write(`src/${EVIL.replaceAll("/", "-").slice(0, 90)}.ts`, "export function f(): number {\n  return 1;\n}\n");
  write("src/b.ts", "export function __proto__(): number {\n  return 2;\n}\n\nexport function toString(): number {\n  return 3;\n}\n");
  commit();
  intent("record", "--quiet", "--all", "--yes", "src", "--intent", "INT-001", "--agent", EVIL, "--model", EVIL);
  write("src/b.ts", "export function __proto__(): number {\n  return 2;\n}\n\nexport function toString(): number {\n  return 4;\n}\n");
  intent("record", "--quiet", "src/b.ts", "--intent", "INT-002", "--agent", "codex", "--model", long.slice(0, 20_000));
  const evil = JSON.stringify(EVIL);
  const hash = `sha256:${"0".repeat(64)}`;
  write(".orchestration/agent_trace/2026/01/evil.jsonl", `{"id":${evil},"timestamp":${evil},"kind":"mutation","intent_id":${evil},"files":[{"relative_path":"src/b.ts","conversations":[{"contributor":{"entity_type":"AI","model_identifier":${evil}},"ranges":[{"start_line":5,"end_line":7,"content_hash":"${hash}","block":{"kind":${evil},"path":${evil},"language":"typescript"}}]}]}]}\n`);
  return root;
}
