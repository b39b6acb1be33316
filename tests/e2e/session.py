"""An editor with a server: it opens files, types, and uses the answers as an editor does."""

from __future__ import annotations

import asyncio
import pathlib
import re
from typing import Union
from urllib.parse import unquote, urlparse

from lsprotocol import types as t
from pygls.protocol import default_converter
from pytest_lsp import LanguageClient
from pytest_lsp.client import register_lsp_features

from repository import BINARY, Repository

EDITORS = ["visual-studio-code", "neovim", "emacs"]
PATIENCE = 10.0


def converter():
    """lsprotocol takes a code action with a command for a command. The specification distinguishes them by the type
    of that field."""
    made = default_converter()

    def action(value, _type):
        kind = t.Command if isinstance(value.get("command"), str) else t.CodeAction
        return made.structure(value, kind)

    made.register_structure_hook(Union[t.Command, t.CodeAction], action)
    return made


def make_client() -> LanguageClient:
    """A client that answers the requests of the server, and remembers them."""
    client = LanguageClient(converter_factory=converter)
    register_lsp_features(client)
    client.registrations = []
    client.applied = []
    client.refreshed = []

    @client.feature(t.CLIENT_REGISTER_CAPABILITY)
    def _register(params: t.RegistrationParams):
        client.registrations.extend(params.registrations)

    @client.feature(t.WORKSPACE_APPLY_EDIT)
    def _apply(params: t.ApplyWorkspaceEditParams):
        client.applied.append(params.edit)
        return t.ApplyWorkspaceEditResult(applied=True)

    for method in (t.WORKSPACE_CODE_LENS_REFRESH, t.WORKSPACE_INLAY_HINT_REFRESH):
        @client.feature(method)
        def _refresh(_params, method=method):
            client.refreshed.append(method)

    return client


def server_command() -> list[str]:
    return [str(BINARY), "lsp"]


class Session:
    """What a test does with the server, in terms of an editor."""

    def __init__(self, client: LanguageClient, repository: Repository):
        self.client = client
        self.repository = repository
        self.texts: dict[str, tuple[int, str]] = {}

    @property
    def watches(self) -> bool:
        """Whether this editor reports changed files if the server asks for that."""
        workspace = self.client.capabilities.workspace
        watched = workspace and workspace.did_change_watched_files
        return bool(watched and watched.dynamic_registration)

    def registered(self) -> bool:
        return any(one.method == t.WORKSPACE_DID_CHANGE_WATCHED_FILES for one in self.client.registrations)

    @property
    def pulls(self) -> bool:
        document = self.client.capabilities.text_document
        return bool(document and document.diagnostic)

    # Files

    def open(self, name: str, language: str = "typescript") -> str:
        uri, text = self.repository.uri(name), self.repository.read(name)
        self.texts[uri] = (1, text)
        self.client.text_document_did_open(
            t.DidOpenTextDocumentParams(t.TextDocumentItem(uri, language, 1, text)))
        return uri

    def text(self, uri: str) -> str:
        return self.texts[uri][1]

    def replace(self, uri: str, old: str, new: str) -> None:
        """Replaces the only occurrence of a text."""
        version, text = self.texts[uri]
        assert text.count(old) == 1, f"{old!r} occurs {text.count(old)} times"
        start = text.index(old)
        self._edit(uri, [t.TextEdit(t.Range(position(text, start), position(text, start + len(old))), new)])

    def _edit(self, uri: str, edits: list[t.TextEdit]) -> None:
        version, text = self.texts[uri]
        # From the end to the beginning, so that earlier positions stay valid.
        edits = sorted(edits, key=lambda edit: (edit.range.start.line, edit.range.start.character), reverse=True)
        changes = []
        for edit in edits:
            start, end = offset(text, edit.range.start), offset(text, edit.range.end)
            text = text[:start] + edit.new_text + text[end:]
            changes.append(t.TextDocumentContentChangePartial(range=edit.range, text=edit.new_text))
        self.texts[uri] = (version + 1, text)
        self.client.text_document_did_change(t.DidChangeTextDocumentParams(
            t.VersionedTextDocumentIdentifier(version=version + 1, uri=uri), changes))

    def apply(self, edit: t.WorkspaceEdit) -> None:
        """Applies an edit as an editor does: to the buffer if the file is open, otherwise to the file."""
        changes = {uri: list(edits) for uri, edits in (edit.changes or {}).items()}
        for change in edit.document_changes or []:
            assert isinstance(change, t.TextDocumentEdit), change
            if change.text_document.version is not None:
                assert change.text_document.version == self.texts[change.text_document.uri][0]
            changes.setdefault(change.text_document.uri, []).extend(change.edits)
        assert changes, "an edit that changes nothing"
        for uri, edits in changes.items():
            if uri in self.texts:
                self._edit(uri, edits)
                continue
            path = pathlib.Path(unquote(urlparse(uri).path))
            text = path.read_text()
            for one in sorted(edits, key=lambda e: (e.range.start.line, e.range.start.character), reverse=True):
                text = text[:offset(text, one.range.start)] + one.new_text + text[offset(text, one.range.end):]
            before = self._governing()
            path.write_text(text)
            self.tell(before)

    def intent(self, *arguments: str):
        """Runs a command in a terminal. The editor reports the files that it changed, if the server asked for that."""
        before = self._governing()
        answer = self.repository.intent(*arguments)
        self.tell(before)
        return answer

    def write(self, name: str, text: str) -> None:
        """Writes a file as another program would."""
        before = self._governing()
        self.repository.write(name, text)
        self.tell(before)

    def move(self, name: str, to: str) -> None:
        """Moves a file as another program would. The editor reports both names, if the server asked for that."""
        self.repository.path.joinpath(to).parent.mkdir(exist_ok=True)
        self.repository.path.joinpath(name).rename(self.repository.path / to)
        if self.registered():
            self.client.workspace_did_change_watched_files(t.DidChangeWatchedFilesParams([
                t.FileEvent(uri=self.repository.uri(name), type=t.FileChangeType.Deleted),
                t.FileEvent(uri=self.repository.uri(to), type=t.FileChangeType.Created)]))

    def _governing(self) -> dict[str, bytes]:
        folder = self.repository.path / ".orchestration"
        return {path.as_uri(): path.read_bytes() for path in folder.rglob("*") if path.is_file()}

    def tell(self, before: dict[str, bytes]) -> None:
        """Reports changed files as an editor does: only those for which the server has registered."""
        if not self.registered():
            return
        now = self._governing()
        kinds = {**{uri: t.FileChangeType.Deleted for uri in before if uri not in now},
                 **{uri: t.FileChangeType.Created for uri in now if uri not in before},
                 **{uri: t.FileChangeType.Changed for uri in now if uri in before and now[uri] != before[uri]}}
        self.client.workspace_did_change_watched_files(t.DidChangeWatchedFilesParams(
            [t.FileEvent(uri=uri, type=kind) for uri, kind in kinds.items()]))

    # Questions

    def place(self, uri: str, text: str, nth: int = 0) -> t.Position:
        at = -1
        for _ in range(nth + 1):
            at = self.text(uri).index(text, at + 1)
        return position(self.text(uri), at)

    async def hover(self, uri: str, text: str, nth: int = 0) -> str:
        answer = await self.client.text_document_hover_async(
            t.HoverParams(t.TextDocumentIdentifier(uri), self.place(uri, text, nth)))
        if answer is None:
            return ""
        contents = answer.contents
        return contents.value if isinstance(contents, t.MarkupContent) else str(contents)

    async def lenses(self, uri: str) -> list[tuple[int, str]]:
        """Returns the line (counted from 0) and the title of each lens, resolved."""
        found = await self.client.text_document_code_lens_async(t.CodeLensParams(t.TextDocumentIdentifier(uri)))
        titles = []
        for lens in found or []:
            if lens.command is None:
                lens = await self.client.code_lens_resolve_async(lens)
            assert lens.command is not None, "a lens that stays without a command"
            titles.append((lens.range.start.line, lens.command.title))
        return titles

    async def problems(self, uri: str) -> list[t.Diagnostic]:
        if self.pulls:
            report = await self.client.text_document_diagnostic_async(
                t.DocumentDiagnosticParams(text_document=t.TextDocumentIdentifier(uri)))
            assert report.kind == "full", report
            return list(report.items)
        return list(self.client.diagnostics.get(uri, []))

    async def codes(self, uri: str) -> list[str]:
        return sorted(str(problem.code) for problem in await self.problems(uri))

    async def actions(self, uri: str, problem: t.Diagnostic) -> list[t.CodeAction]:
        found = await self.client.text_document_code_action_async(t.CodeActionParams(
            t.TextDocumentIdentifier(uri), problem.range, t.CodeActionContext(diagnostics=[problem])))
        return [action for action in found or [] if isinstance(action, t.CodeAction)]

    async def take(self, action: t.CodeAction) -> None:
        """Chooses an action from the menu."""
        assert action.disabled is None, action.disabled
        if action.edit is None and action.command is None:
            action = await self.client.code_action_resolve_async(action)
        if action.edit is not None:
            self.apply(action.edit)
        if action.command is not None:
            await self.client.workspace_execute_command_async(
                t.ExecuteCommandParams(action.command.command, arguments=action.command.arguments))
            while self.client.applied:
                self.apply(self.client.applied.pop(0))

    async def run(self, command: str, **argument):
        answer = await self.client.workspace_execute_command_async(
            t.ExecuteCommandParams(command, arguments=[{"uri": self.repository.uri(), **argument}]))
        return plain(answer)


async def until(question, wanted, patience: float = PATIENCE):
    """Asks again until the answer is the wanted one, or the time is over."""
    loop = asyncio.get_running_loop()
    end = loop.time() + patience
    while True:
        answer = await question()
        if wanted(answer):
            return answer
        assert loop.time() < end, f"after {patience} s still {answer!r}"
        await asyncio.sleep(0.03)


async def ready(client: LanguageClient, repository: Repository) -> Session:
    """Returns the session as soon as the server has registered its watchers."""
    editor = Session(client, repository)

    async def registered() -> bool:
        return editor.registered() or not editor.watches

    await until(registered, lambda answer: answer)
    return editor


def plain(value):
    """Turns the objects of pygls into JSON again."""
    if isinstance(value, list):
        return [plain(item) for item in value]
    if isinstance(value, dict):
        return {key: plain(item) for key, item in value.items()}
    if hasattr(value, "_asdict"):
        return {key: plain(item) for key, item in value._asdict().items()}
    return value


def position(text: str, at: int) -> t.Position:
    """Positions are in UTF-16 units. In the texts of these tests each character is one unit."""
    before = text[:at]
    return t.Position(before.count("\n"), at - (before.rfind("\n") + 1))


def offset(text: str, place: t.Position) -> int:
    starts = [0, *(match.end() for match in re.finditer("\n", text))]
    if place.line >= len(starts):
        return len(text)
    end = starts[place.line + 1] - 1 if place.line + 1 < len(starts) else len(text)
    return min(starts[place.line] + place.character, end)
