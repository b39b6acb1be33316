#!/usr/bin/env bash
# workspace.sh DEST: a small governed repository for the editor tests, made with
# the tool itself. Needs git and `intent` on PATH.
#
# INT-001 has produced src/auth/middleware.ts and is selected; INT-002 owns
# src/billing/, where an edit that is not saved in git leaves INT-001's scope.
set -euo pipefail
[[ $# -eq 1 ]] || { sed -n '2,3p' "$0" >&2; exit 2; }
mkdir -p "$1"
cd "$1"
[[ -z "$(ls -A)" ]] || { echo "$1 is not empty" >&2; exit 2; }

export GIT_AUTHOR_NAME=Ada GIT_AUTHOR_EMAIL=ada@example.invalid
export GIT_COMMITTER_NAME=Ada GIT_COMMITTER_EMAIL=ada@example.invalid
git init -q -b main

mkdir -p src/auth src/billing
cat > src/auth/middleware.ts <<'TS'
import { jwtVerify } from "jose";

export class AuthMiddleware {
  constructor(private readonly keys: KeyStore) {}

  async verify(token: string): Promise<Claims> {
    const key = await this.keys.current();
    return jwtVerify(token, key);
  }
}
TS
cat > src/billing/invoice.ts <<'TS'
export function total(lines: Line[]): number {
  return lines.reduce((sum, line) => sum + line.price * line.count, 0);
}
TS
git add -A
git commit -qm "Shop"

intent --quiet init
intent --quiet new "JWT Authentication Migration" --scope 'src/auth/**' --owner @ada --start \
    --constraint "Must not use external auth providers"
intent --quiet new "Invoice rounding" --scope 'src/billing/**' --start
intent --quiet select INT-001

cat > src/auth/middleware.ts <<'TS'
import { jwtVerify } from "jose";

export class AuthMiddleware {
  constructor(private readonly keys: KeyStore) {}

  async verify(token: string): Promise<Claims> {
    const key = await this.keys.current();
    const { payload } = await jwtVerify(token, key, { clockTolerance: 5 });
    return payload as Claims;
  }
}

export function bearer(header: string): string | undefined {
  const [scheme, token] = header.split(" ");
  return scheme.toLowerCase() === "bearer" ? token : undefined;
}
TS
intent --quiet record src/auth --agent claude-code --model example/model-1
git add -A
git commit -qm "Verify tokens with jose"

# Out of the scope of what is selected.
sed -i 's/line.price \* line.count/Math.round(line.price * line.count)/' src/billing/invoice.ts
