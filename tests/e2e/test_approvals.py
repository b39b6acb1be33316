"""Only a person approves: at a terminal of their own, or in a dialog of their editor."""

from __future__ import annotations

import asyncio
import json
import os
import subprocess

import pytest
import pytest_asyncio
import pytest_lsp
from lsprotocol import types as t
from pytest_lsp import ClientServerConfig, LanguageClient, client_capabilities

from repository import BINARY, Repository
from session import make_client, server_command, until
from terminal import Terminal

# For each agent that sets variables, one of them.
MARKERS = ["CLAUDECODE", "CODEX_SANDBOX", "CODEX_THREAD_ID", "GEMINI_CLI", "CURSOR_AGENT", "OPENCODE", "AGENT", "AI_AGENT"]


def propose(repository: Repository, glob: str = "tests/**") -> str:
    """An agent that has only a shell asks for a wider scope."""
    answer = repository.intent("request-scope", "--intent", "INT-001", "--add", glob, "--reason", "tests go there",
                               "--session", "codex:1")
    assert answer["approval"]["state"] == "pending"
    code = answer["approval"]["code"]
    assert f"intent approve {code}" in answer["message"]
    return code


def scope(repository: Repository, intent: str = "INT-001") -> list[str]:
    return next(one["owned_scope"] for one in repository.intent("list") if one["id"] == intent)


def terminal(repository: Repository, *arguments: str, shell: str = "sh", **variables: str) -> Terminal:
    return Terminal([str(BINARY), *arguments], repository.path, {**repository.env, **variables}, shell)


def since(repository: Repository, kind: str) -> list[dict]:
    """Returns the records in no commit after the last one of a kind, ordered by time."""
    records = sorted(repository.ledger(), key=lambda record: record["timestamp"])
    last = max((at for at, record in enumerate(records) if record["kind"] == kind), default=-1)
    return records[last + 1:]


def waiting(repository: Repository) -> list[str]:
    return [one["code"] for one in repository.intent("approve")]


def test_a_person_approves_at_a_terminal(repository: Repository):
    before = repository.read(".orchestration/active_intents.yaml")
    code = propose(repository)
    assert waiting(repository) == [code]
    person = terminal(repository, "approve", code.lower())
    shown = person.read_until("to approve: ")
    for part in ["codex:1 wants to widen the scope of an intent", "INT-001", "tests/**", "tests go there"]:
        assert part in shown, shown
    assert scope(repository) == ["src/auth/**"], "nothing happens before the answer"
    person.type("yes")
    exit_code, text = person.end()
    assert exit_code == 0, text
    assert scope(repository) == ["src/auth/**", "tests/**"]
    after = repository.read(".orchestration/active_intents.yaml")
    assert "This comment must survive" in after and "# and nothing else" in after
    assert after != before
    approval, registry = since(repository, "mutation")
    assert (approval["kind"], registry["kind"]) == ("approval", "registry")
    assert code in approval["note"] and approval["note"].startswith("a person approved")
    assert approval["strength"] == "declared" and approval["session"] == "codex:1"
    assert waiting(repository) == []
    # The same approval does not work a second time.
    exit_code, text = terminal(repository, "approve", code).end()
    assert exit_code == 2 and "approved already" in text


@pytest.mark.parametrize("typed", ["no", "", "y e s", "yes please"])
def test_anything_but_yes_approves_nothing(repository: Repository, typed: str):
    code = propose(repository)
    person = terminal(repository, "approve", code)
    person.read_until("to approve: ")
    person.type(typed)
    exit_code, text = person.end()
    assert exit_code == 2 and "was not approved" in text
    assert waiting(repository) == [code] and scope(repository) == ["src/auth/**"]


def test_a_rejection_is_final(repository: Repository):
    code = propose(repository)
    exit_code, text = terminal(repository, "reject", code).end()
    assert exit_code == 0, text
    again = repository.intent("request-scope", "--intent", "INT-001", "--add", "tests/**", "--reason", "tests go there",
                              "--session", "codex:1")
    assert again["approval"]["code"] == code and again["approval"]["state"] == "denied"
    assert "has said no" in again["message"]
    assert scope(repository) == ["src/auth/**"]


def test_a_person_approves_a_new_intent(repository: Repository):
    answer = repository.intent("propose", "Sign out", "--scope", "src/out/**", "--constraint", "No cookies",
                               "--reason", "asked in the chat")
    person = terminal(repository, "approve", answer["approval"]["code"])
    shown = person.read_until("to approve: ")
    assert "Sign out" in shown and "src/out/**" in shown and "No cookies" in shown
    person.type("yes")
    assert person.end()[0] == 0
    made = repository.intent("list")[-1]
    assert (made["id"], made["name"], made["status"]) == ("INT-004", "Sign out", "IN_PROGRESS")
    repository.intent("select", "INT-004")


def test_a_person_switches_the_gate_off_and_on(repository: Repository):
    person = terminal(repository, "off", "--for", "10m", "--reason", "a large move")
    person.read_until("to switch the gate off: ")
    person.type("yes")
    assert person.end()[0] == 0
    status = repository.intent("status")
    assert status["off"]["reason"] == "a large move"
    doctor = repository.intent("doctor", code=1)
    assert any("switched the gate off" in check["detail"] for check in doctor["checks"])
    assert "for 10 min: a large move" in since(repository, "mutation")[0]["note"]
    exit_code, text = terminal(repository, "on").end()
    assert exit_code == 0 and "on again" in text
    assert repository.intent("status")["off"] is None
    exit_code, text = terminal(repository, "off", "--for", "9h").end()
    assert exit_code == 2 and "at most 8 h" in text


def refused(done: tuple[int, str]) -> None:
    exit_code, text = done
    assert exit_code == 2 and "for a person at a terminal" in text, text


def test_approving_needs_a_terminal(repository: Repository):
    code = propose(repository)
    for command in (["approve", code], ["reject", code], ["off", "--for", "1m"], ["on"]):
        for given in (None, "yes\n"):
            done = subprocess.run([str(BINARY), *command], cwd=repository.path, env=repository.env, text=True,
                                  input=given or "", capture_output=True, timeout=30, start_new_session=True)
            refused((done.returncode, done.stderr))
    # A terminal whose input comes from another program.
    piped = Terminal(["/bin/sh", "-c", f"echo yes | '{BINARY}' approve {code}"], repository.path, repository.env)
    refused(piped.end())
    assert waiting(repository) == [code]


@pytest.mark.parametrize("marker", MARKERS)
def test_no_agent_approves_by_its_variables(repository: Repository, marker: str):
    code = propose(repository)
    for command in (["approve", code], ["reject", code], ["off", "--for", "1m"], ["on"]):
        done = terminal(repository, *command, **{marker: "1"}).end()
        refused(done)
        assert f"{marker} is set" in done[1]
    assert waiting(repository) == [code]


@pytest.mark.parametrize("agent", ["claude", "codex", "/usr/local/bin/gemini", "opencode"])
def test_no_agent_approves_from_below_itself(repository: Repository, agent: str):
    code = propose(repository)
    done = terminal(repository, "approve", code, shell=agent).end()
    refused(done)
    assert f"started by {agent.rsplit('/')[-1]}" in done[1]
    assert waiting(repository) == [code]


def test_a_forged_approval_does_not_count(repository: Repository):
    code = propose(repository)
    file = repository.path / ".orchestration" / "local" / "approvals" / f"{code}.json"
    stored = json.loads(file.read_text())
    file.write_text(json.dumps({**stored, "state": "approved"}))
    assert waiting(repository) == []
    exit_code, _ = terminal(repository, "approve", code).end()
    assert exit_code == 2


# Tests of the dialogs in an editor.


def dialogs(interactive: bool):
    """A client that answers each dialog with the next entry of `client.answers`."""

    def make() -> LanguageClient:
        client = make_client()
        client.asked = []
        client.answers = asyncio.Queue()

        @client.feature(t.WINDOW_SHOW_MESSAGE_REQUEST)
        async def _ask(params: t.ShowMessageRequestParams):
            client.asked.append(params)
            title = await client.answers.get()
            return next((action for action in params.actions or [] if action.title == title), None)

        client.interactive = interactive
        return client

    return make


async def started(lsp_client: LanguageClient, repository: Repository) -> None:
    options = {"interactive": True} if lsp_client.interactive else {}
    await lsp_client.initialize_session(t.InitializeParams(
        capabilities=client_capabilities("visual-studio-code"),
        root_uri=repository.uri(),
        workspace_folders=[t.WorkspaceFolder(repository.uri(), "work")],
        initialization_options=options,
    ))


# The tests may be run by an agent, and the server would notice its variables.
OWN = {name: value for name, value in os.environ.items() if name in ("PATH", "HOME", "LANG", "TMPDIR")}


@pytest_lsp.fixture(config=ClientServerConfig(
    server_command=server_command(), client_factory=dialogs(True), server_env=OWN))
async def person(lsp_client: LanguageClient, repository: Repository):
    await started(lsp_client, repository)
    yield
    await lsp_client.shutdown_session()


@pytest_lsp.fixture(config=ClientServerConfig(
    server_command=server_command(), client_factory=dialogs(True), server_env={**OWN, "CLAUDECODE": "1"}))
async def pretender(lsp_client: LanguageClient, repository: Repository):
    await started(lsp_client, repository)
    yield
    await lsp_client.shutdown_session()


@pytest_lsp.fixture(config=ClientServerConfig(
    server_command=server_command(), client_factory=dialogs(False), server_env=OWN))
async def agent(lsp_client: LanguageClient, repository: Repository):
    await started(lsp_client, repository)
    yield
    await lsp_client.shutdown_session()


async def come(seen: list, count: int = 1) -> None:
    async def arrived() -> int:
        return len(seen)

    await until(arrived, lambda found: found >= count)


@pytest.mark.parametrize("title, state", [("Approve", "approved"), ("Reject", "denied")])
async def test_a_person_decides_in_a_dialog(person: LanguageClient, repository: Repository, title: str, state: str):
    code = propose(repository)
    await come(person.asked)
    question = person.asked[0]
    assert "codex:1" in question.message and "tests/**" in question.message and code in question.message
    assert [action.title for action in question.actions] == ["Approve", "Reject"]
    person.answers.put_nowait(title)
    await come(person.messages)
    assert scope(repository) == ["src/auth/**"] + (["tests/**"] if state == "approved" else [])
    assert "in the editor's dialog" in next(
        record["note"] for record in repository.ledger() if record["kind"] == "approval")
    await asyncio.sleep(1.2)
    assert len(person.asked) == 1, "one dialog for one question"


async def review(client: LanguageClient) -> dict:
    return await client.workspace_execute_command_async(t.ExecuteCommandParams("intent.review", arguments=[{}]))


async def test_a_dialog_that_was_closed_comes_back_when_the_person_asks(person: LanguageClient, repository: Repository):
    propose(repository)
    await come(person.asked)
    assert await review(person) == {"waiting": 1}
    await asyncio.sleep(1.2)
    assert len(person.asked) == 1, "a dialog that is open is not opened twice"
    person.answers.put_nowait("closed")
    await asyncio.sleep(1.2)
    assert len(person.asked) == 1, "what was closed is not put again unasked"
    assert await review(person) == {"waiting": 1}
    await come(person.asked, 2)
    person.answers.put_nowait("Approve")
    await come(person.messages)
    assert scope(repository) == ["src/auth/**", "tests/**"]
    assert await review(person) == {"waiting": 0}


async def test_reviewing_is_refused_without_a_person(agent: LanguageClient, repository: Repository):
    code = propose(repository)
    with pytest.raises(Exception, match="is for a person"):
        await review(agent)
    assert waiting(repository) == [code] and agent.asked == []


async def test_a_client_without_a_person_is_never_asked_and_cannot_approve(agent: LanguageClient, repository: Repository):
    code = propose(repository)
    await asyncio.sleep(1.5)
    assert agent.asked == []
    for name in ["intent.approve", "intent.reject", "intent.off", "approve"]:
        with pytest.raises(Exception):
            await agent.workspace_execute_command_async(t.ExecuteCommandParams(name, arguments=[{"code": code}]))
    assert waiting(repository) == [code]


async def test_a_server_that_an_agent_started_asks_no_questions(pretender: LanguageClient, repository: Repository):
    code = propose(repository)
    pretender.answers.put_nowait("Approve")
    await asyncio.sleep(1.5)
    assert pretender.asked == [] and waiting(repository) == [code]
