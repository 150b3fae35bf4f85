"""The examples of the pages for Elasticsearch and OpenSearch, run against a server of the tests."""

import doctest
import re
from pathlib import Path
from typing import Any

import pytest

import juryrank

PAGES = Path(__file__).parents[2] / "docs" / "integrations"
BLOCK = re.compile(r"```(pycon|python)\n(.*?)```", re.DOTALL)
SERVER = "http://localhost:9200"  # what the pages say


def run_page(name: str, url: str) -> dict[str, Any]:
    """The names that all examples of a page define; what those with a prompt print is checked where docs are tested."""
    text = (PAGES / f"{name}.md").read_text(encoding="utf-8")
    space: dict[str, Any] = {}
    parser = doctest.DocTestParser()
    for kind, block in BLOCK.findall(text):
        if kind == "pycon":
            for example in parser.get_examples(block):
                exec(compile(example.source, f"{name}.md", "single"), space)
        else:
            assert SERVER not in block or block.count(SERVER) == 1
            exec(compile(block.replace(SERVER, url), f"{name}.md", "exec"), space)
    return space


def assert_fused_as_juryrank(
    space: dict[str, Any], lists: dict[str, list[str]], titles: dict[str, str], printed: str, **params: Any
) -> None:
    """The engine's RRF with the exported weights gives what juryrank predicts, and fuse_hits what the model gives."""
    predicted = juryrank.fuse(lists, "rrf", weights=space["exported"]["weights"], top=3, **params)
    hits = [(hit["_id"], hit["_score"]) for hit in space["found"]["hits"]["hits"]]
    assert [item for item, _ in hits] == list(predicted)
    assert dict(hits) == pytest.approx(predicted)
    exact = juryrank.fuse(lists, model=space["model"])
    assert [(hit["_id"], hit["_score"]) for hit in space["hits"]] == list(exact.items())[:3]
    assert str([(item, score, titles[item]) for item, score in list(exact.items())[:3]]) in printed.splitlines()
    everything = space["search"]("food sticks to my pan", space["model"], None)
    assert [hit["_id"] for hit in everything] == list(exact)
    assert list(exact) != list(juryrank.fuse(lists))
