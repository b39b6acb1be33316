"""Shared by the lab: the agents, and a governed repository for each test."""

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


# What each agent does once, and what each way of calling tools does.
AGENTS = ("codex", "gemini", "opencode")


def pytest_generate_tests(metafunc):
    if "host" in metafunc.fixturenames:
        names = HOSTS if metafunc.definition.get_closest_marker("every_way") else AGENTS
        metafunc.parametrize("host", [HOSTS[name] for name in names], ids=list(names))


@pytest.fixture
def place():
    # Outside of the project: a repository inside another is governed by the outer one.
    with tempfile.TemporaryDirectory(prefix="intent-lab-", ignore_cleanup_errors=True) as folder:
        yield pathlib.Path(folder)


@pytest.fixture
def repository(place: pathlib.Path) -> lab.Repository:
    return lab.Repository(place / "work", place / "home")


@pytest.fixture
def governed(host, repository: lab.Repository) -> lab.Repository:
    """The repository with the agent's hooks in place, as a person would put them there."""
    wired(host, repository)
    return repository


def wired(host, repository: lab.Repository) -> None:
    repository.intent("init", "--agent", host.name)
    repository.commit(f"the hooks of {host.name}")
    host.prepare(repository)
