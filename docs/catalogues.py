"""Pages that MkDocs draws from the catalogues: one of methods, one of metrics; nothing is written to disk."""

import inspect
import re
from typing import Any

from juryrank.cli.methods import bounds_text, default_text, other_names
from juryrank.methods import METHODS
from juryrank.metrics import METRICS
from juryrank.params import parameters


def on_files(files: Any, config: Any) -> Any:
    """What MkDocs calls once it knows the pages written by hand."""
    from mkdocs.structure.files import File

    for name, text in (("catalogue/methods.md", methods_page()), ("catalogue/metrics.md", metrics_page())):
        files.append(File.generated(config, name, content=text))
    return files


def methods_page() -> str:
    """Every method with its text, parameters, defaults and bounds."""
    parts = ["# Methods", "The same text as `juryrank methods NAME`; both come from the classes."]
    for name, cls in METHODS.items():
        parts += [f"## {name}", _body(cls), _parameter_table(cls)]
        if also := other_names(name):
            parts.append(f"Also called {', '.join(also)}.")
    return "\n\n".join(part for part in parts if part)


def metrics_page() -> str:
    """Every metric with its text and parameters."""
    parts = ["# Metrics", "A name is the same in Python, on the command line and in tables: `nDCG@10`, `AP`."]
    for name, cls in METRICS.items():
        parts += [f"## {name}", _body(cls), _parameter_table(cls)]
    return "\n\n".join(part for part in parts if part)


def _body(cls: type) -> str:
    text = inspect.getdoc(cls) or ""
    text = re.sub(r":math:`([^`]*)`", lambda found: _mathml(found[1]), text)
    text = text.replace("``", "`")
    return re.sub(r"((?:^>>> .*\n?)(?:^.+\n?)*)", r"```pycon\n\1\n```\n", text, flags=re.MULTILINE)


def _mathml(formula: str) -> str:
    """A formula as browsers draw it by themselves; as it stands where the converter is not installed."""
    try:
        from latex2mathml.converter import convert
    except ImportError:
        return f"`{formula}`"
    return f"<span>{convert(formula)}</span>"  # alone, <math> would end the paragraph


def _parameter_table(cls: type) -> str:
    rows = [f"| `{f.name}` | `{default_text(f)}` | {bounds_text(f)} | {f.metadata['doc']} |" for f in parameters(cls)]
    return "\n".join(["| parameter | default | bounds | meaning |", "|---|---|---|---|", *rows]) if rows else ""
