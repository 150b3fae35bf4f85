"""The examples of the pages for Elasticsearch and OpenSearch, run against a server of the tests."""

import doctest
import re
from pathlib import Path
from typing import Any

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
