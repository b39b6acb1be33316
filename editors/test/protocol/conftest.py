"""The protocol suite: the shop for each test, one editor at a server, and a line for each test.

What an editor says and does is shared with tests/e2e (`session.py`, `repository.py`, `terminal.py`).
"""

from __future__ import annotations

import asyncio
import os
import pathlib
import shutil
import subprocess
import sys

import pytest
import pytest_asyncio
import pytest_lsp
from lsprotocol import types as t
from pytest_lsp import ClientServerConfig, LanguageClient, client_capabilities

HERE = pathlib.Path(__file__).resolve().parent
sys.path[:0] = [str(HERE), str(HERE.parents[2] / "tests" / "e2e")]

from repository import BINARY, Repository  # noqa: E402
from session import EDITORS, Session, make_client, ready, server_command, until  # noqa: E402


def pytest_addoption(parser):
    parser.addoption("--editor", choices=EDITORS, help="only under the capabilities of this one")
    parser.addoption("--lines", action="store_true", help="a line for each test, to the descriptor LINES_TO")


def pytest_configure(config):
    if not BINARY.is_file():
        raise pytest.UsageError(f"{BINARY} is not there: cargo build, or set INTENT_BIN")


def editor_of(item) -> str | None:
    return next((value for value in getattr(item, "callspec", item).__dict__.get("params", {}).values()
                 if value in EDITORS), None)


def pytest_collection_modifyitems(config, items):
    wanted = config.getoption("--editor")
    if wanted is None:
        return
    left = [item for item in items if editor_of(item) not in (None, wanted)]
    # What is of no editor is asked once: under the first.
    left += [item for item in items if item.get_closest_marker("once") and wanted != EDITORS[0]]
    config.hook.pytest_deselected(items=left)
    items[:] = [item for item in items if item not in left]


@pytest.hookimpl(hookwrapper=True)
def pytest_runtest_makereport(item, call):
    report = (yield).get_result()
    if not item.config.getoption("--lines"):
        return
    # A test that passes and cannot be torn down has not passed.
    if report.when == "call" or report.failed:
        with os.fdopen(os.dup(int(os.environ["LINES_TO"])), "w") as channel:
            channel.write(line(item, report) + "\n")


def line(item, report) -> str:
    marker = item.get_closest_marker("thing")
    name = marker.args[0] if marker else item.originalname.removeprefix("test_").replace("_", "-")
    if marker and report.failed and report.when == "teardown":
        name += "-end"
    said = dict(report.user_properties)
    # Which of several arguments, where the editor is not the only one.
    others = [str(value) for value in getattr(item, "callspec", item).__dict__.get("params", {}).values()
              if value not in EDITORS]
    detail = " ".join(" ".join([*others, said.get("detail", "")]).split())[:180]
    if report.failed:
        crash = getattr(report.longrepr, "reprcrash", None)
        return f"FAIL {name} {detail} {str(crash.message if crash else report.longrepr).splitlines()[0][:300]}"
    if report.skipped:
        return f"ok {name} not in what this editor can: {report.longrepr[2].removeprefix('Skipped: ')}"
    return f"ok {name} {detail}".rstrip()


@pytest.fixture
def detail(record_property):
    """Says beside a passed test what was seen."""
    return lambda text: record_property("detail", text)


@pytest.fixture(scope="session")
def shop_once(tmp_path_factory) -> pathlib.Path:
    """The repository of the editor tests, made once."""
    folder = tmp_path_factory.mktemp("shop")
    (folder / "home").mkdir()
    (folder / "bin").mkdir()
    (folder / "bin" / "intent").symlink_to(BINARY)
    environment = {"PATH": f"{folder / 'bin'}:{os.environ['PATH']}", "HOME": str(folder / "home"), "LANG": "C.UTF-8"}
    subprocess.run([str(HERE.parent / "workspace.sh"), str(folder / "work")], env=environment, check=True, timeout=60,
                   capture_output=True)
    return folder / "work"


@pytest.fixture
def repository(tmp_path: pathlib.Path, shop_once: pathlib.Path) -> Repository:
    """A copy of the shop."""
    shutil.copytree(shop_once, tmp_path / "work", symlinks=True)
    (tmp_path / "home").mkdir()
    return Repository(tmp_path / "work", tmp_path / "home")


def make_person() -> LanguageClient:
    """An editor with a person at it: dialogs wait for what the test puts into `answers` (`None` closes one)."""
    client = make_client()
    client.asked = []
    client.answers = asyncio.Queue()
    client.answered = 0
    client.ending = False

    @client.feature(t.WINDOW_SHOW_MESSAGE_REQUEST)
    async def _ask(params: t.ShowMessageRequestParams):
        client.asked.append(params)
        wanted = None if client.ending else await client.answers.get()
        client.answered += 1
        return next((action for action in params.actions or [] if wanted and wanted in action.title), None)

    return client


async def end(client: LanguageClient) -> None:
    """Closes what is still open, as an editor does, and ends the server."""
    # The server may ask while it is being shut down. pygls cannot end a dialog that then still waits.
    client.ending = True
    for _ in range(len(client.asked) - client.answered):
        client.answers.put_nowait(None)

    async def left() -> int:
        return len(client.asked) - client.answered

    await until(left, lambda count: count == 0)
    await client.shutdown_session()


# Whoever runs these tests may be an agent; the server would notice.
OWN = {name: value for name, value in os.environ.items() if name in ("PATH", "HOME", "LANG", "TMPDIR")}


@pytest_lsp.fixture(
    params=EDITORS,
    config=ClientServerConfig(server_command=server_command(), client_factory=make_person, server_env=OWN),
)
async def client(request, lsp_client: LanguageClient, repository: Repository):
    lsp_client.initialized_with = await lsp_client.initialize_session(t.InitializeParams(
        capabilities=client_capabilities(request.param),
        root_uri=repository.uri(),
        workspace_folders=[t.WorkspaceFolder(repository.uri(), "work")],
        initialization_options={"interactive": True},
    ))
    yield
    await end(lsp_client)


@pytest_asyncio.fixture
async def editor(client: LanguageClient, repository: Repository) -> Session:
    return await ready(client, repository)
