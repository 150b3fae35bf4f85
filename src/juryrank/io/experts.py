"""Experts of several files: distinguished when two files use one name; file names as aliases of experts."""

from __future__ import annotations

from collections import Counter
from collections.abc import Callable, Collection, Mapping, Sequence

from juryrank.errors import warn_about_data
from juryrank.io.rows import Rows
from juryrank.io.source import Source
from juryrank.polars import pl

SAMPLES, SAMPLE = 8, 1024  # places of a run where its tags are sampled, and bytes at each


def rename_shared_experts(parts: Sequence[Rows], sources: Sequence[Source]) -> list[Rows]:
    """The parts, where files of one expert each that share its name and a query are named after the files instead."""
    tags = [_expert(part) for part in parts]
    names = file_names_for_shared(tags, sources, lambda tag: _overlap(tag, tags, parts))
    return [part.with_expert(name) for part, name in zip(parts, names, strict=True)]


def file_names_for_shared(tags: Sequence[str], sources: Sequence[Source], overlap: Callable[[str], bool]) -> list[str]:
    """A new name for each file of one expert (its tag) that shares the tag with others and a query with one of them.

    It is empty for other files: those of one expert about different queries stay one expert.
    """
    shared = {tag for tag, n in Counter(tag for tag in tags if tag).items() if n > 1 and overlap(tag)}
    if not shared:
        return [""] * len(tags)
    names = [source.stem if tag in shared else tag for source, tag in zip(sources, tags, strict=True)]
    again = {name for name, n in Counter(names).items() if n > 1}
    names = [str(s.path) if name in again else name for s, name in zip(sources, names, strict=True)]
    count = sum(tag in shared for tag in tags)
    message = (
        f"{count} files share the expert {min(shared)!r}{' or another' * (len(shared) > 1)}; they are named by file"
    )
    warn_about_data(message)
    return [name if tag in shared else "" for name, tag in zip(names, tags, strict=True)]


def _expert(part: Rows) -> str:
    """The expert of a file that has only one, or an empty string."""
    if not part.one_expert or part.entries is None or not part.entries.height:
        return ""
    return str(part.entries["expert"][0])


def _overlap(tag: str, tags: Sequence[str], parts: Sequence[Rows]) -> bool:
    """Whether several files of one expert have the same query."""
    queries = [
        p.entries["query"].unique() for p, t in zip(parts, tags, strict=True) if t == tag and p.entries is not None
    ]
    together = pl.concat(queries)
    return together.n_unique() < len(together)


def aliases(stems: Sequence[str], experts: Sequence[Collection[str]]) -> dict[str, str]:
    """Names of files that have one expert each, other than the names of experts and those of several files."""
    known = set[str]().union(*experts)
    named = [(stem, next(iter(found))) for stem, found in zip(stems, experts, strict=True) if len(found) == 1]
    often = {stem for stem, n in Counter(stems).items() if n > 1}
    return {stem: expert for stem, expert in named if stem not in known | often}


def resolve_aliases(values: Mapping[str, float], names: Mapping[str, str]) -> dict[str, float]:
    """Values whose keys are experts or aliases (of ``names``) by expert; an expert's own name takes precedence."""
    out = dict(values)
    for alias in [name for name in values if name in names and names[name] not in out]:
        out[names[alias]] = out.pop(alias)
    return out


def experts_in(part: Rows) -> set[str]:
    """The experts of a file."""
    return set() if part.entries is None else set(part.entries["expert"].unique().to_list())


def sample_tags(part: Callable[[int, int], bytes], size: int) -> set[str]:
    """The tags in some places of a run of ``size`` bytes, of which ``part`` returns any range."""
    tags = set[bytes]()
    starts = {max(0, (size - SAMPLE) * k // (SAMPLES - 1)) for k in range(SAMPLES)}
    for start in starts:
        lines = part(start, start + SAMPLE).split(b"\n")
        whole = lines[start > 0 : None if start + SAMPLE >= size else -1]
        tags.update(words[-1] for line in whole if (words := line.split()))
    return {tag.decode(errors="replace") for tag in tags}
