"""The MovieLens study of WWW 2012, section 5.2: one order of 1,682 movies from the ratings of 943 users.

NDCG is against each user's ratings, completed by a constant or by matrix factorisation.
"""

from __future__ import annotations

import subprocess
import sys
from dataclasses import dataclass
from pathlib import Path
from typing import Any

import numpy as np
from numpy.typing import NDArray
from scipy.special import expit
from scipy.stats import spearmanr

import juryrank as jr
from studies.console import track
from studies.papers.completion import (
    FACTORS,
    RIDGE,
    ROUNDS,
    completed,
    factorised,
    held_out_error,
    ideal,
    ndcg,
    observed,
)
from studies.papers.experiment import Context
from studies.papers.findings import Claim, Findings, OverviewRow
from studies.papers.folds import randomisation_test
from studies.papers.overview import judged, unstated
from studies.papers.published import CONTESTS, ENDS
from studies.pictures import Figure
from studies.tables import Table, p_text

METHODS: dict[str, tuple[str, dict[str, Any]]] = {
    "bradley-terry, differences": ("bradley-terry", {"counts": "difference"}),
    "bradley-terry": ("bradley-terry", {}),
    "plackett-luce, prior 0.1": ("plackett-luce", {"prior": 0.1}),
    "plackett-luce, prior 10": ("plackett-luce", {"prior": 10.0}),
    "mpm": ("mpm", {"counts": "score"}),
    "mpm, variances": ("mpm", {"counts": "score", "variances": True}),
}
STEPS = 100  # of the paper's optimiser, which is no method of the library
BRADLEY_TERRY, PLACKETT_LUCE = f"bradley-terry, {STEPS} steps", f"plackett-luce, {STEPS} steps"
OTHERS = (BRADLEY_TERRY, PLACKETT_LUCE)
LABELS = (*OTHERS, *METHODS)
MODEL, VARIANCES = "mpm", "mpm, variances"
FITS = (MODEL, VARIANCES)
PRINTED = {
    BRADLEY_TERRY: "Bradley–Terry", PLACKETT_LUCE: "Plackett–Luce", MODEL: "MPM", VARIANCES: "MPM"
}  # fmt: skip
RATE, RATE_OF_ORDERS = 1100.0, 200.0  # of Bradley–Terry, of Plackett–Luce
CONSTANTS = (0.0, 0.5, 1.0, 1.5, 2.0, 2.5, 3.0, 3.5)
DEPTHS = (1, 5, 10)
FIRST = 20  # the first movies of a method, whose number of ratings is compared
SECONDS, MEBIBYTES = 60.0, 1024.0

WHY = (
    f"The paper gives {STEPS} steps of gradient descent for every model and no step size. Bradley–Terry has "
    f"{RATE:,.0f} here, divided by the sum of all counts, from scores of 0, with differences of ratings as counts. "
    "This size was chosen to give the printed movies, so they do not confirm it: of the sizes tried, from 600 to "
    "2,000, 1,000 and 1,100 give the printed first and last five, 800 and 900 the first. "
    f"Plackett–Luce has {RATE_OF_ORDERS:,.0f}, divided by the number of ratings. The paper resolves ties of ratings "
    "and does not say how. If equally rated movies stay in the order of their numbers, as a stable sort leaves them, "
    "sizes from 150 to 200 of those tried, from 30 to 20,000, give all movies that our copy of the paper shows; with "
    "ties in a random order no size tried does. "
    "So few steps act as a prior on rarely rated movies. At its optimum Bradley–Terry ranks movies first that one to "
    "three users liked, which supports the paper's claim more strongly. Neither fit of MPM gives both printed ends: "
    "the first five are those of equal variances, the last five those of free ones."
)

FIT = """
import resource, sys, time
import juryrank as jr
from pathlib import Path
data = jr.read(sys.argv[1])
start = time.perf_counter()
jr.method("mpm", counts="score", variances=True).fit_predict(data)
spent = time.perf_counter() - start
status = Path("/proc/self/status")  # rusage includes the parent process
peak = [line.split()[1] for line in status.read_text().splitlines() if "VmHWM" in line] if status.exists() else []
print(spent, int(peak[0] if peak else resource.getrusage(resource.RUSAGE_SELF).ru_maxrss) / 1024)
"""


@dataclass(frozen=True, eq=False)
class Study:
    """The results of all models."""

    titles: list[str]  # of each slot
    rankings: jr.Rankings
    consensus: dict[str, jr.Consensus]
    by_constant: dict[str, NDArray[np.float64]]  # [constants, depths]
    by_factors: dict[str, NDArray[np.float64]]  # [users, 10]: NDCG at 1 … 10
    error: float
    variance: NDArray[np.float64]

    def first_users(self, name: str) -> float:
        """The median number of users among the first movies of a method."""
        return float(np.median(self.rankings.slot_lists[self.consensus[name].order[:FIRST]]))

    def last_five(self, name: str) -> list[tuple[int, int]]:
        """The number of users and the slot of each of the last five movies of a method."""
        return [(int(self.rankings.slot_lists[n]), int(n)) for n in self.consensus[name].order[-5:]]

    def falls(self) -> float:
        """The rank correlation of variances with numbers of ratings."""
        return float(spearmanr(self.variance, self.rankings.slot_lists).statistic)

    def at_ends(self) -> float:
        """The rank correlation of variances with the distance from the middle of the order."""
        place = np.empty(len(self.variance))
        place[self.consensus[VARIANCES].order] = np.arange(len(place))
        return float(spearmanr(np.abs(place - np.median(place)), self.variance).statistic)

    def ends(self, name: str) -> tuple[list[str], list[str]]:
        """The first five movies of a method, and the last five from the worst up."""
        order = self.consensus[name].order
        return [self.titles[s] for s in order[:5]], [self.titles[s] for s in order[:-6:-1]]


def study(context: Context) -> Findings:
    """Tables 2 and 3 and Figures 4 and 5."""
    folder = context.data / "ml-100k"
    found = measure(folder, quick=context.quick)
    return Findings(
        claims=tuple(claims(found)),
        targets=() if context.quick else _costs(folder),
        tables=(_factors(found), *(_ends(found, name) for name in LABELS), _unstated()),
        figures=(_constants(found), _variances(found)),
        notes=(WHY,),
        overview=tuple(overview(found)),
    )


def _costs(folder: Path) -> tuple[Claim, ...]:
    seconds, mebibytes = in_a_fresh_process(folder)
    return (
        Claim("MovieLens: a fit with variances in 60 s", f"{seconds:.1f} s, a new process", seconds < SECONDS),
        Claim("MovieLens: and in 1 GiB, reading included", f"{mebibytes:.0f} MiB", mebibytes < MEBIBYTES),
    )


def measure(folder: Path, *, quick: bool) -> Study:
    """Fit every method and complete the ratings in every way; ``quick`` takes fewer rounds and holds nothing out."""
    data = jr.read(folder / "u.data")
    r, ratings = data.rankings, observed(data.rankings)
    lines = (folder / "u.item").read_text(encoding="latin-1").splitlines()
    names = {line.split("|")[0]: line.split("|")[1] for line in lines}
    consensus, variance = {}, np.zeros(r.n_slots)
    consensus[BRADLEY_TERRY] = jr.Consensus(r, gradient_steps(count_matrix(ratings)))
    number = np.array([int(item) for item in r.items[r.slot_item]])
    consensus[PLACKETT_LUCE] = jr.Consensus(r, gradient_steps_of_orders(ratings, number))
    for label, (name, params) in track(list(METHODS.items()), "MovieLens"):
        model = jr.method(name, **params).fit(data)
        if isinstance(model, jr.MPM) and model.variances:
            consensus[label], variance = model.predict_with_variances(data)
        else:
            consensus[label] = model.predict(data)
    guessed = completed(ratings, factorised(ratings, rounds=5 if quick else ROUNDS))
    filled = [completed(ratings, c) for c in CONSTANTS]
    best, at = [ideal(f, max(DEPTHS)) for f in filled], np.array(DEPTHS) - 1

    def by_constant(order: NDArray[np.int64]) -> NDArray[np.float64]:
        return np.array([ndcg(f, b, order).mean(0)[at] for f, b in zip(filled, best, strict=True)])

    return Study(
        titles=[names[item] for item in r.items[r.slot_item]],
        rankings=r,
        consensus=consensus,
        by_constant={name: by_constant(c.order) for name, c in consensus.items()},
        by_factors={name: ndcg(guessed, ideal(guessed, 10), c.order) for name, c in consensus.items()},
        error=float("nan") if quick else held_out_error(ratings),
        variance=variance,
    )


def claims(s: Study) -> list[Claim]:
    """The claims of the paper."""
    many, few = min(map(s.first_users, FITS)), max(map(s.first_users, OTHERS))
    least = min(n for name in FITS for n, _ in s.last_five(name))
    most, movie = max((int(n), s.titles[at]) for name in OTHERS for n, at in s.last_five(name))
    return [
        *_printed(s),
        Claim(
            "MPM ranks widely rated movies first, the others rarely rated ones",
            f"median of the first {FIRST}: {many:.0f} users, the others "
            + " and ".join(f"{s.first_users(name):.0f}" for name in OTHERS),
            many > 10 * few,
        ),
        Claim(
            "The last five: more than 50 users for MPM, less than 30 for the others",
            f"MPM at least {least}, the others at most {most} ({movie})",
            least > 50 and most < 30,
        ),
        *(_constants_claim(s, name) for name in FITS),
        *(_factorised_claim(s, name) for name in FITS),
        Claim("Variance falls with the number of ratings", f"rank correlation {s.falls():+.2f}", s.falls() < -0.5),
        Claim("Variance falls towards both ends of the order", f"rank correlation {s.at_ends():+.2f}", s.at_ends() < 0),
    ]


def _constants_claim(s: Study, name: str) -> Claim:
    lead = min((s.by_constant[name] - s.by_constant[other]).min() for other in OTHERS)
    text = f"MPM ({name}) leads for every constant at 1, 5 and 10"
    return Claim(text, f"NDCG at least {100 * lead:+.2f}", lead > 0)


def _printed(s: Study) -> list[Claim]:
    """The numbers of contests and the movies that the paper prints."""
    (won, lost), users = contests(s.rankings), s.rankings.slot_lists
    found = []
    for name, theirs in CONTESTS.items():
        (slot,) = (n for n, title in enumerate(s.titles) if title.startswith(f"{name} (") and users[n] == theirs[0])
        ours = (int(users[slot]), int(won[slot]), int(lost[slot]))
        text = f"{name}: {theirs[0]} users, {theirs[1]:,} contests won, {theirs[2]:,} lost"
        found.append(Claim(text, f"{ours[0]}, {ours[1]:,}, {ours[2]:,}", ours == theirs))
    for name, model in PRINTED.items():
        for which, theirs_five, ours_five in zip(("first", "last"), ENDS[model], s.ends(name), strict=True):
            found.append(_end(f"{model}, {which} five ({name})", theirs_five, ours_five))
    return found


def _end(text: str, theirs: tuple[str, ...], ours: list[str]) -> Claim:
    """One end of Table 3 against ours: it holds for the same five movies; their order is told."""
    same = _same(theirs, ours)
    ordered = all(title.startswith(name) for name, title in zip(theirs, ours, strict=False))
    how = (
        "in this order"
        if ordered
        else "the same, in another order"
        if same == len(theirs)
        else f"{same} of {len(theirs)}"
    )
    return Claim(f"{text}: {', '.join(theirs)}", f"{how}: {'; '.join(ours)}", same == len(theirs))


def _factorised_claim(s: Study, name: str) -> Claim:
    """MPM against the better of the two others, with missing ratings from the factorisation."""
    best = max(OTHERS, key=lambda other: s.by_factors[other].mean())
    gain = 100 * (s.by_factors[name] - s.by_factors[best])
    lead, p = gain.mean(axis=0), randomisation_test(gain)
    gains = ", ".join(f"NDCG@{k} {lead[k - 1]:+.2f} (p {p_text(float(p[k - 1]))})" for k in (1, 2, 5, 10))
    holds = bool(lead[0] <= 0 and (lead[1:] > 0).all() and (p[4:] < 0.05).all())
    text = f"MPM ({name}) leads the better of the two except at 1, significantly at 5 to 10, ratings factorised"
    return Claim(text, f"over {best}: {gains}", holds)


def overview(s: Study) -> list[OverviewRow]:
    """Tables 2 and 3 and Figures 4 and 5. The reported experiments of the paper have variances."""
    printed = {
        label: [_same(*both) for both in zip(ENDS[of], s.ends(label), strict=True)] for label, of in PRINTED.items()
    }
    full = {label: [len(five) for five in ENDS[of]] for label, of in PRINTED.items()}

    def five(label: str) -> str:
        (first, last), (of_first, of_last) = printed[label], full[label]
        return f"{label}: {first} of {of_first} and {last} of {of_last}"

    def means(label: str) -> str:
        values, error = 100 * s.by_factors[label].mean(0), _errors(s.by_factors[label])
        return f"{label}: " + ", ".join(f"{values[k]:.2f} ± {error[k]:.2f}" for k in (0, 4, 9))

    def constants(label: str) -> Claim:
        return _constants_claim(s, label)

    tables = {label: _factorised_claim(s, label) for label in FITS}
    return [
        OverviewRow(
            "Table 2, MovieLens",
            "our copy of the paper lacks the numbers; MPM leads Plackett–Luce, the better baseline, at 2 to 10 and "
            "not at 1, significantly at 5 to 10",
            f"NDCG@1, 5, 10: {'; '.join(map(means, (*OTHERS, VARIANCES)))}; {tables[VARIANCES].measured}",
            f"{'; '.join(map(means, (MODEL, 'bradley-terry', 'plackett-luce, prior 10')))}",
            judged({"MPM does not lead as printed": tables[VARIANCES].holds}),
        ),
        OverviewRow(
            "Table 3, MovieLens",
            "the first and last five movies of three models",
            f"the first and last movies that are printed: {'; '.join(map(five, (*OTHERS, VARIANCES)))}",
            five(MODEL),
            judged(
                {
                    f"the {which} five of {model}": printed[label][at] == full[label][at]
                    for label, model in PRINTED.items()
                    if label != MODEL
                    for at, which in enumerate(("first", "last"))
                }
            ),
        ),
        OverviewRow(
            "Figure 4, MovieLens",
            "MPM is above both others at 1, 5 and 10 for every constant",
            f"{VARIANCES}: {constants(VARIANCES).measured}",
            f"{MODEL}: {constants(MODEL).measured}",
            judged({"MPM is not above for every constant": constants(VARIANCES).holds}),
        ),
        OverviewRow(
            "Figure 5, MovieLens",
            "variances fall with the number of ratings, and towards both ends of the order",
            f"rank correlation with the number of ratings {s.falls():+.2f}, with the distance from the middle of the "
            f"order {s.at_ends():+.2f}",
            "",
            judged({"(a), the number of ratings": s.falls() < -0.5, "(b), the order": s.at_ends() < 0}),
        ),
    ]


def _errors(values: NDArray[np.float64]) -> NDArray[np.float64]:
    """Standard errors over users of means, × 100."""
    errors: NDArray[np.float64] = 100 * values.std(axis=0, ddof=1) / np.sqrt(len(values))
    return errors


def _same(theirs: tuple[str, ...], ours: list[str]) -> int:
    return sum(any(title.startswith(name) for title in ours) for name in theirs)


def _unstated() -> Table:
    rows = (
        ("Bradley–Terry, step size", f"{RATE:,.0f} / sum of counts", "gives the printed movies; no validation data"),
        (
            "Plackett–Luce, step size",
            f"{RATE_OF_ORDERS:,.0f} / number of ratings",
            "gives the printed movies; no validation data",
        ),
        ("Plackett–Luce, ties of ratings", "in the order of movie numbers", "gives the printed movies"),
        ("MPM, optimiser", "to its optimum", "ours: default of the library; the paper says that 100 steps converge"),
        (
            "factorisation of ratings",
            f"{FACTORS} factors, ridge {RIDGE:g}, {ROUNDS} rounds",
            "lowest error on held-out ratings, a tenth of all",
        ),
    )
    return unstated(rows)


def _factors(s: Study) -> Table:
    rows = [[name, *(f"{100 * v:.2f}" for v in s.by_factors[name].mean(0))] for name in LABELS]
    text = f"Root mean squared error of the factorisation on held-out ratings, a tenth of all: {s.error:.3f}."
    most = max(_errors(values).max() for values in s.by_factors.values())
    note = f"Means over {len(s.by_factors[MODEL])} users; standard errors over users are at most {most:.2f}."
    note += "" if np.isnan(s.error) else f" {text}"
    columns = ["method", *(f"NDCG@{k}" for k in range(1, 11))]
    return Table("Table 2: missing ratings factorised", columns, rows, note=note)


def _ends(s: Study, name: str) -> Table:
    order, (won, lost) = s.consensus[name].order, contests(s.rankings)
    users = s.rankings.slot_lists
    rows = [[s.titles[n], str(users[n]), f"{won[n]:.0f}", f"{lost[n]:.0f}"] for n in [*order[:5], *order[-5:]]]
    return Table(f"Table 3: first and last five, {name}", ["movie", "users", "won", "lost"], rows)


def _constants(s: Study) -> Figure:
    panels = [
        {
            "x": list(CONSTANTS),
            "series": {name: (100 * values[:, d]).tolist() for name, values in s.by_constant.items()},
            "bold": [MODEL],
            "xlabel": "value of a missing rating",
            "ylabel": f"NDCG@{depth}",
        }
        for d, depth in enumerate(DEPTHS)
    ]
    return Figure("www2012-figure4", "Figure 4: NDCG where missing ratings are a constant", "lines", {"panels": panels})


def _variances(s: Study) -> Figure:
    place = np.empty(len(s.variance))
    place[s.consensus[VARIANCES].order] = np.arange(1, len(place) + 1)
    sides = ((s.rankings.slot_lists, "number of ratings"), (place, "rank"))
    panels = [
        {
            "x": np.asarray(x, float).tolist(),
            "y": s.variance.tolist(),
            "xlabel": label,
            "ylabel": "variance γ",
            "size": 6,
        }
        for x, label in sides
    ]
    return Figure("www2012-figure5", "Figure 5: learned variances", "scatter", {"panels": panels})


def count_matrix(ratings: NDArray[np.float64]) -> NDArray[np.float64]:
    """C[i, j], the sum over users of how far they rate i above j; ``ratings`` is [users, movies], NaN where missing."""
    counts = np.zeros((ratings.shape[1],) * 2)
    for row in ratings:
        rated = np.flatnonzero(~np.isnan(row))
        counts[np.ix_(rated, rated)] += np.maximum(row[rated, None] - row[rated], 0)
    return counts


def gradient_steps(counts: NDArray[np.float64], *, steps: int = STEPS, rate: float = RATE) -> NDArray[np.float64]:
    """Scores of Bradley–Terry after the paper's steps of plain gradient ascent from 0, without a prior."""
    games, won, scores = counts + counts.T, counts.sum(1), np.zeros(len(counts))
    for _ in range(steps):
        scores += rate / counts.sum() * (won - (games * expit(scores[:, None] - scores)).sum(1))
    return scores


def gradient_steps_of_orders(
    ratings: NDArray[np.float64],
    number: NDArray[np.int64],
    *,
    steps: int = STEPS,
    rate: float = RATE_OF_ORDERS,
) -> NDArray[np.float64]:
    """As ``gradient_steps``, of Plackett–Luce; movies that a user rates equally are in the order of their numbers."""
    user, movie = np.nonzero(~np.isnan(ratings))
    order = np.lexsort((number[movie], -ratings[user, movie], user))
    user, movie = user[order], movie[order]
    start = np.searchsorted(user, user, side="left")
    end = np.searchsorted(user, user, side="right")
    scores = np.zeros(ratings.shape[1])
    for _ in range(steps):
        worth = np.exp(scores[movie] - scores.max())
        below = np.append(np.cumsum(worth[::-1])[::-1], 0.0)
        chances = np.append(0.0, np.cumsum(1 / (below[:-1] - below[end])))  # of a movie of worth 1, choice by choice
        expected = worth * (chances[1:] - chances[start])
        scores += rate / len(user) * np.bincount(movie, 1 - expected, minlength=len(scores))
    return scores


def contests(r: jr.Rankings) -> tuple[NDArray[np.float64], NDArray[np.float64]]:
    """The pairs that each slot won and lost over all lists; ties are neither."""
    won, lost = np.zeros(r.n_slots), np.zeros(r.n_slots)
    for start, end in zip(r.entry_ptr[:-1], r.entry_ptr[1:], strict=True):
        slots, rank = r.entry_slot[start:end], r.entry_rank[start:end]
        won[slots] += len(rank) - np.searchsorted(rank, rank, side="right")
        lost[slots] += np.searchsorted(rank, rank, side="left")
    return won, lost


def in_a_fresh_process(folder: Path) -> tuple[float, float]:
    """Seconds of a fit with variances, and the peak memory of a process that reads and fits."""
    done = subprocess.run(
        [sys.executable, "-c", FIT, str(folder / "u.data")], capture_output=True, text=True, check=True
    )
    seconds, mebibytes = map(float, done.stdout.split())
    return seconds, mebibytes
