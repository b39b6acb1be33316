"""`intent mcp` with two clients of others: the MCP Inspector, and the client of the TypeScript SDK."""

from __future__ import annotations

import hashlib
import json
import pathlib
import subprocess

import pytest

import lab
from test_gate import LATER, OUTSIDE, TOKEN

TOOLS = {"select_active_intent", "list_intents", "gate_check", "file_read", "file_write", "record_mutation", "why",
         "request_scope", "propose_intent", "record_lesson", "approval_status"}
HINTS = {"readOnlyHint", "destructiveHint", "idempotentHint", "openWorldHint"}


class Inspector:
    """The command line of the Inspector: one process for each request."""

    def __init__(self, repository: lab.Repository):
        self.repository = repository
        # The Inspector finds its package.json from the current folder, so the server must be told its folder.
        self.server = repository.home / "server"
        self.server.write_text(f"#!/bin/sh\nexec '{lab.BINARY}' -C '{repository.path}' mcp\n")
        self.server.chmod(0o755)

    def ask(self, method: str, *more: str) -> dict:
        script = pathlib.Path(lab.program("@modelcontextprotocol", "inspector-cli", "build", "index.js"))
        code, out, err, _ = lab.bounded([lab.node(), str(script), str(self.server), "--method", method, *more],
                                        script.parent, self.repository.env)
        assert code == 0, f"{method}: exit {code}\n{out}\n{err}"
        return json.loads(out)


@pytest.fixture
def inspector(repository) -> Inspector:
    return Inspector(repository)


def sdk(repository: lab.Repository, calls: list[tuple[str, dict]]) -> dict:
    """Makes all calls on one connection."""
    command = [lab.node(), str(pathlib.Path(__file__).with_name("sdk.mjs")), str(lab.MODULES), str(lab.BINARY), "mcp"]
    asked = json.dumps([{"tool": tool, "arguments": arguments} for tool, arguments in calls])
    done = subprocess.run(command, cwd=repository.path, env=repository.env, input=asked, capture_output=True, text=True,
                          timeout=60)
    assert done.returncode == 0, f"exit {done.returncode}\n{done.stdout}\n{done.stderr}"
    return json.loads(done.stdout)


def test_the_inspector_lists_every_tool_with_schemas_and_hints(inspector):
    tools = {tool["name"]: tool for tool in inspector.ask("tools/list")["tools"]}
    assert set(tools) == TOOLS
    for tool in tools.values():
        assert tool["description"] and HINTS <= set(tool["annotations"]), tool
        assert tool["inputSchema"]["type"] == "object" and tool["outputSchema"]["type"] == "object", tool
    writing = {name for name, tool in tools.items() if not tool["annotations"]["readOnlyHint"]}
    assert {"select_active_intent", "file_write", "record_mutation"} <= writing
    assert not {"list_intents", "gate_check", "file_read", "why", "approval_status"} & writing


def test_the_inspector_reads_resources_and_the_prompt(inspector):
    uris = [resource["uri"] for resource in inspector.ask("resources/list")["resources"]]
    assert "intent://registry" in uris and "intent://map" in uris
    text = inspector.ask("resources/read", "--uri", "intent://registry")["contents"][0]["text"]
    assert text == lab.REGISTRY
    prompts = inspector.ask("prompts/list")["prompts"]
    assert prompts, "the protocol is a prompt"
    told = inspector.ask("prompts/get", "--prompt-name", prompts[0]["name"])
    assert "select_active_intent" in json.dumps(told)


def test_the_inspector_calls_a_tool(inspector):
    answer = inspector.ask("tools/call", "--tool-name", "gate_check", "--tool-arg", f'paths=["{LATER}"]')
    assert answer["structuredContent"]["code"] == "INTENT_REQUIRED", answer


def test_the_sdk_client_writes_through_the_gate(repository):
    """A write is denied, then an intent is selected, and a file is read and written. A write with an old hash and a
    write out of scope change nothing."""
    old = hashlib.sha256(lab.TOKEN.encode()).hexdigest()
    text = lab.TOKEN.replace('token == "secret"', "bool(token)")
    answers = sdk(repository, [
        ("file_write", {"path": LATER, "expected_sha256": "absent", "content": "CLAIMS = 1\n"}),
        ("select_active_intent", {"intent_id": "INT-001"}),
        ("file_read", {"path": TOKEN}),
        ("file_write", {"path": TOKEN, "expected_sha256": old, "content": text}),
        ("file_write", {"path": TOKEN, "expected_sha256": old, "content": "LOST = 1\n"}),
        ("file_write", {"path": OUTSIDE, "expected_sha256": "absent", "content": "LATE = 1\n"}),
        ("list_intents", {}),
        ("why", {"path": TOKEN, "line": 1}),
    ])
    refused, _, read, written, stale, outside, intents, _ = answers["calls"]
    assert refused["isError"] and "INTENT_REQUIRED" in json.dumps(refused)
    assert repository.read(LATER) is None
    assert read["structuredContent"]["sha256"] == old and read["structuredContent"]["text"] == lab.TOKEN
    assert not written.get("isError") and repository.read(TOKEN) == text, written
    assert stale["isError"] and "STALE_FILE" in json.dumps(stale)
    assert outside["isError"] and "SCOPE_VIOLATION" in json.dumps(outside)
    assert repository.read(OUTSIDE) is None
    assert {one["id"] for one in intents["structuredContent"]["intents"]} == {"INT-001", "INT-002"}
    record = repository.mutations(TOKEN)[-1]
    assert record["intent_id"] == "INT-001" and record["strength"] == "verified", record
