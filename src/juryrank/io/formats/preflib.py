"""PrefLib orders: strict or with ties, complete or not (soc, soi, toc, toi), in the new format and in that before 2022.

One list per line, its count is the weight of the list; experts are the lines, numbered. Items have the names of the
alternatives. The format has order and ties only: ranks have no gaps.
"""

from __future__ import annotations

import re
from collections import Counter
from collections.abc import Iterator
from dataclasses import dataclass, field
from pathlib import Path

import numpy as np

from juryrank.data import Dataset
from juryrank.data.build import ONE_QUERY
from juryrank.data.rankings import Rankings
from juryrank.errors import DataError, warn_about_data
from juryrank.io.format import Format
from juryrank.io.rows import Rows
from juryrank.io.source import Source, ending_of
from juryrank.io.write_checks import demand_one_line, demand_one_query
from juryrank.polars import pl

KEY = re.compile(r"#\s*([A-Z ]+?)\s*(\d+)?\s*:\s*(.*)$")
PLACE = r"(?:\d{1,9}|\{\s*\d{1,9}(?:\s*,\s*\d{1,9})*\s*\})"
ORDER = re.compile(rf"\s*(\d{{1,15}})\s*[:,]\s*({PLACE}(?:\s*,\s*{PLACE})*)\s*$")
PLACES = re.compile(r"\{[^}]*\}|\d+")
OLD_NAME = re.compile(r"\s*(\d{1,9})\s*,(.*)$")
MOST_UNNAMED = 100_000  # limit of a stated number of alternatives without names


@dataclass
class _Election:
    """The content of a file, not yet checked."""

    names: dict[int, str] = field(default_factory=dict)
    stated: dict[str, int] = field(default_factory=dict)
    counts: list[int] = field(default_factory=list)
    orders: list[list[list[int]]] = field(default_factory=list)

    def add(self, source: Source, line: int, text: str) -> None:
        found = ORDER.match(text)
        if found is None:
            raise source.error(line, "count: alternatives, with ties in braces, as in 3: 1,{2,4},5")
        self.counts.append(int(found[1]))
        self.orders.append([[int(k) for k in re.findall(r"\d+", place)] for place in PLACES.findall(found[2])])


class Preflib(Format):
    """One list per line, with its count as weight."""

    name = "preflib"
    endings = (".soc", ".soi", ".toc", ".toi")

    def sniff(self, source: Source) -> bool:
        """The ending of a PrefLib file, or its header."""
        return source.suffix in self.endings or any(
            line.startswith(("# FILE NAME:", "# DATA TYPE:")) for line in source.start
        )

    def _read(self, source: Source) -> Rows:
        election = (_read_new if source.head[0].startswith("#") else _read_old)(source)
        names = _names(election, str(source.path))
        _compare_with_stated(election, len(names), str(source.path))
        rows: list[tuple[str, str, float, float]] = []
        for n, (count, order) in enumerate(zip(election.counts, election.orders, strict=True), 1):
            rank = 1
            for group in order:
                rows.extend((names[k], str(n), float(rank), float(count)) for k in group)
                rank += len(group)
        schema = {"item": pl.String, "expert": pl.String, "rank": pl.Float64, "weight": pl.Float64}
        query = pl.lit(ONE_QUERY).alias("query")
        number = pl.lit(f"{source.path}:") + pl.col("expert")  # several files count from 1
        entries = pl.DataFrame(rows, schema=schema, orient="row").with_columns(query, number.alias("list"))
        candidates = pl.DataFrame({"item": pl.Series(list(names.values()), dtype=pl.String)}).select(query, "item")
        return Rows(name=str(source.path), entries=entries, candidates=candidates)

    def _lines(self, data: Dataset, file_name: str) -> Iterator[bytes]:
        """The format since 2022; lists of equal order become one line, and names of experts are lost."""
        r = data.rankings
        demand_one_query(r, "a PrefLib file")
        if (r.list_weight != np.round(r.list_weight)).any():
            raise DataError("PrefLib counts orders, and some weights of lists are not whole; write a table instead")
        demand_one_line(r.items, "a PrefLib file")
        counts = _orders(r)
        names = r.items[r.slot_item].tolist()
        header = [
            f"# FILE NAME: {file_name}",
            f"# DATA TYPE: {self._data_type(r, file_name)}",
            f"# NUMBER ALTERNATIVES: {len(names)}",
            f"# NUMBER VOTERS: {sum(counts.values())}",
            f"# NUMBER UNIQUE ORDERS: {len(counts)}",
            *(f"# ALTERNATIVE NAME {k}: {name}" for k, name in enumerate(names, 1)),
        ]
        lines = [f"{count}: {order}" for order, count in counts.items()]
        return iter([("\n".join([*header, *lines]) + "\n").encode()])

    def _data_type(self, r: Rankings, file_name: str) -> str:
        """The type given by the ending, or the one that the orders need; an error if the former is too narrow."""
        kind, ending = _kind(r), ending_of(Path(file_name))
        if ending not in self.endings:
            return kind
        if (kind[0] == "t" and ending[1] == "s") or (kind[2] == "i" and ending[3] == "c"):
            raise DataError(f"{file_name}: the orders need the ending .{kind} (t: with ties, i: incomplete)")
        return ending[1:]


def _read_new(source: Source) -> _Election:
    election = _Election()
    for line, text in source.lines().iter_rows():
        if not text.startswith("#"):
            election.add(source, line, text)
            continue
        if (key := KEY.match(text)) is None:
            continue
        if key[1] == "ALTERNATIVE NAME" and key[2] and len(key[2]) < 10:
            election.names[int(key[2])] = key[3].strip() or key[2]
        elif key[1].startswith("NUMBER") and key[3].strip().isdecimal():
            election.stated[key[1]] = int(key[3].strip()[:15])
        elif key[1] == "DATA TYPE" and f".{key[3].strip().lower()}" not in Preflib.endings:
            raise source.error(line, "a data type of orders: soc, soi, toc or toi")
    return election


def _read_old(source: Source) -> _Election:
    """The format before 2022: number of alternatives, their names, three counts, then the orders."""
    election = _Election()
    rows = source.lines().rows()
    if not rows[0][1].strip().isdecimal() or len(rows[0][1].strip()) > 9:
        raise source.error(rows[0][0], "a PrefLib header (# FILE NAME: …) or the number of alternatives")
    n = int(rows[0][1])
    election.stated["NUMBER ALTERNATIVES"] = n
    for line, text in rows[1 : n + 1]:
        if (named := OLD_NAME.match(text)) is None:
            raise source.error(line, "the number and name of an alternative")
        election.names[int(named[1])] = named[2].strip() or named[1]
    for line, text in rows[n + 1 : n + 2]:
        sums = [word.strip() for word in text.split(",")]
        if len(sums) != 3 or not all(word.isdecimal() and len(word) < 16 for word in sums):
            raise source.error(line, "three counts: voters, sum of counts, different orders")
        election.stated |= {"NUMBER VOTERS": int(sums[1]), "NUMBER UNIQUE ORDERS": int(sums[2])}
    for line, text in rows[n + 2 :]:
        election.add(source, line, text)
    return election


def _names(election: _Election, path: str) -> dict[int, str]:
    """The name of every alternative that is named, ranked, or counted without a name."""
    known = set(election.names) | {k for order in election.orders for group in order for k in group}
    if not election.names:
        known |= set(range(1, min(election.stated.get("NUMBER ALTERNATIVES", 0), MOST_UNNAMED) + 1))
    names = {k: election.names.get(k, str(k)) for k in sorted(known)}
    often = {name for name, n in Counter(names.values()).items() if n > 1}
    if often:
        message = f"{path}: {len(often)} names stand for several alternatives; their numbers are added"
        warn_about_data(message)
    return {k: f"{name} ({k})" if name in often else name for k, name in names.items()}


def _compare_with_stated(election: _Election, n_names: int, path: str) -> None:
    found = {
        "NUMBER ALTERNATIVES": n_names,
        "NUMBER VOTERS": sum(election.counts),
        "NUMBER UNIQUE ORDERS": len(election.orders),
    }
    wrong = [f"{k} is {election.stated[k]}, found {n}" for k, n in found.items() if election.stated.get(k, n) != n]
    if wrong:
        warn_about_data(f"{path}: the header contradicts the orders: {'; '.join(wrong)}")


def _orders(r: Rankings) -> Counter[str]:
    """The number of lists with each order, in PrefLib's notation."""
    counts: Counter[str] = Counter()
    for m in range(r.n_lists):
        lo, hi = r.entry_ptr[m], r.entry_ptr[m + 1]
        groups: dict[float, list[str]] = {}
        for slot, rank in zip(r.entry_slot[lo:hi].tolist(), r.entry_rank[lo:hi].tolist(), strict=True):
            groups.setdefault(rank, []).append(str(slot + 1))
        places = (g[0] if len(g) == 1 else "{" + ",".join(g) + "}" for g in groups.values())
        counts[",".join(places)] += int(r.list_weight[m])
    return counts


def _kind(r: Rankings) -> str:
    same = np.append(r.entry_rank[1:] == r.entry_rank[:-1], False)
    same[r.entry_ptr[1:] - 1] = False
    return f"{'t' if same.any() else 's'}o{'i' if (r.list_size < r.n_slots).any() else 'c'}"
