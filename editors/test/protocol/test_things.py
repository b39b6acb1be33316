"""The things of the table, as far as they are the server's: asked for, and acted on, as each of the recorded editors would."""

from __future__ import annotations

import pathlib

import pytest
from lsprotocol import types as t

from repository import Repository
from session import Session, until

NOTEBOOK = pathlib.Path(__file__).resolve().parent.parent / "prices.ipynb"
MIDDLEWARE, INVOICE = "src/auth/middleware.ts", "src/billing/invoice.ts"
REGISTRY = ".orchestration/active_intents.yaml"
# What a person types out of the scope of INT-001, in a file that no intent of the shop owns the wording of.
ROUNDED, FLOORED = "Math.round(line.price * line.count)", "Math.floor(line.price * line.count)"


async def opened(editor: Session, name: str = MIDDLEWARE, word: str = "verify") -> str:
    """A file whose records the server has read."""
    uri = editor.open(name)
    await until(lambda: editor.hover(uri, word), lambda text: "INT-001" in text)
    return uri


async def trespass(editor: Session) -> tuple[str, t.Diagnostic]:
    """An edit out of the selected intent's scope, typed and not saved."""
    uri = editor.open(INVOICE)
    editor.replace(uri, ROUNDED, "line.price * line.count")
    await until(lambda: editor.codes(uri), lambda codes: "scope-violation" not in codes)
    editor.replace(uri, "line.price * line.count", FLOORED)
    found = await until(lambda: violations(editor, uri), lambda found: len(found) == 1)
    return uri, found[0]


async def violations(editor: Session, uri: str) -> list[t.Diagnostic]:
    return [problem for problem in await editor.problems(uri) if problem.code == "scope-violation"]


def locations(answer) -> list[tuple[str, int]]:
    found = answer if isinstance(answer, list) else [answer]
    return [(one.target_uri, one.target_selection_range.start.line) if isinstance(one, t.LocationLink)
            else (one.uri, one.range.start.line) for one in found]


@pytest.mark.thing("hover")
async def test_hover(editor: Session, detail):
    uri = await opened(editor)
    text = await editor.hover(uri, "verify")
    for part in ("INT-001 JWT Authentication Migration", "claude-code, ", " lines", "[Intent]"):
        assert part in text, text
    assert len(text.splitlines()) <= 4, text
    detail(text[:100])


@pytest.mark.thing("glance")
async def test_glance(editor: Session, detail):
    uri = await opened(editor)
    line = editor.place(uri, "async verify").line
    document = editor.client.capabilities.text_document
    if document.code_lens:
        seen = [title for at, title in await editor.lenses(uri) if at == line]
    else:
        assert document.inlay_hint, "neither lenses nor hints"
        whole = t.Range(t.Position(0, 0), t.Position(editor.text(uri).count("\n"), 0))
        hints = await editor.client.text_document_inlay_hint_async(
            t.InlayHintParams(t.TextDocumentIdentifier(uri), whole))
        seen = [hint.label if isinstance(hint.label, str) else "".join(part.value for part in hint.label)
                for hint in hints if hint.position.line == line]
    assert len(seen) == 1 and "INT-001" in seen[0], seen
    detail(f"{'lens' if document.code_lens else 'hint'}: {seen[0]}")


@pytest.mark.thing("line")
async def test_line(editor: Session, detail):
    uri = await opened(editor)
    shorts = {}
    for word, author in (("clockTolerance", "claude-code"), ("this.keys.current", "codex")):
        position = {"line": editor.place(uri, word).line, "character": 0}
        answer = await editor.run("intent.why", uri=uri, position=position)
        assert answer["short"].startswith(f"INT-001 · {author}, "), answer
        assert len(answer["lines"]) <= 3, answer
        shorts[author] = answer["short"]
    detail("; ".join(shorts.values()))


@pytest.mark.thing("scope")
async def test_scope(editor: Session, detail):
    _, problem = await trespass(editor)
    assert problem.severity == t.DiagnosticSeverity.Error
    assert "INT-001" in problem.message and INVOICE in problem.message
    assert FLOORED not in editor.repository.read(INVOICE), "judged before it was saved"
    detail(problem.message)


@pytest.mark.thing("select")
async def test_select(editor: Session, detail):
    await opened(editor)
    # Without an id, the server asks whoever sits there.
    editor.client.answers.put_nowait("INT-002")
    await editor.run("intent.select")
    assert [one for one in editor.client.asked if any("INT-002" in action.title for action in one.actions)]
    assert editor.repository.intent("status")["selected"]["id"] == "INT-002"
    detail("from the server's own question")


@pytest.mark.thing("widen")
async def test_widen(editor: Session, detail):
    uri, problem = await trespass(editor)
    widen = [one for one in await editor.actions(uri, problem) if one.title == f"Add {INVOICE} to the scope of INT-001"]
    assert len(widen) == 1
    await editor.take(widen[0])
    assert f'owned_scope: ["src/auth/**", "{INVOICE}"]' in editor.repository.read(REGISTRY)
    await until(lambda: violations(editor, uri), lambda found: not found)
    detail(widen[0].title)


@pytest.mark.thing("record")
async def test_record(editor: Session, detail):
    editor.intent("select", "INT-002")
    uri = editor.open(INVOICE)
    place = editor.place(uri, "total")

    async def offered() -> list[t.CodeAction]:
        found = await editor.client.text_document_code_action_async(t.CodeActionParams(
            t.TextDocumentIdentifier(uri), t.Range(place, place), t.CodeActionContext(diagnostics=[])))
        return [one for one in found or [] if isinstance(one, t.CodeAction) and one.title.startswith("Record")]

    actions = await until(offered, lambda found: [one.title[-7:] for one in found] == ["INT-002"])
    await editor.take(actions[0])
    answer = editor.repository.intent("why", INVOICE)
    assert [(block["name"], block["verdict"], block["intent"]["id"]) for block in answer["blocks"]] == [
        ("total", "exact", "INT-002")]
    await until(lambda: editor.hover(uri, "total"), lambda text: "INT-002" in text)
    detail(actions[0].title)


@pytest.mark.thing("goto")
async def test_goto(editor: Session, detail):
    await opened(editor)
    uri = editor.open("README.md", "markdown")
    at = editor.repository.read(REGISTRY).splitlines().index("  - id: INT-001")
    found = await editor.client.text_document_definition_async(
        t.DefinitionParams(t.TextDocumentIdentifier(uri), editor.place(uri, "INT-001")))
    assert locations(found) == [(editor.repository.uri(REGISTRY), at)]
    window = editor.client.capabilities.window
    if window.show_document:
        # And from the block itself, as a click on its lens does.
        told = await editor.run("intent.show", uri=editor.repository.uri(MIDDLEWARE), line=6)
        assert (told["uri"], told["line"]) == (editor.repository.uri(REGISTRY), at + 1), told
        document = editor.client.shown_documents[-1]
        assert (document.uri, document.selection.start.line) == (editor.repository.uri(REGISTRY), at)
    detail(f"{REGISTRY}:{at + 1}")


@pytest.mark.thing("blocks")
async def test_blocks(editor: Session, detail):
    await opened(editor)
    uri = editor.open(REGISTRY, "yaml")
    place = editor.place(uri, "INT-001", nth=editor.text(uri).split("active_intents:\n")[0].count("INT-001"))
    found = await editor.client.text_document_references_async(t.ReferenceParams(
        t.ReferenceContext(include_declaration=False), t.TextDocumentIdentifier(uri), place))
    blocks = {(one.uri.rsplit("/", 1)[-1], one.range.start.line + 1) for one in found}
    assert {("middleware.ts", 6), ("middleware.ts", 13), ("session.ts", 6), ("session.ts", 10)} <= blocks, blocks
    detail(f"{len(found)} places")


@pytest.mark.thing("rename")
async def test_rename(editor: Session, detail):
    await opened(editor)
    uri = editor.open("README.md", "markdown")
    ledger = editor.repository.ledger()
    edit = await editor.client.text_document_rename_async(
        t.RenameParams(t.TextDocumentIdentifier(uri), editor.place(uri, "INT-001"), "INT-101"))
    editor.apply(edit)
    assert "signed tokens: INT-101." in editor.text(uri)
    assert "  - id: INT-101\n" in editor.repository.read(REGISTRY)
    assert editor.repository.ledger() == ledger, "the ledger says what was, and stays"
    await until(lambda: editor.run("intent.list"), lambda found: found[0]["id"] == "INT-101")
    detail("INT-001 → INT-101")


@pytest.mark.thing("intents")
async def test_intents(editor: Session, detail):
    found = await editor.run("intent.list")
    states = {one["id"]: one["status"] for one in found}
    assert states == {"INT-001": "IN_PROGRESS", "INT-002": "IN_PROGRESS", "INT-003": "COMPLETED"}
    assert [one["id"] for one in found if one["selected"]] == ["INT-001"]
    assert found[0]["criteria"]["all"] == 3, found[0]
    counted = await editor.run("intent.list", count=True)
    assert [one["id"] for one in counted] == [one["id"] for one in found]
    assert counted[0]["files"] == 2 and counted[0]["lines"] > 4, counted[0]
    detail(f"{counted[0]['files']} files, {counted[0]['lines']} lines of INT-001")


@pytest.mark.thing("history")
async def test_history(editor: Session, detail):
    uri = await opened(editor)
    answer = await editor.run("intent.why", uri=uri, line=editor.place(uri, "async verify").line + 1)
    agents = [record["tool"] for record in answer["blocks"][0]["lineage"]]
    assert agents == ["claude-code", "gemini-cli", "codex"], agents
    detail(", ".join(agents))


@pytest.mark.thing("notebook")
async def test_notebook(editor: Session, detail):
    """As text: an editor without notebooks of its own shows the JSON."""
    await opened(editor)
    name = "src/billing/prices.ipynb"
    editor.repository.write(name, NOTEBOOK.read_text())
    uri = editor.open(name, "json")
    await editor.run("intent.record", paths=[uri], all=True, intent="INT-002", agent="codex")
    position = {"line": editor.place(uri, "return round").line, "character": 0}

    async def answer() -> dict:
        return await editor.run("intent.why", uri=uri, position=position) or {}

    told = await until(answer, lambda told: told.get("short", "").startswith("INT-002 · codex, "))
    assert told["lines"][0] == "INT-002 Invoice rounding", told
    detail(told["short"])


@pytest.mark.thing("approve")
async def test_approve(editor: Session, detail):
    await opened(editor)
    code = asked_for(editor.repository)
    assert scope(editor.repository) == ["src/auth/**"], "nothing happens before the answer"
    questions = await until(lambda: shown(editor, code), lambda found: len(found) == 1)
    assert [action.title for action in questions[0].actions] == ["Approve", "Reject"]
    editor.client.answers.put_nowait("Approve")
    detail(" ".join(questions[0].message.split())[:100].replace(code, "CODE"))

    async def waiting() -> list[dict]:
        return editor.repository.intent("approve")

    # The registry is written first, and then that it was.
    await until(waiting, lambda left: left == [])
    assert scope(editor.repository) == ["src/auth/**", "src/billing/**"]


def asked_for(repository: Repository, glob: str = "src/billing/**") -> str:
    """An agent asks for a wider scope."""
    answer = repository.intent("request-scope", "--intent", "INT-001", "--add", glob, "--session", "codex:1",
                               "--reason", "an invoice shows who is signed in")
    return answer["approval"]["code"]


def scope(repository: Repository) -> list[str]:
    return repository.intent("list")[0]["owned_scope"]


async def shown(editor: Session, code: str) -> list[t.ShowMessageRequestParams]:
    return [question for question in editor.client.asked if code in question.message]
