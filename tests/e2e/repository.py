"""The binary under test, and a git repository with intents in which it works."""

from __future__ import annotations

import json
import os
import pathlib
import subprocess

ROOT = pathlib.Path(__file__).resolve().parents[2]
BINARY = pathlib.Path(os.environ.get("INTENT_BIN", ROOT / "target" / "debug" / "intent"))

MIDDLEWARE = """\
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
"""

INVOICE = """\
export function total(lines: Line[]): number {
  return lines.reduce((sum, line) => sum + line.price * line.count, 0);
}
"""

REGISTRY = """\
# What we are working on. This comment must survive every edit.
active_intents:
  - id: INT-001
    name: JWT Authentication Migration
    status: IN_PROGRESS
    owned_scope: ["src/auth/**"]   # and nothing else
    constraints: ["Must not use external auth providers"]
  - id: INT-002
    name: Invoice rounding
    status: IN_PROGRESS
    owned_scope:
      - src/billing/**
  - id: INT-003
    name: Old work
    status: COMPLETED
    owned_scope: ["src/old/**"]
"""


class Repository:
    """A git repository with intents, and the command line in it."""

    def __init__(self, path: pathlib.Path, home: pathlib.Path):
        self.path = path
        self.env = {
            "PATH": os.environ["PATH"],
            "HOME": str(home),
            "LANG": "C.UTF-8",
            "NO_COLOR": "1",
            "GIT_CONFIG_NOSYSTEM": "1",
            **{f"GIT_{who}_{what}": value
               for who in ("AUTHOR", "COMMITTER")
               for what, value in (("NAME", "Test"), ("EMAIL", "test@example.invalid"))},
        }

    def uri(self, name: str = "") -> str:
        return (self.path / name).as_uri() if name else self.path.as_uri()

    def read(self, name: str) -> str:
        return (self.path / name).read_text()

    def write(self, name: str, text: str) -> None:
        target = self.path / name
        target.parent.mkdir(parents=True, exist_ok=True)
        target.write_text(text)

    def git(self, *arguments: str) -> str:
        return subprocess.run(["git", *arguments], cwd=self.path, env=self.env, check=True,
                              capture_output=True, text=True, timeout=120).stdout

    def intent(self, *arguments: str, code: int = 0):
        """Runs a command with --json and returns the parsed output."""
        done = subprocess.run([str(BINARY), "--json", *arguments], cwd=self.path, env=self.env,
                              capture_output=True, text=True, timeout=120)
        assert done.returncode == code, f"intent {arguments}: {done.returncode}\n{done.stdout}\n{done.stderr}"
        return json.loads(done.stdout) if done.stdout.strip() else None

    def ledger(self) -> list[dict]:
        files = sorted((self.path / ".git/intent/open").rglob("*.jsonl"))
        lines = [json.loads(line) for file in files for line in file.read_text().splitlines()]
        return [line for line in lines if "kind" in line]


def governed_clone() -> bool:
    """Returns whether the tests run in a clone of this project with its own intents. A package contains neither."""
    return (ROOT / ".git").exists() and (ROOT / ".orchestration" / "active_intents.yaml").is_file()


def copy_of_this_project(target: pathlib.Path, home: pathlib.Path) -> Repository:
    """Copies the committed state of this project."""
    repository = Repository(target, home)
    subprocess.run(["git", "clone", "-q", "--no-hardlinks", str(ROOT), str(target)], env=repository.env,
                   check=True, capture_output=True, timeout=60)
    return repository
