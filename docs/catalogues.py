"""Pages that MkDocs draws from the code: one per method, one of metrics, one of the API; nothing is written to disk."""

import inspect
import re
from typing import Any

import juryrank
from juryrank.cli.methods import bounds_text, default_text, other_names
from juryrank.methods import METHODS
from juryrank.metrics import METRICS
from juryrank.params import parameters


def on_files(files: Any, config: Any) -> Any:
    """What MkDocs calls once it knows the pages written by hand."""
    from mkdocs.structure.files import File

    for name, text in pages().items():
        files.append(File.generated(config, name, content=text))
    return files


def pages() -> dict[str, str]:
    """Every drawn page by its path."""
    methods = {f"catalogue/{name}.md": method_page(name) for name in METHODS}
    return methods | {
        "catalogue/methods.md": methods_page(),
        "catalogue/metrics.md": metrics_page(),
        "catalogue/api.md": api_page(),
    }


def methods_page() -> str:
    """What each method does, in a line that leads to its page."""
    rows = [f"| [`{name}`]({name}.md) | {_first_line(cls)} |" for name, cls in METHODS.items() if not cls.supervised]
    learned = [f"| [`{name}`]({name}.md) | {_first_line(cls)} |" for name, cls in METHODS.items() if cls.supervised]
    head = ["| method | what it does |", "|---|---|"]
    return "\n".join(
        [
            "# Methods",
            "`juryrank methods NAME` prints the same text; both are generated from the classes.",
            "\n## Without labels\n",
            *head,
            *rows,
            "\n## Learned from labels\n",
            *head,
            *learned,
        ]
    )


def method_page(name: str) -> str:
    """A method with its text, parameters, defaults and bounds."""
    cls = METHODS[name]
    parts = [f"# {name}", _body(cls), cls.weight_of_list, _parameter_table(cls)]
    if also := other_names(name):
        parts.append(f"Also called {', '.join(also)}.")
    return "\n\n".join(part for part in parts if part)


def api_page() -> str:
    """Every public name with its signature and text."""
    methods = {cls.__name__: name for name, cls in METHODS.items()}
    parts = ["# Python API", "Everything here is imported from `juryrank`; nothing is loaded before it is used."]
    for name in (name for name in juryrank.__all__ if name not in methods):
        thing = getattr(juryrank, name)
        if inspect.isclass(thing):
            parts += [f"## {name}", _body(thing)]
            for member, value in vars(thing).items():
                if not member.startswith("_") and (inspect.isfunction(value) or isinstance(value, property)):
                    signature = "" if isinstance(value, property) else _signature(value)
                    parts.append(f"**`{member}{signature}`** {_first_line(value)}")
        elif inspect.isfunction(thing):
            parts += [f"## {name}", f"```python\n{name}{_signature(thing)}\n```", _body(thing)]
        else:
            parts += [f"## {name}", f"The catalogue, by name: see [all {name.lower()}]({name.lower()}.md)."]
    links = [f"[`{class_name}`]({name}.md)" for class_name, name in methods.items()]
    return "\n\n".join([*parts, "## Methods", f"One class per method: {', '.join(links)}."])


def metrics_page() -> str:
    """Every metric with its text and parameters."""
    parts = ["# Metrics", "Names are the same in Python, on the command line and in tables: `nDCG@10`, `AP`."]
    for name, cls in METRICS.items():
        parts += [f"## {name}", _body(cls), _parameter_table(cls)]
    return "\n\n".join(part for part in parts if part)


def _first_line(thing: Any) -> str:
    return (inspect.getdoc(thing) or "").partition("\n")[0]


def _signature(function: Any) -> str:
    """The signature without the quotes of annotations that are kept as text."""
    return re.sub(r"(: |-> )'([^']*)'", r"\1\2", str(inspect.signature(function)))


def _body(thing: Any) -> str:
    text = inspect.getdoc(thing) or ""
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
