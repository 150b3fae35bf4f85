"""Damaged input for the readers of bytes and of Python's objects: ``python damaged_inputs.py WHAT COUNT [FOLDER]``.

WHAT is ``runs`` or ``lists``. FOLDER has the compiled modules to use, such as those with sanitizers. Readers answer or
raise an error of Python; a crash, or a report of a sanitizer, ends the process.
"""

import random
import sys
from collections.abc import Callable, Sequence
from importlib.abc import MetaPathFinder
from importlib.machinery import ModuleSpec
from importlib.util import spec_from_file_location
from pathlib import Path
from types import ModuleType
from typing import Any

ALPHABET = [
    b" ",
    b"\t",
    b"\n",
    b"\r",
    b"\x00",
    b"\xff",
    b"\xe2\x80\x89",
    b".",
    b"-",
    b"e",
    b"9",
    b"nan",
    b"inf",
    b"1e999",
]
ODD = [
    None,
    True,
    1,
    -(2**70),
    2.5,
    float("nan"),
    float("inf"),
    "",
    "a" * 300,
    "ä",
    "\ud800",
    b"x",
    (),
    [],
    {},
    ("a",),
    object(),
]


class Modules(MetaPathFinder):
    """Finds compiled modules of kernels in a folder."""

    def __init__(self, folder: Path) -> None:
        self.folder = folder

    def find_spec(
        self, fullname: str, path: Sequence[str] | None = None, target: ModuleType | None = None
    ) -> ModuleSpec | None:
        """The file of a module, if the folder has it."""
        package, _, name = fullname.rpartition(".")
        file = self.folder / f"{name}.abi3.so"
        return spec_from_file_location(fullname, file) if package == "juryrank.kernels" and file.is_file() else None


def damaged_run(rng: random.Random) -> bytes:
    """Some lines of a run, or of qrels, with bytes that were replaced, inserted or removed."""
    separator = rng.choice([" ", "\t", "  "])
    names = [f"d{rng.randrange(10 ** rng.randrange(1, 12))}" for _ in range(rng.randrange(1, 12))]
    lines = [
        separator.join([f"q{rng.randrange(3)}", "Q0", name, str(n), str(9 - n / 3), "tag"])
        for n, name in enumerate(names)
    ]
    text = bytearray(rng.choice(["\n", "\r\n"]).join(lines).encode())
    for _ in range(rng.randrange(0, 6)):
        at, piece = rng.randrange(len(text) + 1), rng.choice([*ALPHABET, rng.randbytes(rng.randrange(1, 9))])
        text[at : at + rng.choice([0, 1, len(piece), 40])] = piece
    return bytes(text[: rng.randrange(len(text) + 1)] if rng.random() < 0.2 else text)


def read_runs(rng: random.Random) -> None:
    """Read damaged runs, whole and in parts that may lie anywhere."""
    from juryrank.kernels.trec import Lines, find_queries

    texts = [damaged_run(rng) for _ in range(rng.randrange(1, 3))]
    columns = [rng.choice([4, 5, 6, 0, 99]) for _ in texts]
    parts = [(t, 0, len(text)) for t, text in enumerate(texts)]
    if rng.random() < 0.2:
        parts.append((rng.randrange(-1, 3), rng.randrange(-5, 200), rng.randrange(-5, 200)))
    lines = Lines(texts, columns, *map(list, zip(*parts, strict=True)))
    assert lines.bad is None or lines.bad[1] <= len(texts[lines.bad[0]])
    find_queries(texts[0], rng.choice([4, 5, 6]))


def damaged_lists(rng: random.Random) -> Any:
    """Lists of one query as ids, scores or pairs, with entries that do not belong there."""

    def thing() -> Any:
        return rng.choice(ODD) if rng.random() < 0.1 else rng.choice([f"d{rng.randrange(30)}", rng.randrange(30)])

    def entries() -> Any:
        n = rng.randrange(0, 20)
        shape = rng.randrange(4)
        if shape == 0:
            return [thing() for _ in range(n)]
        if shape == 1:
            return {f"d{i}": rng.choice(ODD) if rng.random() < 0.1 else rng.random() for i in range(n)}
        if shape == 2:
            pairs = [(thing(), rng.random()) for _ in range(n)]
            return [rng.choice(ODD) if rng.random() < 0.1 else pair for pair in pairs]
        return rng.choice(ODD)

    return {f"e{k}": entries() for k in range(rng.randrange(0, 4))}


def fuse_lists(rng: random.Random) -> None:
    """Fuse damaged lists by methods of each kind."""
    import juryrank

    method = rng.choice(["rrf", "combsum", "combmnz", "borda"])
    juryrank.Fuser(method)(damaged_lists(rng), top=rng.choice([None, 0, 1, 5, 10**9]))


WHAT: dict[str, Callable[[random.Random], None]] = {"runs": read_runs, "lists": fuse_lists}


def main(what: str, count: str, folder: str | None = None) -> None:
    """Read as many damaged inputs; print how many were read, and the errors of the others by their type."""
    import warnings

    warnings.simplefilter("ignore")
    if folder is not None:
        sys.meta_path.insert(0, Modules(Path(folder)))
    from juryrank.errors import JuryrankError

    ends: dict[str, int] = {}
    for seed in range(int(count)):
        try:
            WHAT[what](random.Random(seed))
            end = "read"
        except (JuryrankError, ArithmeticError, AttributeError, TypeError, ValueError) as error:
            end = type(error).__name__
        ends[end] = ends.get(end, 0) + 1
    modules = [
        sys.modules[name].__file__ for name in ("juryrank.kernels.trec", "juryrank.kernels.fuse") if name in sys.modules
    ]
    print(ends, *modules)


if __name__ == "__main__":
    main(*sys.argv[1:])
