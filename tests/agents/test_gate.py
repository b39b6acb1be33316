"""Each real agent with the gate: what is on disk and in the ledger afterwards, and what the model was told."""

from __future__ import annotations

import pytest

import lab

LATER = "src/auth/claims.py"
OUTSIDE = "src/billing/late.py"
TOKEN = "src/auth/token.py"
INVOICE = "src/billing/invoice.py"


def select(host):
    return host.mcp("intent", "select_active_intent", {"intent_id": "INT-001"})


def assert_recorded(host, repository: lab.Repository, run: lab.Run, name: str) -> dict:
    """Asserts that the last record of a file names the agent and the intent, and that the change was observed."""
    records = repository.mutations(name)
    assert records, f"no record of {name}\n{run}"
    record = records[-1]
    assert record["intent_id"] == "INT-001", record
    assert record["strength"] in ("verified", "observed"), record
    assert host.name in record["tool"]["name"], record
    assert host.session(run) in record["session"], record
    conversations = [one for file in record["files"] for one in file["conversations"]]
    assert {one["contributor"]["entity_type"] for one in conversations} == {"AI"}, record
    return record


def assert_told(run: lab.Run, place: int, *words: str) -> None:
    """Asserts that the model was told one of these words as the result of a call."""
    assert place < len(run.results), str(run)
    assert any(word in run.results[place] for word in words), f"call {place} told none of {words}\n{run}"


def test_nothing_is_written_without_an_intent(host, governed):
    """The write is denied. Then the agent selects an intent in its shell, and the same write is allowed."""
    write = host.create(governed, LATER, "CLAIMS = 1\n")
    refused = []
    run = lab.drive(host, governed, [
        write,
        lambda: (refused.append(governed.read(LATER)), host.shell("intent select INT-001"))[1],
        write,
    ])
    assert refused == [None], str(run)
    assert_told(run, 0, "INTENT_REQUIRED", "You must cite a valid active Intent ID")
    assert "INT-001" in run.results[0], str(run)
    assert governed.read(LATER) == "CLAIMS = 1\n", str(run)
    assert_recorded(host, governed, run, LATER)


def test_the_selection_of_the_person_is_separate(host, governed):
    """An agent that selects an intent in its shell selects it only for itself."""
    governed.person("select", "INT-002")
    run = lab.drive(host, governed, [host.shell("intent select INT-001"), host.create(governed, LATER, "CLAIMS = 1\n")])
    assert governed.read(LATER) == "CLAIMS = 1\n", str(run)
    assert "INT-002" in governed.read(".orchestration/active_intent_current.json"), str(run)


@pytest.mark.every_way
def test_a_write_in_scope_is_allowed_and_recorded(host, governed):
    run = lab.drive(host, governed, [
        select(host),
        host.create(governed, LATER, "CLAIMS = 1\n"),
        host.edit(governed, TOKEN, '    return token == "secret"', "    return bool(token)"),
    ])
    assert governed.read(LATER) == "CLAIMS = 1\n", str(run)
    assert "return bool(token)" in governed.read(TOKEN), str(run)
    assert_recorded(host, governed, run, LATER)
    assert_recorded(host, governed, run, TOKEN)


@pytest.mark.every_way
def test_a_write_out_of_scope_is_denied(host, governed):
    """The agent tries a tool for an edit, a tool for a new file, and a command."""
    run = lab.drive(host, governed, [
        select(host),
        host.create(governed, OUTSIDE, "LATE = 1\n"),
        host.edit(governed, INVOICE, "sum(line.price for line in lines)", "0"),
        host.shell(f"echo 'LATE = 1' > {OUTSIDE}"),
    ])
    assert governed.read(OUTSIDE) is None, str(run)
    assert governed.read(INVOICE) == lab.INVOICE, str(run)
    assert governed.mutations(OUTSIDE) == [] and governed.mutations(INVOICE) == [], str(run)
    for place in (1, 2, 3):
        assert_told(run, place, "SCOPE_VIOLATION", "Scope Violation")


@pytest.mark.every_way
def test_destructive_commands_do_not_run(host, governed):
    """The uncommitted work of a person is still there afterwards."""
    governed.write(TOKEN, lab.TOKEN + "\n\nNOT_COMMITTED = 1\n")
    run = lab.drive(host, governed, [
        select(host),
        host.shell("git reset --hard"),
        host.shell("rm -rf src"),
        host.shell("bash -c 'cd src && git clean -fdx && rm -rf auth'"),
    ])
    assert "NOT_COMMITTED" in governed.read(TOKEN), str(run)
    assert governed.read(INVOICE) == lab.INVOICE, str(run)
    for place in (1, 2, 3):
        assert_told(run, place, "APPROVAL_REQUIRED", "DESTRUCTIVE_BLOCKED", "SCOPE_VIOLATION", "Scope Violation")


@pytest.mark.every_way
def test_a_stale_write_is_refused(host, governed):
    """Somebody changes a block after the agent did, and the agent writes the text that it remembers."""
    def meanwhile():
        governed.write(TOKEN, governed.read(TOKEN).replace("if not token:", "if token is None:"))
        return host.edit(governed, TOKEN, "    return bool(token)", "    return True")

    run = lab.drive(host, governed, [
        select(host),
        host.edit(governed, TOKEN, '    return token == "secret"', "    return bool(token)"),
        meanwhile,
    ])
    assert_told(run, 2, "STALE_FILE", "Stale File")
    assert "if token is None:" in governed.read(TOKEN) and "return bool(token)" in governed.read(TOKEN), str(run)
    assert "token is None" not in run.results[2], f"the content is not told\n{run}"


def test_a_write_over_what_was_read_before_it_changed_is_refused(host, governed):
    def meanwhile():
        governed.write(TOKEN, lab.TOKEN + "\n\ndef other():\n    return 2\n")
        return host.create(governed, TOKEN, "def verify(token):\n    return True\n")

    run = lab.drive(host, governed, [select(host), host.read(governed, TOKEN), meanwhile])
    assert_told(run, 2, "STALE_FILE", "Stale File")
    assert "def other" in governed.read(TOKEN), str(run)


def test_no_agent_widens_its_own_scope(host, governed):
    registry = ".orchestration/active_intents.yaml"
    before = governed.read(registry)
    run = lab.drive(host, governed, [
        select(host),
        host.edit(governed, registry, '    owned_scope: ["src/auth/**"]', '    owned_scope: ["**"]'),
        host.shell(f"sed -i 's|src/auth|src|' {registry}"),
        host.shell("intent approve ABCDEF"),
    ])
    assert governed.read(registry) == before, str(run)
    for place in (1, 2):
        assert_told(run, place, "PROTECTED_PATH")
