"""Labels as people have them, joined to runs: qrels, BEIR's files and tables, with the right names or others."""

from __future__ import annotations

import json
import random
from collections.abc import Callable
from fractions import Fraction
from pathlib import Path
from typing import Any

import juryrank
from everyday import oracle
from everyday.cases import Case, Expected
from everyday.names import EXPERTS

FORMS = ["qrels", "qrels", "tabs", "beir", "csv", "json", "dict"]
METRICS = ["AP", "RR", "P@3", "nDCG"]
Judged = dict[str, dict[str, int]]
CHANGES: dict[str, Callable[[str], str]] = {
    "case": str.upper,
    "prefix": lambda name: f"topic-{name}",
    "suffix": lambda name: f"{name}.txt",
    "number": lambda name: name[1:],
    "float": lambda name: f"{name[1:]}.0",
    "zeros": lambda name: f"{name[0]}0{name[1:]}",
    "other": lambda name: f"x{name[::-1]}y",
}


def case(seed: int, folder: Path) -> Case:
    """The case of a seed; its files go into ``folder``."""
    rng = random.Random(f"labels {seed}")
    names = [f"q{n}" for n in rng.sample(range(10, 40), 8)]
    items = [f"d{n}" for n in range(20, 40)]
    queries = names[: rng.randint(1, 8)]
    runs: dict[str, dict[str, dict[str, float]]] = {}
    for expert in rng.sample(EXPERTS, rng.randint(1, 3)):
        for query in queries:
            if rng.random() < 0.9 or not runs:
                listed = rng.sample(items, rng.randint(3, 9))
                runs.setdefault(expert, {})[query] = {item: float(20 - n) for n, item in enumerate(listed)}
    judged = rng.sample(names, rng.randint(1, 8))
    labels = {q: {item: rng.choice([0, 0, 1, 2]) for item in rng.sample(items, rng.randint(2, 12))} for q in judged}
    wrong = rng.choice(
        ["", "", "", "", "", "", "queries", "items", "some queries", "some items", "swapped", "several labels"]
    )
    change = rng.choice(list(CHANGES))
    labels = _changed(rng, labels, wrong, CHANGES[change])
    path = folder / f"l{seed}"
    path.mkdir()
    for expert, by_query in runs.items():
        lines = [f"{q} Q0 {i} {n} {s} {expert}" for q, of in by_query.items() for n, (i, s) in enumerate(of.items(), 1)]
        (path / f"{expert}.run").write_text("\n".join(lines) + "\n")
    form = rng.choice(FORMS)
    again = wrong == "several labels" and form != "dict"
    given = _written(labels, form, path.with_name(f"l{seed}-labels"), again=again)
    expected = _expected(runs, labels, again)
    metric = rng.choice(METRICS)
    if expected.answer is not None:
        expected.answer = _values(runs, labels, metric)
    command = ["evaluate", str(path), "--labels", str(given), "-m", metric, "--format", "csv"]
    text = f"{form}, {wrong or 'right'} by {change}, {metric}"
    return Case("labels", seed, text, _act(path, given, metric), expected, command if form != "dict" else [])


def _changed(rng: random.Random, labels: Judged, wrong: str, change: Callable[[str], str]) -> Judged:
    if wrong == "queries":
        return {change(query): of for query, of in labels.items()}
    if wrong == "some queries":
        return {change(query) if rng.random() < 0.6 else query: of for query, of in labels.items()}
    if wrong in ("items", "some items"):
        some = {q for q in labels if wrong == "items" or rng.random() < 0.7}
        return {q: {change(i) if q in some else i: v for i, v in of.items()} for q, of in labels.items()}
    if wrong == "swapped":
        turned: Judged = {}
        for query, of in labels.items():
            for item, value in of.items():
                turned.setdefault(item, {})[query] = value
        return turned
    return labels


def _written(labels: Judged, form: str, path: Path, *, again: bool) -> Any:
    rows = [(query, item, value) for query, of in labels.items() for item, value in of.items()]
    rows += [(rows[0][0], rows[0][1], -1)] if again else []
    if form == "dict":
        return labels
    if form == "json":
        text = "".join(json.dumps({"query": q, "item": i, "label": v}) + "\n" for q, i, v in rows)
    elif form == "beir":
        text = "query-id\tcorpus-id\tscore\n" + "".join(f"{q}\t{i}\t{v}\n" for q, i, v in rows)
    elif form == "csv":
        text = "query_id,doc_id,relevance\n" + "".join(f"{q},{i},{v}\n" for q, i, v in rows)
    else:
        between = "\t" if form == "tabs" else " "
        text = "".join(between.join([q, "0", i, str(v)]) + "\n" for q, i, v in rows)
    path = path.with_suffix({"json": ".jsonl", "beir": ".tsv", "csv": ".csv"}.get(form, ".qrels"))
    path.write_text(text)
    return path


def _expected(runs: Any, labels: Judged, again: bool) -> Expected:
    """By the rule in docs/data.md, counted with loops."""
    expected = Expected(ordered=False)
    ranked: dict[str, set[str]] = {}
    for by_query in runs.values():
        for query, of in by_query.items():
            ranked.setdefault(query, set()).update(of)
    shared = [query for query in ranked if query in labels]
    hits = [query for query in shared if ranked[query] & set(labels[query])]
    expected.told |= {"labels"} if again else set()
    if not hits:
        expected.refused = ("queries with labels",)
        return expected
    expected.answer = {}
    if 2 * len(shared) < min(len(ranked), len(labels)):
        expected.told.add("queries")
    else:  # a change of names that explains the others may be said
        lost = len(labels) - len(shared)
        expected.maybe |= {"queries"} if lost >= 3 and len(shared) < len(ranked) else set()
    if 2 * len(hits) < len(shared):
        expected.told.add("items")
    if len(shared) < len(ranked):
        expected.told.add("unlabelled")
    if any(query not in by_query for by_query in runs.values() for query in shared):
        expected.told.add("nothing ranked")
    return expected


def _values(runs: Any, labels: Judged, metric: str) -> Any:
    """Means over the labelled queries that somebody ranks."""
    queries = [q for q in labels if any(q in by_query for by_query in runs.values())]
    return {
        expert: {
            metric: Fraction(sum(oracle.metric(metric, by_query.get(q, {}), labels[q]) for q in queries) / len(queries))
        }
        for expert, by_query in runs.items()
    }


def _act(runs: Path, labels: Any, metric: str) -> Callable[[], Any]:
    def act() -> Any:
        data = juryrank.read(runs, labels=labels)
        return juryrank.evaluate(data, data, metric).means()

    return act
