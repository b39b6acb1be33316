// Finds the program for this machine, in the package for its platform that npm installs beside this one.
"use strict";

const path = require("node:path");

const name = `SCOPE/${process.platform}-${process.arch}`;

/** The path of the program; undefined where its package is not there. */
exports.program = () => {
  const file = process.platform === "win32" ? "intent-lsp.exe" : "intent-lsp";
  try {
    return path.join(path.dirname(require.resolve(`${name}/package.json`)), file);
  } catch {
    return undefined;
  }
};

exports.name = name;
