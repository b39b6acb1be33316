"""What no editor should send, and some do: the server answers each with the right error, and lives."""

from __future__ import annotations

import pytest

from conftest import OWN
from repository import Repository
from wire import Wire

pytestmark = pytest.mark.once

PARSE_ERROR, INVALID_REQUEST, NO_METHOD, INVALID_PARAMS = -32700, -32600, -32601, -32602
NOT_INITIALIZED, CANCELLED = -32002, -32800


@pytest.fixture
def wire(repository: Repository):
    with Wire(repository.path, {**OWN, "HOME": repository.env["HOME"]}) as wire:
        yield wire


def lives(wire: Wire) -> None:
    answer = wire.answer(wire.ask("workspace/executeCommand", {"command": "intent.status", "arguments": [{}]}))
    assert "result" in answer, answer


def code(answer: dict) -> int:
    return answer["error"]["code"]


@pytest.mark.parametrize("content", [b"{", b"not json", b"\xff\xfe", b'{"jsonrpc":"2.0","id":'])
def test_malformed_json(wire: Wire, content: bytes):
    wire.initialize()
    wire.send(content)
    assert code(wire.answer(None)) == PARSE_ERROR
    lives(wire)


@pytest.mark.parametrize("content", [b"[]", b"7", b'{"jsonrpc":"2.0","id":7}', b'{"jsonrpc":"2.0","id":7,"method":5}'],
                         ids=["list", "number", "no-method", "method-5"])
def test_malformed_request(wire: Wire, content: bytes):
    wire.initialize()
    wire.send(content)
    lives(wire)


def test_malformed_params(wire: Wire):
    wire.initialize()
    for params in ({"textDocument": 7}, [], {"textDocument": {"uri": wire.root.as_uri()}, "position": {"line": -1, "character": 0}}):
        assert code(wire.answer(wire.ask("textDocument/hover", params))) == INVALID_PARAMS, params
    # A notification cannot be answered; it is left out.
    wire.tell("textDocument/didOpen", {"textDocument": 7})
    wire.tell("textDocument/didChange", {"textDocument": {"uri": "file:///nowhere.ts", "version": 9}, "contentChanges": []})
    lives(wire)


def test_headers_of_other_editors(wire: Wire):
    content = b'{"jsonrpc":"2.0","id":90,"method":"workspace/executeCommand","params":{"command":"intent.list"}}'
    wire.initialize()
    wire.send(content, f"Content-Type: application/vscode-jsonrpc; charset=utf-8\r\ncontent-length: {len(content)}\r\n\r\n")
    assert "result" in wire.answer(90)


def test_unknown_methods(wire: Wire):
    wire.initialize()
    for method in ("textDocument/nothingOfThisKind", "$/nothingOfThisKind", "intent/nothing"):
        assert code(wire.answer(wire.ask(method, {}))) == NO_METHOD, method
    wire.tell("$/nothingOfThisKind", {})
    wire.tell("workspace/nothingOfThisKind", {})
    lives(wire)


def test_before_initialize(wire: Wire):
    assert code(wire.answer(wire.ask("textDocument/hover", {}))) == NOT_INITIALIZED
    wire.tell("textDocument/didOpen", {})
    wire.initialize()
    lives(wire)


def test_initialize_twice(wire: Wire):
    wire.initialize()
    assert code(wire.answer(wire.ask("initialize", {"capabilities": {}, "processId": None, "rootUri": None}))) == INVALID_REQUEST
    lives(wire)


def test_cancellation(wire: Wire):
    """Each request is answered once, cancelled or not, and a request after them is answered as ever."""
    wire.initialize()
    uri = (wire.root / "src/auth/middleware.ts").as_uri()
    asked = []
    for _ in range(20):
        asked.append(wire.ask("textDocument/references", {
            "textDocument": {"uri": uri}, "position": {"line": 5, "character": 9}, "context": {"includeDeclaration": True}}))
        wire.tell("$/cancelRequest", {"id": asked[-1]})
    wire.tell("$/cancelRequest", {"id": 4711})
    answers = {}
    while set(answers) != set(asked):
        message = wire.read()
        if "method" in message:
            continue
        assert message["id"] not in answers, "answered twice"
        assert "result" in message or code(message) == CANCELLED, message
        answers[message["id"]] = message
    lives(wire)


def test_shutdown_and_exit(wire: Wire):
    wire.initialize()
    assert wire.answer(wire.ask("shutdown"))["result"] is None
    assert code(wire.answer(wire.ask("textDocument/hover", {}))) == INVALID_REQUEST
    wire.tell("exit")
    assert wire.ended() == 0


def test_exit_without_shutdown(wire: Wire):
    wire.initialize()
    wire.tell("exit")
    assert wire.ended() == 1


def test_the_end_of_input(wire: Wire):
    wire.initialize()
    wire.process.stdin.close()
    assert wire.ended() == 1
