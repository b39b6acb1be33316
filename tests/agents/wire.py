"""Puts a program in front of a host, by the host's own settings.

For `record.py`, whose program keeps what the host sends, and for `test_failures.py`,
whose programs fail. Else the tests wire as a person would, by `intent init --agent`.
"""

from __future__ import annotations

import json

from lab import Repository

# Event of the host → matcher, or None where the event knows none.
CODEX = {"PreToolUse": "*", "PostToolUse": "*", "PermissionRequest": "*", "SessionStart": None,
         "UserPromptSubmit": None, "SubagentStart": None, "SubagentStop": None, "Stop": None, "SessionEnd": None}
GEMINI = {"BeforeTool": "*", "AfterTool": "*", "SessionStart": None, "BeforeAgent": None, "AfterAgent": None,
          "SessionEnd": None}

# opencode loads programs of its own kind: this one hands each event to a command
# on standard input, and refuses what the command refuses.
PLUGIN = """\
import {{ spawnSync }} from "node:child_process"

const ask = (cwd, payload) => {{
  const done = spawnSync({program}, {arguments}, {{ cwd, input: JSON.stringify(payload), encoding: "utf8" }})
  if (done.status !== 0) throw new Error(done.stderr || "the hook failed")
  return done.stdout.trim() ? JSON.parse(done.stdout) : {{}}
}}

export const Intent = async ({{ directory, worktree }}) => {{
  const tell = (event, input, output) => {{
    const answer = ask(directory, {{ event, directory, worktree, input, output }})
    if (answer.deny) throw new Error(answer.deny)
  }}
  return {{
    "tool.execute.before": async (input, output) => tell("tool.execute.before", input, output),
    "tool.execute.after": async (input, output) => tell("tool.execute.after", input, output),
    "chat.message": async (input, output) => tell("chat.message", input, output),
    event: async ({{ event }}) => {{ if (["session.created", "session.idle"].includes(event.type)) tell("event", event, null) }},
  }}
}}
"""


def by_hand(host: str, repository: Repository, hook: list[str], only: str | None = None) -> None:
    """Puts `hook` at every event of the host, or at one."""
    if host == "opencode":
        _plugin(repository, hook)
        return
    events, settings = {"codex": (CODEX, ".codex/hooks.json"), "gemini": (GEMINI, ".gemini/settings.json")}[host]
    entry = {"type": "command", "command": " ".join(hook)}
    hooks = {event: [{**({"matcher": matcher} if matcher else {}), "hooks": [entry]}]
             for event, matcher in events.items() if only in (None, event)}
    repository.write(settings, json.dumps({"hooks": hooks}, indent=2))


def _plugin(repository: Repository, hook: list[str]) -> None:
    plugin = PLUGIN.format(program=json.dumps(hook[0]), arguments=json.dumps(hook[1:]))
    repository.write(".opencode/plugins/intent.js", plugin)
