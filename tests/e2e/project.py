"""A project of 300 files with twelve intents, four people and two agents, as the tests of a day need it."""

from __future__ import annotations

from repository import Repository

AREAS = ["accounts", "billing", "catalogue", "delivery", "export", "forms", "graphs", "history", "invites", "jobs",
         "keys", "ledger"]
PEOPLE = ["Ada", "Bob", "Cleo", "Dan"]
AGENTS = [("claude-code", "anthropic/claude"), ("codex", "openai/gpt")]
FILES = 25
FUNCTIONS = 30


def intent_id(area: str) -> str:
    return f"INT-{AREAS.index(area) + 1:03}"


def path(area: str, number: int) -> str:
    return f"src/{area}/{area}{number:02}.ts"


def function(area: str, number: int, nth: int) -> str:
    name = f"{area}{number}Step{nth}"
    return (f"export function {name}(input: number[]): number {{\n"
            f"  const limit = {number * 31 + nth};\n"
            f"  const kept = input.filter((value) => value > limit + {nth});\n"
            f"  const total = kept.reduce((sum, value) => sum + value * {nth + 2}, {number});\n"
            f"  if (total < limit) {{\n"
            f"    return limit - total;\n"
            f"  }}\n"
            f"  return total / (kept.length + {nth + 1});\n"
            f"}}\n")


def rewritten(area: str, nth: int) -> str:
    return (f"export function {area}0Step{nth}(input: number[]): number {{\n"
            f"  let total = {nth};\n"
            f"  for (const value of input) {{\n"
            f"    total += value > {nth} ? value * {nth + 2} : {nth + 1};\n"
            f"    if (total > {nth * 1000}) break;\n"
            f"  }}\n"
            f"  return Math.round(total / {nth + 1});\n"
            f"}}\n")


def text(area: str, number: int) -> str:
    """The first file of an area has about 300 lines, the others have 20."""
    functions = FUNCTIONS if number == 0 else 2
    return "\n".join(function(area, number, nth) for nth in range(functions))


def commit(repository: Repository, who: str, message: str) -> None:
    for role in ("AUTHOR", "COMMITTER"):
        repository.env[f"GIT_{role}_NAME"], repository.env[f"GIT_{role}_EMAIL"] = who, f"{who.lower()}@example.invalid"
    repository.git("add", "-A")
    repository.git("commit", "-qm", message)


def make(repository: Repository) -> None:
    """People wrote the first eight files of each area before there were records, agents the others."""
    repository.git("init", "-q", "-b", "main")
    for at, area in enumerate(AREAS):
        for number in range(8):
            repository.write(path(area, number), text(area, number))
        commit(repository, PEOPLE[at % 4], f"{area}: count the steps (#{at + 10})")
    repository.intent("init")
    entries = [f'  - id: {intent_id(area)}\n    name: "Count the steps of {area} in one pass"\n    status: IN_PROGRESS\n'
               f'    owned_scope: ["src/{area}/**"]\n    owner: "@{PEOPLE[at % 4].lower()}"\n'
               for at, area in enumerate(AREAS)]
    repository.write(".orchestration/active_intents.yaml", "active_intents:\n" + "".join(entries))
    commit(repository, "Ada", "intents: say what we work on")
    for at, area in enumerate(AREAS):
        new = [path(area, number) for number in range(8, FILES)]
        for number, name in enumerate(new, 8):
            repository.write(name, text(area, number))
        first = path(area, 0)
        # An agent writes a third of the functions of the long file anew.
        edited = repository.read(first)
        for nth in range(0, FUNCTIONS, 3):
            edited = edited.replace(function(area, 0, nth), rewritten(area, nth))
        repository.write(first, edited)
        agent, model = AGENTS[at % 2]
        repository.intent("record", "--intent", intent_id(area), "--agent", agent, "--model", model, first, *new)
        commit(repository, PEOPLE[(at + 1) % 4], f"{area}: count the steps in one pass")
