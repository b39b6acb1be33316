#!/usr/bin/env bash
# Backs up a folder.
set -euo pipefail

readonly TARGET="${1:-backup}"
export LEVEL=3
name=$(date +%F)

log() {
  local line=$1
  printf '%s %s\n' "$(date)" "$line" >&2
}

function pack {
  tar -czf "$TARGET/$name.tgz" \
    --exclude=.git \
    "$@"
}

usage() {
  cat <<EOF
usage: $0 [target]
EOF
}

if [ $# -eq 0 ]; then
  usage
  exit 1
fi

log "start"; pack .
log "end"
