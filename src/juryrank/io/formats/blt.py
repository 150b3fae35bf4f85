"""BLT, in which elections by STV are exchanged: candidates and seats, counted ballots, names and a title.

As Hill, Wichmann and Woodall defined it (Computer Journal 1987), with what counting programs added: ``#`` begins a
comment, ``(…)`` before a ballot is its number, ``2=3`` are candidates in one place, ``-`` is a place left out. The
query is the title. Withdrawn candidates are taken off the ballots, and ballots without a candidate are not counted.
"""

from __future__ import annotations

import re
from collections import Counter
from collections.abc import Iterator
from dataclasses import dataclass, field
from typing import NamedTuple

from juryrank.data import Dataset
from juryrank.errors import DataError, warn_about_data
from juryrank.io.format import Format
from juryrank.io.formats.ballots import written_ballots
from juryrank.io.rows import Rows
from juryrank.io.source import Source
from juryrank.polars import pl

WORD = re.compile(r'"(?P<quoted>[^"]*)"|(?P<number>\([^)]*\))|#.*|(?P<plain>[^\s"#(][^\s"]*)')
WHOLE = re.compile(r"\d{1,9}")
COUNT = re.compile(r"\d{1,15}(?:\.\d{1,15})?")
PLACE = re.compile(r"\d{1,9}(?:=\d{1,9})*")
LOOKS = re.compile(rb"\s*\d{1,9}[ \t]+\d{1,9}[ \t\r]*\n(?:.*\n)*?[ \t]*0[ \t\r]*\n[ \t]*\"")
MOST_CANDIDATES = 100_000


class Word(NamedTuple):
    """A word of the file."""

    line: int
    text: str
    quoted: bool


@dataclass
class Contest:
    """The content of a file."""

    n: int  # candidates
    seats: int
    withdrawn: set[int] = field(default_factory=set)
    ballots: list[tuple[float, list[list[int]]]] = field(default_factory=list)
    names: list[str] = field(default_factory=list)
    title: str = ""
    blank: float = 0.0
    found: Counter[str] = field(default_factory=Counter)  # what was repaired -> ballots

    def add(self, count: float, places: list[list[int]], gap: bool) -> None:
        """Keep a ballot without the candidates that have withdrawn, and with each of the others once."""
        seen = set(self.withdrawn)
        kept = []
        for place in places:
            group = [c for c in dict.fromkeys(place) if c not in seen]
            self.found["a candidate twice, and the first place counts"] += any(
                c in seen - self.withdrawn for c in place
            ) or len(set(place)) < len(place)
            seen.update(group)
            kept += [group] if group else []
        self.found["a place left out, and later candidates move up"] += gap
        if kept:
            self.ballots.append((count, kept))
        else:
            self.blank += count


class Blt(Format):
    """One election by STV."""

    name = "blt"
    endings = (".blt",)

    def sniff(self, source: Source) -> bool:
        """The ending, or two numbers in the first line and, further down, names after a line with 0."""
        return source.suffix in self.endings or LOOKS.match(source.data) is not None

    def _read(self, source: Source) -> Rows:
        contest = _Reader(source).read()
        names = _unique(contest.names)
        query = contest.title or source.stem
        _report(contest, names, str(source.path))
        rows = [
            (names[c - 1], f"ballot {n}", float(rank), count)
            for n, (count, places) in enumerate(contest.ballots, 1)
            for rank, place in zip(_ranks(places), places, strict=True)
            for c in place
        ]
        schema = {"item": pl.String, "expert": pl.String, "rank": pl.Float64, "weight": pl.Float64}
        entries = pl.DataFrame(rows, schema=schema, orient="row").with_columns(
            query=pl.lit(query), list=pl.lit(f"{source.path}:") + pl.col("expert")
        )
        standing = [name for c, name in enumerate(names, 1) if c not in contest.withdrawn]
        candidates = pl.DataFrame({"query": [query] * len(standing), "item": standing})
        return Rows(
            name=str(source.path), entries=entries, candidates=candidates, keep_order=True,
            seats={query: contest.seats},
        )  # fmt: skip

    def _lines(self, data: Dataset, file_name: str) -> Iterator[bytes]:
        """The seats of the data, or one; candidates in the order of the data."""
        ballots = written_ballots(data, self.name, ('"',), all_named=True, titled=True)
        r = data.rankings
        names = r.items[r.slot_item].tolist()
        number = {name: str(k) for k, name in enumerate(names, 1)}
        title = r.queries[0].replace('"', "'")
        lines = [
            f"{len(names)} {data.seats.get(r.queries[0], 1)}",
            *(f"{count} {' '.join('='.join(number[n] for n in g) for g in groups)} 0" for groups, count in ballots),
            "0", *(f'"{name}"' for name in names), f'"{title}"',
        ]  # fmt: skip
        return iter(["".join(f"{line}\n" for line in lines).encode()])


class _Reader:
    """Reads the words of a file one after the other."""

    def __init__(self, source: Source) -> None:
        self.source, self.at = source, 0
        self.words = [
            Word(line, found["quoted"] if found["quoted"] is not None else found[0], found["quoted"] is not None)
            for line, text in source.lines().iter_rows()
            for found in WORD.finditer(text)
            if not found[0].startswith("#")
        ]

    def read(self) -> Contest:
        n, seats = self._whole("the number of candidates, then that of seats"), self._whole("the number of seats")
        if not 1 <= n <= MOST_CANDIDATES or seats < 1:
            raise self._error(self.words[0], f"1 to {MOST_CANDIDATES} candidates and at least one seat, as in 4 2")
        contest = Contest(n, seats)
        while (word := self._next("a ballot such as 3 2 1 0, or 0 after the last ballot")).text != "0":
            if re.fullmatch(r"-\d{1,9}", word.text) and not contest.ballots:
                contest.withdrawn.add(self._candidate(word, word.text[1:], n))
            elif not word.text.startswith("("):
                self._ballot(contest, word)
        contest.names, contest.title = self._names(n)
        if seats > n - len(contest.withdrawn):
            raise DataError(
                f"{self.source.path}: {seats} seats are more than the {n - len(contest.withdrawn)} candidates"
            )
        return contest

    def _ballot(self, contest: Contest, first: Word) -> None:
        """A count, then places to 0 or to the end of the line."""
        if first.quoted or not COUNT.fullmatch(first.text) or not float(first.text):
            raise self._error(first, "how often this ballot was cast, then its candidates and 0, as in 3 2 1 0")
        places, gap = list[list[int]](), False
        while self.at < len(self.words) and (word := self.words[self.at]).line == first.line:
            self.at += 1
            if word.text == "0":
                break
            if word.text == "-":
                gap = True
            elif word.quoted or not PLACE.fullmatch(word.text):
                raise self._error(word, f"a candidate from 1 to {contest.n} in place of {word.text!r}, or 0 at the end")
            else:
                places.append([self._candidate(word, text, contest.n) for text in word.text.split("=")])
        contest.add(float(first.text), places, gap)

    def _names(self, n: int) -> tuple[list[str], str]:
        """The names of the candidates, and the title: one per line, or one per word."""
        lines: dict[int, list[str]] = {}
        for word in self.words[self.at :]:
            lines.setdefault(word.line, []).append(word.text.strip())
        texts = [" ".join(words) for words in lines.values()]
        if len(texts) < n:
            texts = [text for words in lines.values() for text in words]
        if len(texts) < n:
            raise DataError(
                f"{self.source.path}: {n} candidates (line {self.words[0].line}) and {len(texts)} names after the 0 "
                "that ends the ballots; write one name per line, in quotation marks"
            )
        return [text or str(k) for k, text in enumerate(texts[:n], 1)], texts[n] if len(texts) > n else ""

    def _next(self, expected: str) -> Word:
        if self.at == len(self.words):
            raise self._error(self.words[-1] if self.words else Word(1, "", False), f"{expected} (the file ends here)")
        self.at += 1
        return self.words[self.at - 1]

    def _whole(self, expected: str) -> int:
        word = self._next(expected)
        if word.quoted or not WHOLE.fullmatch(word.text):
            raise self._error(word, expected)
        return int(word.text)

    def _candidate(self, word: Word, text: str, n: int) -> int:
        if not 1 <= int(text) <= n:
            raise self._error(word, f"a candidate from 1 to {n} in place of {word.text!r}")
        return int(text)

    def _error(self, word: Word, expected: str) -> DataError:
        return self.source.error(word.line, expected)


def _ranks(places: list[list[int]]) -> Iterator[int]:
    rank = 1
    for place in places:
        yield rank
        rank += len(place)


def _unique(names: list[str]) -> list[str]:
    """The names; those of several candidates with their numbers."""
    often = {name for name, n in Counter(names).items() if n > 1}
    return [f"{name} ({k})" if name in often else name for k, name in enumerate(names, 1)]


def _report(contest: Contest, names: list[str], path: str) -> None:
    """One warning with all that was dropped or repaired."""
    found = [f"{n} line{'s' * (n > 1)} of ballots: {what}" for what, n in contest.found.items() if n]
    if contest.withdrawn:
        found.append(f"withdrawn and left out: {', '.join(names[c - 1] for c in sorted(contest.withdrawn))}")
    if contest.blank:
        found.append(f"{contest.blank:g} ballot{'s' * (contest.blank != 1)} without a candidate, not counted")
    if found:
        warn_about_data(f"{path}: {'; '.join(found)}")
