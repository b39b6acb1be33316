"""A record of a person has the name from git. A record without a known author has no name."""

from __future__ import annotations

from repository import BINARY, Repository
from terminal import Terminal


def recorded(repository: Repository, *arguments: str, shell: str = "sh", **variables: str) -> dict:
    """Returns the contributor of the first block of a new file, after a record made at a terminal."""
    path = f"src/auth/new_{len(list((repository.path / 'src/auth').iterdir()))}.ts"
    repository.write(path, "export function first(): number {\n  return 1;\n}\n")
    command = [str(BINARY), "record", "--all", "--yes", "--intent", "INT-001", *arguments, path]
    exit_code, text = Terminal(command, repository.path, {**repository.env, **variables}, shell).end()
    assert exit_code == 0, text
    blocks = repository.intent("why", path)["blocks"]
    return next(block["contributor"] for block in blocks if block["contributor"])


def test_a_person_at_a_terminal_is_named_as_git_names_them(repository: Repository):
    repository.git("config", "user.name", "Ada Lovelace <ada@example.invalid>")
    assert recorded(repository) == {"entity_type": "HUMAN", "name": "Ada Lovelace"}


def test_a_person_without_a_name_is_still_a_person(repository: Repository):
    repository.git("config", "user.name", "ada@example.invalid")
    assert recorded(repository) == {"entity_type": "HUMAN"}


def test_an_agent_at_a_terminal_is_not_a_person(repository: Repository):
    repository.git("config", "user.name", "Ada Lovelace")
    assert recorded(repository, CLAUDECODE="1") == {"entity_type": "UNKNOWN"}
    assert recorded(repository, "--contributor", "human", shell="codex") == {"entity_type": "HUMAN"}
    assert recorded(repository, "--agent", "codex") == {"entity_type": "AI"}
