"""A day in the editor: a person opens, reads, edits, switches a branch, rebases, records and reviews. What the server
puts in their way, and how long it takes, is counted.

The limits of time are generous, since this runs unoptimised and beside other tests. They find a server that reads the
whole history before it answers, not one that became a little slower. docs/performance.md has the figures.
"""

from __future__ import annotations

import pathlib
import statistics
import time

import pytest_lsp
from lsprotocol import types as t
from pytest_lsp import ClientServerConfig, LanguageClient, client_capabilities

import project
from repository import Repository
from session import Session, make_client, ready, server_command, until

QUESTION = 2.0


def counting_client() -> LanguageClient:
    """A client that counts what a person would have to look at or to answer."""
    client = make_client()
    client.questions = []

    @client.feature(t.WINDOW_SHOW_MESSAGE_REQUEST)
    def _question(params: t.ShowMessageRequestParams):
        client.questions.append(params.message)

    return client


@pytest_lsp.fixture(config=ClientServerConfig(server_command=server_command(), client_factory=counting_client))
async def client(lsp_client: LanguageClient):
    yield
    await lsp_client.shutdown_session()


class Day:
    """The answers of a day, with the time that each took in seconds."""

    def __init__(self, editor: Session):
        self.editor = editor
        self.times: dict[str, list[float]] = {}

    async def hover(self, uri: str, name: str) -> str:
        return await self._timed("hover", self.editor.hover(uri, name))

    async def lenses(self, uri: str) -> list[tuple[int, str]]:
        return await self._timed("lenses", self.editor.lenses(uri))

    async def _timed(self, what: str, answer):
        started = time.monotonic()
        answer = await answer
        self.times.setdefault(what, []).append(time.monotonic() - started)
        return answer


async def test_a_day_in_the_editor(client: LanguageClient, tmp_path: pathlib.Path):
    (tmp_path / "home").mkdir()
    repository = Repository(tmp_path / "work", tmp_path / "home")
    repository.path.mkdir()
    project.make(repository)
    assert len(repository.git("ls-files", "src").splitlines()) == 300

    # Open: the first answers come at once, and without a pop-up.
    started = time.monotonic()
    await client.initialize_session(t.InitializeParams(
        capabilities=client_capabilities("visual-studio-code"), root_uri=repository.uri(),
        workspace_folders=[t.WorkspaceFolder(repository.uri(), "work")],
        initialization_options={"interactive": True}))
    editor = await ready(client, repository)
    day = Day(editor)
    long = editor.open(project.path("payments", 0))
    listed = await editor.run("intent.list")
    assert len(listed) == 12, "the list does not wait for counts"
    first = await day.hover(long, project.name("payments", 0, 3))
    assert "INT-006" in first and "codex" in first, first
    assert time.monotonic() - started < 10, "the first answers"
    assert client.messages == [] and client.questions == []

    # Read: four lines at most, and few lenses.
    hovers = [first]
    for area in project.FOLDERS:
        for number in (0, 3, 9):
            uri = editor.open(project.path(area, number))
            hovers.append(await day.hover(uri, project.name(area, number, 1)))
    assert all(hovers), "no name of a block is without an answer"
    lines = [len(hover.splitlines()) for hover in hovers]
    assert statistics.median(lines) <= 4 and max(lines) <= 6, hovers[lines.index(max(lines))]
    assert sum("INT-" in hover for hover in hovers) >= 12, hovers
    of_git = await editor.hover(editor.open(project.path("delivery", 3)), project.name("delivery", 3, 1))
    assert "git says" in of_git and "delivery: list parcels" in of_git, of_git
    labels = await day.lenses(long)
    assert labels and all("INT-006" in title and "codex" in title for _, title in labels), labels

    # Edit: nothing jumps, and nobody is stopped.
    editor.intent("select", "INT-006")
    before = [at for at, _ in labels]
    typed = project.limit_line("payments", 0, 4)
    for letter in range(1, 30):
        now = typed + " // " + "a" * letter
        editor.replace(long, typed if letter == 1 else typed + " // " + "a" * (letter - 1), now)
        await day.hover(long, project.name("payments", 0, 4))
        assert [at for at, _ in await day.lenses(long)] == before
    assert await editor.codes(long) == []
    repository.write(project.path("payments", 0), editor.text(long))

    # Switch a branch and come back.
    repository.git("stash", "-q")
    repository.git("switch", "-qc", "side")
    repository.write(project.path("payments", 5), project.text("payments", 5) + "\n" + project.function("payments", 5, 7))
    repository.intent("record", "--intent", "INT-006", "--agent", "codex", project.path("payments", 5))
    project.commit(repository, "Cleo", "payments: find the overdue ones")
    repository.git("switch", "-q", "main")
    repository.write("README.md", "# Shop\n")
    project.commit(repository, "Bob", "readme: say what this is")

    # Rebase: the names stay.
    repository.git("switch", "-q", "side")
    repository.git("rebase", "-q", "main")
    side = editor.open(project.path("payments", 5))
    hover = await until(lambda: day.hover(side, project.name("payments", 5, 7)), lambda text: "INT-006" in text)
    assert "codex" in hover, hover
    repository.git("stash", "pop", "-q")

    # Record.
    await editor.run("intent.record", paths=[project.path("payments", 0)])
    await until(lambda: day.hover(long, project.name("payments", 0, 4)), lambda text: "INT-006" in text)
    project.commit(repository, "Ada", "payments: explain a limit")
    assert repository.intent("check", "--base", "main")["findings"] == []
    assert client.messages == [] and client.questions == [], "nothing asked for attention so far"

    # Review: an agent asks, and that is the one question of the day.
    repository.intent("request-scope", "--intent", "INT-006", "--add", "docs/**", "--reason", "the docs go there",
                      "--session", "codex:1")

    async def asked():
        return client.questions

    await until(asked, lambda questions: len(questions) == 1)
    assert "docs/**" in client.questions[0] and client.messages == []

    median = {what: statistics.median(times) for what, times in day.times.items()}
    print({what: f"{len(day.times[what])} answers, median {1000 * seconds:.0f} ms" for what, seconds in median.items()},
          f"{len(client.refreshed)} refreshes")
    assert all(seconds < QUESTION for seconds in median.values()), median
    assert len(client.refreshed) <= 60, client.refreshed
