"""Records what the real hosts send to their hooks, as fixtures: `record.py OUT`.

Each host calls each kind of tool once, with a hook that stores its standard input and
gives no answer. In the payloads, `/p` stands for the repository and `/home/u` for the home folder.
"""

from __future__ import annotations

import json
import pathlib
import sys
import tempfile

import lab
import wire
from codex import Codex, CodexCode
from gemini import Gemini
from model import Call, Say
from opencode import Opencode, OpencodePatch

KEEPER = """\
#!/bin/sh
# One file a call: hosts call in parallel.
cat > "$(mktemp "$1/$(date +%s%N).XXXXXX")"
echo '{}'
"""

# Distinguishes calls of the same tool by their content. The first entry that fits counts.
VARIANTS = {
    "git status": "git", "cat src": "read", "apply_patch <<": "heredoc", "no such line": "failing", "exit 3": "failing",
    "sleep": "background", "docs/a.md": "several", "Move to": "move", "Delete File": "delete", "Add File": "add",
    "Update File": "update",
}


PATCHES = [
    "*** Add File: src/auth/claims.py\n+CLAIMS = 1\n",
    '*** Update File: src/auth/token.py\n@@\n-    return token == "secret"\n+    return bool(token)\n',
    "*** Update File: src/auth/token.py\n@@\n-no such line\n+nothing\n",
    "*** Update File: docs/guide.md\n*** Move to: docs/handbook.md\n@@\n-# Guide\n+# Handbook\n",
    "*** Delete File: docs/handbook.md\n",
    "*** Add File: docs/a.md\n+a\n*** Add File: docs/b.md\n+b\n",
]
HEREDOC = "apply_patch <<'EOF'\n*** Begin Patch\n*** Add File: docs/note.md\n+note\n*** End Patch\nEOF\n"


def everything(host, repository) -> list:
    """Returns one call of each kind of tool, and some calls that fail."""
    script = [host.read(repository, "src/auth/token.py")]
    if hasattr(host, "patch"):
        script += [host.patch(hunks) for hunks in PATCHES]
    else:
        script += [
            host.create(repository, "src/auth/claims.py", "CLAIMS = 1\n"),
            host.edit(repository, "src/auth/token.py", '    return token == "secret"', "    return bool(token)"),
            host.edit(repository, "src/auth/token.py", "no such line", "nothing"),
        ]
    script += [
        host.shell("git status --short"),
        host.shell("exit 3"),
        host.mcp("intent", "select_active_intent", {"intent_id": "INT-001"}),
    ]
    return [*script, *only_here(host, repository), Say("All done.")]


def only_here(host, repository) -> list:
    """Tools that only one host has."""
    if host.name == "codex":
        return [host.shell(HEREDOC)]
    if host.name == "gemini":
        return [
            Call("glob", {"pattern": "**/*.py"}),
            Call("run_shell_command", {"command": "sleep 0", "description": "work", "is_background": True,
                                       "dir_path": str(repository / "src")}),
            Call("list_directory", {"dir_path": str(repository / "src")}),
            Call("grep_search", {"pattern": "verify"}),
            Call("write_todos", {"todos": [{"description": "work", "status": "in_progress"}]}),
        ]
    return [
        Call("glob", {"pattern": "**/*.py"}),
        Call("grep", {"pattern": "verify"}),
        Call("todowrite", {"todos": [{"content": "work", "status": "in_progress", "priority": "high", "id": "1"}]}),
    ]


def record(host, out: pathlib.Path, label: str) -> None:
    with tempfile.TemporaryDirectory(prefix="intent-lab-") as folder:
        place = pathlib.Path(folder)
        repository = lab.Repository(place / "work", place / "home")
        kept = place / "kept"
        kept.mkdir()
        keeper = place / "keeper"
        keeper.write_text(KEEPER)
        keeper.chmod(0o755)
        wire.by_hand(host.name, repository, [str(keeper), str(kept)])
        host.prepare(repository)
        repository.commit("wired")
        run = lab.drive(host, repository, everything(host, repository))
        print(label, run, sep="\n")
        payloads = [file.read_text() for file in sorted(kept.iterdir())]
        write(payloads, repository, out / FOLDERS.get(label, label))


def write(payloads: list[str], repository: lab.Repository, out: pathlib.Path) -> None:
    out.mkdir(parents=True, exist_ok=True)
    seen: dict[str, int] = {}
    for payload in payloads:
        value = json.loads(cleaned(payload, repository))
        name = name_of(value)
        seen[name] = seen.get(name, 0) + 1
        if seen[name] > 1:
            name = f"{name}-{seen[name]}"
        (out / f"{name}.json").write_text(json.dumps(value, indent=2, ensure_ascii=False) + "\n")


def cleaned(payload: str, repository: lab.Repository) -> str:
    payload = payload.replace(str(repository.path), "/p").replace(str(repository.home), "/home/u")
    return payload.replace(str(lab.ROOT), "/elsewhere")


def name_of(value: dict) -> str:
    event = value.get("hook_event_name") or value["event"]
    if event == "event":
        event = value["input"]["type"]
    tool = value.get("tool_name") or (value.get("input") or {}).get("tool")
    text = json.dumps(value)
    variant = next((variant for mark, variant in VARIANTS.items() if mark in text), None)
    return "-".join(part for part in (event, tool, variant if tool else None) if part)


HOSTS = {"codex": Codex, "codex-code-mode": CodexCode, "gemini": Gemini, "opencode": Opencode,
         "opencode-patch": OpencodePatch}
# The folder for a second way of calling tools. The second way of opencode adds a tool, and that of codex gives the same
# payloads again.
FOLDERS = {"codex-code-mode": "codex/code-mode", "opencode-patch": "opencode"}

if __name__ == "__main__":
    for label in sys.argv[2:] or HOSTS:
        record(HOSTS[label](), pathlib.Path(sys.argv[1]), label)
