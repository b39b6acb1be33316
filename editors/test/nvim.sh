#!/usr/bin/env bash
# nvim.sh: drives a real Neovim 0.11 with the configuration of editors/nvim.
# Needs `nvim`, `git` and `intent` on PATH; installs nothing. Seconds.
set -euo pipefail
here=$(cd "$(dirname "${BASH_SOURCE[0]}")" && pwd)
scratch=$(mktemp -d)
trap 'rm -rf "$scratch"' EXIT
"$here/workspace.sh" "$scratch/work"
export INTENT_TEST_WORK="$scratch/work" INTENT_TEST_CONFIG="$here/../nvim"
export HOME="$scratch/home" XDG_STATE_HOME="$scratch/state"
mkdir -p "$HOME"
cd "$scratch/work"
timeout 60 nvim --clean --headless -l "$here/nvim.lua"
