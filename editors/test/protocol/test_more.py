"""What else an editor asks for, under the recorded capabilities of each."""

from __future__ import annotations

import asyncio

import pytest
import pytest_lsp
from lsprotocol import types as t
from pytest_lsp import ClientServerConfig, LanguageClient, client_capabilities

from conftest import OWN, end, make_person
from repository import Repository
from session import Session, make_client, plain, server_command, until
from test_things import FLOORED, INVOICE, MIDDLEWARE, REGISTRY, asked_for, opened, scope, trespass, violations


def whole(editor: Session, uri: str) -> t.Range:
    return t.Range(t.Position(0, 0), t.Position(editor.text(uri).count("\n"), 0))


async def test_diagnostics_are_pushed(editor: Session):
    """None of the recorded editors can be told to pull again, so all are pushed to, those that would pull as well."""
    assert editor.client.initialized_with.capabilities.diagnostic_provider is None
    uri, _ = await trespass(editor)

    async def pushed() -> list:
        return [one.code for one in editor.client.diagnostics.get(uri, [])]

    await until(pushed, lambda codes: codes.count("scope-violation") == 1)
    editor.replace(uri, FLOORED, "line.price * line.count")
    await until(pushed, lambda codes: codes == [])


async def test_a_diagnostic_leads_to_its_scope(editor: Session):
    _, problem = await trespass(editor)
    if not editor.client.capabilities.text_document.publish_diagnostics.related_information:
        assert not problem.related_information
        return
    place = problem.related_information[0].location
    assert place.uri == editor.repository.uri(REGISTRY)
    line = editor.repository.read(REGISTRY).splitlines()[place.range.start.line]
    assert "src/auth/**" in line, line


async def test_lenses_are_resolved(editor: Session):
    uri = await opened(editor)
    found = await editor.client.text_document_code_lens_async(t.CodeLensParams(t.TextDocumentIdentifier(uri)))
    offered = editor.client.initialized_with.capabilities.code_lens_provider
    assert bool(offered) == bool(editor.client.capabilities.text_document.code_lens)
    # The neighbour in line 12 would say the same.
    assert {lens.range.start.line for lens in found} == {5}
    for lens in found:
        whole_lens = lens if lens.command else await editor.client.code_lens_resolve_async(lens)
        assert whole_lens.range == lens.range and "INT-001" in whole_lens.command.title


async def test_hints_take_one_surface(editor: Session, detail):
    uri = await opened(editor)
    document = editor.client.capabilities.text_document
    found = await editor.client.text_document_inlay_hint_async(
        t.InlayHintParams(t.TextDocumentIdentifier(uri), whole(editor, uri)))
    expected = {5} if document.inlay_hint and not document.code_lens else set()
    assert {hint.position.line for hint in found or []} == expected
    if expected:
        some = await editor.client.text_document_inlay_hint_async(
            t.InlayHintParams(t.TextDocumentIdentifier(uri), t.Range(t.Position(0, 0), t.Position(8, 0))))
        assert {hint.position.line for hint in some} == {5}, "hints outside of what was asked for"
    detail("hints" if expected else "lenses alone")


async def test_actions_are_resolved(editor: Session):
    uri, problem = await trespass(editor)
    actions = await editor.actions(uri, problem)
    assert actions[0].title.startswith("Select INT-002"), [action.title for action in actions]
    support = editor.client.capabilities.text_document.code_action
    back = next(action for action in actions if "back as it was" in action.title)
    if support.resolve_support:
        assert back.edit is None and back.command is None, "an edit that nobody has asked for yet"
    await editor.take(back)
    assert FLOORED not in editor.text(uri)
    await until(lambda: violations(editor, uri), lambda found: not found)


async def test_a_kind_of_action_is_asked_for(editor: Session):
    uri, problem = await trespass(editor)
    found = await editor.client.text_document_code_action_async(t.CodeActionParams(
        t.TextDocumentIdentifier(uri), problem.range,
        t.CodeActionContext(diagnostics=[problem], only=[t.CodeActionKind.SourceOrganizeImports])))
    assert not found


async def test_symbols(editor: Session):
    await opened(editor)
    registry = editor.open(REGISTRY, "yaml")
    symbols = await editor.client.text_document_document_symbol_async(
        t.DocumentSymbolParams(t.TextDocumentIdentifier(registry)))
    names = [symbol.name for symbol in symbols]
    assert [name for name in names if "INT-00" in name][:3] and "INT-001" in names[0], names
    assert isinstance(symbols[0], t.DocumentSymbol) == bool(
        editor.client.capabilities.text_document.document_symbol.hierarchical_document_symbol_support)
    found = await editor.client.workspace_symbol_async(t.WorkspaceSymbolParams("Stock"))
    assert [symbol for symbol in found if "INT-003" in symbol.name], found
    assert await editor.client.workspace_symbol_async(t.WorkspaceSymbolParams("no such intent")) in (None, [])


async def test_completion(editor: Session):
    await opened(editor)
    uri = editor.open("README.md", "markdown")
    editor.replace(uri, "on the receipt: INT-002.", "on the receipt: INT-")
    ids = await completed(editor, uri, "on the receipt: INT-")
    assert {"INT-001", "INT-002", "INT-003"} <= set(ids)
    registry = editor.open(REGISTRY, "yaml")
    editor.replace(registry, "    status: COMPLETED\n", "    status: \n")
    statuses = await completed(editor, registry, "    status: \n", back=1)
    assert {"DRAFT", "IN_PROGRESS", "COMPLETED"} <= set(statuses)


async def completed(editor: Session, uri: str, text: str, back: int = 0) -> list[str]:
    place = editor.place(uri, text)
    place.character += len(text) - back
    answer = await editor.client.text_document_completion_async(
        t.CompletionParams(t.TextDocumentIdentifier(uri), place))
    items = answer.items if isinstance(answer, t.CompletionList) else answer or []
    return [item.label for item in items]


async def test_links(editor: Session):
    """Where an id stands in a document; for editors that show links."""
    if not editor.client.capabilities.text_document.document_link:
        pytest.skip("showing links")
    await opened(editor)
    uri = editor.open("README.md", "markdown")
    found = await editor.client.text_document_document_link_async(t.DocumentLinkParams(t.TextDocumentIdentifier(uri)))
    lines = editor.text(uri).splitlines()
    cited = [lines[link.range.start.line][link.range.start.character:link.range.end.character] for link in found]
    assert cited == ["INT-001", "INT-002"]
    assert all(link.target.startswith(editor.repository.uri(REGISTRY)) for link in found)


async def test_progress(editor: Session, detail):
    await opened(editor)
    assert editor.client.capabilities.window.work_done_progress

    async def kinds() -> list[str]:
        return [one.kind for reports in editor.client.progress_reports.values() for one in reports]

    seen = await until(kinds, lambda found: found[-1:] == ["end"])
    assert seen == ["begin", "end"]
    begun = next(iter(editor.client.progress_reports.values()))[0]
    assert "Reading the intents" in begun.title
    detail(begun.title)


async def test_registration(editor: Session, detail):
    """Files are watched by the editor where it can; where it cannot, the server sees them itself."""
    uri = await opened(editor)
    methods = {one.method for one in editor.client.registrations}
    assert (t.WORKSPACE_DID_CHANGE_WATCHED_FILES in methods) == editor.watches
    for one in editor.client.registrations:
        section = {t.WORKSPACE_DID_CHANGE_CONFIGURATION: editor.client.capabilities.workspace.did_change_configuration,
                   t.WORKSPACE_DID_CHANGE_WATCHED_FILES: editor.client.capabilities.workspace.did_change_watched_files}
        assert section[one.method].dynamic_registration, f"{one.method} is registered with an editor that cannot"
    editor.write(REGISTRY, editor.repository.read(REGISTRY).replace("JWT Authentication Migration", "Tokens of the next kind"))
    await until(lambda: editor.hover(uri, "verify"), lambda text: "Tokens of the next kind" in text)
    detail(" ".join(sorted(methods)) or "none: the server watches by itself")


async def test_settings_of_the_editor(editor: Session):
    """A level that is switched off in the editor takes effect while it runs."""
    uri, _ = await trespass(editor)
    editor.client.set_configuration({"levels": {"scope-violation": "off"}}, section="intent")
    editor.client.workspace_did_change_configuration(t.DidChangeConfigurationParams(
        settings={"intent": {"levels": {"scope-violation": "off"}}}))
    await until(lambda: violations(editor, uri), lambda found: not found)


async def test_a_closed_question_can_be_seen_again(editor: Session):
    await opened(editor)
    asked_for(editor.repository)

    def come(count: int):
        async def seen() -> int:
            return len(editor.client.asked)
        return until(seen, lambda found: found == count)

    await come(1)
    editor.client.answers.put_nowait(None)

    async def reviewed() -> int:
        answer = await editor.run("intent.review")
        assert answer["waiting"] == 1
        return len(editor.client.asked)

    # A question that is still shown is not asked twice: it takes a moment until the server knows that it was closed.
    await until(reviewed, lambda count: count == 2)
    editor.client.answers.put_nowait("Approve")

    async def widened() -> list[str]:
        return scope(editor.repository)

    await until(widened, lambda entries: entries == ["src/auth/**", "src/billing/**"])
    await until(lambda: editor.run("intent.review"), lambda answer: answer["waiting"] == 0)


async def test_no_command_approves(editor: Session):
    offered = editor.client.initialized_with.capabilities.execute_command_provider.commands
    assert not [name for name in offered if "approve" in name or "reject" in name]
    await opened(editor)
    code = asked_for(editor.repository)
    with pytest.raises(Exception):
        await editor.run("intent.approve", code=code)
    assert scope(editor.repository) == ["src/auth/**"]


# Without an editor of their own


@pytest_lsp.fixture(config=ClientServerConfig(
    server_command=server_command(), client_factory=make_person, server_env=OWN))
async def plain_client(lsp_client: LanguageClient):
    yield
    if lsp_client.capabilities is None:
        # The test failed before it said a word: the server waits for one, and pytest would wait for the server.
        lsp_client._server.terminate()
    await end(lsp_client)


async def start(client: LanguageClient, repository: Repository, **options) -> Session:
    capabilities = client_capabilities("neovim")
    if encodings := options.pop("encodings", None):
        capabilities.general.position_encodings = encodings
    if options.pop("pulls", None):
        capabilities.workspace.diagnostics = t.DiagnosticWorkspaceClientCapabilities(refresh_support=True)
    client.initialized_with = await client.initialize_session(t.InitializeParams(
        capabilities=capabilities, root_uri=repository.uri(),
        workspace_folders=[t.WorkspaceFolder(repository.uri(), "work")], initialization_options=options))
    return Session(client, repository)


@pytest.mark.once
async def test_diagnostics_are_pulled(plain_client: LanguageClient, repository: Repository):
    """As newer editors do, which can be told to pull again."""
    editor = await start(plain_client, repository, pulls=True)
    assert plain_client.initialized_with.capabilities.diagnostic_provider
    uri, _ = await trespass(editor)
    document = t.TextDocumentIdentifier(uri)
    first = await plain_client.text_document_diagnostic_async(t.DocumentDiagnosticParams(text_document=document))
    assert first.kind == "full" and first.result_id
    again = await plain_client.text_document_diagnostic_async(
        t.DocumentDiagnosticParams(text_document=document, previous_result_id=first.result_id))
    assert again.kind == "unchanged" and again.result_id == first.result_id
    # What changes elsewhere asks for another look.
    before = plain_client.diagnostic_refresh_count
    editor.intent("select", "INT-002")

    async def asked() -> int:
        return plain_client.diagnostic_refresh_count

    await until(asked, lambda count: count > before)
    await until(lambda: violations(editor, uri), lambda found: not found)
    assert not plain_client.diagnostics.get(uri), "what is pulled is not pushed as well"


WIDTH = {"utf-8": lambda text: len(text.encode()), "utf-16": lambda text: len(text.encode("utf-16-le")) // 2, "utf-32": len}


@pytest.mark.once
@pytest.mark.parametrize("encoding", list(WIDTH))
async def test_positions(plain_client: LanguageClient, repository: Repository, encoding: str):
    """Of characters that are of another length in each encoding: é has 2 bytes, 𝒳 4 bytes and 2 UTF-16 units."""
    before = "Größe 𝒳 · naïve 👩‍🔧: "
    repository.write("notes.md", f"# Notes\n\n{before}INT-001 and INT-002.\n")
    editor = await start(plain_client, repository, encodings=[t.PositionEncodingKind(encoding)])
    assert plain_client.initialized_with.capabilities.position_encoding == encoding
    width = WIDTH[encoding]
    uri = editor.open("notes.md", "markdown")
    document = t.TextDocumentIdentifier(uri)

    async def at(character: int) -> t.Hover | None:
        return await plain_client.text_document_hover_async(t.HoverParams(document, t.Position(2, character)))

    start_of, end_of = width(before), width(before) + len("INT-001")
    hover = await until(lambda: at(start_of), lambda found: found is not None)
    assert "JWT Authentication Migration" in hover.contents.value
    assert (hover.range.start.character, hover.range.end.character) == (start_of, end_of)
    assert await at(start_of - 2) is None
    assert "Invoice rounding" in (await at(end_of + len(" and "))).contents.value

    # Typing before it, too: what was inserted moves it by its own width.
    plain_client.text_document_did_change(t.DidChangeTextDocumentParams(
        t.VersionedTextDocumentIdentifier(version=2, uri=uri),
        [t.TextDocumentContentChangePartial(range=t.Range(t.Position(2, width("Größe ")), t.Position(2, width("Größe 𝒳"))),
                                            text="𝒴𝒵é")]))
    moved = start_of - width("𝒳") + width("𝒴𝒵é")
    hover = await until(lambda: at(moved), lambda found: found is not None)
    assert hover.range.start.character == moved
    edit = await plain_client.text_document_rename_async(t.RenameParams(document, t.Position(2, moved), "INT-101"))
    edits = (edit.changes or {}).get(uri) or next(
        one.edits for one in edit.document_changes if one.text_document.uri == uri)
    assert [(one.range.start.character, one.range.end.character) for one in edits] == [(moved, moved + len("INT-001"))]


@pytest.mark.once
async def test_two_editors_at_once(plain_client: LanguageClient, repository: Repository):
    """Each has a server of its own; what one does, the other sees."""
    first = await start(plain_client, repository)
    other_client = make_client()
    await other_client.start_io(*server_command(), env=OWN)
    try:
        second = await start(other_client, repository)
        await opened(first)
        uri = await opened(second)
        await first.run("intent.select", id="INT-002")
        await until(lambda: second.run("intent.status"), lambda status: status["selected"]["id"] == "INT-002")
        # Both record at the same time; nothing is lost and no chain breaks.
        repository.write(MIDDLEWARE, repository.read(MIDDLEWARE).replace("clockTolerance: 5", "clockTolerance: 6"))
        answers = await asyncio.gather(
            first.run("intent.record", paths=[INVOICE], intent="INT-002"),
            second.run("intent.record", paths=[MIDDLEWARE], intent="INT-001"))
        assert [one["path"] for answer in answers for one in plain(answer)["recorded"]] == [INVOICE, MIDDLEWARE]
        await until(lambda: second.run("intent.why", uri=repository.uri(INVOICE), line=1),
                    lambda why: why["blocks"][0]["verdict"] == "exact")
        assert (await second.run("intent.verify"))["findings"] == []
        assert uri
    finally:
        await other_client.shutdown_session()
