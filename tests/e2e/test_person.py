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


def edited(repository: Repository, script: str, variable: str = "EDITOR", shell: str = "sh", **variables: str):
    """Opens INT-001 in an editor that is a script. Its last argument is the file, as for every editor."""
    editor = repository.path.parent / "editor"
    editor.write_text(f'#!/bin/sh\n[ "$1" = --wait ] || exit 9\n{script}\n')
    editor.chmod(0o755)
    env = {**repository.env, **variables, variable: f"{editor} --wait"}
    return Terminal([str(BINARY), "edit", "INT-001"], repository.path, env, shell).end()


def test_a_person_edits_an_intent_in_their_editor(bare_repository: Repository):
    repository = bare_repository
    repository.intent("init")
    repository.intent("new", "Sign in", "--scope", "src/auth/**", "--start")
    repository.git("add", "-A")
    repository.git("commit", "-qm", "intents")
    file = ".orchestration/intents/INT-001-sign-in.yaml"
    before = repository.read(file)

    assert edited(repository, "true") == (0, "no intent was changed\n[exit 0]\n")
    change = """sed -i -e 's/Sign in/Log in/' -e 's/^owned_scope:.*/owned_scope: ["src\\/billing\\/**"]  # for now/' "$2" """
    exit_code, text = edited(repository, change, "VISUAL", EDITOR="false")
    assert exit_code == 0 and f"INT-001 is IN_PROGRESS in {file}" in text, text
    now = repository.read(file)
    assert "name: Log in" in now and "# for now" in now and now != before
    assert [entry["id"] for entry in repository.intent("list")] == ["INT-001"]
    # What a person changed is accepted at once: the new scope counts, and the change is recorded.
    repository.write("src/billing/invoice.ts", "export const total = 1;\n")
    repository.intent("record", "src/billing/invoice.ts", "--intent", "INT-001", "--agent", "claude-code")
    codes = {finding["code"] for finding in repository.intent("check")["findings"]}
    assert not codes & {"scope-violation", "registry-changed"}, codes

    exit_code, text = edited(repository, "exit 1")
    assert exit_code == 2 and "the editor failed" in text, text
    exit_code, text = edited(repository, "true", shell="claude")
    assert exit_code == 2 and "a person" in text, text
    assert repository.read(file) == now
    exit_code, text = edited(repository, 'echo "name: [" >> "$2"')
    assert exit_code == 2 and f"{file}:" in text and "until it parses" in text, text
