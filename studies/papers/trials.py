"""Values of methods on a dataset with folds, query by query; each is fitted once for all experiments."""

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

import juryrank as jr
from juryrank.errors import DataError
from studies.arrays import Floats
from studies.console import track
from studies.files import make_folder, write_file
from studies.learners import learner
from studies.papers.experiment import Context, library_digest
from studies.papers.findings import Claim, ResultRow, ResultTable, Values
from studies.papers.folds import Part, Split, own_splits, part_of, randomisation_test
from studies.papers.published import LETOR_METRICS, TABLES
from studies.papers.workers import workers
from studies.tables import p_text

Model = Any  # a method of juryrank

OURS = ("jury", "ridge", "kernel", "blend", "auto")
METRICS = (*LETOR_METRICS, "nDCG@10", "P@10")
YARDSTICK = ("svd-lambdarank", "crf")  # two learners of similar quality: how much queries alone separate them
DIGEST = 32  # bytes of SHA-256 after stored values
TESTED = ("nDCG@5", "AP")
SPREAD = (
    "± folds and seeds: the standard error of AP, the root of the sum of its squared errors over folds and over seeds; "
    "folds differ in difficulty, so differences of rows, paired by query, are known better."
)
QUICK: dict[str, dict[str, Any]] = {  # what --quick changes
    "auto": {"among": "rrf,borda,jury,ridge"},
    **{name: {"epochs": 60} for name in ("crf", "blend")},
    **{f"supervised-mc{n}": {"epochs": 8} for n in range(1, 5)},
}


@dataclass(frozen=True)
class Trial:
    """A method with parameters that differ from its defaults, and its label in tables."""

    label: str
    name: str
    params: Mapping[str, Any]
    published: str = ""  # the published row to compare with

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
        return f"{self.lead:+.2f} ± {self.error:.2f}, p {'' if self.p < 0.0001 else '= '}{p_text(self.p)}"

    @property
    def clear(self) -> bool:
        """Whether it is better, and significantly so."""
        return self.lead > 0 and self.p < 0.05

    def claim(self, text: str, metric: str) -> Claim:
        """The claim of being better; within noise if the difference is not significant."""
        return Claim(text, f"{metric} {self}", self.lead > 0, noisy=self.p >= 0.05)


class Trials:
    """All methods on one dataset under one convention."""

    def __init__(
        self, context: Context, name: str, data: jr.Dataset, splits: list[Split] | None = None, *, variant: str = ""
    ) -> None:
        self.context, self.name, self.data = context, name, data
        self.splits = own_splits(data) if splits is None else splits
        code = context.once("code of the library", library_digest)
        self.key = f"{name} {variant} {context.fingerprint((name,))} {len(self.splits)} {code}"
        self.known: dict[Path, Floats] = {}
        self._parts: list[Part] = []

    def values(self, trial: Trial) -> Floats:
        """[n_metrics, n_queries], fold after fold; the mean over seeds if the method has any."""
        mean: Floats = np.mean([self.of_seed(trial, seed) for seed in self._seeds_of(trial)], axis=0)
        return mean

    def by_seed(self, trial: Trial, metric: str) -> Floats:
        """The mean of a metric for each seed, × 100."""
        at = METRICS.index(metric)
        return np.array([self.means_of(self.of_seed(trial, seed))[at] for seed in self._seeds_of(trial)])

    def spread(self, trial: Trial, metric: str = "AP") -> float:
        """The standard error of a mean over folds and seeds, × 100."""
        return self.spread_of([self.of_seed(trial, seed) for seed in self._seeds_of(trial)], metric)

    def spread_of(self, by_seed: Sequence[Floats], metric: str = "AP") -> float:
        """As ``spread``, of the values of queries for each seed: the errors over folds and over seeds, squared, add."""
        at = METRICS.index(metric)
        means = 100 * np.array([[np.nanmean(part[at]) for part in self.by_fold(values)] for values in by_seed])
        sides = [side for side in (means.mean(axis=0), means.mean(axis=1)) if len(side) > 1]  # folds, seeds
        return float(np.sqrt(sum(side.var(ddof=1) / len(side) for side in sides)))

    def means(self, trial: Trial) -> Floats:
        """Over the queries of a fold, then over folds, × 100."""
        return self.means_of(self.values(trial))

    def lead(self, trial: Trial, other: Trial, metric: str) -> Lead:
        """One trial against another by one metric."""
        return self.leads([trial], other, [metric])[0][0]

    def by_fold(self, values: Floats) -> list[Floats]:
        """Values of queries, split into those of each fold."""
        return np.split(values, np.cumsum([len(fold.test) for fold in self.splits])[:-1], axis=1)

    def lead_of(self, values: Floats, other: Floats, metric: str) -> Lead:
        """As ``lead``, of values of queries."""
        at = METRICS.index(metric)
        gain = 100 * (values - other)[at]
        lead, error = (self.means_of(values) - self.means_of(other))[at], gain.std(ddof=1) / np.sqrt(len(gain))
        return Lead(float(lead), float(error), float(randomisation_test(gain[:, None])[0]))

    def leads(self, rows: Sequence[Trial], base: Trial, metrics: Sequence[str]) -> list[list[Lead]]:
        """Every row against the base by every metric."""
        at = [METRICS.index(metric) for metric in metrics]
        gain = 100 * np.array([self.values(trial)[at] - self.values(base)[at] for trial in rows])
        lead = np.array([self.means(trial)[at] - self.means(base)[at] for trial in rows])
        error = gain.std(axis=2, ddof=1) / np.sqrt(gain.shape[2])
        p = randomisation_test(gain.reshape(-1, gain.shape[2]).T).reshape(lead.shape)
        return [
            [Lead(*map(float, cell)) for cell in zip(*row, strict=True)] for row in zip(lead, error, p, strict=True)
        ]

    def description(self) -> str:
        """How the numbers were measured, in a sentence."""
        folds, queries = len(self.splits), sum(len(fold.test) for fold in self.splits)
        seeds = ", ".join(map(str, self.context.seeds))
        return f"{queries} queries, {folds} folds, letor convention, × 100; means over seeds {seeds} of random methods."

    def noise(self, metrics: Sequence[str]) -> Values:
        """By metric, the standard error of the difference of two learners of similar quality, × 100."""
        one, other = (Trial.of(name) for name in YARDSTICK)
        gain = (self.values(one) - self.values(other))[[METRICS.index(m) for m in metrics]]
        return tuple((100 * gain.std(axis=1, ddof=1) / np.sqrt(gain.shape[1])).tolist())

    def _seeds_of(self, trial: Trial) -> tuple[int, ...]:
        if "seed" in trial.params:
            return (int(trial.params["seed"]),)
        return self.context.seeds if "seed" in jr.method(trial.name).params() else (0,)

    def means_of(self, values: Floats) -> Floats:
        """Values of queries as means over the queries of a fold, then over folds, × 100."""
        means: Floats = 100 * np.mean([np.nanmean(part, axis=1) for part in self.by_fold(values)], axis=0)
        return means

    def prepare(self, rows: Sequence[Trial]) -> None:
        """Measure rows without stored values, in parallel; each is stored as soon as it is measured."""
        wanted = [self._file_and_model(trial, seed) for trial in rows for seed in self._seeds_of(trial)]
        missing = {path: model for path, model in wanted if not self._load(path)}
        if len(missing) == 1:
            ((path, model),) = missing.items()
            _write(path, self.measure(model))
            return
        pool = workers(self.context)
        started = [pool.submit(_store, path, missing[path], self.parts()) for path in start_order(missing)]
        for task in track(started, self.name):
            task.result()

    def _file_and_model(self, trial: Trial, seed: int) -> tuple[Path, Model]:
        """The file with the values of a trial, and its method."""
        model = learner(trial.name, **trial.params)
        changes = {"seed": seed} if "seed" in model.params() else {}
        changes |= QUICK.get(trial.name, {}) if self.context.quick else {}
        model = learner(trial.name, **{**trial.params, **changes})
        text = json.dumps([self.key, trial.name, model.params(), METRICS], sort_keys=True)
        digest = hashlib.sha256(text.encode()).hexdigest()[:20]
        return self.context.out / "values" / f"{trial.name}-{digest}.npy", model

    def of_seed(self, trial: Trial, seed: int) -> Floats:
        """As ``values``, with one seed."""
        path, _ = self._file_and_model(trial, seed)
        if not self._load(path):
            self.prepare([trial])
        if not self._load(path):
            raise DataError(f"{path}: values were written to this file, but it cannot be read")
        return self.known[path]

    def _load(self, path: Path) -> bool:
        """Whether the values of a file are in memory or could be read from it undamaged."""
        if path not in self.known and (values := _read(path)) is not None:
            self.known[path] = values
        return path in self.known

    def measure(self, model: Model) -> Floats:
        """As ``values``, of any method, fitted now, the folds in parallel."""
        pool = workers(self.context)
        started = [pool.submit(values_on_test, model, part) for part in self.parts()]
        return np.concatenate([task.result() for task in track(started, f"{self.name}: {model.name}")], axis=1)

    def parts(self) -> list[Part]:
        """The data of each fold."""
        if not self._parts:
            self._parts = [part_of(self.data, split) for split in self.splits]
        return self._parts


def consensus_methods() -> list[str]:
    """The methods that need lists only, and no scores of them."""
    needs = ("supervised", "needs_features", "needs_scores")
    return [name for name, method in jr.METHODS.items() if not any(getattr(method, need) for need in needs)]


def letor(context: Context, name: str) -> Trials:
    """The trials on a set of LETOR 4.0 with its own folds, the same for all experiments."""
    return context.once(f"trials on {name}", lambda: Trials(context, name, jr.read(context.data / name)))  # type: ignore[no-any-return]


def result_table(
    trials: Trials, rows: Sequence[Trial], *, baseline: str, metrics: Sequence[str] = LETOR_METRICS
) -> ResultTable:
    """Measured and published rows of a dataset, each measured row tested against the baseline."""
    known = TABLES.get(trials.name, {}) if tuple(metrics) == LETOR_METRICS else {}
    base = next(trial for trial in rows if trial.label == baseline)
    at = [METRICS.index(metric) for metric in metrics]
    trials.prepare([*rows, *map(Trial.of, YARDSTICK)] if known else rows)
    others = [trial for trial in rows if trial is not base]
    leads = dict(zip((t.label for t in others), trials.leads(others, base, TESTED), strict=True))
    lines = []
    for trial in rows:
        printed, tested = known.get(trial.published), leads.get(trial.label, [])
        lines.append(
            ResultRow(
                trial.label,
                tuple(trials.means(trial)[at].tolist()),
                published=printed.values if printed else (),
                source=printed.source if printed else "",
                lead=tuple(each.lead for each in tested),
                error=tuple(each.error for each in tested),
                p=tuple(each.p for each in tested),
                spread=trials.spread(trial),
            )
        )
    return ResultTable(
        "Published and measured" if known else "Measured",
        tuple(metrics),
        tuple(lines),
        noise=trials.noise(metrics) if known else (),
        tested=TESTED,
        baseline=baseline,
        note=f"{trials.description()} {SPREAD}",
    )


def start_order(missing: Mapping[Path, Model]) -> list[Path]:
    """The order in which methods are started.

    Learners are last in tables and take longest: started last, a long one would leave other cores idle. Methods of a
    family share kernels, which two workers would compile at once, so one of each family is started first.
    """
    families: Counter[type] = Counter()
    turn = {}
    for path in reversed(list(missing)):
        family = type(missing[path]).__bases__[0]
        families[family] += 1
        turn[path] = families[family]
    return sorted(turn, key=turn.__getitem__)


def values_on_test(method: Model, part: Part) -> Floats:
    """[n_metrics, n_queries] of a method on the test queries, fitted on the training queries."""
    model = type(method)(**method.params()).fit(part.train, valid=part.valid)
    values: Floats = jr.evaluate(model.predict(part.test), part.test, METRICS, convention="letor").values[0]
    return values


def _store(path: Path, model: Model, parts: Sequence[Part]) -> None:
    _write(path, np.concatenate([values_on_test(model, part) for part in parts], axis=1))


def _write(path: Path, values: Floats) -> None:
    out = io.BytesIO()
    np.save(out, values)
    make_folder(path.parent)
    content = out.getvalue()
    write_file(path, content + hashlib.sha256(content).digest())  # np.load ignores bytes after the array


def _read(path: Path) -> Floats | None:
    """The values in a file; None if there is no file, or it is not as it was written."""
    try:
        content = path.read_bytes()
    except OSError:
        return None
    if hashlib.sha256(content[:-DIGEST]).digest() != content[-DIGEST:]:
        return None
    values: Floats = np.load(io.BytesIO(content))
    return values
