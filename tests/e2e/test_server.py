"""The real server, used as three real editors use it."""

from __future__ import annotations

import pytest
import pytest_asyncio
import pytest_lsp
from lsprotocol import types as t
from pytest_lsp import ClientServerConfig, LanguageClient, client_capabilities

from repository import Repository
from session import EDITORS, Session, make_client, ready, server_command, until

COMMANDS = ["list", "select", "clear", "status", "context", "gate", "record", "why", "map", "verify",
            "lesson"]
VERIFY = "  async verify(token: string): Promise<Claims> {"


@pytest_lsp.fixture(
    params=EDITORS,
    config=ClientServerConfig(server_command=server_command(), client_factory=make_client),
)
async def client(request, lsp_client: LanguageClient, repository: Repository):
    lsp_client.initialized_with = await lsp_client.initialize_session(t.InitializeParams(
        capabilities=client_capabilities(request.param),
        root_uri=repository.uri(),
        workspace_folders=[t.WorkspaceFolder(repository.uri(), "work")],
    ))
    yield
    await lsp_client.shutdown_session()


@pytest_asyncio.fixture
async def editor(client: LanguageClient, repository: Repository) -> Session:
    return await ready(client, repository)


async def recorded(editor: Session, name: str = "src/auth/middleware.ts") -> str:
    """Returns a file whose records the server has read."""
    uri = editor.open(name)
    await until(lambda: editor.hover(uri, "verify"), lambda text: "INT-001" in text)
    return uri


async def test_the_server_announces_its_capabilities(editor: Session):
    result: t.InitializeResult = editor.client.initialized_with
    can = result.capabilities
    general = editor.client.capabilities.general
    offered = (general and general.position_encodings) or [t.PositionEncodingKind.Utf16]
    assert can.position_encoding in (None, *offered)
    assert {f"intent.{name}" for name in COMMANDS} <= set(can.execute_command_provider.commands)
    assert not any("approve" in command for command in can.execute_command_provider.commands)
    assert can.hover_provider and can.definition_provider and can.references_provider
    assert result.server_info and result.server_info.name


async def test_a_recorded_block_shows_its_intent(editor: Session):
    uri = await recorded(editor)
    hover = await editor.hover(uri, "verify")
    for text in ("INT-001", "JWT Authentication Migration", "claude", "4 of 4 lines"):
        assert text in hover, hover
    lenses = await editor.lenses(uri)
    # A class and its methods have one lens if they have the same record.
    line = editor.place(uri, "AuthMiddleware").line
    assert [title for at, title in lenses if at == line and "INT-001" in title], lenses
    assert editor.place(uri, VERIFY).line not in [at for at, _ in lenses], lenses


async def test_an_unrecorded_block_shows_nothing(editor: Session):
    await recorded(editor)
    uri = editor.open("src/billing/invoice.ts")
    assert "INT-" not in await editor.hover(uri, "total")
    assert await editor.lenses(uri) == []
    assert await editor.problems(uri) == []


async def test_the_verdict_follows_the_block(editor: Session):
    uri = await recorded(editor)

    editor.replace(uri, "const key = await this.keys.current();", "const key = await this.keys.oldest(token);")
    await until(lambda: editor.hover(uri, "verify"), lambda text: "since then 1 line" in text and "INT-001" in text)
    editor.replace(uri, "const key = await this.keys.oldest(token);", "const key = await this.keys.current();")
    await until(lambda: editor.hover(uri, "verify"), lambda text: "4 of 4 lines" in text and "since" not in text)

    editor.replace(uri, "    return payload as Claims;", "\n        return payload as Claims;")
    await until(lambda: editor.hover(uri, "verify"), lambda text: "layout and comments" in text and "INT-001" in text)

    bearer = editor.text(uri)[editor.text(uri).index("export function bearer"):]
    editor.replace(uri, bearer, f"export namespace Http {{\n{bearer}}}\n")
    await until(lambda: editor.hover(uri, "bearer"), lambda text: "moved" in text and "INT-001" in text)


async def test_leaving_the_scope_is_an_error_until_the_right_intent_is_selected(editor: Session):
    editor.intent("select", "INT-001")
    uri = editor.open("src/billing/invoice.ts")
    editor.replace(uri, "line.price * line.count", "Math.round(line.price * line.count)")

    async def violations():
        return [problem for problem in await editor.problems(uri) if problem.code == "scope-violation"]

    found = await until(violations, lambda found: len(found) == 1)
    problem = found[0]
    assert problem.severity == t.DiagnosticSeverity.Error
    assert "INT-001" in problem.message and "src/billing/invoice.ts" in problem.message
    if related := problem.related_information:
        assert related[0].location.uri == editor.repository.uri(".orchestration/active_intents.yaml")

    actions = await editor.actions(uri, problem)
    select = [action for action in actions if "INT-002" in action.title and "elect" in action.title]
    assert len(select) == 1, [action.title for action in actions]
    if editor.client.capabilities.text_document.code_action.is_preferred_support:
        assert select[0].is_preferred
    await editor.take(select[0])
    await until(violations, lambda found: found == [])
    assert editor.repository.intent("status")["selected"]["id"] == "INT-002"


async def test_the_scope_can_be_widened_and_the_registry_keeps_its_comments(editor: Session):
    editor.intent("select", "INT-001")
    uri = editor.open("src/billing/invoice.ts")
    editor.replace(uri, "line.price * line.count", "Math.round(line.price * line.count)")
    problems = await until(lambda: editor.problems(uri), lambda found: found)
    actions = await editor.actions(uri, problems[0])
    widen = [action for action in actions if "scope" in action.title.lower() and "INT-001" in action.title]
    assert widen, [action.title for action in actions]
    await editor.take(widen[0])
    registry = editor.repository.read(".orchestration/active_intents.yaml")
    assert "# What we are working on. This comment must survive every edit." in registry
    assert "# and nothing else" in registry
    first = next(one for one in editor.repository.intent("list") if one["id"] == "INT-001")
    assert len(first["owned_scope"]) == 2 and first["owned_scope"][0] == "src/auth/**"
    await until(lambda: editor.codes(uri), lambda codes: "scope-violation" not in codes)


async def test_an_edit_can_be_restored_to_the_committed_text(editor: Session):
    editor.intent("select", "INT-001")
    uri = editor.open("src/billing/invoice.ts")
    before = editor.text(uri)
    editor.replace(uri, "line.price * line.count", "Math.round(line.price * line.count)")
    problems = await until(lambda: editor.problems(uri), lambda found: found)
    actions = await editor.actions(uri, problems[0])
    back = [action for action in actions if "back" in action.title.lower()]
    assert len(back) == 1, [action.title for action in actions]
    await editor.take(back[0])
    assert editor.text(uri) == before
    await until(lambda: editor.problems(uri), lambda found: found == [])


async def test_a_change_by_another_program_is_shown(editor: Session):
    uri = await recorded(editor)
    registry = editor.repository.read(".orchestration/active_intents.yaml")
    editor.write(".orchestration/active_intents.yaml",
                 registry.replace("JWT Authentication Migration", "Tokens of the next kind"))
    await until(lambda: editor.hover(uri, "verify"), lambda text: "Tokens of the next kind" in text)


async def test_a_deleted_file_has_an_error_until_it_is_restored(editor: Session):
    await recorded(editor)
    if not editor.registered():
        pytest.skip("this editor tells of no files")
    await editor.run("intent.select", id="INT-001")
    gone = editor.repository.uri("src/billing/invoice.ts")

    async def published() -> list[str]:
        return [str(problem.code) for problem in editor.client.diagnostics.get(gone, [])]

    editor.move("src/billing/invoice.ts", "target/invoice.ts")
    await until(published, lambda codes: "scope-violation" in codes)
    editor.move("target/invoice.ts", "src/billing/invoice.ts")
    await until(published, lambda codes: not codes)


async def test_a_broken_registry_is_an_error_and_the_server_goes_on(editor: Session):
    uri = await recorded(editor)
    broken = 'active_intents:\n  - id: INT-001\n    name: "no end\n'
    editor.write(".orchestration/active_intents.yaml", broken)
    registry = editor.open(".orchestration/active_intents.yaml", "yaml")
    await until(lambda: editor.codes(registry), lambda codes: "registry-syntax" in codes)
    with pytest.raises(Exception, match="parse"):
        await editor.run("intent.select", id="INT-001")
    assert editor.repository.read(".orchestration/active_intents.yaml") == broken
    await editor.hover(uri, "verify")


async def test_ids_lead_to_their_intent_and_back(editor: Session):
    await recorded(editor)
    uri = editor.open("README.md", "markdown")
    registry = editor.repository.uri(".orchestration/active_intents.yaml")
    at = t.TextDocumentIdentifier(uri), editor.place(uri, "INT-001")
    found = await editor.client.text_document_definition_async(t.DefinitionParams(*at))
    found = found if isinstance(found, list) else [found]
    targets = [getattr(one, "target_uri", None) or one.uri for one in found]
    assert targets == [registry]
    assert "JWT Authentication Migration" in await editor.hover(uri, "INT-001")
    references = await editor.client.text_document_references_async(
        t.ReferenceParams(t.ReferenceContext(include_declaration=True), *at))
    uris = {reference.uri for reference in references}
    assert {uri, editor.repository.uri("src/auth/middleware.ts")} <= uris


async def test_an_id_is_renamed_everywhere_but_in_the_ledger(editor: Session):
    await recorded(editor)
    uri = editor.open("README.md", "markdown")
    ledger = editor.repository.ledger()
    edit = await editor.client.text_document_rename_async(
        t.RenameParams(t.TextDocumentIdentifier(uri), editor.place(uri, "INT-001"), "INT-101"))
    editor.apply(edit)
    assert "See INT-101." in editor.text(uri)
    registry = editor.repository.read(".orchestration/active_intents.yaml")
    assert "id: INT-101\n" in registry and 'formerly: ["INT-001"]\n' in registry
    assert editor.repository.ledger() == ledger


async def test_ids_and_statuses_are_completed(editor: Session):
    await recorded(editor)
    uri = editor.open("README.md", "markdown")
    editor.replace(uri, "See INT-001.", "See INT-")
    place = editor.place(uri, "INT-")
    place.character += len("INT-")
    answer = await editor.client.text_document_completion_async(
        t.CompletionParams(t.TextDocumentIdentifier(uri), place))
    items = answer.items if isinstance(answer, t.CompletionList) else answer
    assert {"INT-001", "INT-002"} <= {item.label for item in items}


async def test_intents_are_symbols(editor: Session):
    await recorded(editor)
    registry = editor.open(".orchestration/active_intents.yaml", "yaml")
    symbols = await editor.client.text_document_document_symbol_async(
        t.DocumentSymbolParams(t.TextDocumentIdentifier(registry)))
    assert [symbol.name for symbol in symbols if "INT-00" in symbol.name][:1]
    found = await editor.client.workspace_symbol_async(t.WorkspaceSymbolParams("Invoice"))
    assert any("INT-002" in symbol.name or "Invoice" in symbol.name for symbol in found or [])


# Tests of the commands.


async def test_commands_that_only_read(editor: Session):
    await recorded(editor)
    assert [one["id"] for one in await editor.run("intent.list")] == ["INT-001", "INT-002", "INT-003"]
    status = await editor.run("intent.status")
    assert status["governed"] and status["selected"] is None and status["intents"] == 3
    context = await editor.run("intent.context", id="INT-001")
    assert "<intent_context" in str(context) and "Must not use external auth providers" in str(context)
    why = await editor.run("intent.why", uri=editor.repository.uri("src/auth/middleware.ts"), line=6)
    assert [(block["name"], block["verdict"], block["intent"]["id"]) for block in why["blocks"]] == [
        ("verify", "exact", "INT-001")]
    mapped = await editor.run("intent.map")
    assert mapped["intents"][0]["files"][0]["path"] == "src/auth/middleware.ts"
    verified = await editor.run("intent.verify", blocks=True)
    assert verified["findings"] == [] and verified["records"] >= 1


async def test_selecting_an_intent_and_recording(editor: Session):
    await recorded(editor)
    denied = await editor.run("intent.gate", paths=["src/billing/invoice.ts"], session="test:1")
    assert (denied["outcome"], denied["code"]) == ("deny", "INTENT_REQUIRED")
    selected = await editor.run("intent.select", id="INT-002", session="test:1")
    assert selected["intent"]["id"] == "INT-002" and "<intent_context" in selected["context"]
    assert (await editor.run("intent.gate", paths=["src/billing/invoice.ts"], session="test:1"))["outcome"] == "no_opinion"
    denied = await editor.run("intent.gate", paths=["src/auth/middleware.ts"], session="test:1")
    assert (denied["outcome"], denied["code"]) == ("deny", "SCOPE_VIOLATION")

    text = editor.repository.read("src/billing/invoice.ts")
    editor.repository.write("src/billing/invoice.ts", text.replace("line.price", "Math.round(line.price)"))
    answer = await editor.run("intent.record", paths=["src/billing/invoice.ts"], session="test:1", agent="test-agent")
    assert [(one["path"], one["blocks"]) for one in answer["recorded"]] == [("src/billing/invoice.ts", 1)]
    assert answer["skipped"] == []
    uri = editor.open("src/billing/invoice.ts")
    await until(lambda: editor.hover(uri, "total"), lambda text: "INT-002" in text and "1 of 2 lines" in text)
    learned = await editor.run("intent.lesson", text="Round [prices](https://a.example) once.", session="test:1", agent="test-agent")
    assert (learned["path"], learned["text"], learned["outcome"]) == ("AGENTS.md", "Round prices once.", "added")
    assert (await editor.run("intent.lesson", text="round prices once"))["outcome"] == "already_there"
    assert editor.repository.read("AGENTS.md").count("Round prices once.") == 1
    assert (await editor.run("intent.status"))["selected"] is None, "a session's selection is its own"


async def test_select_and_clear_for_the_person(editor: Session):
    await recorded(editor)
    await editor.run("intent.select", id="INT-001")
    assert (await editor.run("intent.status"))["selected"]["id"] == "INT-001"
    await editor.run("intent.clear")
    assert (await editor.run("intent.status"))["selected"] is None


@pytest.mark.parametrize("command, argument, names", [
    ("intent.select", {}, "id"),
    ("intent.select", {"id": 7}, "id|string"),
    ("intent.select", {"id": "INT-001", "colour": "red"}, "colour"),
    ("intent.select", {"id": "INT-009"}, "INT-009"),
    ("intent.select", {"id": "INT-003"}, "COMPLETED"),
    ("intent.gate", {}, "paths"),
    ("intent.approve", {}, "approve"),
])
async def test_a_wrong_argument_is_refused_by_its_name(editor: Session, command: str, argument: dict, names: str):
    await recorded(editor)
    with pytest.raises(Exception, match=names):
        await editor.run(command, **argument)
    assert len(await editor.run("intent.list")) == 3
