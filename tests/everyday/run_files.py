"""TREC runs as people have them, and a slow reading of the bytes: split at blanks, look at six words."""

from __future__ import annotations

import gzip
import io
import random
from collections.abc import Callable
from pathlib import Path
from typing import Any

import juryrank
from everyday import oracle
from everyday.cases import Case, Expected
from everyday.names import EXPERTS, some_items, some_queries

SCORES = ["12.5", "9", "9.0", "0.25", "-3", "1e-3", ".5", "7.", "+2", "100", "0", "3.25"]
DAMAGES = [
    "", "", "", "", "blank lines", "BOM", "CRLF", "trailing blanks", "no last line feed", "gz", "twice", "nan", "inf",
    "text score", "missing column", "extra column", "truncated", "shuffled ranks", "empty file", "only blank lines",
    "not UTF-8", "leading blanks", "ranks from 0", "words for ranks", "lower case q0", "truncated gz", "NUL",
]  # fmt: skip
READ = Callable[[list[Path]], Any]


def case(seed: int, folder: Path) -> Case:
    """The case of a seed; its files go into ``folder``."""
    rng = random.Random(f"run {seed}")
    kind, items = some_items(rng)
    queries, experts = some_queries(rng), rng.sample(EXPERTS, rng.randint(1, 3))
    between = rng.choice([" ", "\t", "  ", " \t"])
    rankless = rng.random() < 0.15
    damage, damaged = rng.choice(DAMAGES), rng.randrange(len(experts))
    one_file = rng.random() < 0.15
    same_tag = not one_file and len(experts) > 1 and rng.random() < 0.08
    files: dict[str, bytes] = {}
    lines: list[str] = []
    for n, expert in enumerate(experts):
        tag = "run" if same_tag else expert
        rows = _rows(rng, queries, items, tag)
        if n == damaged:
            _damage_rows(rng, rows, damage)
        lines += [between.join(row[:3] + row[4:] if rankless else row) for row in rows]
        if not one_file:
            files[f"{expert}.run"] = _text(rng, lines, damage if n == damaged else "")
            lines = []
    if one_file:
        files["all.run"] = _text(rng, lines, damage)
    paths = []
    for name, content in files.items():
        packed = damage in ("gz", "truncated gz") and (name.startswith(experts[damaged]) or one_file)
        path = folder / f"{seed}" / (name + ".gz" * packed)
        path.parent.mkdir(exist_ok=True)
        path.write_bytes(_packed(content, damage) if packed else content)
        paths.append(path)
    text = f"{kind} ids, {len(paths)} files, {damage or 'sound'}{', no ranks' * rankless}{', same tag' * same_tag}"
    way = "streamed" if not same_tag and "gz" not in damage and rng.random() < 0.15 else "read"
    expected = _expected(paths, files, 5 if rankless else 6, damage)
    if way == "streamed":  # queries must stand together, and some damages are noticed elsewhere
        expected.maybe |= {"ranks"}
    command = ["fuse", *map(str, paths), *(["--memory", "1MB"] if way == "streamed" else [])]
    return Case("run", seed, f"{text}, {way}", _act(paths, way), expected, command)


def _rows(rng: random.Random, queries: list[str], items: list[str], tag: str) -> list[list[str]]:
    rows = []
    for query in queries:
        listed = rng.sample(items, rng.randint(1, 8))
        scores = sorted((rng.choice(SCORES) for _ in listed), key=float, reverse=True)
        rows += [
            [query, "Q0", item, str(n), score, tag]
            for n, (item, score) in enumerate(zip(listed, scores, strict=True), 1)
        ]
    return rows


def _damage_rows(rng: random.Random, rows: list[list[str]], damage: str) -> None:
    row = rng.choice(rows)
    for r in rows:
        r[3] = {"ranks from 0": str(int(r[3]) - 1), "words for ranks": "-"}.get(damage, r[3])
        r[1] = "q0" if damage == "lower case q0" else r[1]
    if damage == "twice":
        rows.insert(rows.index(row), list(row))
    if damage in ("nan", "inf"):
        row[4] = rng.choice({"nan": ["nan", "NaN"], "inf": ["inf", "-inf", "1e999"]}[damage])
    if damage == "text score":
        row[4] = rng.choice(["high", "1,5", "12a", "--", "0x1f"])
    if damage == "missing column":
        del row[rng.randrange(6)]
    if damage == "extra column":
        row.append("x")
    if damage == "shuffled ranks":
        ranks = [r[3] for r in rows]
        rng.shuffle(ranks)
        for r, rank in zip(rows, ranks, strict=True):
            r[3] = rank


def _text(rng: random.Random, lines: list[str], damage: str) -> bytes:
    end = "\r\n" if damage == "CRLF" else "\n"
    if damage == "trailing blanks":
        lines = [line + rng.choice(["", " ", "  ", "\t"]) for line in lines]
    if damage == "leading blanks":
        lines = [rng.choice(["", " "]) + line for line in lines]
    if damage == "blank lines":
        for _ in range(3):
            lines.insert(rng.randrange(len(lines) + 1), rng.choice(["", "  "]))
    content = (end.join(lines) + end * (damage != "no last line feed")).encode()
    if damage == "BOM":
        content = b"\xef\xbb\xbf" + content
    if damage == "truncated":
        content = content[: rng.randrange(1, len(content))]
    if damage == "not UTF-8":
        at = rng.randrange(len(content))
        content = content[:at] + b"\xff" + content[at:]
    if damage == "NUL":
        content = content.replace(b"Q0", b"Q\x000", 1)
    return {"empty file": b"", "only blank lines": b"\n \n"}.get(damage, content)


def _packed(content: bytes, damage: str) -> bytes:
    packed = gzip.compress(content)
    return packed[: len(packed) // 2] if damage == "truncated gz" else packed


def _expected(paths: list[Path], files: dict[str, bytes], width: int, damage: str) -> Expected:
    """What a slow reading of the files says."""
    expected = Expected(tie=oracle.letters)
    lists: dict[str, dict[str, list[tuple[str, float]]]] = {}
    tags: dict[str, list[set[str]]] = {}
    by_file: list[tuple[str, list[list[str]]]] = []
    for path, content in zip(paths, files.values(), strict=True):
        rows = _slow_rows(content, width)
        if rows is None and width == 6 and _slow_rows(content, 5) is not None:  # a run without ranks, for all we know
            rows, expected.either = _slow_rows(content, 5), True
        if rows is None or (damage == "truncated gz" and path.suffix == ".gz"):
            expected.refused = (path.name,)
            return expected
        by_file.append((path.name.partition(".")[0], rows))
        for tag in {row[-1] for row in rows}:
            tags.setdefault(tag, []).append({row[0] for row in rows})
    alone = {stem: {row[-1] for row in rows} for stem, rows in by_file}
    shared = {
        tag for tag, queries in tags.items()
        if len(queries) > 1 and sum(map(len, queries)) > len(set().union(*queries))
        and sum(names == {tag} for names in alone.values()) > 1
    }  # fmt: skip
    for stem, rows in by_file:
        for row in rows:
            expert = stem if row[-1] in shared and alone[stem] == {row[-1]} else row[-1]
            lists.setdefault(row[0], {}).setdefault(expert, []).append((row[2], float(row[-2])))
            if damage == "shuffled ranks" and len(row) == 6:
                expected.told |= {"ranks"} if _contradicted(row, rows) else set()
    listed = {q: [(e, oracle.ranked(pairs)) for e, pairs in by_expert.items()] for q, by_expert in lists.items()}
    everything = [one for of_query in listed.values() for _, one in of_query]
    if any(one.dropped for one in everything):
        expected.told.add("dropped")
        expected.maybe.add("ranks")  # an endless score may stand anywhere
    expected.told |= {"again"} if any(one.again for one in everything) else set()
    expected.told |= {"same tag"} if shared else set()
    expected.answer = {query: oracle.fused(of_query, "rrf", {}) for query, of_query in listed.items()}
    expected.may_lack = {query for query, scores in expected.answer.items() if not scores}
    if not any(expected.answer.values()):  # nothing is left
        expected.either, expected.refused = True, tuple(path.name for path in paths)
    return expected


def _slow_rows(content: bytes, width: int) -> list[list[str]] | None:
    """The words of every line; None where the file is no run."""
    try:
        text = content.decode("utf-8-sig")
    except UnicodeDecodeError:
        return None
    rows = [line.split() for line in text.replace("\r\n", "\n").split("\n") if line.strip()]
    if not rows or "\0" in text:
        return None
    for row in rows:
        if len(row) != width or not _is_number(row[-2]):
            return None
    return rows


def _is_number(text: str) -> bool:
    try:
        float(text)
    except ValueError:
        return False
    return "_" not in text


def _contradicted(row: list[str], rows: list[list[str]]) -> bool:
    return any(
        other[0] == row[0] and other[-1] == row[-1]
        and float(other[-2]) > float(row[-2]) and float(other[3]) > float(row[3])
        for other in rows
    )  # fmt: skip


def _act(paths: list[Path], way: str) -> Callable[[], Any]:
    def read() -> Any:
        data = juryrank.read(paths)
        return juryrank.method("rrf").fit_predict(data).to_dict()

    def streamed() -> Any:
        from juryrank.tasks.files.rank_files import rank_files

        out = io.BytesIO()
        rank_files(paths, juryrank.method("rrf"), out, memory=10**6)
        answer: dict[str, dict[str, float]] = {}
        for line in out.getvalue().decode().splitlines():
            query, _, item, _, score, _ = line.split(" ")
            answer.setdefault(query, {})[item] = float(score)
        return answer

    return streamed if way == "streamed" else read
