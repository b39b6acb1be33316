#!/usr/bin/env bash
# vscode.sh CODE_SERVER PLAYWRIGHT [PICTURES]: drives a real VS Code workbench and
# extension host with the extension of editors/vscode.
#
#   CODE_SERVER  folder of an installed npm package `code-server` (it holds out/node/entry.js)
#   PLAYWRIGHT   folder with an installed npm package `playwright-core`
#   PICTURES     where screenshots go
#
# Needs node, `chromium`, `git` and `intent` on PATH, and editors/vscode built
# (`npm ci --ignore-scripts && npm run package`). Installs nothing, listens on
# loopback only. Half a minute.
set -euo pipefail
here=$(cd "$(dirname "${BASH_SOURCE[0]}")" && pwd)
[[ $# -ge 2 ]] || { sed -n '2,11p' "$0" >&2; exit 2; }
code_server=$1 playwright=$2 pictures=${3:-}
vsix="$here/../vscode/intent-lsp.vsix"
[[ -f "$vsix" ]] || { echo "build $vsix first: npm run package" >&2; exit 2; }
scratch=$(mktemp -d)
server=
finish() {
    [[ -z "$server" ]] || kill "$server" 2>/dev/null || true
    rm -rf "$scratch" 2>/dev/null || true
}
trap finish EXIT
"$here/workspace.sh" "$scratch/work"
mkdir -p "$scratch/home" "$scratch/user/User" "$scratch/user/Machine"
# The workbench takes its PATH from a login shell, so the program is named as a person would name it.
printf '{ "intent.server.path": "%s" }\n' "$(command -v intent)" > "$scratch/user/Machine/settings.json"
cat > "$scratch/user/User/settings.json" <<'JSON'
{
  "telemetry.telemetryLevel": "off", "update.mode": "none",
  "extensions.autoCheckUpdates": false, "extensions.autoUpdate": false,
  "workbench.startupEditor": "none", "workbench.enableExperiments": false, "workbench.tips.enabled": false,
  "workbench.secondarySideBar.defaultVisibility": "hidden", "chat.commandCenter.enabled": false,
  "editor.minimap.enabled": false, "git.enabled": false, "typescript.validate.enable": false, "files.autoSave": "off"
}
JSON
run() {
    exec env -i PATH="$PATH" HOME="$scratch/home" LANG=C.UTF-8 node "$code_server/out/node/entry.js" \
        --config "$scratch/config.yaml" --user-data-dir "$scratch/user" --extensions-dir "$scratch/extensions" \
        --disable-telemetry --disable-update-check "$@"
}
(run --install-extension "$vsix" --force) > "$scratch/install.log" 2>&1 || { cat "$scratch/install.log" >&2; exit 1; }
port=$(node -e 'const s = require("net").createServer().listen(0, "127.0.0.1", () => { console.log(s.address().port); s.close(); })')
run --auth none --bind-addr "127.0.0.1:$port" --disable-workspace-trust --disable-getting-started-override \
    --app-name Intent "$scratch/work" > "$scratch/server.log" 2>&1 &
server=$!
for _ in $(seq 120); do
    node -e 'fetch(process.argv[1]).then(r => process.exit(r.ok ? 0 : 1), () => process.exit(1))' "http://127.0.0.1:$port/healthz" && break
    sleep 0.25
done
PLAYWRIGHT="$playwright/node_modules/playwright-core" PICTURES="$pictures" \
    timeout 180 node "$here/vscode.mjs" "http://127.0.0.1:$port/?folder=$scratch/work" || {
    status=$?
    tail -n 20 "$scratch/server.log" >&2
    find "$scratch/user/logs" -name '*Intent*' -exec tail -n 30 {} + >&2 2>/dev/null || true
    exit "$status"
}
