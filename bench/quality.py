"""Our numbers beside published ones, on the five folds of MQ2008-agg: ``python bench/quality.py [--json FILE]``.

``--learned`` measures the methods that learn whom to trust: means over seeds, and each against ``crf`` in a paired
randomisation test of the queries' means over seeds.
"""

from __future__ import annotations

import argparse
import sys
from dataclasses import dataclass, field
from pathlib import Path
from typing import Any

from rich.console import Console
from rich.progress import track

import juryrank
from juryrank.bench.inputs import MQ2008
from juryrank.compare.significance import randomisations
from juryrank.methods import consensus_methods
from juryrank.report import Report, Table
from published import FLOORS, MEASURED, METRICS, PUBLISHED, TO_REACH, TO_REPRODUCE, Known

Values = tuple[float, ...]
RIVAL, TESTED = "crf", ("nDCG@5", "AP")
LEARNED = ("rrf", "jury", "ridge", "lambdarank", "svd-lambdarank", "crf", "boosted", "kernel", "blend", "auto")


@dataclass(frozen=True, repr=False)
class Quality(Report):
    """By method: our values, in the order of METRICS and times 100."""

    ours: dict[str, Values]
    chances: dict[str, Values] = field(default_factory=dict)  # by method: p against crf, in the order of TESTED
    n_seeds: int = 1

    def tables(self, percent: bool | None = None) -> list[Table]:
        rows = []
        for name, values in self.ours.items():
            rows.append([name, "ours", *(f"{v:.2f}" for v in values), verdict(name, values)[0]])
            for known in filter(None, (PUBLISHED.get(name), MEASURED.get(name))):
                rows.append(["", known.source, *_texts(known.values), ""])
                rows.append(["", "difference", *_texts(differences(values, known), "+"), ""])
        rows += [[name, k.source, *_texts(k.values), ""] for name, k in PUBLISHED.items() if name not in self.ours]
        note = "Five folds of MQ2008-agg, letor convention, × 100: means over the queries of a fold, then over folds."
        if self.n_seeds > 1:
            note += f" Means over {self.n_seeds} seeds where a method has one."
        tables = [Table("Quality", ["method", "", *METRICS, "verdict"], rows, n_names=2, note=note)]
        if self.chances:
            body = [[name, *(f"{p:.4f}" for p in chances)] for name, chances in self.chances.items()]
            note = "Two-sided p of a paired randomisation test over all queries."
            tables.append(Table(f"Against {RIVAL}", ["method", *TESTED], body, n_names=1, note=note))
        return tables

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
        against = {name: dict(zip(TESTED, chances, strict=True)) for name, chances in self.chances.items()}
        return {
            "metrics": list(METRICS), "seeds": self.n_seeds, "results": self.rows(), "known": known,
            f"p against {RIVAL}": against,
        }  # fmt: skip

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
    if name in FLOORS:
        above = [values[METRICS.index(m)] - least for m, least in zip(TESTED, FLOORS[name], strict=True)]
        good = min(above) >= 0
        told = ", ".join(f"{m} {least:g} {a:+.2f}" for m, least, a in zip(TESTED, FLOORS[name], above, strict=True))
        return f"{'reached' if good else 'NOT reached'}: {told}", good
    if name not in MEASURED:
        return "no row to compare with", None
    off = differences(values, MEASURED[name])[-1]
    assert off is not None
    good = off >= -TO_REACH
    return f"{'reached' if good else 'NOT reached'}: MAP {off:+.2f}", good


def differences(values: Values, known: Known) -> tuple[float | None, ...]:
    """Ours less theirs, where they have a number."""
    return tuple(None if theirs is None else v - theirs for v, theirs in zip(values, known.values, strict=True))


def measure(methods: list[str], folder: Path, progress: Any = None, n_seeds: int = 1) -> Quality:
    """Our values by method."""
    chosen = {
        f"{name} {seed}": juryrank.method(name, **({"seed": seed} if seeded else {}))
        for name in methods
        for seeded in ["seed" in juryrank.method(name).params()]
        for seed in range(n_seeds if seeded else 1)
    }
    found = juryrank.compare(chosen, juryrank.read(folder), METRICS, convention="letor", progress=progress)
    at = {name: [n for n, label in enumerate(found.names) if label.split()[0] == name] for name in methods}
    ours = {name: tuple(100 * found.means[places].mean(axis=0)) for name, places in at.items()}
    by_query = {name: found.values[places].mean(axis=0) for name, places in at.items()}
    tested = [METRICS.index(metric) for metric in TESTED]
    chances = {
        name: tuple(randomisations((values - by_query[RIVAL])[tested].T))
        for name, values in by_query.items()
        if RIVAL in by_query and name != RIVAL
    }
    return Quality(ours, chances, n_seeds)


def _texts(values: tuple[float | None, ...], sign: str = "") -> list[str]:
    return ["" if v is None else f"{v:{sign}.2f}" for v in values]


def main() -> None:
    """Print ours and theirs; the exit code is 1 where a row that must be reached is not."""
    parser = argparse.ArgumentParser(description=__doc__)
    parser.add_argument("--json", help="also write everything to this file")
    parser.add_argument("--methods", help="by comma; by default all that need no labels")
    parser.add_argument("--learned", action="store_true", help="the methods that learn whom to trust, by three seeds")
    parser.add_argument("--seeds", type=int, help="how many, of methods that draw something")
    options = parser.parse_args()
    if not MQ2008.is_dir():
        sys.exit("MQ2008-agg is not beside the project (../shared/data/MQ2008-agg): nothing to measure on")
    screen = Console(stderr=True)
    methods = list(LEARNED) if options.learned else consensus_methods()
    methods = options.methods.split(",") if options.methods else methods
    n_seeds = options.seeds or (3 if options.learned else 1)
    report = measure(methods, MQ2008, lambda work: track(work, console=screen, transient=True), n_seeds)
    if sys.stdout.isatty():
        Console().print(report)
    else:
        print(report)
    if options.json:
        Path(options.json).write_text(report.render("json"))
    sys.exit(1 if report.failed else 0)


if __name__ == "__main__":
    main()
