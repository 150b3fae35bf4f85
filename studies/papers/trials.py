"""Methods on a data set with folds, query by query; each is fitted once for all experiments that show it."""

from __future__ import annotations

import hashlib
import io
import json
from collections import Counter
from collections.abc import Mapping, Sequence
from dataclasses import dataclass
from pathlib import Path
from typing import Any

import numpy as np
from numpy.typing import NDArray

import juryrank
from juryrank.data import Dataset, Fold
from juryrank.errors import DataError
from juryrank.evaluation.evaluate import mean_over_queries
from juryrank.evaluation.folds import splits_of
from juryrank.evaluation.significance import randomisations
from juryrank.io.files import save
from juryrank.methods import Aggregator
from juryrank.metrics import Truth, parse_metric
from juryrank.progress import track
from juryrank.report import chance
from studies.papers.experiment import Context, code_digest
from studies.papers.findings import Beside, Claim, Line, Values
from studies.papers.published import LETOR_METRICS, TABLES
from studies.papers.workers import workers

Floats = NDArray[np.float64]
Part = tuple[Dataset, Dataset | None, Dataset, Truth]  # to learn from, to choose on, to test on

OURS = ("jury", "ridge", "kernel", "blend", "auto")
METRICS = (*LETOR_METRICS, "nDCG@10", "P@10")
YARDSTICK = ("svd-lambdarank", "crf")  # two learners of like quality: how far apart queries alone put them
DIGEST = 32  # bytes of SHA-256 behind kept values
TESTED = ("nDCG@5", "AP")
HURRY: dict[str, dict[str, Any]] = {  # what --quick changes
    "auto": {"among": "rrf,borda,jury,ridge"},
    **{name: {"epochs": 60} for name in ("crf", "blend")},
    **{f"supervised-mc{n}": {"epochs": 8} for n in range(1, 5)},
}


@dataclass(frozen=True)
class Trial:
    """A method with parameters other than its defaults, under the label it has in tables."""

    label: str
    name: str
    params: Mapping[str, Any]
    beside: str = ""  # the published row that it stands beside

    @classmethod
    def of(cls, name: str, **params: Any) -> Trial:
        return cls(name, name, params, name)


@dataclass(frozen=True)
class Lead:
    """The difference of two means × 100, its standard error, and p of a paired randomisation test."""

    lead: float
    error: float
    p: float

    def __str__(self) -> str:
        return f"{self.lead:+.2f} ± {self.error:.2f}, p {'' if self.p < 0.0001 else '= '}{chance(self.p)}"

    @property
    def clear(self) -> bool:
        """Ahead by more than chance."""
        return self.lead > 0 and self.p < 0.05

    def claim(self, text: str, metric: str) -> Claim:
        """The claim of being ahead; within noise where chance is enough to explain the difference."""
        return Claim(text, f"{metric} {self}", self.lead > 0, noisy=self.p >= 0.05)


class Trials:
    """All methods on one data set under one convention."""

    def __init__(self, context: Context, name: str, data: Dataset, *, variant: str = "") -> None:
        self.context, self.name, self.data = context, name, data
        self.splits: tuple[Fold, ...] = splits_of(None, data, 0)
        code = context.once("code of methods", code_digest)
        self.key = f"{name} {variant} {context.fingerprint((name,))} {len(self.splits)} {code}"
        self.known: dict[Path, Floats] = {}
        self._parts: list[Part] = []

    def values(self, trial: Trial) -> Floats:
        """[n_metrics, n_queries], fold after fold; the mean over seeds where the method has any."""
        mean: Floats = np.mean([self._of_seed(trial, seed) for seed in self._seeds_of(trial)], axis=0)
        return mean

    def by_seed(self, trial: Trial, metric: str) -> Floats:
        """The mean of a metric for each seed, × 100."""
        at = METRICS.index(metric)
        return np.array([self.means_of(self._of_seed(trial, seed))[at] for seed in self._seeds_of(trial)])

    def means(self, trial: Trial) -> Floats:
        """Over the queries of a fold, then over folds, × 100."""
        return self.means_of(self.values(trial))

    def lead(self, trial: Trial, other: Trial, metric: str) -> Lead:
        """One trial against another by one metric."""
        return self.leads([trial], other, [metric])[0][0]

    def leads(self, rows: Sequence[Trial], base: Trial, metrics: Sequence[str]) -> list[list[Lead]]:
        """Every row against the base by every metric."""
        at = [METRICS.index(metric) for metric in metrics]
        gain = 100 * np.array([self.values(trial)[at] - self.values(base)[at] for trial in rows])
        lead = np.array([self.means(trial)[at] - self.means(base)[at] for trial in rows])
        error = gain.std(axis=2, ddof=1) / np.sqrt(gain.shape[2])
        p = randomisations(gain.reshape(-1, gain.shape[2]).T).reshape(lead.shape)
        return [
            [Lead(*map(float, found)) for found in zip(*row, strict=True)] for row in zip(lead, error, p, strict=True)
        ]

    def told(self) -> str:
        """How the numbers came about, in a sentence."""
        folds, queries = len(self.splits), sum(len(fold.test) for fold in self.splits)
        seeds = ", ".join(map(str, self.context.seeds))
        return (
            f"{queries} queries, {folds} folds, letor convention, × 100; means over seeds {seeds} where a method draws."
        )

    def noise(self, metrics: Sequence[str]) -> Values:
        """By metric, the standard error of the difference of two learners of like quality, × 100."""
        one, other = (Trial.of(name) for name in YARDSTICK)
        gain = (self.values(one) - self.values(other))[[METRICS.index(m) for m in metrics]]
        return tuple((100 * gain.std(axis=1, ddof=1) / np.sqrt(gain.shape[1])).tolist())

    def _seeds_of(self, trial: Trial) -> tuple[int, ...]:
        if "seed" in trial.params:
            return (int(trial.params["seed"]),)
        return self.context.seeds if "seed" in juryrank.method(trial.name).params() else (0,)

    def means_of(self, values: Floats) -> Floats:
        """Values of queries as means over the queries of a fold, then over folds, × 100."""
        ends = np.cumsum([len(fold.test) for fold in self.splits])[:-1]
        by_fold = [mean_over_queries(part) for part in np.split(values, ends, axis=1)]
        means: Floats = 100 * np.mean(by_fold, axis=0)
        return means

    def prepare(self, rows: Sequence[Trial]) -> None:
        """Measure what is not known of the rows, side by side; each is kept as soon as it is there."""
        wanted = [self._wanted(trial, seed) for trial in rows for seed in self._seeds_of(trial)]
        missing = {path: model for path, model in wanted if not self._knows(path)}
        if len(missing) == 1:
            ((path, model),) = missing.items()
            _write(path, self.measured(model))
            return
        pool = workers(self.context)
        waiting = [pool.submit(_keep, path, missing[path], self.parts()) for path in _to_start(missing)]
        for done in track(waiting, self.name):
            done.result()

    def _wanted(self, trial: Trial, seed: int) -> tuple[Path, Aggregator]:
        """The method of a trial, and where its values are kept."""
        model = juryrank.method(trial.name, **trial.params)
        given = {"seed": seed} if "seed" in model.params() else {}
        given |= HURRY.get(trial.name, {}) if self.context.quick else {}
        model = juryrank.method(trial.name, **{**trial.params, **given})
        text = json.dumps([self.key, trial.name, model.params(), METRICS], sort_keys=True)
        digest = hashlib.sha256(text.encode()).hexdigest()[:20]
        return self.context.out / "values" / f"{trial.name}-{digest}.npy", model

    def _of_seed(self, trial: Trial, seed: int) -> Floats:
        path, _ = self._wanted(trial, seed)
        if not self._knows(path):
            self.prepare([trial])
        if not self._knows(path):
            raise DataError(f"{path}: what was just written there cannot be read again")
        return self.known[path]

    def _knows(self, path: Path) -> bool:
        """Whether the values at a path are known or kept there, undamaged."""
        if path not in self.known and (values := _read(path)) is not None:
            self.known[path] = values
        return path in self.known

    def measured(self, model: Aggregator) -> Floats:
        """What ``values`` has, of a method as it is, fitted now, fold beside fold."""
        pool = workers(self.context)
        waiting = [pool.submit(_of_part, model, part) for part in self.parts()]
        return np.concatenate([done.result() for done in track(waiting, f"{self.name}: {model.name}")], axis=1)

    def parts(self) -> list[Part]:
        """To learn from, to choose on and to test on, and the truth of the tested."""
        if not self._parts:
            for fold in self.splits:
                train, valid, test = (self._take(part) for part in (fold.train, fold.valid, fold.test))
                self._parts.append((train, valid if fold.valid else None, test, Truth(test)))
        return self._parts

    def _take(self, queries: tuple[int, ...]) -> Dataset:
        return self.data.take(np.array(queries, np.int64))


def letor(context: Context, name: str) -> Trials:
    """The trials on a set of LETOR 4.0 with its own folds, the same for all experiments."""
    return context.once(f"trials on {name}", lambda: Trials(context, name, juryrank.read(context.data / name)))  # type: ignore[no-any-return]


def beside(trials: Trials, rows: Sequence[Trial], *, baseline: str, metrics: Sequence[str] = LETOR_METRICS) -> Beside:
    """Rows beside the published ones of the data set, each tested against the baseline."""
    known = TABLES.get(trials.name, {}) if tuple(metrics) == LETOR_METRICS else {}
    base = next(trial for trial in rows if trial.label == baseline)
    at = [METRICS.index(metric) for metric in metrics]
    trials.prepare([*rows, *map(Trial.of, YARDSTICK)] if known else rows)
    others = [trial for trial in rows if trial is not base]
    leads = dict(zip((t.label for t in others), trials.leads(others, base, TESTED), strict=True))
    lines = []
    for trial in rows:
        told, found = known.get(trial.beside), leads.get(trial.label, [])
        lines.append(
            Line(
                trial.label,
                tuple(trials.means(trial)[at].tolist()),
                published=told.values if told else (),
                source=told.source if told else "",
                lead=tuple(each.lead for each in found),
                error=tuple(each.error for each in found),
                p=tuple(each.p for each in found),
            )
        )
    return Beside(
        "Published and measured" if known else "Measured",
        tuple(metrics),
        tuple(lines),
        noise=trials.noise(metrics) if known else (),
        tested=TESTED,
        baseline=baseline,
        note=trials.told(),
    )


def _to_start(missing: dict[Path, Aggregator]) -> list[Path]:
    """In which order.

    Learners stand last in tables and take longest: started last, a long one would leave other cores idle. Methods of a
    family share kernels, which two workers would compile at once, so one of each family comes first, then the others.
    """
    families: Counter[type] = Counter()
    turn = {}
    for path in reversed(missing):
        family = type(missing[path]).__bases__[0]
        families[family] += 1
        turn[path] = families[family]
    return sorted(turn, key=turn.__getitem__)


def _of_part(given: Aggregator, part: Part) -> Floats:
    """[n_metrics, n_queries] of the tested queries."""
    train, valid, test, truth = part
    model = type(given)(**given.params()).fit(train, valid=valid)
    judged = truth.judge(model.predict(test), convention="letor")
    return np.array([parse_metric(metric).per_query(judged) for metric in METRICS])


def _keep(path: Path, model: Aggregator, parts: Sequence[Part]) -> None:
    _write(path, np.concatenate([_of_part(model, part) for part in parts], axis=1))


def _write(path: Path, values: Floats) -> None:
    out = io.BytesIO()
    np.save(out, values)
    path.parent.mkdir(parents=True, exist_ok=True)
    content = out.getvalue()
    save(path, content + hashlib.sha256(content).digest())  # np.load does not look at what follows the array


def _read(path: Path) -> Floats | None:
    """The values in a file; None where there is none, or one that is not as it was written."""
    try:
        content = path.read_bytes()
    except OSError:
        return None
    if hashlib.sha256(content[:-DIGEST]).digest() != content[-DIGEST:]:
        return None
    values: Floats = np.load(io.BytesIO(content))
    return values
