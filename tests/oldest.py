"""The oldest versions that pyproject.toml allows, as requirements for pip: ``make oldest`` tests them.

Tools that look at the code or build pages are left out: they have no part in how it runs.
"""

import re
import tomllib
from pathlib import Path

TOOLS = {"latex2mathml", "mkdocs", "mkdocs-material", "mypy", "ruff", "towncrier", "typos"}


def oldest(requirement: str) -> str:
    """The oldest version that a requirement allows.

    >>> oldest("mkdocs>=1.6,<2")
    'mkdocs==1.6'
    """
    name, version = re.fullmatch(r"([\w-]+)>=([\w.]+)(?:,.*)?", requirement).groups()
    return f"{name}=={version}"


def requirements() -> list[str]:
    """Those of the package and of its tests."""
    project = tomllib.loads((Path(__file__).parents[1] / "pyproject.toml").read_text(encoding="utf-8"))["project"]
    pins = {oldest(each) for each in project["dependencies"] + project["optional-dependencies"]["dev"]}
    return sorted(pin for pin in pins if pin.partition("==")[0] not in TOOLS)


if __name__ == "__main__":
    print("\n".join(requirements()))
