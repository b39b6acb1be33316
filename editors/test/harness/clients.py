"""The clients that are driven, and what must work in each."""

from __future__ import annotations

from dataclasses import dataclass

# The things, in the order of the table.
THINGS = {
    "hover": "hover",
    "glance": "at a glance",
    "line": "the line under the cursor",
    "scope": "scope error while typing",
    "select": "select an intent",
    "widen": "widen the scope",
    "record": "record",
    "goto": "go to the intent",
    "blocks": "find its blocks",
    "rename": "rename an intent",
    "approve": "approve a request",
    "intents": "tree or picker of intents",
    "history": "history of a block",
    "notebook": "notebook",
}


@dataclass(frozen=True)
class Client:
    """A program in one version, and the folder of `editors/test` that installs and drives it."""

    folder: str
    version: str
    title: str
    default: bool = True
    # True if the things must work. A page and a type-check cannot show them.
    has_things: bool = True
    # True if its pictures are kept. Only one version of a program writes pictures.
    pictures: bool = True
    install_seconds: int = 420
    drive_seconds: int = 420
    # Clients with the same place share one installation.
    place: str = ""

    @property
    def key(self) -> str:
        return f"{self.folder}-{self.version}"

    @property
    def installed_in(self) -> str:
        return self.place or self.key


def protocol(version: str, title: str) -> Client:
    """The protocol suite with the capabilities that were recorded from an editor."""
    return Client("protocol", version, f"protocol, as {title}", pictures=False, place="protocol")


# In the order of the table, with the slowest first, because two are driven at a time.
CLIENTS = [
    Client("vscode", "1.100", "VS Code 1.100", install_seconds=600, drive_seconds=540),
    Client("vscode", "1.139", "VS Code 1.139", default=False, pictures=False, install_seconds=900, drive_seconds=540),
    Client("nvim", "0.11", "Neovim 0.11"),
    Client("nvim", "0.7", "Neovim 0.7", default=False, pictures=False),
    Client("helix", "25.01", "Helix 25.01"),
    Client("emacs", "30", "Emacs 30"),
    Client("emacs", "28", "Emacs 28", default=False, pictures=False),
    # It compiles, and the others run meanwhile.
    Client("zed", "1", "Zed (type-check only)", has_things=False, pictures=False, drive_seconds=900),
    Client("page", "1", "HTML report", has_things=False, drive_seconds=540),
    protocol("visual-studio-code", "VS Code"),
    protocol("neovim", "Neovim"),
    protocol("emacs", "Emacs"),
]


def chosen(names: list[str], everything: bool) -> list[Client]:
    """The clients that a command line names, by folder or folder and version (`nvim-0.7`), else the default set."""
    if not names:
        return [client for client in CLIENTS if everything or client.default]
    found = []
    for name in names:
        exact = [client for client in CLIENTS if client.key == name]
        those = exact or [c for c in CLIENTS if c.folder == name and (everything or c.default)]
        # A client that normally runs only with --all also runs if it is named.
        those = those or [c for c in CLIENTS if c.folder == name]
        if not those:
            raise SystemExit(f"no client {name}; there are: {' '.join(client.key for client in CLIENTS)}")
        found.extend(client for client in those if client not in found)
    return found
