"""When to stop judging: the held-out gain so far, and what more judgements can be expected to add."""

from __future__ import annotations

import math
from dataclasses import asdict, dataclass
from typing import Any

import numpy as np
from numpy.typing import NDArray

from juryrank.data import Consensus, Dataset
from juryrank.data.arrays import Floats
from juryrank.kernels.gains import mean_places
from juryrank.kernels.ragged import parents
from juryrank.learning import verdict
from juryrank.learning.baseline import rrf_scores
from juryrank.learning.label_survey import FEW_ZEROS, NONE, POSITIVES_ONLY, LabelSurvey
from juryrank.learning.labelled import AUTO, LabelledQueries
from juryrank.learning.verdict import Difference, Verdict
from juryrank.learning.verdict_rule import LEVEL, UNJUDGED_DEVIATION, t_quantile
from juryrank.methods.learned.jury import Jury, jury_of, statistics_of
from juryrank.models import labelled_dataset
from juryrank.report import Report, Table, counted, number
from juryrank.tasks.judge.plan import require_count

FEWEST_QUERIES = 10  # with which the gain can be measured
LEAST_MORE = 50  # further judgements for which it is decided whether there are enough
SMALL = 0.01  # of nDCG@10: what more judgements add is not worth them if it is certainly less
FIRST = 10  # items of a ranking that count
FAR_MORE = 10  # times the queries of the data: so many are not told as a number
SPLITS = 3  # of the labelled queries into halves, at random
COMPARED = 50  # queries in which the models of halves are compared
# What as many judgements again add to nDCG@10: its mean, and its standard deviation for each unit of the change that
# comes from learning from half of the queries. From ``python -m studies advice``.
DOUBLING_MEAN, DOUBLING_DEVIATION = 0.002, 0.09
Z = 1.96  # half of a 95 % interval, in standard deviations


@dataclass(frozen=True)
class Doubling:
    """What as many judgements again can be expected to add to nDCG@10, and the standard deviation of that."""

    mean: float
    deviation: float

    def after(self, n_judged: int, more: int) -> Difference:
        """What ``more`` judgements can be expected to add, with a 95 % interval.

        If what is missing is proportional to 1 / judgements, they add this share of what as many again add.
        """
        share = 2 * more / (n_judged + more)
        mean, half = share * self.mean, Z * self.deviation * math.sqrt(share)
        return Difference(mean, mean - half, mean + half)


@dataclass(frozen=True)
class Needed:
    """What it takes to show that the choice is best, if the differences stay as they are."""

    what: str  # is to be shown
    queries: int  # whose first items are all judged
    judgements: int  # more than there are
    known: int  # queries of the data


@dataclass(frozen=True, eq=False, repr=False, kw_only=True)
class JudgingAdvice(Report):
    """Whether to go on judging, and the numbers behind it."""

    n_judged: int  # ranked items with labels
    n_queries: int  # with labels that can be learned from
    verdict: Verdict | None  # of jury, on held-out queries; None if there is nothing to learn from
    more: int
    doubling: Doubling | None  # None if it cannot be said
    needed: Needed | None  # None if the choice is shown, or has not the highest means
    labels: str = NONE  # their kind, one of LABEL_KINDS; with positives only, nothing can be said

    @property
    def gain(self) -> Difference | None:
        """That of jury over RRF on held-out queries, as in the verdict; None where nothing can be said of it."""
        if self.verdict is None or self.labels == POSITIVES_ONLY:
            return None
        return self.verdict.differences.get("learned - rrf")

    @property
    def added(self) -> Difference | None:
        """What ``more`` judgements can be expected to add to the gain; None if it cannot be said."""
        return None if self.doubling is None else self.doubling.after(self.n_judged, self.more)

    @property
    def evidence(self) -> str:
        """How well the choice of the verdict is shown, as ``Verdict.evidence``."""
        return verdict.NONE if self.verdict is None else self.verdict.evidence

    @property
    def enough(self) -> bool:
        """Whether a gain is shown, and 50 more judgements (or ``more``, if that is more) add less than 0.01."""
        if self.doubling is None or not self._is_shown:
            return False
        return self.doubling.after(self.n_judged, max(self.more, LEAST_MORE)).high < SMALL

    @property
    def status(self) -> str:
        """The advice in a word: enough, go on, or not shown yet."""
        if self.enough:
            return "enough"
        return "go on" if self.doubling is None or self._is_shown else "not shown yet"

    @property
    def _is_shown(self) -> bool:
        return self.verdict is not None and self.evidence == verdict.SHOWN and self.verdict.choice != verdict.RRF

    @property
    def text(self) -> str:
        """The advice in plain sentences."""
        return f"{self.status.capitalize()}: {self._so_far()} {self._next()}"

    @property
    def outlook(self) -> str:
        """Whether to go on, and what more judgements can be expected to add; the advice without the gain so far."""
        more = self._next()
        return f"{self.status.capitalize()}: {more[0].lower()}{more[1:]}"

    def _so_far(self) -> str:
        if self.gain is None or self.verdict is None:
            return f"{counted(self.n_judged, 'judgement')} so far, {counted(self.n_queries, 'query')} to learn from."
        on = f"after {counted(self.n_judged, 'judgement')}, on {counted(self.verdict.n_queries, 'held-out query')}"
        judged = " of the judged items" if self.verdict.n_condensed else ""
        return f"{on}, jury has a gain over RRF of {self.gain} (nDCG@10{judged})."

    def _next(self) -> str:
        if self.n_queries < FEWEST_QUERIES:
            needed = f"{FEWEST_QUERIES} queries in which a relevant item was found"
            return f"What {self.more} more would add cannot be said before there are {needed}."
        if self.added is None:
            rare = (
                f"fewer than {100 * FEW_ZEROS:.0f} % of the labels are 0, and an item without one may be relevant, too"
            )
            return f"What jury gains cannot be said: {rare}. Judge items that are not relevant, as a judging plan does."
        shown = "" if self._is_shown else f"{self._to_show()} "
        more = "1 more judgement" if self.more == 1 else f"{self.more} more judgements"
        return f"{shown}{more} can be expected to add {self.added}."

    def _to_show(self) -> str:
        """How many more judgements would show what is not shown yet."""
        if self.needed is None:
            return f"{self._no_gain()} cannot be known."
        where, queries = "the first ten items of each", counted(round_number(self.needed.queries), "query")
        what = f"Showing that {self.needed.what} takes"
        has = counted(self.needed.known, "query")
        if self.needed.queries > FAR_MORE * self.needed.known:
            return f"{what} far more than the {has} of the data, if differences stay as they are."
        if self.needed.queries > self.needed.known:
            return f"{what} about {queries} with {where} judged, if differences stay as they are; the data has {has}."
        more = counted(round_number(self.needed.judgements), "more judgement")
        return f"{what} about {more}, if differences stay as they are: {where} in {queries}."

    def _no_gain(self) -> str:
        """Why it cannot be known how many more judgements would show the gain."""
        if self.verdict is None or self.evidence == verdict.NONE:
            return "No held-out query tells the alternatives apart, so how many more would show a gain"
        if self.verdict.choice == verdict.RRF:
            return "No gain over RRF is expected so far, so how many more would show one"
        best = f"The highest mean so far is that of {self.verdict.highest}"
        return f"{best}, so how many more would show that {self.verdict.name} is better"

    def __repr__(self) -> str:
        return f"JudgingAdvice({self.status}, {self.n_judged} judged, {self.n_queries} queries)"

    def rows(self) -> list[dict[str, Any]]:
        """The gain, and what is expected to be added."""
        found = {"gain over RRF": self.gain, f"{self.more} more judgements": self.added}
        none = dict.fromkeys(("mean", "low", "high"))
        return [{"": name, **(none if d is None else asdict(d))} for name, d in found.items()]

    def to_dict(self) -> dict[str, Any]:
        return {
            "status": self.status,
            "enough": self.enough,
            "evidence": self.evidence,
            "judged": self.n_judged,
            "queries": self.n_queries,
            "gain": None if self.gain is None else asdict(self.gain),
            "more": self.more,
            "added": None if self.added is None else asdict(self.added),
            "needed": None if self.needed is None else asdict(self.needed),
            "labels": self.labels,
            "text": self.text,
        }

    def tables(self, percent: bool | None = None) -> list[Table]:
        body = [
            [row[""], *(number(row[key], bool(percent), "+") for key in ("mean", "low", "high"))] for row in self.rows()
        ]
        return [Table("Judging advice", ["", "mean", "low", "high"], body, note=self.text)]


def round_number(value: int) -> int:
    """The number with two digits: more are not known."""
    return int(float(f"{value:.2g}"))


def judging_advice(data: Any, labels: Any = None, more: int = 50) -> JudgingAdvice:
    """Whether to go on judging: the held-out gain over RRF so far, and what ``more`` judgements can be expected to add.

    ``data`` and ``labels`` are as in ``judging_plan``. There are enough judgements if the verdict of ``jury`` shows a
    gain, and more of them (at least 50) can be expected to add less than 0.01 to nDCG@10, the upper end of the 95 %
    interval. Where the gain is not shown, the advice says how many more would show differences of the size seen.

    What more judgements add cannot be measured with those that there are. It is what they added in other collections,
    with an interval in proportion to how far the first ten items change if ``jury`` learns from half of the queries.

    Where labels are of relevant items only (gold passages, clicks), neither can be said, and the advice is to judge
    other items, too.

    >>> runs = {"bm25": {"q": ["a", "b", "c"]}, "dense": {"q": ["b", "c", "a"]}}
    >>> print(judging_advice(runs, labels={"q": {"a": 1}}).text)
    Go on: 1 judgement so far, 1 query to learn from. What 50 more would add cannot be said before there are 10 ...
    """
    require_count("more", more)
    found = labelled_dataset(data, labels)
    judged, survey = judged_slots(found), LabelSurvey.of(found)
    queries = LabelledQueries.of(found, AUTO) if judged.any() else None
    decided = Jury().fit(found).verdict() if queries is not None and len(queries) else None
    doubling = needed = None
    if queries is not None and decided is not None and len(queries) >= FEWEST_QUERIES and survey.kind != POSITIVES_ONLY:
        ranked = found.take(np.flatnonzero(np.diff(found.rankings.list_ptr) > 0))
        compared = _Compared.of(ranked, queries.data, survey, decided.expert)
        doubling = Doubling(DOUBLING_MEAN, DOUBLING_DEVIATION * compared.change)
        if n_needed := queries_needed(decided):
            others = " and ".join(map(decided.name_of, decided.not_shown))
            what = f"{decided.name} is better than {others}"
            needed = Needed(what, n_needed, math.ceil(n_needed * compared.unjudged), len(ranked))
    return JudgingAdvice(
        n_judged=int(judged.sum()),
        n_queries=0 if queries is None else len(queries),
        verdict=decided,
        more=int(more),
        doubling=doubling,
        needed=needed,
        labels=survey.kind,
    )


def judged_slots(data: Dataset) -> NDArray[np.bool_]:
    """Whether each slot is a judgement: a ranked item with a label."""
    r = data.rankings
    return np.zeros(r.n_slots, bool) if data.labels is None else ~np.isnan(data.slot_labels) & (r.slot_lists > 0)


def queries_needed(found: Verdict) -> int | None:
    """How many queries would show the choice if their first items were judged, and differences stayed as they are.

    None if it is shown, or if it is no gain, or has not the highest mean.
    """
    if found.evidence != verdict.EXPECTED or found.choice == verdict.RRF:
        return None
    n, unjudged = found.n_queries, 1.0 - min(found.judged.values(), default=1.0)
    unseen = UNJUDGED_DEVIATION * unjudged * found.n_condensed / n
    needed = 0
    for apart in found.not_shown.values():
        if apart.mean <= 0:
            return None
        half = max(apart.high - apart.mean, apart.mean - apart.low)
        variance = n * max((half / t_quantile(LEVEL, n - 1)) ** 2 - unseen**2, 0.0)
        least = max(2, math.ceil(variance * (Z / apart.mean) ** 2))
        while t_quantile(LEVEL, least - 1) * math.sqrt(variance / least) >= apart.mean:
            least += 1
        needed = max(needed, least)
    return needed or None


@dataclass(frozen=True)
class _Compared:
    """Means over some queries of what the first items tell."""

    change: float  # of the discounts of the first ten items, as a share, from learning from half of the queries
    unjudged: float  # items among the first ten of jury, RRF or the best expert

    @classmethod
    def of(cls, data: Dataset, labelled: Dataset, survey: LabelSurvey, expert: str | None) -> _Compared:
        treatment = survey.treatment
        some = data.take(np.sort(np.random.default_rng(0).permutation(len(data))[:COMPARED]))
        changes, first = [], np.zeros(some.rankings.n_slots)
        for seed in range(SPLITS):
            order = np.random.default_rng(seed).permutation(len(labelled))
            halves = [np.sort(half) for half in (order[: len(order) // 2], order[len(order) // 2 :])]
            parts = [statistics_of(labelled.take(half), treatment) for half in halves]
            one, other = (part for part in parts if part is not None)  # queries from which something can be learned
            first = _discounts(jury_of(one.add(other), survey).predict(some, warn_unknown=False))
            for part in (one, other):
                apart = _discounts(jury_of(part, survey).predict(some, warn_unknown=False)) - first
                changes.append(float(np.abs(apart).sum() / 2 / first.sum()))
        r = some.rankings
        among = (first > 0) | (_discounts(Consensus(r, rrf_scores(r))) > 0)
        by_expert = (np.array(r.experts) == expert)[r.list_expert][parents(r.entry_ptr)]
        among[r.entry_slot[by_expert & (r.entry_rank <= FIRST)]] = True
        return cls(float(np.mean(changes)), int((among & ~judged_slots(some)).sum()) / len(some))


def _discounts(ranked: Consensus) -> Floats:
    """The discount of each slot in nDCG@10; 0 for items after the first ten."""
    r, places = ranked.rankings, np.empty(ranked.rankings.n_slots)
    mean_places(r.slot_ptr, ranked.scores, places)
    return np.where((places <= FIRST) & (r.slot_lists > 0), 1.0 / np.log2(1.0 + places), 0.0)
