"""Public import paths, names, commands, options and routes; ``same.py --record`` writes the list."""

import ast
import importlib
import json
import tempfile
from collections.abc import Iterator
from pathlib import Path

import typer

import juryrank
from juryrank.cli import app
from juryrank.metrics import METRICS
from sessions import server

DOORS = Path(__file__).with_name("public_doors.txt")
PACKAGE = Path(juryrank.__file__).parent
MODULES = ("data", "data.arrays", "errors", "methods", "metrics", "params")  # that the documentation promises
VERBS = ("delete", "get", "patch", "post", "put")


def doors() -> list[str]:
    """All of them, sorted, one line each."""
    return sorted({*names(), *integration_names(), *commands(), *routes(), *document_routes()})


def names() -> Iterator[str]:
    """Public names of the package and of the modules that the documentation promises."""
    yield "name juryrank.cli.main"
    for name in juryrank.__all__:
        yield f"name juryrank.{name}"
    for path in MODULES:
        module = importlib.import_module(f"juryrank.{path}")
        yield f"module {module.__name__}"
        text = Path(str(module.__file__)).read_text(encoding="utf-8")
        listed = getattr(module, "__all__", None) or public_in(ast.parse(text), constants=True)
        yield from (f"name {module.__name__}.{name}" for name in listed)
    yield from (f"name juryrank.metrics.{metric.__name__}" for metric in METRICS.values())


def integration_names() -> Iterator[str]:
    """Public names of adapters, from their text: the frameworks need not be there."""
    files = [*PACKAGE.glob("integrations/*"), *PACKAGE.with_name("haystack_integrations").rglob("*.py")]
    for file in sorted(files):
        source = file / "__init__.py" if file.is_dir() else file
        if source.suffix == ".py" and source.is_file() and (source.name == "__init__.py" or file.stem[0] != "_"):
            path = (
                file.relative_to(PACKAGE.parent).with_suffix("").as_posix().replace("/", ".").removesuffix(".__init__")
            )
            yield f"module {path}"
            yield from (f"name {path}.{name}" for name in public_in(ast.parse(source.read_text(encoding="utf-8"))))


def public_in(tree: ast.Module, *, constants: bool = False) -> list[str]:
    """``__all__`` of a module, or its own classes and functions without an underscore, perhaps with its constants."""
    found = []
    for node in tree.body:
        if isinstance(node, ast.Assign | ast.AnnAssign):
            targets = node.targets if isinstance(node, ast.Assign) else [node.target]
            assigned = [target.id for target in targets if isinstance(target, ast.Name)]
            if assigned == ["__all__"] and isinstance(node.value, ast.List):
                listed = (part for part in node.value.elts if isinstance(part, ast.Constant))
                return [str(part.value) for part in listed]
            found += assigned if constants else []
        elif isinstance(node, ast.ClassDef | ast.FunctionDef | ast.AsyncFunctionDef):
            found.append(node.name)
    return [name for name in found if not name.startswith("_")]


def commands() -> Iterator[str]:
    """Commands, their arguments, and each spelling of their options."""
    waiting = [("juryrank", typer.main.get_command(app))]
    while waiting:
        path, named = waiting.pop()
        yield f"command {path}"
        command = named.make_context(path, [], resilient_parsing=True).command  # its module is imported only now
        for param in command.params:
            if param.param_type_name == "option":
                yield from (f"option {path} {spelling}" for spelling in (*param.opts, *param.secondary_opts))
            else:
                yield f"argument {path} {param.name}"
        waiting += [(f"{path} {name}", sub) for name, sub in getattr(command, "commands", {}).items()]


def routes() -> Iterator[str]:
    """Routes of the service and of the studio: those that the text of the package adds to an application, wherever."""
    for file in PACKAGE.rglob("*.py"):
        text = file.read_text(encoding="utf-8")
        if "@routes." in text or "routes.mount(" in text:
            yield from routes_in(ast.parse(text))


def routes_in(tree: ast.Module) -> Iterator[str]:
    """Decorators such as ``@routes.get("/v1/models")``; the document of the API names those that have none."""
    constants = {
        target.id: node.value.value
        for node in tree.body
        if isinstance(node, ast.Assign) and isinstance(node.value, ast.Constant)
        for target in node.targets
        if isinstance(target, ast.Name)
    }
    for node in ast.walk(tree):
        if isinstance(node, ast.Call) and isinstance(node.func, ast.Attribute) and node.args:
            owner, verb = node.func.value, node.func.attr
            if isinstance(owner, ast.Name) and owner.id == "routes" and verb in (*VERBS, "mount"):
                yield f"route {verb.upper()} {path_of(node.args[0], constants)}"


def path_of(node: ast.expr, constants: dict[str, str]) -> str:
    """The text of a path, with the constants that it names."""
    if isinstance(node, ast.JoinedStr):
        return "".join(path_of(part, constants) for part in node.values)
    if isinstance(node, ast.FormattedValue):
        return path_of(node.value, constants)
    return constants[node.id] if isinstance(node, ast.Name) else str(ast.literal_eval(node))


def document_routes() -> list[str]:
    """The routes that the document of the running service names; two of them have no decorator."""
    with tempfile.TemporaryDirectory(prefix="juryrank-doors-") as folder, server(Path(folder), "serve") as service:
        service.request("GET", "/openapi.json")
        paths = json.loads(service.getresponse().read())["paths"]
    found = [f"route {verb.upper()} {path}" for path, verbs in paths.items() for verb in verbs if verb in VERBS]
    return [*found, "route GET /openapi.json"]
