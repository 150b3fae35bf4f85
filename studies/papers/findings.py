"""The findings of an experiment: rows beside published ones, claims, targets, tables and figures, as plain values."""

from __future__ import annotations

from dataclasses import asdict, dataclass, field
from typing import Any

from studies.pictures import Figure
from studies.tables import Table

Values = tuple[float | None, ...]

EXACT = 0.02  # differences that rounding in a script explains, × 100
AGREES, NOISE, ABOVE, BELOW = "agrees", "within noise", "above", "below"


@dataclass(frozen=True)
class ResultRow:
    """Published and measured values of a row; None if a column is not given."""

    label: str
    measured: Values  # empty if it is not measured here
    published: Values = ()
    source: str = ""
    lead: Values = ()  # over the baseline, by tested column
    error: Values = ()  # standard error of the lead
    p: Values = ()  # of the lead, paired randomisation test
    spread: float | None = None  # standard error of the mean AP over folds and seeds

    def differences(self) -> Values:
        """Measured minus published, where both are known."""
        pairs = zip(self.measured, self.published, strict=True) if self.measured and self.published else ()
        return tuple(None if ours is None or theirs is None else ours - theirs for ours, theirs in pairs)


@dataclass(frozen=True)
class ResultTable:
    """Measured rows beside published ones, and measured rows beside a baseline."""

    title: str
    columns: tuple[str, ...]
    rows: tuple[ResultRow, ...]
    noise: Values  # by column: one standard error of a paired difference
    tested: tuple[str, ...] = ()  # columns with a test against the baseline
    baseline: str = ""
    note: str = ""

    def marks(self, row: ResultRow) -> tuple[str | None, ...]:
        """By column, the verdict on the difference to the published value."""
        return tuple(mark(d, noise) for d, noise in zip(row.differences(), self.noise, strict=False))

    def verdict(self, row: ResultRow) -> str:
        """All columns of a published row in one word or sentence."""
        if row.published:
            return verdict(self.columns, self.marks(row)) if row.measured else "not measured"
        return self.against_baseline(row)

    def against_baseline(self, row: ResultRow) -> str:
        """Whether a row differs from the baseline by more than noise."""
        if row.label == self.baseline or not row.p:
            return ""
        marks = tuple(
            NOISE if lead is None or p is None or p >= 0.05 else ABOVE if lead > 0 else BELOW
            for lead, p in zip(row.lead, row.p, strict=True)
        )
        return verdict(self.tested, marks)


def mark(difference: float | None, noise: float | None) -> str | None:
    """One difference in a word.

    >>> mark(0.01, 0.4), mark(-0.7, 0.4), mark(0.9, 0.4), mark(None, 0.4)
    ('agrees', 'within noise', 'above', None)
    """
    if difference is None:
        return None
    if abs(difference) <= EXACT + 1e-9:
        return AGREES
    if noise is not None and abs(difference) <= 2 * noise:
        return NOISE
    return ABOVE if difference > 0 else BELOW


def verdict(columns: tuple[str, ...], marks: tuple[str | None, ...]) -> str:
    """The marks of a row in one sentence.

    >>> verdict(("P@1", "AP"), ("agrees", "agrees")), verdict(("P@1", "AP"), ("within noise", "below"))
    ('agrees', 'below in AP')
    """
    known = [m for m in marks if m is not None]
    if all(m == AGREES for m in known):
        return AGREES
    parts = []
    for word in (ABOVE, BELOW):
        where = [column for column, m in zip(columns, marks, strict=True) if m == word]
        if where:
            parts.append(word if len(where) == len(known) else f"{word} in {', '.join(where)}")
    return "; ".join(parts) or NOISE


@dataclass(frozen=True)
class Claim:
    """A sentence of a paper or a target, what was measured for it, and whether it holds."""

    text: str
    measured: str
    holds: bool
    noisy: bool = False  # the difference is not significant

    def __post_init__(self) -> None:
        for name in ("holds", "noisy"):
            object.__setattr__(self, name, bool(getattr(self, name)))  # JSON does not take booleans of numpy

    @property
    def verdict(self) -> str:
        if self.noisy:
            return NOISE
        return AGREES if self.holds else "differs"


REPRODUCED, EXCEPT, NOT, IMPOSSIBLE = "reproduced", "reproduced except", "not reproduced", "not possible"


@dataclass(frozen=True)
class OverviewRow:
    """A table or figure of a paper: what is printed, what its method as printed gives here, what ours gives."""

    what: str  # for example "Table 2, MQ2008-agg"
    printed: str
    as_printed: str
    extension: str  # our reading or our method, named; empty if there is none
    verdict: str  # "reproduced", "reproduced except …", "not reproduced: why" or "not possible: why"

    def __post_init__(self) -> None:
        with_reason = (f"{EXCEPT} ", f"{NOT}: ", f"{IMPOSSIBLE}: ")
        if self.verdict != REPRODUCED and not self.verdict.startswith(with_reason):
            raise ValueError(
                f"{self.what}: {self.verdict!r} is not {REPRODUCED!r} and starts with none of {with_reason}"
            )


@dataclass(frozen=True)
class Findings:
    """All results of one experiment."""

    results: tuple[ResultTable, ...] = ()
    claims: tuple[Claim, ...] = ()
    targets: tuple[Claim, ...] = ()
    tables: tuple[Table, ...] = ()
    figures: tuple[Figure, ...] = ()
    notes: tuple[str, ...] = field(default=())
    overview: tuple[OverviewRow, ...] = ()

    def to_dict(self) -> dict[str, Any]:
        """Everything as plain values for JSON."""
        return asdict(self)

    @classmethod
    def from_dict(cls, stored: dict[str, Any]) -> Findings:
        """Findings from the values of ``to_dict``, or from their JSON."""
        return cls(
            results=tuple(_result_table(each) for each in stored["results"]),
            claims=tuple(Claim(**each) for each in stored["claims"]),
            targets=tuple(Claim(**each) for each in stored["targets"]),
            tables=tuple(Table(**each) for each in stored["tables"]),
            figures=tuple(Figure(**each) for each in stored["figures"]),
            notes=tuple(stored["notes"]),
            overview=tuple(OverviewRow(**each) for each in stored["overview"]),
        )


def _result_table(stored: dict[str, Any]) -> ResultTable:
    rows = tuple(ResultRow(**{k: _tuple(v) for k, v in row.items()}) for row in stored["rows"])
    rest: dict[str, Any] = {k: _tuple(v) for k, v in stored.items() if k != "rows"}
    return ResultTable(rows=rows, **rest)


def _tuple(value: Any) -> Any:
    return tuple(value) if isinstance(value, list) else value
