"""Starts the real opencode without a user interface."""

from __future__ import annotations

import json

from lab import BINARY, Repository, Run, program
from model import Call


class Opencode:
    """How to start opencode, and the names of its tools."""

    name = "opencode"
    # opencode chooses the tools that a model gets by the name of the model.
    model = "lab"

    def __init__(self, language_server: bool = False):
        self.language_server = language_server

    def prepare(self, repository: Repository) -> None:
        """Nothing to do: opencode loads the plugin from the project."""

    def session(self, run: Run) -> str:
        return next(event["sessionID"] for event in run.events if event.get("sessionID"))

    def start(self, repository: Repository, url: str, prompt: str) -> tuple[list[str], dict[str, str]]:
        settings = repository.home / ".config" / "opencode" / "opencode.json"
        settings.parent.mkdir(parents=True, exist_ok=True)
        settings.write_text(json.dumps(self.settings(url)))
        command = [program("opencode-linux-x64", "bin", "opencode"), "run", "--format", "json", prompt]
        return command, {
            "OPENCODE_DISABLE_AUTOUPDATE": "1",
            "OPENCODE_DISABLE_MODELS_FETCH": "1",
            "OPENCODE_DISABLE_LSP_DOWNLOAD": "1",
            "OPENCODE_DISABLE_DEFAULT_PLUGINS": "1",
            # opencode installs types for plugins beside every plugin, and waits for them.
            "NPM_CONFIG_OFFLINE": "true",
            "NPM_CONFIG_REGISTRY": "http://127.0.0.1:9",
        }

    def settings(self, url: str) -> dict:
        lab = {
            "npm": "@ai-sdk/openai-compatible",
            "name": "Lab",
            "options": {"baseURL": f"{url}/v1", "apiKey": "none"},
            "models": {self.model: {"name": self.model, "tool_call": True, "limit": {"context": 100000, "output": 4000}}},
        }
        return {
            "$schema": "https://opencode.ai/config.json",
            "autoupdate": False,
            "share": "disabled",
            "model": f"lab/{self.model}",
            "small_model": f"lab/{self.model}",
            "enabled_providers": ["lab"],
            "provider": {"lab": lab},
            "mcp": {"intent": {"type": "local", "command": ["intent", "mcp"], "enabled": True}},
            "permission": {"edit": "allow", "bash": "allow"},
            "lsp": {"intent": {"command": [str(BINARY), "lsp"], "extensions": [".py"]}} if self.language_server else False,
        }

    def shell(self, command: str) -> Call:
        return Call("bash", {"command": command, "description": "work"})

    def read(self, repository: Repository, name: str) -> Call:
        return Call("read", {"filePath": str(repository / name)})

    def create(self, repository: Repository, name: str, text: str) -> Call:
        return Call("write", {"filePath": str(repository / name), "content": text})

    def edit(self, repository: Repository, name: str, old: str, new: str) -> Call:
        return Call("edit", {"filePath": str(repository / name), "oldString": old, "newString": new})

    def mcp(self, server: str, tool: str, arguments: dict) -> Call:
        return Call(f"{server}_{tool}", arguments)


class OpencodePatch(Opencode):
    """The same with a model that gets `apply_patch` instead of `write` and `edit`."""

    model = "gpt-5.5"

    def patch(self, hunks: str) -> Call:
        return Call("apply_patch", {"patchText": f"*** Begin Patch\n{hunks}*** End Patch\n"})

    def create(self, repository, name, text):
        return self.patch(f"*** Add File: {name}\n" + "".join(f"+{line}\n" for line in text.splitlines()))

    def edit(self, repository, name, old, new):
        return self.patch(f"*** Update File: {name}\n@@\n-{old}\n+{new}\n")
