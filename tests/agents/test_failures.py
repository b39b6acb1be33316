"""What a host does if its hook fails. `doctor` and the documents depend on these results.

A new version of an agent may change them, for better or worse.
"""

from __future__ import annotations

import json

import pytest

import lab
import wire
from conftest import HOSTS
from test_gate import LATER

DENY = {"codex": {"hookSpecificOutput": {"hookEventName": "PreToolUse", "permissionDecision": "deny",
                                         "permissionDecisionReason": "no, says the lab"}},
        "gemini": {"decision": "deny", "reason": "no, says the lab"}}
ASK = {"hookSpecificOutput": {"hookEventName": "PreToolUse", "permissionDecision": "ask",
                              "permissionDecisionReason": "ask somebody"}}


def printing(value: dict) -> str:
    return f"cat > /dev/null; echo '{json.dumps(value)}'"


# The host, what the hook does, and whether the call goes ahead.
CASES = [
    ("codex", "a denial", printing(DENY["codex"]), False),
    ("codex", "exit 2 with a reason", "echo no >&2; exit 2", False),
    ("codex", "exit 2 without one", "exit 2", True),
    ("codex", "exit 1", "echo no >&2; exit 1", True),
    ("codex", "a question", printing(ASK), True),
    ("codex", "an unknown key", printing({**DENY["codex"], "by": "intent"}), True),
    ("codex", "no JSON", "echo no", True),
    ("codex", "a crash", "kill -SEGV $$", True),
    ("codex", "no such program", "/no/such/program", True),
    ("gemini", "a denial", printing(DENY["gemini"]), False),
    ("gemini", "exit 2 with a reason", "echo no >&2; exit 2", False),
    ("gemini", "exit 1", "echo no >&2; exit 1", True),
    ("gemini", "exit 3 with a reason", "echo no >&2; exit 3", False),
    ("gemini", "exit 3 without one", "exit 3", True),
    ("gemini", "no JSON", "echo no", True),
    ("gemini", "a crash", "kill -SEGV $$", True),
    ("gemini", "no such program", "/no/such/program", False),
]


@pytest.mark.parametrize("name,what,hook,goes_ahead", CASES, ids=[f"{name}: {what}" for name, what, *_ in CASES])
def test_what_a_host_does_with_a_hook_that(name, what, hook, goes_ahead, place, repository):
    host = HOSTS[name]
    program = place / "hook"
    program.write_text(f"#!/bin/sh\n{hook}\n")
    program.chmod(0o755)
    before = "PreToolUse" if name == "codex" else "BeforeTool"
    wire.by_hand(name, repository, [hook if hook.startswith("/") else str(program)], only=before)
    host.prepare(repository)
    run = lab.drive(host, repository, [host.create(repository, LATER, "CLAIMS = 1\n")])
    assert (repository.read(LATER) is not None) == goes_ahead, str(run)
