"""Our numbers beside published ones, on the five folds of MQ2008-agg: ``python bench/quality.py [--json FILE]``."""

from __future__ import annotations

import argparse
import sys
from dataclasses import dataclass
from pathlib import Path
from typing import Any

from rich.console import Console
from rich.progress import track

import juryrank
from juryrank.bench.inputs import MQ2008
from juryrank.methods import consensus_methods
from juryrank.report import Report, Table
from published import MEASURED, METRICS, PUBLISHED, TO_REACH, TO_REPRODUCE, Known

Values = tuple[float, ...]


@dataclass(frozen=True, repr=False)
class Quality(Report):
    """By method: our values, in the order of METRICS and times 100."""

    ours: dict[str, Values]

    def tables(self, percent: bool | None = None) -> list[Table]:
        rows = []
        for name, values in self.ours.items():
            rows.append([name, "ours", *(f"{v:.2f}" for v in values), verdict(name, values)[0]])
            for known in filter(None, (PUBLISHED.get(name), MEASURED.get(name))):
                rows.append(["", known.source, *_texts(known.values), ""])
                rows.append(["", "difference", *_texts(differences(values, known), "+"), ""])
        rows += [[name, k.source, *_texts(k.values), ""] for name, k in PUBLISHED.items() if name not in self.ours]
        note = "Five folds of MQ2008-agg, letor convention, × 100: means over the queries of a fold, then over folds."
        return [Table("Quality", ["method", "", *METRICS, "verdict"], rows, n_names=2, note=note)]

    def rows(self) -> list[dict[str, Any]]:
        return [
            {"method": name, **dict(zip(METRICS, values, strict=True)), "verdict": verdict(name, values)[0]}
            for name, values in self.ours.items()
        ]

    def to_dict(self) -> dict[str, Any]:
        known = {
            name: [{"source": k.source, "values": k.values} for k in (PUBLISHED.get(name), MEASURED.get(name)) if k]
            for name in self.ours
        }
        return {"metrics": list(METRICS), "results": self.rows(), "known": known}

    @property
    def failed(self) -> list[str]:
        """Methods that miss what they must reach."""
        return [name for name, values in self.ours.items() if verdict(name, values)[1] is False]


def verdict(name: str, values: Values) -> tuple[str, bool | None]:
    """Whether a method reproduces its published row, or reaches its measured one; None where it has no row."""
    if name in TO_REPRODUCE:
        furthest = max(abs(d) for d in differences(values, PUBLISHED[name]) if d is not None)
        good = round(furthest, 6) <= TO_REPRODUCE[name]
        return f"{'reproduced' if good else 'NOT reproduced'}: at most {furthest:.3f} off", good
    if name not in MEASURED:
        return "no row to compare with", None
    off = differences(values, MEASURED[name])[-1]
    assert off is not None
    good = off >= -TO_REACH
    return f"{'reached' if good else 'NOT reached'}: MAP {off:+.2f}", good


def differences(values: Values, known: Known) -> tuple[float | None, ...]:
    """Ours less theirs, where they have a number."""
    return tuple(None if theirs is None else v - theirs for v, theirs in zip(values, known.values, strict=True))


def measure(methods: list[str], folder: Path, progress: Any = None) -> Quality:
    """Our values by method."""
    found = juryrank.compare(methods, juryrank.read(folder), METRICS, convention="letor", progress=progress)
    return Quality({name: tuple(100 * found.means[n]) for n, name in enumerate(found.names)})


def _texts(values: tuple[float | None, ...], sign: str = "") -> list[str]:
    return ["" if v is None else f"{v:{sign}.2f}" for v in values]


def main() -> None:
    """Print ours and theirs; the exit code is 1 where a row that must be reached is not."""
    parser = argparse.ArgumentParser(description=__doc__)
    parser.add_argument("--json", help="also write everything to this file")
    parser.add_argument("--methods", help="by comma; by default all that need no labels")
    options = parser.parse_args()
    if not MQ2008.is_dir():
        sys.exit("MQ2008-agg is not beside the project (../shared/data/MQ2008-agg): nothing to measure on")
    screen = Console(stderr=True)
    methods = options.methods.split(",") if options.methods else consensus_methods()
    report = measure(methods, MQ2008, lambda work: track(work, console=screen, transient=True))
    if sys.stdout.isatty():
        Console().print(report)
    else:
        print(report)
    if options.json:
        Path(options.json).write_text(report.render("json"))
    sys.exit(1 if report.failed else 0)


if __name__ == "__main__":
    main()
