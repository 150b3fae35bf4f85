"""What an experiment found: rows beside published ones, claims, targets, tables and figures, all as plain values."""

from __future__ import annotations

from dataclasses import asdict, dataclass, field
from typing import Any

from juryrank.report import Table

Values = tuple[float | None, ...]

EXACT = 0.02  # what rounding in a script can move, × 100
AGREES, NOISE, ABOVE, BELOW = "agrees", "within noise", "above", "below"


@dataclass(frozen=True)
class Line:
    """A row of a table: what is published and what was measured; None where a column is not given."""

    label: str
    measured: Values  # empty where nothing here measures it
    published: Values = ()
    source: str = ""
    lead: Values = ()  # over the baseline, by tested column
    error: Values = ()  # standard error of the lead
    p: Values = ()  # of the lead, paired randomisation test

    def differences(self) -> Values:
        """Measured less published, where both are there."""
        pairs = zip(self.measured, self.published, strict=True) if self.measured and self.published else ()
        return tuple(None if ours is None or theirs is None else ours - theirs for ours, theirs in pairs)


@dataclass(frozen=True)
class Beside:
    """Measured rows beside published ones, and measured rows beside a baseline."""

    title: str
    columns: tuple[str, ...]
    lines: tuple[Line, ...]
    noise: Values  # by column: one standard error of a paired difference
    tested: tuple[str, ...] = ()  # columns with a test against the baseline
    baseline: str = ""
    note: str = ""

    def marks(self, line: Line) -> tuple[str | None, ...]:
        """By column, the verdict on a difference to what is published."""
        return tuple(mark(d, noise) for d, noise in zip(line.differences(), self.noise, strict=False))

    def verdict(self, line: Line) -> str:
        """All columns of a published row in one word or sentence."""
        if line.published:
            return verdict(self.columns, self.marks(line)) if line.measured else "not measured"
        return self.against_baseline(line)

    def against_baseline(self, line: Line) -> str:
        """Whether a row differs from the baseline by more than noise."""
        if line.label == self.baseline or not line.p:
            return ""
        marks = tuple(
            NOISE if lead is None or p is None or p >= 0.05 else ABOVE if lead > 0 else BELOW
            for lead, p in zip(line.lead, line.p, strict=True)
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
    told = []
    for word in (ABOVE, BELOW):
        where = [column for column, m in zip(columns, marks, strict=True) if m == word]
        if where:
            told.append(word if len(where) == len(known) else f"{word} in {', '.join(where)}")
    return "; ".join(told) or NOISE


@dataclass(frozen=True)
class Claim:
    """A sentence of a paper or a target, what was measured for it, and whether it holds."""

    text: str
    measured: str
    holds: bool
    noisy: bool = False  # what was measured could be chance

    def __post_init__(self) -> None:
        for name in ("holds", "noisy"):
            object.__setattr__(self, name, bool(getattr(self, name)))  # numpy's are not JSON's

    @property
    def verdict(self) -> str:
        if self.noisy:
            return NOISE
        return AGREES if self.holds else "differs"


@dataclass(frozen=True)
class Figure:
    """Data of a picture; ``kind`` names what draws it."""

    name: str
    title: str
    kind: str
    data: dict[str, Any]


@dataclass(frozen=True)
class Findings:
    """Everything that one experiment found."""

    beside: tuple[Beside, ...] = ()
    claims: tuple[Claim, ...] = ()
    targets: tuple[Claim, ...] = ()
    tables: tuple[Table, ...] = ()
    figures: tuple[Figure, ...] = ()
    notes: tuple[str, ...] = field(default=())

    def to_dict(self) -> dict[str, Any]:
        """Everything as values that JSON has."""
        return asdict(self)

    @classmethod
    def from_dict(cls, found: dict[str, Any]) -> Findings:
        """What ``to_dict`` gave, or what JSON made of it."""
        return cls(
            beside=tuple(_beside(each) for each in found["beside"]),
            claims=tuple(Claim(**each) for each in found["claims"]),
            targets=tuple(Claim(**each) for each in found["targets"]),
            tables=tuple(Table(**each) for each in found["tables"]),
            figures=tuple(Figure(**each) for each in found["figures"]),
            notes=tuple(found["notes"]),
        )


def _beside(found: dict[str, Any]) -> Beside:
    lines = tuple(Line(**{k: _frozen(v) for k, v in line.items()}) for line in found["lines"])
    rest: dict[str, Any] = {k: _frozen(v) for k, v in found.items() if k != "lines"}
    return Beside(lines=lines, **rest)


def _frozen(value: Any) -> Any:
    return tuple(value) if isinstance(value, list) else value
