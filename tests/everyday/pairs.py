"""Comparisons as people have them: names or words for winners, winner and loser, 1/0.5/0, and rows that say nothing."""

from __future__ import annotations

import json
import random
from collections.abc import Callable
from fractions import Fraction
from pathlib import Path
from typing import Any

import polars as pl

import juryrank
from everyday.cases import Case, Expected
from everyday.names import QUOTED, TEXTS

SHAPES = {  # headers of the two items and of what says who won
    "left": ("left", "right", "winner"),
    "model": ("model_a", "model_b", "winner"),
    "item": ("item_a", "item_b", "Winner"),
    "loser": ("winner", "loser", ""),
    "chosen": ("chosen", "rejected", ""),
    "score": ("left", "right", "score"),
    "outcome": ("model_a", "model_b", "score"),
}
WORDS = {
    "left": {1: ["left"], -1: ["right"], 0: ["tie", "draw", "both"]},
    "model": {1: ["model_a", "MODEL_A"], -1: ["model_b"], 0: ["tie", "tie (bothbad)", "both_bad", "bothbad"]},
    "item": {1: ["a", "item_a"], -1: ["b", "item_b"], 0: ["tie"]},
}
NUMBERS = {1: "1", -1: "0", 0: "0.5"}
BAD = ["", "", "", "self", "empty winner", "no item", "unknown word", "negative weight", "all bad", "header only"]


def case(seed: int, folder: Path) -> Case:
    """The case of a seed; its file goes into ``folder``."""
    rng = random.Random(f"pairs {seed}")
    shape = rng.choice(list(SHAPES))
    kind = rng.choice(["plain", "digits", "unicode", "blanks", "leading zeros"])
    if (shape in ("score", "outcome") and kind == "leading zeros") or (shape == "item" and kind == "unicode"):
        kind = "plain"  # items named 1, or a, may be words for a side
    items = {**TEXTS, **QUOTED}[kind][: rng.randint(2, 8)]
    named = shape in WORDS and rng.random() < 0.5
    experts = rng.choice([None, ["ann", "bo"], ["ann"]])
    weighted = rng.random() < 0.2
    bad = rng.choice(BAD)
    first, second, verdict_header = SHAPES[shape]
    rows: list[dict[str, Any]] = []
    counts: dict[str, dict[str, Fraction]] = {}
    faults = 0
    for n in range(rng.randint(2, 25)):
        left, right = rng.sample(items, 2)
        verdict = rng.choice([1, -1, 0]) if shape not in ("loser", "chosen") else 1
        expert = rng.choice(experts) if experts else None
        weight = rng.choice([1, 2, 3]) if weighted else 1
        row: dict[str, Any] = {first: left, second: right}
        if verdict_header:
            row[verdict_header] = _said(rng, shape, verdict, left, right, named=named)
        if experts:
            row["judge"] = expert
        if weighted:
            row["weight"] = weight
        wrong = bad if (n == 0 or bad == "all bad") else ""
        if _spoil(rng, row, wrong, shape, weighted=weighted):
            faults += 1
        else:
            better, worse = (left, right) if verdict >= 0 else (right, left)
            key = f"{better} > {worse}" if verdict else " = ".join(sorted((left, right)))
            of = counts.setdefault(expert or "data", {})
            of[key] = of.get(key, Fraction(0)) + weight
        rows.append(row)
    if bad == "header only":
        rows, counts, faults = rows[:0], {}, 0
    form = rng.choice(["csv", "csv", "tsv", "ndjson", "parquet"])
    headers = [h for h in (first, second, verdict_header, "judge" * bool(experts), "weight" * weighted) if h]
    path = _written(rows, headers, form, folder / f"p{seed}")
    expected = Expected(answer=counts or None, ordered=False, refused=(path.name,), told={"rows"} if faults else set())
    used = {row.get(verdict_header) for row in rows}
    if shape in ("score", "outcome") and not {"1", "0"} <= used:
        expected.either = True  # 1 alone may be a side
    return Case("pairs", seed, f"{kind} ids, {shape}{' by name' * named}, {form}, {bad}", _act(path), expected)


def _said(rng: random.Random, shape: str, verdict: int, left: str, right: str, *, named: bool) -> str:
    if shape in ("score", "outcome"):
        return NUMBERS[verdict]
    if named and verdict:
        return left if verdict > 0 else right
    return rng.choice(WORDS[shape][verdict])


def _spoil(rng: random.Random, row: dict[str, Any], wrong: str, shape: str, *, weighted: bool) -> bool:
    """Make a row say nothing; whether that was done."""
    first, second, verdict = SHAPES[shape]
    if wrong in ("self", "all bad"):
        row[second] = row[first]
    elif wrong == "empty winner" and verdict:
        row[verdict] = None
    elif wrong == "no item":
        row[rng.choice([first, second])] = None
    elif wrong == "unknown word" and shape in WORDS:
        row[verdict] = "perhaps"
    elif wrong == "negative weight" and weighted:
        row["weight"] = -2
    else:
        return False
    return True


def _written(rows: list[dict[str, Any]], headers: list[str], form: str, folder: Path) -> Path:
    folder.mkdir(exist_ok=True)
    path = folder / f"data.{form}"
    frame = pl.DataFrame(
        {h: [None if r[h] is None else str(r[h]) for r in rows] for h in headers},
        schema=dict.fromkeys(headers, pl.String),
    )
    if form == "parquet":
        frame.write_parquet(path)
    elif form == "ndjson":
        path.write_text("".join(json.dumps(row) + "\n" for row in frame.to_dicts()))
    else:
        path.write_text(frame.write_csv(separator="\t" if form == "tsv" else ","))
    return path


def _act(path: Path) -> Callable[[], Any]:
    def act() -> Any:
        r = juryrank.read(path).rankings
        found: dict[str, dict[str, float]] = {}
        for n in range(r.n_lists):
            at = slice(r.entry_ptr[n], r.entry_ptr[n + 1])
            names = [str(r.items[r.slot_item[slot]]) for slot in r.entry_slot[at]]
            tie = r.entry_rank[at][0] == r.entry_rank[at][1]
            key = " = ".join(sorted(names)) if tie else " > ".join(names)
            of = found.setdefault(r.experts[r.list_expert[n]], {})
            of[key] = of.get(key, 0.0) + float(r.list_weight[n])
        return found

    return act
