"""Other kinds of workspaces: registries of every dialect, a folder without intents, and this project itself."""

from __future__ import annotations

import pathlib
import re

import pytest
import pytest_lsp
from lsprotocol import types as t
from pytest_lsp import ClientServerConfig, LanguageClient, client_capabilities

from repository import ROOT, Repository, copy_of_this_project, governed_clone
from session import Session, make_client, server_command, until

DIALECTS = sorted(path for path in (ROOT / "tests" / "registries").glob("*.*") if path.suffix in (".yaml", ".yml", ".json"))
assert len(DIALECTS) > 10, "the registries of every dialect were not found"


@pytest_lsp.fixture(config=ClientServerConfig(server_command=server_command(), client_factory=make_client))
async def client(lsp_client: LanguageClient):
    yield
    if lsp_client.capabilities is None:
        # The test failed before it sent a message. The server waits for one, and pytest would wait for the server.
        lsp_client._server.terminate()
    await lsp_client.shutdown_session()


async def start(client: LanguageClient, repository: Repository) -> Session:
    await client.initialize_session(t.InitializeParams(
        capabilities=client_capabilities("visual-studio-code"),
        root_uri=repository.uri(),
        workspace_folders=[t.WorkspaceFolder(repository.uri(), "work")],
    ))
    return Session(client, repository)


@pytest.mark.parametrize("dialect", DIALECTS, ids=lambda path: path.name)
async def test_a_registry_in_each_dialect(client: LanguageClient, bare_repository: Repository, dialect: pathlib.Path):
    name = f".orchestration/active_intents{dialect.suffix}"
    (bare_repository.path / ".orchestration").mkdir()
    (bare_repository.path / name).write_bytes(dialect.read_bytes())
    editor = await start(client, bare_repository)
    text = dialect.read_bytes().decode("utf-8", errors="replace")
    bare_repository.write("notes.md", "See INT-001.\n")
    registry = bare_repository.uri(name)
    editor.texts[registry] = (1, text)
    client.text_document_did_open(t.DidOpenTextDocumentParams(t.TextDocumentItem(registry, "yaml", 1, text)))

    async def listed():
        try:
            return await editor.run("intent.list")
        except Exception as error:  # noqa: BLE001 - a refusal is an answer here
            return str(error)

    answer = await until(listed, lambda answer: isinstance(answer, list) or "parse" in answer)
    if isinstance(answer, str):
        bare_repository.intent("list", code=2)
        await until(lambda: editor.codes(registry),
                    lambda codes: {"registry-syntax", "registry-too-large"} & set(codes))
        return
    assert answer == bare_repository.intent("list"), "the two faces disagree"
    symbols = await client.text_document_document_symbol_async(
        t.DocumentSymbolParams(t.TextDocumentIdentifier(registry)))
    shown = " ".join(symbol.name for symbol in symbols or [])
    assert all(one["id"] in shown for one in answer if one["id"]), shown
    assert (bare_repository.path / name).read_bytes() == dialect.read_bytes(), "reading must not write"


async def test_a_folder_without_intents_has_no_diagnostics(client: LanguageClient, bare_repository: Repository):
    editor = await start(client, bare_repository)
    uri = editor.open("src/auth/middleware.ts")
    editor.replace(uri, "clockTolerance: 5", "clockTolerance: 6")
    assert "git says: " in await editor.hover(uri, "verify")
    assert await editor.lenses(uri) == []
    assert client.diagnostics.get(uri, []) == []
    assert client.messages == []
    assert not (bare_repository.path / ".orchestration").exists()


@pytest.mark.skipif(not governed_clone(), reason="not a clone with intents of its own")
async def test_this_project_can_be_opened(client: LanguageClient, tmp_path: pathlib.Path):
    repository = copy_of_this_project(tmp_path / "project", tmp_path)
    assert repository.intent("check")["findings"] == []
    verified = repository.intent("verify")
    assert verified["findings"] == [] and verified["records"] > 0
    path, name = "crates/provenance/src/names.rs", "may_become"
    why = repository.intent("why", path)
    block = next(block for block in why["blocks"] if block["name"] == name)
    assert block["verdict"] in ("exact", "moved"), block
    owner = block["intent"]["id"]
    registry = (repository.path / ".orchestration/active_intents.yaml").read_text()
    in_progress = re.findall(r"- id: (\S+)\n    name: .*\n    status: IN_PROGRESS", registry)
    in_charge = repository.intent("for", path)[0]["owners"][0]["id"]
    others = [one for one in in_progress if one != in_charge]
    lines = (repository.path / path).read_text().splitlines(keepends=True)
    text = "".join(lines[block["start_line"] - 1:block["end_line"]])
    editor = await start(client, repository)
    uri = editor.open(path, "rust")
    await until(lambda: editor.hover(uri, name), lambda text: owner in text and "since then" not in text)
    if client.capabilities.text_document.code_lens:
        await until(lambda: editor.lenses(uri), lambda lenses: any(owner in title for _, title in lenses))

    spaced = text.replace("then == now", "then  == now")
    editor.replace(uri, text, spaced)
    await until(lambda: editor.hover(uri, name), lambda text: owner in text and ("layout and comments" in text or "recorded" in text))
    editor.replace(uri, spaced, f"mod inner {{\n{text}}}\n")
    await until(lambda: editor.hover(uri, name), lambda text: "moved" in text and owner in text)
    editor.replace(uri, "then == now", "then != now")

    editor.intent("select", others[0])
    violations = lambda: editor.codes(uri)
    await until(violations, lambda codes: "scope-violation" in codes)
    problem = next(one for one in await editor.problems(uri) if one.code == "scope-violation")
    select = next(one for one in await editor.actions(uri, problem) if in_charge in one.title and "elect" in one.title)
    await editor.take(select)
    await until(violations, lambda codes: "scope-violation" not in codes)
    assert (await editor.run("intent.status"))["selected"]["id"] == in_charge
