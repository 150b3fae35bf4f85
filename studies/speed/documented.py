"""The commands that the README and the documentation show."""

from __future__ import annotations

import re
import shlex
from collections.abc import Iterator, Sequence
from dataclasses import dataclass
from pathlib import Path

import juryrank as jr
import studies

ROOT = Path(studies.__file__).parents[1]
BLOCK = re.compile(r"```console\n(.*?)```", re.DOTALL)
NAME = "juryrank"
README = "README.md"
DEFAULTS = ("fuse", "rank", "fit", "evaluate")  # commands with a stricter limit if they use their default method
METHOD_OPTIONS = {"--method", "--model", "-p", "--param", "--plugin"}
DEFAULT_OF_RANK = ["--method", "rrf"]  # ``rank`` has no default; this is what ``fuse`` uses
UNSHOWN = {  # commands that the text mentions without a block, and ``rank`` with a fast and with a slow method
    README: ["juryrank demo", "juryrank methods"],
    "docs/cli.md": [
        "juryrank --help",
        "juryrank rank src/juryrank/demo/cooking.csv --method rrf -o ranked.run",
        "juryrank rank src/juryrank/demo/cooking.csv --method mc4 -o ranked.run",
    ],
}


@dataclass(frozen=True)
class Shown:
    """A command as a page shows it."""

    page: str
    text: str

    @property
    def args(self) -> list[str]:
        """The arguments after the name of the program, without redirections."""
        words = shlex.split(self.text)[1:]
        end = min([words.index(sign) for sign in ("|",) if sign in words], default=len(words))
        words = words[:end]
        if "<" in words:
            at = words.index("<")
            del words[at : at + 2]
        return words

    @property
    def stdin(self) -> str | None:
        """The file that is read from stdin."""
        words = shlex.split(self.text)
        return words[words.index("<") + 1] if "<" in words else None

    @property
    def uses_default(self) -> bool:
        """Whether this is one of ``DEFAULTS`` with its default method."""
        command, *options = self.args
        if command == "rank" and "--method" in options:
            at = options.index("--method")
            if options[at : at + 2] == DEFAULT_OF_RANK:
                del options[at : at + 2]
        return command in DEFAULTS and METHOD_OPTIONS.isdisjoint(options)


def shown_commands(text: str, page: str) -> Iterator[Shown]:
    """The commands in the blocks of one page, in order."""
    for block in BLOCK.findall(text):
        for line in block.splitlines():
            if line.startswith(f"$ {NAME} "):
                yield Shown(page, line.removeprefix("$ "))


def pages(names: Sequence[str] | None = None) -> dict[str, list[Shown]]:
    """The commands of each page that has any; of all pages, or of these."""
    found = [README, *sorted(str(path.relative_to(ROOT)) for path in (ROOT / "docs").glob("*.md"))]
    commands: dict[str, list[Shown]] = {}
    for page in found if names is None else names:
        shown = list(shown_commands((ROOT / page).read_text(encoding="utf-8"), page))
        shown += [Shown(page, text) for text in UNSHOWN.get(page, [])]
        if shown:
            commands[page] = shown
    return commands


def prepare_folder(folder: Path) -> Path:
    """A folder in which the commands of a page can run: the demo data at its place in the repository."""
    (folder / "src" / NAME).mkdir(parents=True)
    (folder / "src" / NAME / "demo").symlink_to(Path(jr.__file__).resolve().parent / "demo")
    return folder
