"""Exploration and interleaving with simulated users: what exploration costs, and how often verdicts are right.

Sessions are simulated on queries with judgements: a query is drawn, the page is interleaved, and a user clicks by the
grades of its items. Three users differ in how they read a page; their numbers were fixed beforehand. Models are fitted
on the other four of five folds of the queries.
"""

from __future__ import annotations

from collections import defaultdict
from collections.abc import Iterable, Iterator, Mapping
from dataclasses import dataclass
from itertools import combinations, repeat
from pathlib import Path
from typing import Any

import numpy as np

import juryrank as jr
from studies import SHARED_DATA
from studies.console import track
from studies.learners import learner
from studies.learning_curves import read_set
from studies.tables import Report, Table

SETS = ("robust03", "trec-covid-round1")
SPREADS, REQUESTS = (0.1, 0.2, 0.3, 0.5, 1.0), 16
TOP, DEPTH, FUSED = 10, 25, 200  # items of a page, of a ranking to be interleaved, and of a list to be fused
QUERIES_OF_FOLD = 4  # for which all variants are ranked
BANK = 5000  # simulated sessions, from which those of each test are drawn
NULL_TESTS, POWER_TESTS, LONGEST = 1000, 200, 50_000
PEOPLE, SESSIONS_EACH = 50, 100  # in tests of users with several sessions

Rankings = Mapping[str, list[str]]  # by query
Grades = Mapping[str, Mapping[str, float]]  # of items, by query, from 0 to 1


@dataclass(frozen=True)
class User:
    """Examines items with a probability that falls with the position, and clicks by grade; may leave after a click."""

    name: str
    bias: float  # an item at position k is examined with probability k ** -bias
    low: float  # probability of a click on an examined item of grade 0
    high: float  # the same for the best grade
    leave: float = 0.0  # probability of leaving after a click on an item of the best grade; half of it for grade 0

    def clicks(self, grades: list[float], rng: np.random.Generator) -> list[int]:
        """The positions that are clicked, counted from 0."""
        found = []
        chance = rng.random((3, len(grades)))
        for at, grade in enumerate(grades):
            if chance[0, at] >= (at + 1.0) ** -self.bias or chance[1, at] >= self.low + (self.high - self.low) * grade:
                continue
            found.append(at)
            if chance[2, at] < self.leave * 0.5 * (1.0 + grade):
                break
        return found


USERS = (
    User("position-based", bias=1.0, low=0.05, high=0.9),
    User("cascade", bias=0.0, low=0.05, high=0.6, leave=0.8),
    User("noisy", bias=0.5, low=0.3, high=0.5),
)


@dataclass(frozen=True, eq=False, repr=False)
class InterleavingStudy(Report):
    """Results of one dataset after another."""

    costs: list[dict[str, Any]]  # of exploration
    verdicts: list[dict[str, Any]]  # of jury against RRF, and of a ranking against its equal
    agreement: list[dict[str, Any]]  # of interleaving with nDCG@10, over pairs of runs
    ordinary: float = np.nan  # how often an ordinary test accepts one of two equals

    def tables(self) -> list[Table]:
        spreads = [f"{spread:g}" for spread in SPREADS]
        costs = [[c["data"], c["method"], *(f"{100 * v:.2f}" for v in (c["without"], *c["with"]))] for c in self.costs]
        moved = [[c["data"], c["method"], *(f"{100 * v:.0f} %" for v in c["elsewhere"])] for c in self.costs]
        verdicts = [
            [v["data"], v["test"], v["user"], f"{v['preference']:+.3f}", f"{100 * v['ties']:.0f} %",
             *(f"{100 * v[name]:.1f} %" for name in ("accept", "keep", "go on")), f"{v['median']:.0f}"]
            for v in self.verdicts
        ]  # fmt: skip
        pairs = [
            [a["data"], a["user"], str(a["pairs"]), f"{100 * a['agree']:.1f} %", str(a["decided"]),
             f"{100 * a['agree_decided']:.1f} %"]
            for a in self.agreement
        ]  # fmt: skip
        head = ["data", "test", "user", "preference", "ties", "accept", "keep", "go on", "median sessions"]
        return [
            Table("nDCG@10 with exploration, by spread", ["data", "method", "none", *spreads], costs, n_names=2),
            Table("Items that another request has at another position", ["data", "method", *spreads], moved, n_names=2),
            Table("Verdicts, looked at after every session", head, verdicts, n_names=3,
                  note=f"An ordinary test at 5 %, looked at as often, accepts {100 * self.ordinary:.0f} % of equals."),
            Table("The winner of interleaving is the winner by nDCG@10",
                  ["data", "user", "pairs of runs", "agree", "with a verdict", "agree"], pairs, n_names=2),
        ]  # fmt: skip

    def rows(self) -> list[dict[str, Any]]:
        return [*self.verdicts]

    def to_dict(self) -> dict[str, Any]:
        return {**vars(self)}


def lists_of(data: jr.Dataset) -> dict[str, Rankings]:
    """The list of each expert for each query, best first."""
    r = data.rankings
    out: dict[str, dict[str, list[str]]] = {expert: {} for expert in r.experts}
    for n, (first, last) in enumerate(zip(r.entry_ptr[:-1], r.entry_ptr[1:], strict=True)):
        slots = r.entry_slot[first:last][np.argsort(r.entry_rank[first:last], kind="stable")]
        out[r.experts[r.list_expert[n]]][r.queries[r.list_query[n]]] = r.items[r.slot_item[slots]].tolist()
    return {expert: found for expert, found in out.items() if found}


def grades_of(data: jr.Dataset) -> Grades:
    """The grades of judged items, 1 for the best."""
    assert data.labels is not None
    labels, best = data.labels, float(data.labels.label_value.max())
    out: dict[str, dict[str, float]] = {}
    for n, query in enumerate(labels.queries):
        part = slice(labels.label_ptr[n], labels.label_ptr[n + 1])
        items = labels.items[labels.label_item[part]].tolist()
        values = np.maximum(labels.label_value[part], 0.0) / best
        out[query] = dict(zip(items, values.tolist(), strict=True))
    return out


def held_out_models(data: jr.Dataset, seed: int = 0) -> Iterator[tuple[jr.Dataset, dict[str, Any]]]:
    """Each fifth of the queries, with RRF and with jury learned from the others."""
    order = np.random.default_rng(seed).permutation(len(data))
    for fold in range(5):
        test = np.sort(order[fold::5])
        train = np.sort(np.setdiff1d(order, test))
        yield data.take(test), {"rrf": jr.method("rrf"), "jury": learner("jury").fit(data.take(train))}


def explore(data: jr.Dataset, name: str) -> list[dict[str, Any]]:
    """nDCG@10 of RRF and jury without exploration and with every spread, on held-out queries; how far items move."""
    truth = grades_of(data)
    values: dict[str, list[list[float]]] = {"rrf": [], "jury": []}
    moved: defaultdict[tuple[str, float], list[float]] = defaultdict(list)
    for test, models in held_out_models(data):
        lists = {expert: {q: items[:FUSED] for q, items in found.items()} for expert, found in lists_of(test).items()}
        for method, model in models.items():
            row = []
            for spread in (0.0, *SPREADS):
                fuser = jr.Fuser(model, explore=spread)
                requests = range(REQUESTS if spread else 1)
                row.append(np.mean([_ndcg(fuser(lists, request=n, top=TOP), truth) for n in requests]))
                pages = [fuser.explored(_one_query(lists, q), request=q) for q in test.queries[:QUERIES_OF_FOLD]]
                moved[method, spread].extend(1.0 - p for page in pages for p in page.propensity.values())
            values[method].append([float(value) * len(test) for value in row])
    means = {method: np.sum(found, axis=0) / len(data) for method, found in values.items()}
    return [
        {"data": name, "method": method, "without": float(v[0]), "with": v[1:].tolist(),
         "elsewhere": [float(np.mean(moved[method, spread])) for spread in SPREADS]}
        for method, v in means.items()
    ]  # fmt: skip


def _one_query(lists: Mapping[str, Rankings], query: str) -> dict[str, list[str]]:
    return {expert: found[query] for expert, found in lists.items() if query in found}


def _ndcg(rankings: Mapping[str, Mapping[str, float]], truth: Grades) -> float:
    wanted = {query: {item: 2.0 * grade for item, grade in truth[query].items()} for query in rankings}
    return float(jr.evaluate(dict(rankings), wanted, "nDCG@10")["nDCG@10"])


def winners(old: Rankings, new: Rankings, grades: Grades, user: User, n_sessions: int, seed: int) -> list[int]:
    """Who wins each of some sessions: 1 for the new ranking, -1 for the old one, 0 for a tie."""
    rng, out = np.random.default_rng(seed), []
    queries = [query for query in old if query in new and query in grades]
    for n in range(n_sessions):
        query = queries[rng.integers(len(queries))]
        page = jr.interleave({"old": old[query], "new": new[query]}, request=n, seed=seed, top=TOP)
        clicked = user.clicks([grades[query].get(item, 0.0) for item in page.items], rng)
        teams = [page.teams[at] for at in clicked]
        out.append(int(np.sign(teams.count("new") - teams.count("old"))))
    return out


def decide(
    sessions: Iterator[int], longest: int, minimum: float = 0.05, people: Iterable[int | None] = repeat(None)
) -> tuple[str, int]:
    """The first verdict of a test that is looked at after every session, and their number; ``people`` had them."""
    test = jr.InterleavingTest(["old", "new"], minimum=minimum)
    page: dict[Any, str | None] = {-1: "old", 1: "new"}
    for n, winner, person in zip(range(1, longest + 1), sessions, people, strict=False):
        test.add(n, page, [winner] if winner else [], user=person)
        if winner and test.verdict != "go on":
            return test.verdict.partition(" ")[0], n
    return "go on", longest


def drawn(bank: list[int], rng: np.random.Generator, *, swap: bool) -> Iterator[int]:
    """Sessions drawn from a bank; with ``swap``, which ranking is called the new one is a coin flip in each."""
    while True:
        chosen = np.array(bank)[rng.integers(len(bank), size=1000)]
        yield from (chosen * rng.choice([-1, 1], size=1000) if swap else chosen).tolist()


def drawn_by_people(bank: list[int], rng: np.random.Generator) -> tuple[list[int], list[int]]:
    """Sessions drawn from a bank, and the people who had them, in random order.

    Which ranking is called the new one is a coin flip for each person: each prefers one of the two, all together none.
    """
    people = rng.permutation(np.repeat(np.arange(PEOPLE), SESSIONS_EACH))
    swaps = rng.choice([-1, 1], size=PEOPLE)[people]
    return (np.array(bank)[rng.integers(len(bank), size=len(people))] * swaps).tolist(), people.tolist()


def measure_people(bank: list[int], n_tests: int, name: str) -> Iterator[dict[str, Any]]:
    """Verdicts where people have many sessions and differ in what they prefer, without and with the column of users."""
    for test_name, known in (("equal, users unknown", False), ("equal, by user", True)):
        rng, results = np.random.default_rng(4), []
        for _ in track(range(n_tests), f"{name}, {test_name}"):
            sessions, people = drawn_by_people(bank, rng)
            results.append(decide(iter(sessions), len(sessions), 0.1, people if known else repeat(None)))
        yield {"test": test_name, "preference": 0.0, **_shares(results)}


def _shares(results: list[tuple[str, int]]) -> dict[str, float]:
    """The shares of the verdicts, and the median number of sessions."""
    shares = {v: sum(got == v for got, _ in results) / len(results) for v in ("accept", "keep", "go on")}
    return {**shares, "median": float(np.median([n for _, n in results]))}


def measure_verdicts(
    data: jr.Dataset, name: str, *, null_tests: int = NULL_TESTS, power_tests: int = POWER_TESTS, bank: int = BANK
) -> list[dict[str, Any]]:
    """Verdicts about jury against RRF, and about the same pages when the two names mean nothing."""
    rankings: dict[str, dict[str, list[str]]] = {"rrf": {}, "jury": {}}
    for test, models in held_out_models(data):
        for method, model in models.items():
            fitted = model if model.is_fitted else model.fit(test)
            rankings[method].update(fitted.predict(test).top(DEPTH))
    out = []
    for user in USERS:
        found = winners(rankings["rrf"], rankings["jury"], grades_of(data), user, bank, seed=1)
        counts = {"ties": found.count(0) / len(found), "user": user.name, "data": name}
        for test_name, swap, n_tests, minimum in (
            ("jury against RRF", False, power_tests, 0.05),
            ("equal", True, null_tests, 0.1),
        ):
            rng = np.random.default_rng(2)
            results = [
                decide(drawn(found, rng, swap=swap), LONGEST, minimum)
                for _ in track(range(n_tests), f"{user.name}, {test_name}")
            ]
            preference = 0.0 if swap else sum(found) / max(len(found) - found.count(0), 1)
            out.append({**counts, "test": test_name, "preference": preference, **_shares(results)})
        out += [{**counts, **found_by} for found_by in measure_people(found, null_tests, user.name)]
    return out


def accepted_by_ordinary_test(n_tests: int = NULL_TESTS, n_sessions: int = 4508, seed: int = 3) -> float:
    """How often the two-sided sign test at 5 % accepts one of two equals if it is looked at after every session.

    The normal approximation, from 20 sessions with a winner on, up to the most that ours takes with ``minimum=0.1``.
    """
    rng, n = np.random.default_rng(seed), np.arange(1, n_sessions + 1)
    found = [np.any((np.cumsum(rng.choice([-1, 1], n_sessions)) / np.sqrt(n))[19:] > 1.96) for _ in range(n_tests)]
    return float(np.mean(found))


def measure_agreement(data: jr.Dataset, name: str, n_sessions: int = 1000) -> list[dict[str, Any]]:
    """How often the winner of interleaving is the winner by nDCG@10, over all pairs of runs."""
    grades = grades_of(data)
    lists = {run: {q: items[:DEPTH] for q, items in found.items()} for run, found in lists_of(data).items()}
    means = jr.evaluate(data, data, "nDCG@10")["nDCG@10"]
    out = []
    for user in USERS:
        agree, agree_decided, decided = [], [], 0
        for n, (old, new) in enumerate(track(list(combinations(lists, 2)), f"{user.name}, pairs of runs")):
            found = winners(lists[old], lists[new], grades, user, n_sessions, seed=n)
            better = means[new] > means[old]
            agree.append((sum(found) > 0) == better)
            verdict, _ = decide(iter(found), n_sessions)
            if verdict != "go on":
                decided += 1
                agree_decided.append((verdict == "accept") == better)
        shares = {"agree": float(np.mean(agree)), "agree_decided": float(np.mean(agree_decided or [np.nan]))}
        out.append({"data": name, "user": user.name, "pairs": len(agree), "decided": decided, **shares})
    return out


def measure_all(sets: list[str], folder: Path = SHARED_DATA) -> InterleavingStudy:
    """All results for the datasets."""
    study = InterleavingStudy([], [], [], accepted_by_ordinary_test())
    for name in sets:
        data = read_set(folder / name)
        study.costs.extend(explore(data, name))
        study.verdicts.extend(measure_verdicts(data, name))
        study.agreement.extend(measure_agreement(data, name))
    return study
