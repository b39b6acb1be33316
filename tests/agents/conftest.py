"""Shared by the lab: the agents, and a workspace with intents for each test."""

from __future__ import annotations

import pathlib
import tempfile

import pytest

import lab
from codex import Codex, CodexCode
from gemini import Gemini
from opencode import Opencode, OpencodePatch

HOSTS = {"codex": Codex(), "codex-code-mode": CodexCode(), "gemini": Gemini(), "opencode": Opencode(),
         "opencode-patch": OpencodePatch()}


def pytest_configure(config):
    config.addinivalue_line("markers", "every_way: with every way in which an agent calls its tools")
    for needed in (lab.BINARY, lab.MODULES):
        if not needed.exists():
            raise pytest.UsageError(f"{needed} is not there: run tests/agents/run")


# A test can run once for each agent, or once for each way in which an agent calls tools.
AGENTS = ("codex", "gemini", "opencode")


def pytest_generate_tests(metafunc):
    if "host" in metafunc.fixturenames:
        names = HOSTS if metafunc.definition.get_closest_marker("every_way") else AGENTS
        metafunc.parametrize("host", [HOSTS[name] for name in names], ids=list(names))


@pytest.fixture
def place():
    # The folder must be outside of the project, because a repository inside another one belongs to the outer workspace.
    with tempfile.TemporaryDirectory(prefix="intent-lab-", ignore_cleanup_errors=True) as folder:
        yield pathlib.Path(folder)


@pytest.fixture
def repository(place: pathlib.Path) -> lab.Repository:
    return lab.Repository(place / "work", place / "home")


@pytest.fixture
def governed(host, repository: lab.Repository) -> lab.Repository:
    """The repository with the hooks of the agent, installed as a person would install them."""
    wired(host, repository)
    return repository


def wired(host, repository: lab.Repository) -> None:
    repository.intent("init", "--agent", host.name)
    repository.commit(f"the hooks of {host.name}")
    host.prepare(repository)
