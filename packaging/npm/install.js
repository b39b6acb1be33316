// Replaces the launcher by the program, so that a hook does not start node first, which takes longer than the answer.
// An error here is no failure, because the launcher works too.
"use strict";

const fs = require("node:fs");
const path = require("node:path");
const platform = require("./platform.js");

/** On Windows, and by other package managers, what is called is a script that names node. */
const linked = process.platform !== "win32" && /^npm\//.test(process.env.npm_config_user_agent ?? "");
const program = platform.program();
if (linked && program) {
  const launcher = path.join(__dirname, "bin", "intent-lsp");
  const beside = `${launcher}.new`;
  try {
    try {
      fs.linkSync(program, beside);
    } catch {
      fs.copyFileSync(program, beside);
    }
    fs.chmodSync(beside, 0o755);
    fs.renameSync(beside, launcher);
  } catch {
    fs.rmSync(beside, { force: true });
  }
}
