"""Queries of a click log that differ only by case or blanks."""

from __future__ import annotations

from collections import defaultdict

from juryrank.errors import warn_about_data
from juryrank.polars import pl


def one_spelling(rows: pl.DataFrame, name: str, *, normalise: bool) -> tuple[pl.DataFrame, tuple[str, ...]]:
    """The rows of a log with one name for queries that differ only by case or blanks, and a note that says so.

    The name is the spelling with the most rows, which is most likely that of the runs; names of which there is one
    spelling stay as they are. Without ``normalise``, the rows stay as they are, and a DataWarning counts the queries.
    """
    spellings = defaultdict(list)
    counts = rows.drop_nulls("query").group_by("query").len().sort("len", "query", descending=[True, False])
    for query in counts["query"]:
        spellings[" ".join(query.lower().split())].append(query)
    several = [same for same in spellings.values() if len(same) > 1]
    if not several:
        return rows, ()
    n, names = sum(map(len, several)), " and ".join(map(repr, several[0][:2]))
    if not normalise:
        warn_about_data(
            f"{name}: {n} queries differ only by case or blanks from others, such as {names}, and would be "
            f"{len(several)}; each is learned from alone, with fewer clicks; make them one with "
            "normalise_queries=True (--normalise-queries)"
        )
        return rows, ()
    renamed = {query: same[0] for same in several for query in same}
    note = f"{n} queries that differ only by case or blanks are {len(several)}, named by the most frequent spelling"
    return rows.with_columns(pl.col("query").replace(renamed)), (note,)
