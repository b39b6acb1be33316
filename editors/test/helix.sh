#!/usr/bin/env bash
# helix.sh [PICTURES]: drives a real Helix in a terminal with editors/helix/languages.toml.
# Needs `hx`, `tmux`, `git` and `intent` on PATH; installs nothing. Seconds.
# Leaves screens as text (with escape sequences) in the folder PICTURES, if one is named.
set -euo pipefail
here=$(cd "$(dirname "${BASH_SOURCE[0]}")" && pwd)
scratch=$(mktemp -d)
socket="intent-$$"
pictures=${1:-}
finish() {
    tmux -L "$socket" kill-server 2>/dev/null || true
    rm -rf "$scratch"
}
trap finish EXIT
"$here/workspace.sh" "$scratch/work"
mkdir -p "$scratch/home/.config/helix"
cp "$here/../helix/languages.toml" "$scratch/home/.config/helix/"
printf 'theme = "default"\n[editor.lsp]\ndisplay-inlay-hints = true\n[editor.inline-diagnostics]\ncursor-line = "hint"\n' \
    > "$scratch/home/.config/helix/config.toml"

failures=0
hx() { tmux -L "$socket" "$@"; }
check() { # NAME TEXT
    local attempt
    for attempt in $(seq 100); do
        if hx capture-pane -p -t hx | grep -qF -- "$2"; then
            echo "ok   $1"
            return
        fi
        sleep 0.1
    done
    failures=$((failures + 1))
    echo "FAIL $1: no '$2' on the screen (attempt $attempt)"
    hx capture-pane -p -t hx | sed 's/^/     | /'
}
picture() {
    [[ -z "$pictures" ]] || { mkdir -p "$pictures"; hx capture-pane -e -p -t hx > "$pictures/helix-$1.ansi"; }
}

hx -f /dev/null new-session -d -s hx -x 110 -y 30 -c "$scratch/work" \
    env HOME="$scratch/home" XDG_CONFIG_HOME="$scratch/home/.config" TERM=screen-256color COLORTERM=truecolor \
    LANG=C.UTF-8 hx src/auth/middleware.ts:6:10
check "shows the file" "AuthMiddleware"
check "hints at the intent beside the method" "INT-001"
hx send-keys -t hx Space k
check "hovers" "JWT Authentication Migration"
check "with the verdict" "exact"
picture hover
hx send-keys -t hx Escape Escape ":open src/billing/invoice.ts" Enter
check "opens the other file" "Math.round"
check "marks an edit out of scope" "Scope Violation"
picture scope
hx send-keys -t hx Space a
check "offers the intent that owns the file" "INT-002"
picture action
hx send-keys -t hx Escape ":q!" Enter
echo "$failures failed"
exit "$((failures > 0))"
