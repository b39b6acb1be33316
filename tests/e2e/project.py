"""A web shop of 300 files with twelve intents, four people and two agents, for the tests of a day and of editors.

`project.py FOLDER` adds it to a workspace that has intents already. Below `faketime`, it happened during two months.
"""

from __future__ import annotations

import os
import pathlib
import sys
from dataclasses import dataclass

from repository import Repository

PEOPLE = ["Ada Marsh", "Bela Novak", "Cleo Adeyemi", "Dan Ruiz"]
AGENTS = [("claude-code", "anthropic/claude"), ("codex", "openai/gpt")]


@dataclass(frozen=True)
class Area:
    """A folder of the shop: what it is about, and what an intent asks for there."""

    folder: str
    nouns: list[str]
    intent: str
    status: str = "COMPLETED"


AREAS = [
    Area("accounts", ["customer", "address", "consent", "profile", "device"], "Sign up without a password"),
    Area("basket", ["basket", "item", "bundle", "quote", "hold"], "Keep the basket after signing in", "IN_PROGRESS"),
    Area("catalogue", ["product", "category", "price", "image", "label"], "Products in several languages"),
    Area("delivery", ["parcel", "slot", "carrier", "route", "pickup"], "Delivery slots by postcode"),
    Area("mailing", ["message", "template", "digest", "recipient", "bounce"], "One digest instead of many mails"),
    Area("payments", ["payment", "instalment", "card", "mandate", "receipt"], "Pay in instalments", "IN_PROGRESS"),
    Area("refunds", ["refund", "claim", "credit", "dispute", "reversal"], "Refund a part of an order", "IN_PROGRESS"),
    Area("reviews", ["review", "rating", "answer", "report", "photo"], "Reviews by buyers only"),
    Area("search", ["query", "synonym", "facet", "result", "suggestion"], "Forgive typing errors", "IN_PROGRESS"),
    Area("suppliers", ["supplier", "order", "shipment", "contract", "quota"], "Order from suppliers at night"),
    Area("vouchers", ["voucher", "campaign", "code", "balance", "redemption"], "Warn before a voucher expires"),
    Area("wishlist", ["wishlist", "wish", "share", "follower", "reminder"], "Share a wishlist", "BLOCKED"),
]
FOLDERS = [area.folder for area in AREAS]

# The five files about a noun, and the functions of each. The first file of an area has all verbs for all nouns.
VERBS = ["recent", "group", "total", "largest", "next", "overdue"]
PARTS = {"": ["open", "merge"], "store": ["load", "save"], "rules": ["allowed", "blocked"], "view": ["visible", "sorted"],
         "export": ["printed", "archived"]}
FILES = 25
FUNCTIONS = 30


def intent_id(folder: str, first: int = 1) -> str:
    return f"INT-{FOLDERS.index(folder) + first:03}"


def plural(noun: str) -> str:
    if noun.endswith("y"):
        return f"{noun[:-1]}ies"
    return noun + ("es" if noun.endswith(("s", "sh")) else "s")


def path(folder: str, number: int) -> str:
    noun, part = AREAS[FOLDERS.index(folder)].nouns[number // 5], list(PARTS)[number % 5]
    return f"src/{folder}/{noun}{part and '-' + part}.ts"


def name(folder: str, number: int, nth: int) -> str:
    noun, verb = _subject(folder, number, nth)
    return f"{verb}{plural(noun).capitalize()}"


def _subject(folder: str, number: int, nth: int) -> tuple[str, str]:
    nouns = AREAS[FOLDERS.index(folder)].nouns
    if number == 0:
        return nouns[nth // len(VERBS)], VERBS[nth % len(VERBS)]
    return nouns[number // 5], (list(PARTS.values())[number % 5] + VERBS)[nth]


def limit_line(folder: str, number: int, nth: int) -> str:
    """The line of a function that somebody would adjust."""
    noun, _ = _subject(folder, number, nth)
    return f"  const kept = {plural(noun)}.filter(({noun}) => {noun}.amount > limit + {nth});"


def function(folder: str, number: int, nth: int) -> str:
    noun, verb = _subject(folder, number, nth)
    many, Noun = plural(noun), noun.capitalize()
    return (f"export function {name(folder, number, nth)}({many}: {Noun}[], today: Day): {Noun}[] {{\n"
            f"  const limit = {number * 31 + nth * 5 + 20};\n"
            f"{limit_line(folder, number, nth)}\n"
            f"  const {verb}Days = kept.map(({noun}) => today - {noun}.day + {nth});\n"
            f"  if ({verb}Days.every((days) => days > {number + nth + 14})) {{\n"
            f"    return kept.slice(0, limit);\n"
            f"  }}\n"
            f"  return kept.sort((one, other) => other.day - one.day || one.{noun} - other.{noun});\n"
            f"}}\n")


def rewritten(folder: str, nth: int) -> str:
    """A function of the long file, as an agent writes it anew."""
    noun, verb = _subject(folder, 0, nth)
    many, Noun = plural(noun), noun.capitalize()
    return (f"export function {name(folder, 0, nth)}({many}: {Noun}[], today: Day): {Noun}[] {{\n"
            f"  const {verb}: {Noun}[] = [];\n"
            f"  for (const {noun} of {many}) {{\n"
            f"    if ({noun}.day < today - {nth + 14}) continue;\n"
            f"    {verb}.push({{ ...{noun}, amount: Math.round({noun}.amount) }});\n"
            f"  }}\n"
            f"  return {verb}.slice(0, {nth * 5 + 20});\n"
            f"}}\n")


def text(folder: str, number: int) -> str:
    """The first file of an area has about 300 lines, the others have 20."""
    functions = FUNCTIONS if number == 0 else 2
    return "\n".join(function(folder, number, nth) for nth in range(functions))


def by_people(area: int) -> int:
    return 4 + area % 5


def commit(repository: Repository, who: str, message: str) -> None:
    for role in ("AUTHOR", "COMMITTER"):
        repository.env[f"GIT_{role}_NAME"] = who
        repository.env[f"GIT_{role}_EMAIL"] = f"{who.split()[0].lower()}@example.invalid"
    repository.git("add", "-A")
    repository.git("commit", "-qm", message)


def make(repository: Repository) -> None:
    repository.git("init", "-q", "-b", "main")
    repository.intent("init")
    repository.write(".orchestration/active_intents.yaml", "active_intents:\n")
    grow(repository)


def grow(repository: Repository, first: int = 1) -> None:
    """People wrote the first four to eight files of each area before there were records, agents the others.

    The intents have ids from `first`. The days are for `faketime`; without it, all of this happens now.
    """
    def days_ago(days: int) -> None:
        repository.env["FAKETIME"] = f"-{days}d"

    for at, area in enumerate(AREAS):
        days_ago(56 - at)
        for number in range(by_people(at)):
            repository.write(path(area.folder, number), text(area.folder, number))
        commit(repository, PEOPLE[at % 4], f"{area.folder}: list {plural(area.nouns[0])} (#{at + 10})")
    registry = ".orchestration/active_intents.yaml"
    entries = [f'  - id: {intent_id(area.folder, first)}\n    name: "{area.intent}"\n    status: IN_PROGRESS\n'
               f'    owned_scope: ["src/{area.folder}/**"]\n    owner: "@{PEOPLE[at % 4].split()[0].lower()}"\n'
               for at, area in enumerate(AREAS)]
    days_ago(44)
    repository.write(registry, repository.read(registry) + "".join(entries))
    commit(repository, PEOPLE[0], "intents: say what we work on")
    for at, area in enumerate(AREAS):
        days_ago(42 - 2 * at)
        new = [path(area.folder, number) for number in range(by_people(at), FILES)]
        for number, file in enumerate(new, by_people(at)):
            repository.write(file, text(area.folder, number))
        long = path(area.folder, 0)
        # An agent writes a third of the functions of the long file anew.
        edited = repository.read(long)
        for nth in range(0, FUNCTIONS, 3):
            edited = edited.replace(function(area.folder, 0, nth), rewritten(area.folder, nth))
        repository.write(long, edited)
        agent, model = AGENTS[at % 2]
        repository.intent("record", "--intent", intent_id(area.folder, first), "--agent", agent, "--model", model, long, *new)
        commit(repository, PEOPLE[(at + 1) % 4], f"{area.folder}: {area.intent[0].lower()}{area.intent[1:]}")
    days_ago(19)
    states = repository.read(registry)
    for area in AREAS:
        states = states.replace(f'name: "{area.intent}"\n    status: IN_PROGRESS', f'name: "{area.intent}"\n    status: {area.status}')
    repository.write(registry, states)
    commit(repository, PEOPLE[3], "intents: close what is done")
    del repository.env["FAKETIME"]


if __name__ == "__main__":
    here = Repository(pathlib.Path(sys.argv[1]), pathlib.Path(os.environ["HOME"]))
    if "LD_PRELOAD" in os.environ:
        here.env["LD_PRELOAD"] = os.environ["LD_PRELOAD"]
    grow(here, int(sys.argv[2]))
