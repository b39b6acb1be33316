"""Shared by all agents of the lab: a workspace, a temporary home folder, and a process with a time limit."""

from __future__ import annotations

import dataclasses
import json
import os
import pathlib
import shutil
import signal
import subprocess
import time

from model import Model, Step

ROOT = pathlib.Path(__file__).resolve().parents[2]
BINARY = pathlib.Path(os.environ.get("INTENT_BIN", ROOT / "target" / "debug" / "intent")).resolve()
MODULES = pathlib.Path(os.environ.get("INTENT_AGENTS", ROOT / "target" / "agents")).resolve() / "node_modules"

# The time limit of an agent. Agents need one to twenty seconds, the slow ones on a busy machine.
MOST_SECONDS = 90

REGISTRY = """\
active_intents:
  - id: INT-001
    name: JWT Authentication Migration
    status: IN_PROGRESS
    owned_scope: ["src/auth/**"]
  - id: INT-002
    name: Handbook
    status: IN_PROGRESS
    owned_scope: ["docs/**"]
"""

TOKEN = """\
def verify(token):
    if not token:
        return False
    return token == "secret"


def bearer(header):
    return header.split(" ")[1]
"""

INVOICE = """\
def total(lines):
    return sum(line.price for line in lines)
"""


class Repository:
    """A git repository with two intents, which own `src/auth/**` and `docs/**`, and with code that neither owns."""

    def __init__(self, path: pathlib.Path, home: pathlib.Path):
        self.path = path
        self.home = home
        (home / "tmp").mkdir(parents=True)
        # codex runs commands and hooks in a login shell, and /etc/profile sets PATH there.
        (home / ".profile").write_text(f"PATH='{self.env['PATH']}'\n")
        self.write("src/auth/token.py", TOKEN)
        self.write("src/billing/invoice.py", INVOICE)
        self.write("docs/guide.md", "# Guide\n")
        self.git("init", "-q", "-b", "main")
        self.intent("init")
        self.write(".orchestration/active_intents.yaml", REGISTRY)
        self.commit("code and intents")

    @property
    def env(self) -> dict[str, str]:
        """A clean environment without the settings, keys or proxies of the person who runs the tests."""
        return {
            "PATH": f"{BINARY.parent}:{os.environ['PATH']}",
            "HOME": str(self.home),
            # This must not be the folder that contains the repository, because codex and the gate treat everything
            # below it as temporary.
            "TMPDIR": str(self.home / "tmp"),
            "XDG_CONFIG_HOME": str(self.home / ".config"),
            "XDG_DATA_HOME": str(self.home / ".local" / "share"),
            "XDG_CACHE_HOME": str(self.home / ".cache"),
            "XDG_STATE_HOME": str(self.home / ".local" / "state"),
            "LANG": "C.UTF-8",
            "NO_COLOR": "1",
            "GIT_CONFIG_NOSYSTEM": "1",
            **{f"GIT_{who}_{what}": value
               for who in ("AUTHOR", "COMMITTER")
               for what, value in (("NAME", "Test"), ("EMAIL", "test@example.invalid"))},
        }

    def __truediv__(self, name: str) -> pathlib.Path:
        return self.path / name

    def read(self, name: str) -> str | None:
        file = self.path / name
        return file.read_text() if file.is_file() else None

    def write(self, name: str, text: str) -> None:
        file = self.path / name
        file.parent.mkdir(parents=True, exist_ok=True)
        file.write_text(text)

    def git(self, *arguments: str) -> str:
        return self._run("git", *arguments)

    def intent(self, *arguments: str) -> str:
        return self._run(str(BINARY), *arguments)

    def person(self, *arguments: str) -> str:
        """Runs a command as the person, outside of any agent."""
        return self.intent(*arguments)

    def commit(self, message: str) -> None:
        self.git("add", "-A")
        self.git("commit", "-qm", message)

    def _run(self, *command: str) -> str:
        done = subprocess.run(command, cwd=self.path, env=self.env, capture_output=True, text=True, timeout=60)
        assert done.returncode == 0, f"{' '.join(command)}: {done.returncode}\n{done.stdout}\n{done.stderr}"
        return done.stdout

    def ledger(self) -> list[dict]:
        files = sorted((self.path / ".orchestration").glob("agent_trace/open/*.jsonl"))
        return [json.loads(line) for file in files for line in file.read_text().splitlines()]

    def mutations(self, name: str) -> list[dict]:
        """Returns the records about changes of a file, oldest first."""
        return [record for record in self.ledger() if record.get("kind") == "mutation"
                and any(file["relative_path"] == name for file in record.get("files", []))]


@dataclasses.dataclass
class Run:
    """The result of a run: what the model was told, what the agent printed, and how long it took."""

    model: Model
    code: int
    out: str
    err: str
    seconds: float

    @property
    def results(self) -> list[str]:
        return self.model.results

    @property
    def events(self) -> list[dict]:
        """Returns what the agent printed, if it prints JSON lines."""
        return [json.loads(line) for line in self.out.splitlines() if line.startswith("{")]

    def __str__(self) -> str:
        results = "\n".join(f"  {place}: {text}" for place, text in enumerate(self.results))
        return (f"exit {self.code} after {self.seconds:.1f} s, {len(self.model.requests)} requests; "
                f"tools {sorted(self.model.tools)}\nresults:\n{results}\n"
                f"stdout:\n{self.out[-4000:]}\nstderr:\n{self.err[-4000:]}")


def bounded(command: list[str], cwd: pathlib.Path, env: dict[str, str]) -> tuple[int, str, str, float]:
    """Runs a program in a process group of its own, and ends that group afterwards."""
    started = time.monotonic()
    process = subprocess.Popen(command, cwd=cwd, env=env, stdin=subprocess.DEVNULL, stdout=subprocess.PIPE,
                               stderr=subprocess.PIPE, text=True, errors="replace", start_new_session=True)
    try:
        out, err = process.communicate(timeout=MOST_SECONDS)
    except subprocess.TimeoutExpired:
        os.killpg(process.pid, signal.SIGKILL)
        out, err = process.communicate(timeout=10)
        err += f"\nended after {MOST_SECONDS} s"
    finally:
        # The agent may have left language and MCP servers running.
        try:
            os.killpg(process.pid, signal.SIGKILL)
        except ProcessLookupError:
            pass
    return process.returncode, out, err, time.monotonic() - started


def drive(host, repository: Repository, script: list[Step], prompt: str = "Do the work.") -> Run:
    """Starts the real agent with a model that follows the script."""
    with Model(script) as model:
        command, env = host.start(repository, model.url, prompt)
        code, out, err, seconds = bounded(command, repository.path, {**repository.env, **env})
        return Run(model, code, out, err, seconds)


def program(*names: str) -> str:
    """Returns the path of a program in the pinned packages."""
    file = MODULES.joinpath(*names)
    assert file.exists(), f"{file} is not there: run tests/agents/run"
    return str(file)


def node() -> str:
    found = shutil.which("node")
    assert found, "node is not on PATH"
    return found
