"""Tests that only one of the agents can run."""

from __future__ import annotations

import concurrent.futures

import lab
from codex import Codex
from conftest import HOSTS, wired
from opencode import Opencode
from test_gate import INVOICE, LATER, select


def test_the_model_of_opencode_sees_our_scope_error_from_the_language_server(repository):
    """The gate only observes here, so the write is allowed and the language server reports it."""
    host = Opencode(language_server=True)
    repository.write(".orchestration/policy.yaml", "mode: observe\n")
    wired(host, repository)
    repository.person("select", "INT-001")
    run = lab.drive(host, repository, [
        select(host),
        host.edit(repository, INVOICE, "sum(line.price for line in lines)", "0"),
    ])
    assert "return 0" in repository.read(INVOICE), str(run)
    told = run.results[1]
    assert "<diagnostics" in told and "Scope Violation: INT-001 is not authorized to edit" in told, str(run)


def test_codex_skips_hooks_that_are_not_trusted(repository):
    """codex skips untrusted hooks without a message, so `intent doctor` must look for them."""
    host = Codex()
    repository.intent("init", "--agent", host.name)
    run = lab.drive(host, repository, [host.create(repository, LATER, "CLAIMS = 1\n")])
    assert repository.read(LATER) == "CLAIMS = 1\n", str(run)


def test_two_agents_on_two_intents_do_not_disturb_each_other(repository):
    one, other = HOSTS["codex"], HOSTS["gemini"]
    for host in (one, other):
        wired(host, repository)
    guide = "docs/guide.md"
    with concurrent.futures.ThreadPoolExecutor() as pool:
        runs = [pool.submit(lab.drive, host, repository, script) for host, script in (
            (one, [select(one), one.create(repository, LATER, "CLAIMS = 1\n"),
                   one.edit(repository, guide, "# Guide", "# Mine")]),
            (other, [other.mcp("intent", "select_active_intent", {"intent_id": "INT-002"}),
                     other.edit(repository, guide, "# Guide", "# Handbook"),
                     other.create(repository, "src/auth/mine.py", "MINE = 1\n")]),
        )]
        first, second = (run.result() for run in runs)
    assert repository.read(LATER) == "CLAIMS = 1\n" and repository.read("src/auth/mine.py") is None, f"{first}\n{second}"
    assert repository.read(guide) == "# Handbook\n", f"{first}\n{second}"
    assert [record["intent_id"] for record in repository.mutations(LATER)] == ["INT-001"]
    assert [record["intent_id"] for record in repository.mutations(guide)] == ["INT-002"]
    repository.intent("verify")
