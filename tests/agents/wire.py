"""Installs a program as the hook of a host, in the host's own settings.

`record.py` installs a program that stores what the host sends, and `test_failures.py`
programs that fail. All other tests install hooks as a person does, with `intent init --agent`.
"""

from __future__ import annotations

import json

from lab import Repository

# The matcher for each event of the host, or None if the event has no matcher.
CODEX = {"PreToolUse": "*", "PostToolUse": "*", "PermissionRequest": "*", "SessionStart": None,
         "UserPromptSubmit": None, "SubagentStart": None, "SubagentStop": None, "Stop": None, "SessionEnd": None}
GEMINI = {"BeforeTool": "*", "AfterTool": "*", "SessionStart": None, "BeforeAgent": None, "AfterAgent": None,
          "SessionEnd": None}

# opencode loads plugins. This one passes each event to the standard input of a command, and denies what the command
# denies.
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
    """Installs `hook` at every event of the host, or only at one."""
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
