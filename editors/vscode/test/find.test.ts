import assert from "node:assert/strict";
import * as fs from "node:fs";
import * as os from "node:os";
import * as path from "node:path";
import test from "node:test";
import { findIntent, findOnPath, isOlder } from "../src/find";

function folder(): string {
  const made = fs.mkdtempSync(path.join(os.tmpdir(), "intent-find-"));
  fs.writeFileSync(path.join(made, "intent"), "#!/bin/sh\n", { mode: 0o755 });
  fs.writeFileSync(path.join(made, "text"), "no program", { mode: 0o644 });
  return made;
}

test("the program is on PATH, in absolute folders only", () => {
  const made = folder();
  const before = process.cwd();
  process.chdir(made);
  try {
    assert.deepEqual(findIntent("", { path: `.:${path.delimiter}/nowhere` }), { missing: "path", tried: "intent" });
    assert.deepEqual(findIntent("", { path: ["", ".", made].join(path.delimiter) }), { program: path.join(made, "intent") });
    assert.equal(findOnPath("text", { path: made }), undefined, "what cannot be run is no program");
  } finally {
    process.chdir(before);
    fs.rmSync(made, { recursive: true });
  }
});

test("a setting is the only place that counts, and has to be absolute", () => {
  const made = folder();
  const around = { path: made };
  assert.deepEqual(findIntent("intent", around), { missing: "setting", tried: "intent" });
  assert.deepEqual(findIntent(path.join(made, "text"), around), { missing: "setting", tried: path.join(made, "text") });
  assert.deepEqual(findIntent(path.join(made, "intent"), { path: "" }), { program: path.join(made, "intent") });
  fs.rmSync(made, { recursive: true });
});

test("cargo's own folder is looked at last", () => {
  const made = folder();
  fs.mkdirSync(path.join(made, ".cargo", "bin"), { recursive: true });
  const installed = path.join(made, ".cargo", "bin", "intent");
  fs.copyFileSync(path.join(made, "intent"), installed);
  assert.deepEqual(findIntent("", { path: "", home: made }), { program: installed });
  assert.deepEqual(findIntent("", { path: made, home: made }), { program: path.join(made, "intent") });
  fs.rmSync(made, { recursive: true });
});

test("what the extension brings comes after the setting and before the PATH", () => {
  const [made, brought] = [folder(), folder()];
  fs.renameSync(path.join(brought, "intent"), path.join(brought, "intent-lsp"));
  const around = { path: made, brought };
  assert.deepEqual(findIntent("", around), { program: path.join(brought, "intent-lsp") });
  assert.deepEqual(findIntent("", { path: "", brought }), { program: path.join(brought, "intent-lsp") }, "with nothing on PATH");
  assert.deepEqual(findIntent(path.join(made, "intent"), around), { program: path.join(made, "intent") });
  fs.chmodSync(path.join(brought, "intent-lsp"), 0o644);
  assert.deepEqual(findIntent("", around), { program: path.join(made, "intent") }, "what cannot be run is no program");
  for (const gone of [made, brought]) fs.rmSync(gone, { recursive: true });
});

test("the name that no other program has is looked for first, anywhere on PATH", () => {
  const [made, other] = [folder(), folder()];
  fs.copyFileSync(path.join(made, "intent"), path.join(made, "intent-lsp"));
  assert.deepEqual(findIntent("", { path: [other, made].join(path.delimiter) }), { program: path.join(made, "intent-lsp") });
  for (const gone of [made, other]) fs.rmSync(gone, { recursive: true });
});

test("versions are compared by number", () => {
  assert.equal(isOlder("0.9.0", "0.10.0"), true);
  assert.equal(isOlder("1.0.0", "0.10.0"), false);
  assert.equal(isOlder("0.1.0", "0.1.0"), false);
  assert.equal(isOlder("", "0.1.0"), false, "no version is no reason to complain");
});
