"""A model that follows a script, on a local port, and stores everything that it is told.

It supports the three protocols that the agents of this lab use: OpenAI responses
(codex), OpenAI chat completions (opencode) and Gemini generateContent. A script is
a list of steps: a call of a tool, or a text that ends the turn. The number of tool
results in a request decides the step, so a repeated request gets the same answer.
"""

from __future__ import annotations

import dataclasses
import http.server
import json
import threading
import typing
import urllib.parse

# An agent that sends more requests repeats itself, and is stopped.
MOST_REQUESTS = 60


@dataclasses.dataclass(frozen=True)
class Call:
    """A call of a tool. `custom` is a kind of tool of codex that takes a text instead of JSON."""

    tool: str
    arguments: dict[str, typing.Any] | str
    namespace: str | None = None

    @property
    def custom(self) -> bool:
        return isinstance(self.arguments, str)


@dataclasses.dataclass(frozen=True)
class Say:
    """A text that ends the turn."""

    text: str = "Done."


Step = Call | Say | typing.Callable[[], Call | Say]


@dataclasses.dataclass(frozen=True)
class Request:
    """One request of an agent: what the model is told."""

    path: str
    body: dict[str, typing.Any]
    tools: list[str]
    results: list[str]


class Protocol(typing.Protocol):
    """The form in which one vendor's API sends requests and expects answers."""

    def tools(self, body: dict) -> list[str]: ...
    def results(self, body: dict) -> list[str]: ...
    def answer(self, number: int, step: Call | Say) -> list[tuple[str | None, typing.Any]]: ...


def as_text(value: typing.Any) -> str:
    """Returns a tool result as text. Results may be texts, lists of parts, or objects."""
    if isinstance(value, str):
        return value
    if isinstance(value, list):
        return "\n".join(as_text(part) for part in value)
    if isinstance(value, dict):
        return value["text"] if isinstance(value.get("text"), str) else json.dumps(value, ensure_ascii=False)
    return "" if value is None else str(value)


class Responses:
    """The OpenAI responses API, as codex uses it."""

    def tools(self, body):
        # In code mode the tools are an item of the conversation.
        more = [tool for item in body["input"] for tool in item.get("tools") or []]
        return list(self._names([*(body.get("tools") or []), *more]))

    def _names(self, tools):
        for tool in tools:
            if tool.get("type") == "namespace":
                yield from (f"{tool['name']}{inner}" for inner in self._names(tool.get("tools") or []))
            else:
                yield tool.get("name") or tool["type"]

    def results(self, body):
        return [as_text(item.get("output")) for item in body["input"] if str(item.get("type")).endswith("_output")]

    def answer(self, number, step):
        item = self._item(number, step)
        usage = {"input_tokens": 10, "output_tokens": 5, "total_tokens": 15,
                 "input_tokens_details": {"cached_tokens": 0}, "output_tokens_details": {"reasoning_tokens": 0}}
        done = {"id": f"resp_{number}", "object": "response", "model": "lab", "status": "completed",
                "output": [item], "usage": usage}
        events = [
            {"type": "response.created", "response": {**done, "status": "in_progress", "output": []}},
            {"type": "response.output_item.added", "output_index": 0, "item": item},
            {"type": "response.output_item.done", "output_index": 0, "item": item},
            {"type": "response.completed", "response": done},
        ]
        return [(event["type"], event) for event in events]

    def _item(self, number, step):
        if isinstance(step, Say):
            return {"type": "message", "id": f"msg_{number}", "role": "assistant", "status": "completed",
                    "content": [{"type": "output_text", "text": step.text, "annotations": []}]}
        item = {"id": f"item_{number}", "call_id": f"call_{number}", "name": step.tool, "status": "completed"}
        if step.custom:
            return {**item, "type": "custom_tool_call", "input": step.arguments}
        if step.namespace:
            item["namespace"] = step.namespace
        return {**item, "type": "function_call", "arguments": json.dumps(step.arguments)}


class Chat:
    """The OpenAI chat completions API, as opencode uses it."""

    def tools(self, body):
        return [tool["function"]["name"] for tool in body.get("tools") or []]

    def results(self, body):
        return [as_text(message.get("content")) for message in body["messages"] if message["role"] == "tool"]

    def answer(self, number, step):
        chunk = {"id": f"chat_{number}", "object": "chat.completion.chunk", "created": 0, "model": "lab"}
        if isinstance(step, Say):
            delta, reason = {"role": "assistant", "content": step.text}, "stop"
        else:
            call = {"index": 0, "id": f"call_{number}", "type": "function",
                    "function": {"name": step.tool, "arguments": json.dumps(step.arguments)}}
            delta, reason = {"role": "assistant", "content": None, "tool_calls": [call]}, "tool_calls"
        usage = {"prompt_tokens": 10, "completion_tokens": 5, "total_tokens": 15}
        return [
            (None, {**chunk, "choices": [{"index": 0, "delta": delta, "finish_reason": None}]}),
            (None, {**chunk, "choices": [{"index": 0, "delta": {}, "finish_reason": reason}], "usage": usage}),
            (None, "[DONE]"),
        ]


class Gemini:
    """The generateContent API of Gemini."""

    def tools(self, body):
        return [tool["name"] for group in body.get("tools") or [] for tool in group.get("functionDeclarations") or []]

    def results(self, body):
        return [as_text(part["functionResponse"].get("response"))
                for content in body["contents"] for part in content.get("parts") or [] if "functionResponse" in part]

    def answer(self, number, step):
        if isinstance(step, Say):
            part = {"text": step.text}
        else:
            part = {"functionCall": {"id": f"call_{number}", "name": step.tool, "args": step.arguments}}
        candidate = {"content": {"role": "model", "parts": [part]}, "finishReason": "STOP", "index": 0}
        usage = {"promptTokenCount": 10, "candidatesTokenCount": 5, "totalTokenCount": 15}
        return [(None, {"candidates": [candidate], "usageMetadata": usage, "modelVersion": "lab"})]


def protocol_of(path: str) -> Protocol | None:
    if path.endswith("/responses"):
        return Responses()
    if path.endswith("/chat/completions"):
        return Chat()
    if path.endswith((":generateContent", ":streamGenerateContent")):
        return Gemini()
    return None


class Model:
    """The server of the model. Use it as a context manager."""

    def __init__(self, script: typing.Sequence[Step]):
        self.script = list(script)
        self.requests: list[Request] = []
        self.strangers: list[str] = []
        self._chosen: dict[int, Call | Say] = {}
        self._lock = threading.Lock()
        self._server = http.server.ThreadingHTTPServer(("127.0.0.1", 0), self._handler())
        self._thread = threading.Thread(target=self._server.serve_forever, kwargs={"poll_interval": 0.05}, daemon=True)

    def __enter__(self) -> Model:
        self._thread.start()
        return self

    def __exit__(self, *_) -> None:
        self._server.shutdown()
        self._server.server_close()
        self._thread.join(timeout=5)

    @property
    def url(self) -> str:
        return f"http://127.0.0.1:{self._server.server_address[1]}"

    @property
    def results(self) -> list[str]:
        """Returns the results that the tools gave to the model, call by call."""
        return max((request.results for request in self.requests), key=len, default=[])

    @property
    def told(self) -> str:
        """Returns everything that the model was told: prompts, context and results."""
        return "\n".join(json.dumps(request.body, ensure_ascii=False) for request in self.requests)

    @property
    def tools(self) -> set[str]:
        return {tool for request in self.requests for tool in request.tools}

    def _next(self, request: Request) -> tuple[int, Call | Say]:
        with self._lock:
            self.requests.append(request)
            number = len(self.requests)
            if not request.tools:
                return number, Say("A title")
            if number > MOST_REQUESTS:
                return number, Say("Enough.")
            place = len(request.results)
            if place not in self._chosen:
                step = self.script[place] if place < len(self.script) else Say()
                # A step may be a function, which is called when its turn comes. So a test can act between two calls.
                self._chosen[place] = step if isinstance(step, (Call, Say)) else step()
            return number, self._chosen[place]

    def _handler(model):
        class Handler(http.server.BaseHTTPRequestHandler):
            protocol_version = "HTTP/1.1"

            def log_message(self, *_):
                pass

            def do_GET(self):
                self._json({"object": "list", "data": [], "models": []})

            def do_POST(self):
                body = json.loads(self.rfile.read(int(self.headers.get("content-length") or 0)) or b"{}")
                path = urllib.parse.urlsplit(self.path).path
                protocol = protocol_of(path)
                if protocol is None:
                    model.strangers.append(path)
                    self._json({"totalTokens": 10})
                    return
                request = Request(path, body, protocol.tools(body), protocol.results(body))
                events = protocol.answer(*model._next(request))
                if path.endswith(":generateContent"):
                    self._json(events[0][1])
                else:
                    self._events(events)

            def _json(self, value):
                data = json.dumps(value).encode()
                self.send_response(200)
                self.send_header("content-type", "application/json")
                self.send_header("content-length", str(len(data)))
                self.end_headers()
                self.wfile.write(data)

            def _events(self, events):
                self.send_response(200)
                self.send_header("content-type", "text/event-stream")
                self.send_header("connection", "close")
                self.end_headers()
                for name, event in events:
                    head = f"event: {name}\n" if name else ""
                    data = event if isinstance(event, str) else json.dumps(event)
                    self.wfile.write(f"{head}data: {data}\n\n".encode())
                self.close_connection = True

        return Handler
