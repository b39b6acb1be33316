#!/usr/bin/env bash
# emacs.sh: drives a real Emacs (28 with eglot, or 29 and newer) with editors/emacs/intent.el.
# Needs `emacs`, `git` and `intent` on PATH; installs nothing. Seconds.
set -euo pipefail
here=$(cd "$(dirname "${BASH_SOURCE[0]}")" && pwd)
scratch=$(mktemp -d)
trap 'rm -rf "$scratch"' EXIT
"$here/workspace.sh" "$scratch/work"
export INTENT_TEST_WORK="$scratch/work" HOME="$scratch/home"
mkdir -p "$HOME"
cd "$scratch/work"
# Emacs 28 has eglot as a package.
timeout 90 emacs -q --batch --eval "(package-initialize)" -l "$here/../emacs/intent.el" -l "$here/emacs.el"
