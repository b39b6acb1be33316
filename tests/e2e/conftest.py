"""Shared by the end-to-end tests: small repositories that are made for each test."""

from __future__ import annotations

import pathlib

import pytest

from repository import BINARY, INVOICE, MIDDLEWARE, REGISTRY, Repository


def pytest_configure(config):
    if not BINARY.is_file():
        raise pytest.UsageError(f"{BINARY} is not there: cargo build, or set INTENT_BIN")


@pytest.fixture
def bare_repository(tmp_path: pathlib.Path) -> Repository:
    """A repository with committed code and without intents."""
    home = tmp_path / "home"
    home.mkdir()
    repository = Repository(tmp_path / "work", home)
    repository.write("src/auth/middleware.ts", MIDDLEWARE)
    repository.write("src/billing/invoice.ts", INVOICE)
    repository.write("README.md", "# Shop\n\nSee INT-001.\n")
    repository.git("init", "-q", "-b", "main")
    repository.git("add", "-A")
    repository.git("commit", "-qm", "code")
    return repository


@pytest.fixture
def repository(bare_repository: Repository) -> Repository:
    """INT-001 wrote src/auth/middleware.ts. Everything is committed, and no intent is selected."""
    bare_repository.intent("init")
    bare_repository.write(".orchestration/active_intents.yaml", REGISTRY)
    bare_repository.intent("record", "--all", "--yes", "--intent", "INT-001", "--agent", "claude-code",
                           "--model", "example/model-1", "src/auth/middleware.ts")
    bare_repository.git("add", "-A")
    bare_repository.git("commit", "-qm", "intents")
    return bare_repository
