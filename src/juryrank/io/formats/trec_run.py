"""TREC runs: ``query Q0 item rank score tag``, separated by tabs or blanks; the tag is the name of the expert.

A line with a tab between all its columns may have blanks inside a name; blanks around names do not count.

The order is that of the scores, largest first, as in trec_eval; equal scores are ties. The rank column may be
absent, may start at 0 or may not be a number: it is only compared with the scores, and a contradiction is a warning.
"""

from __future__ import annotations

import hashlib
from collections import Counter
from collections.abc import Iterator, Sequence
from urllib.parse import quote

from juryrank.data import Consensus, Dataset
from juryrank.data.trec_lines import run_lines
from juryrank.io.dataset_frames import entries_of, text_of, unranked_slots
from juryrank.io.format import Format
from juryrank.io.rows import Rows
from juryrank.io.runs import Runs
from juryrank.io.source import Source
from juryrank.io.words import first_words, is_iteration, is_number
from juryrank.io.write_checks import demand_single_lists, warn_of_loss
from juryrank.polars import pl

DEFAULT_TAG = "juryrank"
LONGEST_NAME = 150  # characters of an expert in the name of its file; a digest stands for the rest

FULL = ("query", "iteration", "item", "rank", "score", "tag")
RANKLESS = ("query", "iteration", "item", "score", "tag")


class TrecRun(Format):
    """Lists with scores, of one expert or of several."""

    name = "trec-run"
    endings = (".run", ".trec")
    writes = (Dataset, Consensus)
    write_options = ("top", "tag")
    one_file_per_expert = True

    def sniff(self, source: Source) -> bool:
        """Six words separated by blanks with a number in the fifth, or five with Q0 or 0 second, a number fourth."""
        words = first_words(source)
        return (len(words) == 6 or (len(words) == 5 and words[1] in ("Q0", "q0", "0"))) and is_number(words[-2])

    def _read(self, source: Source) -> Rows:
        return Runs([source], [run_columns(source)]).rows()[0]

    def _lines(
        self, thing: Dataset | Consensus, file_name: str, top: int | None = None, tag: str = DEFAULT_TAG
    ) -> Iterator[bytes]:
        """The lines of all experts; lists without scores get the negative rank as score."""
        if isinstance(thing, Consensus):
            return thing.run_lines(tag, top)
        return iter([run_lines(run_rows(thing))])

    def _expert_files(self, data: Dataset) -> dict[str, Iterator[bytes]]:
        """A run for each expert."""
        parts = run_rows(data).partition_by("expert", maintain_order=True)
        names = file_names([part["expert"][0] for part in parts])
        return {name: iter([run_lines(part)]) for name, part in zip(names, parts, strict=True)}


def run_columns(source: Source) -> tuple[str, ...]:
    """The columns of a run, as its first line has them: five or six."""
    cells = [cell.strip() for cell in source.start[0].split("\t")] if source.start else []
    if len(cells) == len(RANKLESS) and is_iteration(cells[1]) and is_number(cells[3]):
        return RANKLESS
    full = len(cells) == len(FULL) and is_number(cells[4])
    return RANKLESS if len(first_words(source)) == len(RANKLESS) and not full else FULL


def run_rows(data: Dataset, *, warn: bool = True) -> pl.DataFrame:
    """The rows of the runs of all experts."""
    demand_single_lists(data.rankings, "a TREC run")
    if warn:
        warn_of_unranked_items(len(unranked_slots(data.rankings)))
    frame = entries_of(data.rankings)
    if "score" not in frame.columns:
        frame = frame.with_columns(score=-pl.col("rank"))
    return frame.with_columns(text_of(pl.col("rank").cast(pl.Float64)).alias("rank"))


def warn_of_unranked_items(count: int) -> None:
    """Warn of items that a run leaves out, if there are any."""
    warn_of_loss(count, "items that nobody ranks are left out: a TREC run has no place for them")


def file_names(experts: Sequence[str]) -> list[str]:
    """Names that files may have and that differ in more than case, not hidden; the reader uses the tag inside."""
    plain = [quote(expert, safe=" +,=@").replace(".", "%2E", expert.startswith(".")) for expert in experts]
    often = Counter(name.lower() for name in plain)
    return [
        f"{name}.run" if len(name) <= LONGEST_NAME and often[name.lower()] == 1
        else f"{name[:LONGEST_NAME]}-{hashlib.sha256(expert.encode()).hexdigest()[:16]}.run"
        for name, expert in zip(plain, experts, strict=True)
    ]  # fmt: skip
