#!/usr/bin/env bash
# workspace.sh DEST: the small governed repository that the editor tests open, made with the tool itself. Needs git and
# `intent` on PATH; one to three seconds, most of it the disk.
#
# workspace.sh --in-project DEST: the same inside of the project of 300 files that tests/e2e/project.py makes, as it
# came to be during two months. Needs faketime and Python, too; half a minute.
#
# A shop. What is there to be seen:
#
#   src/auth/middleware.ts   INT-001, selected. `verify` has a lineage of three records by three agents
#   src/auth/session.ts      INT-001. `expired` was modified since, by nobody who recorded it
#   src/billing/invoice.ts   owned by INT-002, recorded by nobody; `total` holds an edit that leaves the scope of INT-001
#   src/billing/receipt.ts   INT-002, recorded
#   stock/reserve.py         INT-003, completed. `hold` was recorded under the name of `reserve`
#   deploy/shop.toml         owned by no intent
#   README.md                cites INT-001 and INT-002
set -euo pipefail
here=$(cd "$(dirname "${BASH_SOURCE[0]}")" && pwd)
in_project=
if [[ ${1:-} == --in-project ]]; then
    in_project=1
    shift
fi
[[ $# -eq 1 ]] || { sed -n '2,6p' "$0" >&2; exit 2; }
mkdir -p "$1"
cd "$1"
[[ -z "$(ls -A)" ]] || { echo "$1 is not empty" >&2; exit 2; }

export GIT_AUTHOR_NAME="Ada Marsh" GIT_AUTHOR_EMAIL=ada@example.invalid
export GIT_COMMITTER_NAME="Ada Marsh" GIT_COMMITTER_EMAIL=ada@example.invalid
export GIT_CONFIG_NOSYSTEM=1

# Alone, it is committed on days of March, which do not move, and recorded now. In the project it happens this many days
# ago.
readonly AGO=([2]=60 [3]=58 [4]=18 [5]=14 [6]=9 [9]=3 [10]=2)
on_this_day() {
    if [[ -n $in_project ]]; then
        faketime -f "-${AGO[day]}d" "$@"
    else
        local date
        date=$(printf '2026-03-%02dT09:30:00Z' "$day")
        GIT_AUTHOR_DATE="$date" GIT_COMMITTER_DATE="$date" "$@"
    fi
}
commit() {
    git add -A
    on_this_day git commit -qm "$1"
}
record() { on_this_day intent --quiet record "$@"; }

day=2
git init -q -b main
mkdir -p src/auth src/billing stock deploy

# The shop before anybody wrote down what they were asked for.

cat > src/auth/middleware.ts <<'TS'
import { jwtVerify } from "jose";

export class AuthMiddleware {
  constructor(private readonly keys: KeyStore) {}

  async verify(token: string): Promise<Claims> {
    const session = await this.keys.session(token);
    return session.claims;
  }
}
TS
cat > src/auth/session.ts <<'TS'
export interface Session {
  user: string;
  endsAt: number;
}
TS
cat > src/billing/invoice.ts <<'TS'
export function total(lines: Line[]): number {
  return lines.reduce((sum, line) => sum + line.price * line.count, 0);
}
TS
cat > stock/reserve.py <<'PY'
"""What lies in a basket is kept from other baskets for a while."""
PY
cat > deploy/shop.toml <<'TOML'
[service]
name = "shop"
port = 8080
TOML
cat > README.md <<'MD'
# Shop

Sign-in moves from server sessions to signed tokens: INT-001.
Prices are rounded once, on the receipt: INT-002.
MD
commit "Shop"

day=3
intent --quiet init
intent --quiet new "JWT Authentication Migration" --scope 'src/auth/**' --owner @ada --start \
    --constraint "Must not use external auth providers" \
    --criterion "Tokens are verified with the current key" \
    --criterion "A clock that is five seconds off signs nobody out" \
    --criterion "Unit tests in tests/auth/ pass"
intent --quiet new "Invoice rounding" --scope 'src/billing/**' --owner @grace --start \
    --constraint "Amounts stay whole cents" \
    --criterion "An invoice and its receipt show the same total"
intent --quiet new "Stock reservations" --scope 'stock/**' --owner @ada --start \
    --criterion "A reservation ends after fifteen minutes"
# The drives read and edit the registry as one list.
{
    echo 'active_intents:'
    sed -s '1s/^/  - /; 2,$s/^/    /' .orchestration/intents/*.yaml
} > .orchestration/active_intents.yaml
rm -r .orchestration/intents
commit "Write down what we are working on"
if [[ -n $in_project ]]; then
    INTENT_BIN=$(command -v intent) faketime -f -0d python3 "$here/../../tests/e2e/project.py" "$PWD" 4
fi

# Reservations, by one agent; done since.
day=4

cat >> stock/reserve.py <<'PY'

from datetime import datetime, timedelta

KEPT_FOR = timedelta(minutes=15)


def reserve(stock: dict[str, int], item: str, count: int) -> datetime:
    """Takes items out of the stock; answers when they go back."""
    if stock.get(item, 0) < count:
        raise LookupError(f"{item}: {count} wanted, {stock.get(item, 0)} there")
    stock[item] -= count
    return datetime.now() + KEPT_FOR


def release(stock: dict[str, int], item: str, count: int) -> None:
    stock[item] = stock.get(item, 0) + count
PY
record stock --intent INT-003 --agent gemini-cli --model example/model-3
intent --quiet complete INT-003
commit "Keep what lies in a basket"

# Tokens: three agents, one after the other, at the same method.
day=5

verify() { # the body of the method
    cat > src/auth/middleware.ts <<TS
import { jwtVerify } from "jose";

export class AuthMiddleware {
  constructor(private readonly keys: KeyStore) {}

  async verify(token: string): Promise<Claims> {
$1
  }
}
TS
}
verify '    const key = await this.keys.current();
    return (await jwtVerify(token, key)) as Claims;'
cat > src/auth/session.ts <<'TS'
export interface Session {
  user: string;
  endsAt: number;
}

export function expired(session: Session, now: number): boolean {
  return session.endsAt <= now;
}

export function renewed(session: Session, now: number): Session {
  return { ...session, endsAt: now + 15 * 60_000 };
}
TS
record src/auth --intent INT-001 --agent codex --model example/model-2
commit "Verify tokens with jose"

day=6
verify '    const key = await this.keys.current();
    const { payload } = await jwtVerify(token, key);
    return payload as Claims;'
record src/auth --intent INT-001 --agent gemini-cli --model example/model-3
commit "Return the claims, not the envelope"

day=9
intent --quiet select INT-001
verify '    const key = await this.keys.current();
    const { payload } = await jwtVerify(token, key, { clockTolerance: 5 });
    return payload as Claims;'
cat >> src/auth/middleware.ts <<'TS'

export function bearer(header: string): string | undefined {
  const [scheme, token] = header.split(" ");
  return scheme.toLowerCase() === "bearer" ? token : undefined;
}
TS
record src/auth --agent claude-code --model example/model-1

cat > src/billing/receipt.ts <<'TS'
export function rounded(cents: number): number {
  return Math.round(cents);
}
TS
record src/billing --intent INT-002 --contributor human
commit "Allow for clocks that are five seconds off"

# What nobody recorded: a change within a block, and another name for one.
day=10

sed -i 's/session.endsAt <= now/session.endsAt - 30_000 <= now/' src/auth/session.ts
sed -i 's/def reserve(/def hold(/' stock/reserve.py
commit "End sessions half a minute early"

# Out of the scope of what is selected, and not committed.
sed -i 's/line.price \* line.count/Math.round(line.price * line.count)/' src/billing/invoice.ts
