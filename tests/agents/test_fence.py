"""Each real agent with commands behind the fence. The hook puts them there if the host allows that; otherwise the
agent does."""

from __future__ import annotations

import subprocess

import pytest

import lab

POLICY = ".orchestration/policy.yaml"
MADE = "src/auth/made.py"
INVOICE = "src/billing/invoice.py"
# Programs of the repository, so that no command line shows what they write.
WITHIN = f"from pathlib import Path\nPath('{MADE}').write_text('MADE = 1\\n')\n"
BEYOND = f"""\
from pathlib import Path
for name in ('{POLICY}', '{INVOICE}', 'new.txt'):
    try:
        Path(name).write_text('x')
    except OSError as error:
        print(name, error.strerror)
"""
# Hosts whose hooks can change a command without permitting it at the same time.
REWRITES = ("gemini",)


def fences() -> bool:
    probe = subprocess.run([str(lab.BINARY), "fence", "--probe"], capture_output=True, timeout=10)
    return probe.returncode == 0


pytestmark = pytest.mark.skipif(not fences(), reason="the kernel makes no user namespaces here")


@pytest.fixture
def required(governed: lab.Repository) -> lab.Repository:
    """The workspace with two programs, and a policy that requires the fence for every opaque command."""
    governed.write(POLICY, (governed.read(POLICY) or "") + "fence: require\n")
    governed.write("tools/within.py", WITHIN)
    governed.write("tools/beyond.py", BEYOND)
    governed.commit("a fence")
    return governed


def select(host):
    return host.mcp("intent", "select_active_intent", {"intent_id": "INT-001"})


def opaque(host, program: str):
    """Returns an opaque command. If the host cannot change it, the agent itself puts it behind the fence."""
    command = f"python3 {program}"
    return host.shell(command if host.name in REWRITES else f"intent fence --intent INT-001 -- {command}")


def test_an_opaque_command_in_scope_runs_and_is_recorded(host, required):
    run = lab.drive(host, required, [select(host), opaque(host, "tools/within.py"), host.shell("cat src/auth/made.py")])
    assert required.read(MADE) == "MADE = 1\n", str(run)
    assert "MADE = 1" in run.results[2], str(run)
    records = required.mutations(MADE)
    assert records and records[-1]["intent_id"] == "INT-001", f"{records}\n{run}"
    assert "no findings" in required.intent("check"), str(run)


def test_an_opaque_command_out_of_scope_changes_nothing(host, required):
    before = required.read(POLICY)
    run = lab.drive(host, required, [select(host), opaque(host, "tools/beyond.py")])
    assert required.read(POLICY) == before, str(run)
    assert required.read(INVOICE) == lab.INVOICE, str(run)
    assert required.read("new.txt") is None, str(run)
    assert "Read-only file system" in run.results[1], str(run)
    assert required.mutations(INVOICE) == [], str(run)


def test_a_host_that_cannot_rewrite_is_told_the_fenced_command(host, required):
    if host.name in REWRITES:
        pytest.skip("its hook rewrites the command")
    told = []
    run = lab.drive(host, required, [
        select(host),
        host.shell("python3 tools/within.py"),
        lambda: (told.append(required.read(MADE)), host.shell("intent fence --intent INT-001 -- python3 tools/within.py"))[1],
    ])
    assert told == [None], str(run)
    assert "intent fence --intent INT-001 -- " in run.results[1], str(run)
    assert required.read(MADE) == "MADE = 1\n", str(run)
