"""Starts the real gemini-cli without a user interface."""

from __future__ import annotations

import json

from lab import Repository, Run, node, program
from model import Call

SETTINGS = {
    "security": {"auth": {"selectedType": "gemini-api-key"}},
    "privacy": {"usageStatisticsEnabled": False},
    "telemetry": {"enabled": False},
    "general": {"enableAutoUpdate": False, "enableAutoUpdateNotification": False},
    # Without this setting it downloads its own ripgrep.
    "tools": {"useRipgrep": False},
    "mcpServers": {"intent": {"command": "intent", "args": ["mcp"], "trust": True}},
}


class Gemini:
    """How to start gemini-cli, and the names of its tools."""

    name = "gemini"

    def prepare(self, repository: Repository) -> None:
        """Nothing to do: an option on the command line makes the folder trusted."""

    def session(self, run: Run) -> str:
        return next(event["session_id"] for event in run.events if event["type"] == "init")

    def start(self, repository: Repository, url: str, prompt: str) -> tuple[list[str], dict[str, str]]:
        settings = repository.home / ".gemini" / "settings.json"
        settings.parent.mkdir(parents=True, exist_ok=True)
        settings.write_text(json.dumps(SETTINGS))
        command = [node(), program("@google", "gemini-cli", "bundle", "gemini.js"), "--yolo", "--skip-trust",
                   "-m", "gemini-2.5-flash", "--output-format", "stream-json", "-p", prompt]
        return command, {
            "GEMINI_API_KEY": "none",
            "GOOGLE_GEMINI_BASE_URL": url,
            "GEMINI_CLI_TRUST_WORKSPACE": "true",
            # Without this variable it starts itself again with more memory.
            "GEMINI_CLI_NO_RELAUNCH": "true",
        }

    def shell(self, command: str) -> Call:
        return Call("run_shell_command", {"command": command, "description": "work"})

    def read(self, repository: Repository, name: str) -> Call:
        return Call("read_file", {"file_path": str(repository / name)})

    def create(self, repository: Repository, name: str, text: str) -> Call:
        return Call("write_file", {"file_path": str(repository / name), "content": text})

    def edit(self, repository: Repository, name: str, old: str, new: str) -> Call:
        return Call("replace", {"file_path": str(repository / name), "old_string": old, "new_string": new,
                                "instruction": f"Write {new!r} in place of {old!r}."})

    def mcp(self, server: str, tool: str, arguments: dict) -> Call:
        return Call(f"mcp_{server}_{tool}", arguments)
