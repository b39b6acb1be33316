#!/usr/bin/env node
// Starts the program for this machine. If npm runs install scripts, the program itself replaces this file.
"use strict";

const { spawn } = require("node:child_process");
const platform = require("../platform.js");

const program = platform.program();
if (!program) {
  console.error(`intent-lsp: the package ${platform.name} is not installed. It holds the program for this machine: install intent-lsp again, with optional dependencies; if there is none, build intent-lsp with cargo.`);
  process.exit(2);
}

const child = spawn(program, process.argv.slice(2), { stdio: "inherit" });
for (const signal of ["SIGINT", "SIGTERM", "SIGHUP"]) process.on(signal, () => child.kill(signal));
child.on("error", (error) => {
  console.error(`intent-lsp: ${program} did not start: ${error.message}`);
  process.exit(2);
});
child.on("exit", (code, signal) => {
  if (!signal) process.exit(code);
  // Ends by the same signal, so that the caller sees how the program ended.
  process.removeAllListeners(signal);
  process.kill(process.pid, signal);
});
