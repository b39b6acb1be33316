"""Starts the real codex without a user interface."""

from __future__ import annotations

import json
import pathlib
import subprocess

from lab import MODULES, Repository, Run
from model import Call

NAME = "codex"
# With this model codex offers its tools one by one. With newer models the tools are functions of a program that the
# model writes ("code mode"), see `code`.
MODEL = "gpt-5.5"
CODE_MODEL = "gpt-6-sol"

CONFIG = """\
model = "{model}"
model_provider = "lab"
approval_policy = "never"
sandbox_mode = "danger-full-access"
check_for_update_on_startup = false
[analytics]
enabled = false
[features]
plugins = false
apps = false
remote_plugin = false
[model_providers.lab]
name = "Lab"
base_url = "{url}/v1"
wire_api = "responses"
env_key = "LAB_KEY"
request_max_retries = 0
stream_max_retries = 0
[projects."{repository}"]
trust_level = "trusted"
[mcp_servers.intent]
command = "intent"
args = ["mcp"]
"""
# The file in which codex stores which hooks a person trusts.
TRUST = "[hooks.state"


class Codex:
    """How to start codex, and the names of its tools."""

    name = NAME
    model = MODEL

    def prepare(self, repository: Repository) -> None:
        """Trusts the current hooks, as a person does in `/hooks`. Codex skips hooks that are not trusted."""
        self._configure(repository, "http://127.0.0.1:9")
        with AppServer(repository, self._env(repository)) as server:
            hooks = server.ask("hooks/list", {"cwds": [str(repository.path)]})["data"][0]["hooks"]
            state = {hook["key"]: {"trusted_hash": hook["currentHash"]} for hook in hooks}
            edit = {"keyPath": "hooks.state", "value": state, "mergeStrategy": "upsert"}
            server.ask("config/batchWrite", {"edits": [edit], "reloadUserConfig": True})

    def start(self, repository: Repository, url: str, prompt: str) -> tuple[list[str], dict[str, str]]:
        self._configure(repository, url)
        return [str(binary()), "exec", "--json", prompt], self._env(repository)

    def session(self, run: Run) -> str:
        return next(event["thread_id"] for event in run.events if event["type"] == "thread.started")

    def _env(self, repository: Repository) -> dict[str, str]:
        return {"CODEX_HOME": str(self.home(repository)), "LAB_KEY": "none"}

    def _configure(self, repository: Repository, url: str) -> None:
        """Writes the settings. The entries about trust, which codex itself added, are kept."""
        file = self.home(repository) / "config.toml"
        file.parent.mkdir(parents=True, exist_ok=True)
        added = file.read_text().partition(TRUST) if file.exists() else ("", "", "")
        config = CONFIG.format(model=self.model, url=url, repository=repository.path)
        file.write_text(config + "".join(added[1:]))

    @staticmethod
    def home(repository: Repository) -> pathlib.Path:
        return repository.home / ".codex"

    def shell(self, command: str) -> Call:
        return Call("exec_command", {"cmd": command})

    def read(self, repository: Repository, name: str) -> Call:
        return self.shell(f"cat {name}")

    def create(self, repository: Repository, name: str, text: str) -> Call:
        return self.patch(f"*** Add File: {name}\n" + "".join(f"+{line}\n" for line in text.splitlines()))

    def edit(self, repository: Repository, name: str, old: str, new: str) -> Call:
        return self.patch(f"*** Update File: {name}\n@@\n-{old}\n+{new}\n")

    def patch(self, hunks: str) -> Call:
        return Call("apply_patch", f"*** Begin Patch\n{hunks}*** End Patch\n")

    def mcp(self, server: str, tool: str, arguments: dict) -> Call:
        return Call(tool, arguments, namespace=f"mcp__{server}")


class CodexCode(Codex):
    """Codex in code mode: each call is a line of a program."""

    model = CODE_MODEL

    def shell(self, command):
        return self.line("exec_command", {"cmd": command})

    def patch(self, hunks):
        return self.line("apply_patch", f"*** Begin Patch\n{hunks}*** End Patch\n")

    def mcp(self, server, tool, arguments):
        return self.line(f"mcp__{server}__{tool}", arguments)

    def line(self, tool, argument) -> Call:
        return Call("exec", f"text(await tools.{tool}({json.dumps(argument)}));\n")


class AppServer:
    """The protocol with which other programs can use codex."""

    def __init__(self, repository: Repository, env: dict[str, str]):
        self.process = subprocess.Popen([str(binary()), "app-server"], cwd=repository.path,
                                        env={**repository.env, **env}, stdin=subprocess.PIPE,
                                        stdout=subprocess.PIPE, stderr=subprocess.DEVNULL, text=True)
        self.asked = 0

    def __enter__(self) -> AppServer:
        self.ask("initialize", {"clientInfo": {"name": "lab", "version": "0"}})
        self._send({"method": "initialized"})
        return self

    def __exit__(self, *_) -> None:
        self.process.stdin.close()
        try:
            self.process.wait(timeout=10)
        except subprocess.TimeoutExpired:
            self.process.kill()
            self.process.wait(timeout=10)
        self.process.stdout.close()

    def ask(self, method: str, params: dict) -> dict:
        self.asked += 1
        self._send({"id": self.asked, "method": method, "params": params})
        for line in self.process.stdout:
            message = json.loads(line)
            if message.get("id") == self.asked:
                assert "result" in message, f"{method}: {message}"
                return message["result"]
        raise AssertionError(f"codex app-server ended before it answered {method}")

    def _send(self, message: dict) -> None:
        self.process.stdin.write(json.dumps(message) + "\n")
        self.process.stdin.flush()


def binary() -> pathlib.Path:
    """Returns the native program. Started under the name `apply_patch`, it applies a patch and does nothing else."""
    found = sorted(MODULES.glob("@openai/codex-*/vendor/*/bin/codex"))
    assert found, f"no native codex below {MODULES}: run tests/agents/run"
    return found[0]
