"""The MCP server with the official client: both versions of the protocol, and every tool."""

from __future__ import annotations

import hashlib

import pytest
from mcp import Client
from mcp.client.stdio import StdioServerParameters

from repository import BINARY, INVOICE, MIDDLEWARE, Repository

MIDDLEWARE_PATH = "src/auth/middleware.ts"
INVOICE_PATH = "src/billing/invoice.ts"
TOOLS = ["select_active_intent", "list_intents", "gate_check", "file_read", "file_write", "record_mutation", "why",
         "request_scope", "propose_intent", "record_lesson", "approval_status"]


def connected(repository: Repository, mode: str) -> Client:
    server = StdioServerParameters(command=str(BINARY), args=["mcp"], cwd=repository.path, env=repository.env)
    return Client(server, mode=mode, read_timeout_seconds=30)


async def done(client: Client, tool: str, **arguments):
    result = await client.call_tool(tool, arguments)
    assert not result.is_error, result
    return result.structured_content


async def refused(client: Client, tool: str, **arguments) -> str:
    result = await client.call_tool(tool, arguments)
    assert result.is_error, result
    code = result.structured_content["code"]
    assert result.content[0].text == f"{code}: {result.structured_content['message']}"
    return code


@pytest.mark.parametrize("mode", ["legacy", "auto", "2026-07-28"])
async def test_every_tool(repository: Repository, mode: str):
    async with connected(repository, mode) as client:
        assert (client.protocol_version < "2026") == (mode == "legacy")
        assert [tool.name for tool in (await client.list_tools()).tools] == TOOLS

        assert [one["id"] for one in (await done(client, "list_intents"))["intents"]] == ["INT-001", "INT-002", "INT-003"]
        assert await refused(client, "record_mutation", paths=[MIDDLEWARE_PATH]) == "INTENT_REQUIRED"
        assert await refused(client, "select_active_intent", intent_id="INT-003") == "INTENT_NOT_ACTIVE"
        context = (await done(client, "select_active_intent", intent_id="INT-001"))["context"]
        assert "Must not use external auth providers" in context

        decision = await done(client, "gate_check", paths=[MIDDLEWARE_PATH])
        assert decision["outcome"] == "no_opinion"
        decision = await done(client, "gate_check", paths=[INVOICE_PATH])
        assert (decision["outcome"], decision["code"]) == ("deny", "SCOPE_VIOLATION")

        read = await done(client, "file_read", path=MIDDLEWARE_PATH)
        assert read["text"] == MIDDLEWARE and read["sha256"] == hashlib.sha256(MIDDLEWARE.encode()).hexdigest()
        edits = [{"old_string": "clockTolerance: 5", "new_string": "clockTolerance: 30"}]
        written = await done(client, "file_write", path=MIDDLEWARE_PATH, expected_sha256=read["sha256"], edits=edits)
        assert written["recorded"] and written["intent"] == "INT-001"
        assert await refused(client, "file_write", path=MIDDLEWARE_PATH, expected_sha256=read["sha256"],
                             content="lost") == "STALE_FILE"
        assert await refused(client, "file_write", path=INVOICE_PATH,
                             expected_sha256=hashlib.sha256(INVOICE.encode()).hexdigest(),
                             content="lost") == "SCOPE_VIOLATION"
        assert (repository.path / MIDDLEWARE_PATH).read_text() == MIDDLEWARE.replace("Tolerance: 5", "Tolerance: 30")
        assert (repository.path / INVOICE_PATH).read_text() == INVOICE

        why = await done(client, "why", path=MIDDLEWARE_PATH, line=8)
        assert (why["blocks"][0]["verdict"], why["blocks"][0]["strength"]) == ("exact", "declared")
        assert why["line"]["from"]["record"] != why["blocks"][0]["record"], why["line"]

        repository.write("src/auth/token.ts", "export function token(): string {\n  return \"none\";\n}\n")
        recorded = await done(client, "record_mutation", paths=["src/auth/token.ts"], model="example/model-2")
        assert recorded["recorded"][0]["intent"] == "INT-001"

        asked = await done(client, "request_scope", entries=["docs/auth.md"], reason="The page explains the claims.")
        code = asked["approval"]["code"]
        assert (await done(client, "approval_status", code=code))["state"] == "pending"
        asked = await done(client, "propose_intent", name="Explain the claims", scope=["docs/**"], reason="Users ask.")
        assert asked["approval"]["code"] != code

        lesson = "Run the tests of the middleware before you say that they pass."
        assert (await done(client, "record_lesson", text=lesson))["outcome"] == "added"
        assert (await done(client, "record_lesson", text=lesson))["outcome"] == "already_there"
    repository.intent("verify")


@pytest.mark.parametrize("mode", ["legacy", "auto"])
async def test_resources_and_the_prompt(repository: Repository, mode: str):
    async with connected(repository, mode) as client:
        listed = (await client.list_resources()).resources
        assert [str(one.uri) for one in listed] == ["intent://registry", "intent://map"]
        registry = await client.read_resource("intent://registry")
        assert registry.contents[0].text == repository.read(".orchestration/active_intents.yaml")
        assert "AuthMiddleware" in (await client.read_resource("intent://map")).contents[0].text
        one = await client.read_resource("intent://intents/INT-001")
        assert "<intent_context" in one.contents[0].text
        prompts = (await client.list_prompts()).prompts
        told = await client.get_prompt(prompts[0].name)
        assert "select_active_intent" in told.messages[0].content.text
