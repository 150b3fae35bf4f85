"""Tables as people have them: headers, formats, wide and long, damaged; and a slow reading of their cells."""

from __future__ import annotations

import csv
import io
import json
import random
from collections.abc import Callable, Mapping
from math import isfinite
from pathlib import Path
from typing import Any

import polars as pl

import juryrank
from everyday import oracle
from everyday.cases import Case, Expected
from everyday.names import EXPERTS, some_items, some_queries

HEADERS = {
    "query": ["query", "qid", "query_id", "Query", "topic", "QID", "query-id", "Topic ID"],
    "item": ["item", "docid", "doc_id", "docno", "document", "Doc ID", "item_id", "passage_id", "product"],
    "expert": [
        "expert",
        "engine",
        "retriever",
        "model",
        "source",
        "method",
        "system",
        "run",
        "Engine",
        "run_id",
        "user",
    ],
    "rank": ["rank", "position", "Rank"],
    "score": ["score", "Score", "similarity", "rating"],
}
FORMATS = ["csv", "csv", "tsv", "semicolon", "ndjson", "jsonl", "parquet", "polars", "pandas"]
SCORES = [0.5, 12.25, 9.0, -3.0, 0.001, 7.5, 100.0, 0.25]
MISSING = ("", "NULL", "null", "NA", "N/A", "nan", "NaN", "None")
DAMAGES = [
    "", "", "", "", "", "header only", "empty file", "no header", "duplicate header", "twice", "empty scores",
    "empty score column", "text score", "inf", "no query name", "no item name", "rank 0", "negative weight",
    "nan weight", "several weights", "BOM", "CRLF", "blank lines", "short row", "long row", "open quote", "pipe",
    "unknown expert header", "unknown item header", "no value column", "contradicting ranks", "title", "price", "value",
    "truncated", "not UTF-8", "float ids", "decimal comma",
]  # fmt: skip
Row = dict[str, Any]


def case(seed: int, folder: Path) -> Case:
    """The case of a seed; its file goes into ``folder``."""
    rng = random.Random(f"table {seed}")
    if rng.random() < 0.2:
        return _wide(rng, seed, folder)
    kind, items = some_items(rng, quoted=True)
    form, damage = rng.choice(FORMATS), rng.choice(DAMAGES)
    values = rng.choice([["score"], ["rank"], ["rank", "score"]])
    words = ["query"] * (rng.random() < 0.85) + ["item"] + ["expert"] * (rng.random() < 0.85) + values
    rows = _rows(rng, words, items)
    damage = _damaged(rng, rows, words, damage, form)
    headers = {word: rng.choice(HEADERS.get(word, [word])) for word in words}
    headers["expert"] = "thing" if damage == "unknown expert header" else headers.get("expert", "")
    headers["item"] = "thing" if damage == "unknown item header" else headers["item"]
    rng.shuffle(words)
    given = [{headers[word]: row.get(word) for word in words} for row in rows]
    where, content = _written(rng, given, [headers[word] for word in words], form, damage, folder / f"t{seed}")
    expected = _expected(content, headers, words, form, damage, where)
    text = f"{kind} ids, {form}, {damage or 'sound'}, columns {[headers[word] for word in words]}"
    command = ["rank", str(where), "--method", "rrf"] if isinstance(where, Path) else []
    return Case("table", seed, text, _act(where), expected, command)


def _rows(rng: random.Random, words: list[str], items: list[str]) -> list[Row]:
    queries = some_queries(rng) if "query" in words else [None]
    rows: list[Row] = []
    for query in queries:
        for expert in rng.sample(EXPERTS, rng.randint(1, 3)) if "expert" in words else [None]:
            scores = sorted((rng.choice(SCORES) for _ in range(rng.randint(1, 7))), reverse=True)
            for item, score in zip(rng.sample(items, len(scores)), scores, strict=True):
                rank = 1 + sum(other > score for other in scores)
                rows.append({"query": query, "item": item, "expert": expert, "rank": rank, "score": score})
    return rows


def _damaged(rng: random.Random, rows: list[Row], words: list[str], damage: str, form: str) -> str:
    """Damage rows; the damage that was possible."""
    text = form in ("csv", "tsv", "semicolon")
    row, value = rng.choice(rows), "score" if "score" in words else "rank"
    only_text = (
        "no header", "duplicate header", "BOM", "CRLF", "blank lines", "short row", "long row", "open quote", "pipe",
        "truncated", "not UTF-8", "empty file", "text score", "decimal comma",
    )  # fmt: skip
    if (damage in only_text and not text) or (damage == "decimal comma" and (form != "semicolon" or value != "score")):
        return ""
    if damage == "twice":
        rows.insert(0, dict(row))
    elif damage == "empty scores":
        for one in rows[: len(rows) // 3 + 1]:
            one["score"] = one["rank"] = None
    elif damage == "empty score column":
        for one in rows:
            one["score"] = one["rank"] = None
    elif damage == "text score":
        row[value] = rng.choice(["high", "1,5" if form != "semicolon" else "1,5,0", "12a", "--"])
    elif damage == "inf" and value == "score" and "rank" not in words:
        row["score"] = float(rng.choice(["inf", "-inf"]))
    elif damage == "no query name" and "query" in words:
        row["query"] = None
    elif damage == "no item name":
        row["item"] = None
    elif damage == "rank 0" and "rank" in words:
        row["rank"] = rng.choice([0, -1])
    elif damage in ("negative weight", "nan weight", "several weights") and "expert" in words:
        words.append("weight")
        for one in rows:
            one["weight"] = {"negative weight": -1.0, "several weights": 2.0}.get(damage, float("inf"))
        if damage == "several weights":
            if sum((o["query"], o["expert"]) == (row["query"], row["expert"]) for o in rows) < 2:
                return "weights"
            row["weight"] = 3.0
    elif damage == "contradicting ranks" and {"rank", "score"} <= set(words):
        for one in rows:
            one["rank"] = rng.randint(1, 9)
    elif damage == "no value column":
        words[:] = [word for word in words if word not in ("rank", "score")]
    elif damage in ("title", "price") and {"query", "expert"} <= set(words):
        words.append(damage)
        for n, one in enumerate(rows):
            one[damage] = f"text {n}" if damage == "title" else n + 0.5
    elif damage == "value" and "rank" not in words:
        words[words.index("score")] = "value"
        for one in rows:
            one["value"] = one["score"]
    elif damage == "unknown expert header" and "expert" in words:
        pass
    elif damage == "float ids" and form in ("parquet", "polars", "pandas", "ndjson", "jsonl"):
        for one in rows:
            one["item"] = float(sum(map(ord, one["item"][-40:])))
    elif damage not in ("header only", "unknown item header", *only_text):
        return ""
    return damage


def _written(
    rng: random.Random, rows: list[Row], headers: list[str], form: str, damage: str, folder: Path
) -> tuple[Any, Any]:
    """What is given to ``read``, and what a slow reader looks at: bytes of a text, or rows."""
    if damage == "header only":
        rows = []
    if form in ("polars", "pandas", "parquet"):
        frame = pl.DataFrame({h: [row[h] for row in rows] for h in headers}, strict=False)
        if form != "parquet":
            return frame.to_pandas() if form == "pandas" else frame, rows
        folder.mkdir(exist_ok=True)
        frame.write_parquet(folder / "data.parquet")
        return folder / "data.parquet", rows
    folder.mkdir(exist_ok=True)
    if form in ("ndjson", "jsonl"):
        content = "".join(json.dumps(row, ensure_ascii=rng.random() < 0.5) + "\n" for row in rows).encode()
        path = folder / f"data.{form}"
    else:
        content = _text(rng, rows, headers, form, damage)
        path = folder / ("data.tsv" if form == "tsv" else "data.csv")
    path.write_bytes(content)
    return path, content


def _text(rng: random.Random, rows: list[Row], headers: list[str], form: str, damage: str) -> bytes:
    out = io.StringIO()
    between = {"csv": ",", "tsv": "\t", "semicolon": ";"}[form]
    between = "|" if damage == "pipe" else between
    writer = csv.writer(out, delimiter=between, lineterminator="\r\n" if damage == "CRLF" else "\n")
    if damage != "no header":
        writer.writerow([*headers[:-1], headers[0]] if damage == "duplicate header" else headers)
    short = rng.randrange(len(rows)) if rows else 0
    for n, row in enumerate(rows):
        cells = [("" if row[h] is None else _cell(row[h], damage)) for h in headers]
        if n == short:
            cells = {"short row": cells[:-1], "long row": [*cells, "x"]}.get(damage, cells)
            cells = [*cells[:-1], f'"{cells[-1]}x'] if damage == "open quote" else cells
        if n == short and damage == "open quote":
            out.write(between.join(cells) + "\n")
        else:
            writer.writerow(cells)
        if damage == "blank lines" and rng.random() < 0.3:
            out.write("\n")
    content = out.getvalue().encode()
    if damage == "BOM":
        content = b"\xef\xbb\xbf" + content
    if damage == "truncated":
        first = content.index(b"\n") + 1
        content = content[: rng.randrange(first, len(content))]
    if damage == "not UTF-8":
        at = rng.randrange(len(content))
        content = content[:at] + b"\xff" + content[at:]
    return b"" if damage == "empty file" else content


def _cell(value: Any, damage: str) -> str:
    text = str(value)
    return text.replace(".", ",") if damage == "decimal comma" and isinstance(value, float) else text


def _expected(
    content: Any, headers: Mapping[str, str], words: list[str], form: str, damage: str, where: Any
) -> Expected:
    """What a slow reading of the cells says."""
    expected = Expected(tie=oracle.letters)
    told = where.name if isinstance(where, Path) else "the table"
    expected.refused = (told, "weight")
    if damage == "no header" and form == "tsv":
        return _as_qrels(content, expected)
    cells = _slow_cells(content, form) if isinstance(content, bytes) else content
    by_header = {header: word for word, header in headers.items() if word in words}
    if cells is None or not cells or list(cells[0]) != [headers[word] for word in words]:
        return expected
    if damage in ("unknown item header", "no value column", "value", "duplicate header", "no header"):
        return expected
    if damage == "price":
        expected.told.add("unused")
    lists: dict[str, dict[str, list[tuple[str, float]]]] = {}
    slots: dict[str, set[str]] = {}
    seen: list[Row] = []
    for raw in cells:
        row = {by_header[h]: value for h, value in raw.items()}
        if all(_missing(value) and not str(value or "") for value in row.values()):
            continue
        try:
            numbers = {w: _number(row[w], form) for w in ("rank", "score", "weight") if w in words}
        except ValueError:
            return expected
        query = "all" if "query" not in words else _name(row["query"])
        item = _name(row["item"])
        if query is None or item is None:
            return expected
        slots.setdefault(query, set()).add(item)
        if numbers.get("rank") is not None and numbers["rank"] <= 0:
            return expected
        expert = "one" if "expert" not in words or damage == "unknown expert header" else _name(row["expert"])
        value = numbers["rank"] if numbers.get("rank") is not None else numbers.get("score")
        if expert is not None and value is not None:
            lists.setdefault(query, {}).setdefault(expert, []).append((item, value))
            seen.append({"query": query, "expert": expert, "item": item, **numbers})
    if damage in ("negative weight", "nan weight", "several weights"):
        return expected
    return _answer(expected, lists, slots, seen, damage, form, ranks="rank" in words)


def _as_qrels(content: bytes, expected: Expected) -> Expected:
    """Four columns between tabs may be qrels: then there is nothing to rank by, which must be said."""
    rows = [line.split("\t") for line in content.decode().splitlines()]
    try:
        numbers = [(float(row[1]), float(row[3])) for row in rows if len(row) == 4]
    except ValueError:
        return expected
    if len(numbers) == len(rows) and not any('"' in cell or " " in cell for row in rows for cell in row):
        expected.answer, expected.either, expected.told, expected.maybe = {}, True, {"no lists"}, {"labels"}
        for query, _, item, _ in rows:
            expected.answer.setdefault(query, {})[item] = 0  # type: ignore[union-attr, attr-defined]
    return expected


def _answer(
    expected: Expected, lists: Any, slots: dict[str, set[str]], seen: list[Row], damage: str, form: str, *, ranks: bool
) -> Expected:
    kind = "rank" if ranks else "score"
    listed = {q: [(e, oracle.ranked(pairs, kind)) for e, pairs in of.items()] for q, of in lists.items()}
    everything = [one for of in listed.values() for _, one in of]
    if not everything:
        expected.either, expected.told = True, {"no lists"}
    again = any(one.again for one in everything)
    expected.told |= {"dropped"} if any(one.dropped for one in everything) else set()
    expected.told |= {"again"} if again else set()
    if damage == "inf" and any(one.dropped for one in everything):  # JSON has no word for it
        expected.either = form in ("ndjson", "jsonl")
    if damage == "unknown expert header":
        expected.either = True
        expected.told.add("unused")
        if again:
            return expected  # merged, which must not be
    if any(_contradict(a, b) for a in seen for b in seen):
        expected.told.add("ranks")
    dropped = {(q, i) for q, of in lists.items() for pairs in of.values() for i, v in pairs if not isfinite(v)}
    expected.answer = {}
    weight = {e: 2 for of in lists.values() for e in of} if damage == "weights" else {}
    for query, names in slots.items():
        scores = oracle.fused(listed.get(query, []), "rrf", weight)
        rest = {item for item in names if item not in scores and (query, item) not in dropped}
        expected.answer[query] = {**scores, **dict.fromkeys(rest, 0)}  # type: ignore[dict-item]
    expected.may_lack = {query for query, scores in expected.answer.items() if not scores}
    if not any(expected.answer.values()):  # nothing is left
        expected.either = True
    return expected


def _contradict(a: Row, b: Row) -> bool:
    if a.get("rank") is None or a.get("score") is None or b.get("rank") is None or b.get("score") is None:
        return False
    same = (a["query"], a["expert"]) == (b["query"], b["expert"])
    return bool(same and a["rank"] < b["rank"] and a["score"] < b["score"])


def _slow_cells(content: bytes, form: str) -> list[Row] | None:
    """Rows by header; None where the text is no table."""
    try:
        text = content.decode("utf-8-sig")
    except UnicodeDecodeError:
        return None
    if form in ("ndjson", "jsonl"):
        return [json.loads(line) for line in text.splitlines() if line.strip()]
    between = {"csv": ",", "tsv": "\t", "semicolon": ";"}[form]
    try:
        rows = [row for row in csv.reader(io.StringIO(text), delimiter=between, strict=True) if row]
    except csv.Error:
        return None
    if not rows or any(len(row) != len(rows[0]) for row in rows) or len(set(rows[0])) < len(rows[0]):
        return None
    return [dict(zip(rows[0], row, strict=True)) for row in rows[1:]]


def _missing(value: Any) -> bool:
    return value is None or (isinstance(value, str) and value.strip() in MISSING) or value != value


def _number(value: Any, form: str) -> float | None:
    if _missing(value):
        return None
    text = str(value).strip()
    return float(text.replace(",", ".", 1) if form == "semicolon" else text)


def _name(value: Any) -> str | None:
    if value is None or value == "" or value != value:
        return None
    return str(int(value)) if isinstance(value, float) else str(value)


def _wide(rng: random.Random, seed: int, folder: Path) -> Case:
    """One row per item, one column per expert."""
    kind, items = some_items(rng, quoted=True)
    form = rng.choice(["csv", "tsv", "semicolon", "parquet", "polars"])
    experts = rng.sample(EXPERTS, rng.randint(2, 4))
    queries = some_queries(rng) if rng.random() < 0.5 else [None]
    what = rng.choice(["scores", "scores", "ranks", "whole numbers"])
    rows: list[Row] = []
    for query in queries:
        chosen = rng.sample(items, rng.randint(2, 8))
        columns = {}
        for expert in experts:
            if what == "ranks":
                columns[expert] = rng.sample(range(1, len(chosen) + 1), len(chosen))
            else:
                numbers = SCORES if what == "scores" else [2, 5, 9, 30]
                columns[expert] = [rng.choice(numbers) if rng.random() < 0.8 else None for _ in chosen]
        rows += [
            {**({"query": query} if query else {}), "item": item, **{e: columns[e][n] for e in experts}}
            for n, item in enumerate(chosen)
        ]
    headers = list(rows[0])
    where, content = _written(rng, rows, headers, form, "", folder / f"w{seed}")
    told = rng.random() < 0.4
    options: dict[str, Any] = (
        {"columns": {"expert": experts}, "values": "rank" if what == "ranks" else "score"} if told else {}
    )
    expected = Expected(tie=oracle.letters, told=set() if told else {"wide"})
    cells = _slow_cells(content, form) if isinstance(content, bytes) else content
    lists: dict[str, dict[str, list[tuple[str, float]]]] = {}
    slots: dict[str, set[str]] = {}
    for row in cells or []:
        query = _name(row.get("query", "all")) or ""
        slots.setdefault(query, set()).add(str(_name(row["item"])))
        for expert in experts:
            if (value := _number(row[expert], form)) is not None:
                lists.setdefault(query, {}).setdefault(expert, []).append((str(_name(row["item"])), value))
    _answer(expected, lists, slots, [], "", form, ranks=what == "ranks")
    numbers = [v for of in lists.values() for pairs in of.values() for _, v in pairs]
    plain = all(v == int(v) and v >= 1 for v in numbers)
    if not told and plain and what != "ranks":  # whole numbers may be ranks or scores
        counting = all(
            sorted(v for _, v in pairs) == list(range(1, len(pairs) + 1))
            for of in lists.values()
            for pairs in of.values()
        )
        expected.answer = None if not counting else expected.answer
        expected.either, expected.refused = counting, ("values",)
    silent = [e for e in experts if all(row[e] is None for row in rows)]
    if not told and silent:
        expected.either = True
        expected.maybe |= {"unused"}
    return Case(
        "table", seed, f"wide, {kind} ids, {form}, {what} of {experts}, {options}", _act(where, **options), expected
    )


def _act(where: Any, **options: Any) -> Callable[[], Any]:
    def act() -> Any:
        data = juryrank.read(where, **options)
        return juryrank.method("rrf").fit_predict(data).to_dict()

    return act
