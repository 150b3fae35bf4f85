"""The catalogue of formats, and the choice of a format for reading or writing a file."""

from __future__ import annotations

from pathlib import Path

from juryrank.data import Consensus, Dataset
from juryrank.errors import DataError, UnknownNameError
from juryrank.io.format import Format
from juryrank.io.formats.ballot_choices import BallotChoices
from juryrank.io.formats.ballot_grid import BallotGrid
from juryrank.io.formats.ballot_orders import BallotOrders
from juryrank.io.formats.ballots import OTHER_SHAPES, SAMPLE, BallotFormat, as_text
from juryrank.io.formats.blt import Blt
from juryrank.io.formats.comparisons import Comparisons, names_comparisons
from juryrank.io.formats.letor import Letor
from juryrank.io.formats.letor_features import LetorFeatures
from juryrank.io.formats.preflib import Preflib
from juryrank.io.formats.ratings import Ratings
from juryrank.io.formats.table import Table
from juryrank.io.formats.trec_qrels import TrecQrels
from juryrank.io.formats.trec_run import TrecRun
from juryrank.io.source import Source, ending_of
from juryrank.io.tables import frames, headerless
from juryrank.io.tables.columns import Columns
from juryrank.polars import pl

CATALOGUE: tuple[Format, ...] = (  # in the order in which they are tried
    Preflib(),
    Letor(),
    Blt(),
    LetorFeatures(),
    Ratings(),
    TrecRun(),
    TrecQrels(),
    Comparisons(),
    BallotOrders(),
    BallotChoices(),
    BallotGrid(),
    Table(),
)
FORMATS = {known.name: known for known in CATALOGUE}


def get_format(name: str) -> Format:
    """The format of that name."""
    if name not in FORMATS:
        raise UnknownNameError.of("format", name, FORMATS)
    return FORMATS[name]


def format_of(source: Source, name: str | None = None, columns: Columns = None) -> Format:
    """The format of that name, or the first one that the content looks like; numbered columns are those of a table."""
    if name is not None:
        return get_format(name)
    if names_comparisons(columns) and not headerless.has_column_numbers(columns):
        return FORMATS["comparisons"]
    if (ballots := named_ballots(columns)) is not None:
        return ballots
    if headerless.has_column_numbers(columns):
        return FORMATS["table"]
    if (found := sniff(source) or (FORMATS["table"] if columns else None)) is not None:
        return FORMATS["table"] if isinstance(found, BallotFormat) and not found.takes(columns) else found
    if source.data.lstrip().startswith(b"["):
        raise source.error(1, "one JSON object per line, as pandas writes with orient='records', lines=True")
    if headerless.looks_headerless(source):
        raise headerless.unclear_columns(source)
    raise source.error(1, f"one of the formats {', '.join(FORMATS)} (or choose one: format=…)")


def named_ballots(columns: Columns) -> Format | None:
    """The format of ballots, if ``columns`` names columns that only it has: choice, order, or several for item."""
    own = {"choice": "ballot-choices", "order": "ballot-orders"}
    if named := [name for word, name in own.items() if word in (columns or ())]:
        return FORMATS[named[0]]
    return FORMATS["ballot-grid"] if isinstance((columns or {}).get("item"), list | tuple) else None


def ballots_in(frame: pl.DataFrame, columns: Columns) -> Format | None:
    """The format of ballots that a dataframe has the shape of, if any."""
    if frames.match_headers(frame.columns).intersection(OTHER_SHAPES):
        return None
    head = as_text(frame.head(SAMPLE))
    known = [each for each in CATALOGUE if isinstance(each, BallotFormat) and each.takes(columns)]
    return next((each for each in known if each.fits(head)), None)


def sniff(source: Source) -> Format | None:
    """The first format that the content looks like, if any."""
    return next((known for known in CATALOGUE if known.sniff(source)), None)


def has_known_ending(path: Path) -> bool:
    """Whether the ending of a file is that of a format."""
    return _by_ending(path) is not None


def format_for(thing: Dataset | Consensus, path: Path, name: str | None = None) -> Format:
    """The format of that name, or of the ending of ``path``; no ending (or .txt, for a consensus) is a TREC run."""
    if name is not None:
        return get_format(name)
    ending = ending_of(path)
    if not ending or (ending == ".txt" and isinstance(thing, Consensus)):
        return FORMATS["trec-run"]
    if (found := _by_ending(path)) is None:
        endings = ", ".join(ending for known in CATALOGUE for ending in known.endings)
        raise DataError(f"{path}: no format has the ending {ending!r} ({endings}); or use write(…, format=…)")
    return found


def _by_ending(path: Path) -> Format | None:
    ending = ending_of(path)
    return next((known for known in CATALOGUE if ending in known.endings), None)
