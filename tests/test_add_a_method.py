"""The page on adding a method, a metric and a format, followed to the letter in a copy of the source tree."""

import re
import shutil
import subprocess
import sys
from pathlib import Path

import pytest

from copies import ALONE, copy_package, search_path

ROOT = Path(__file__).parents[1]
PAGE = (ROOT / "docs/add-a-method.md").read_text()
FILES = dict(re.findall(r"`(src/juryrank/[\w/]+\.py)`:\n\n```python\n(.*?)```", PAGE, flags=re.DOTALL))
FORMAT_LINE = re.findall(r"`CATALOGUE`.*?```python\n(.*?\n)```", PAGE, flags=re.DOTALL)[0]
LINES = re.findall(r"[Ii]n\s`(src/juryrank/\w+/__init__\.py)`[^`]*(?:`CLASSES`[^`]*)?:\n\n```python\n(.*?\n)```", PAGE)


@pytest.fixture(scope="module")
def tree(tmp_path_factory: pytest.TempPathFactory) -> Path:
    """The files and lines that the page shows, written where it says."""
    folder = tmp_path_factory.mktemp("tree")
    copy_package(folder / "src")
    shutil.copytree(ROOT / "tests", folder / "tests", ignore=shutil.ignore_patterns("__pycache__"))
    shutil.copy(ROOT / "pyproject.toml", folder)
    if (ROOT / ".mypy_cache").is_dir():  # what `make types` found about the files that stay the same
        shutil.copytree(ROOT / ".mypy_cache", folder / ".mypy_cache")
    for name, text in FILES.items():
        (folder / name).write_text(text)
    for name, line in LINES:
        insert_in_order(folder / name, line)
    formats = folder / "src/juryrank/io/formats/__init__.py"
    first = "CATALOGUE: tuple[Format, ...] = (  # in the order in which they are tried\n"
    formats.write_text(formats.read_text().replace(first, first + FORMAT_LINE))
    insert_in_order(formats, "from juryrank.io.formats.order import Order\n")
    (folder / "tests/files/samples/lunch.order").write_text("1. soup\n2. salad\n2. cake\n4. apples\n")
    (folder / "src/juryrank/__init__.pyi").write_text(run(folder, "tests/stubs.py"))
    return folder


def insert_in_order(path: Path, line: str) -> None:
    """Add a line before the first of its kind that comes later in the alphabet."""
    lines = path.read_text().splitlines(keepends=True)
    kind = re.match(r'from \S+\.|\s+"', line)
    assert kind is not None
    later = (n for n, other in enumerate(lines) if other.startswith(kind[0]) and other > line)
    lines.insert(next(later), line)
    path.write_text("".join(lines))


def run(folder: Path, *args: str) -> str:
    environment = {"MYPYPATH": f"{folder}/src", "PATH": "", "HOME": str(Path.home())}
    environment["PYTHONPATH"] = search_path(folder / "src")
    command = [sys.executable, ALONE, *args]
    done = subprocess.run(command, cwd=folder, env=environment, capture_output=True, text=True)
    assert done.returncode == 0, done.stdout + done.stderr
    return done.stdout


def test_the_page_shows_a_method_a_metric_and_a_format_each_with_its_line() -> None:
    places = ["methods/positional/shortlist.py", "metrics/first_place.py", "io/formats/order.py"]
    assert list(FILES) == [f"src/juryrank/{place}" for place in places]
    assert FORMAT_LINE == "    Order(),\n"
    assert [name for name, _ in LINES] == ["src/juryrank/methods/__init__.py", "src/juryrank/metrics/__init__.py"]


def test_the_method_passes_the_contract_tests(tree: Path) -> None:
    tests = ["methods/test_contract.py", "methods/test_list_weights.py", "methods/test_finite.py", "test_models.py"]
    done = run(
        tree, "-m", "pytest", "-q", "-p", "no:cacheprovider", *(f"tests/{name}" for name in tests), "-k", "shortlist"
    )
    assert re.search(r"\d{2} passed", done)


def test_the_catalogues_have_the_method_and_the_metric(tree: Path) -> None:
    files = [*FILES, "tests/test_exports.py", "tests/test_layers.py"]
    assert "passed" in run(
        tree, "-m", "pytest", "-q", "-p", "no:cacheprovider", *files, "--deselect",
        "tests/test_layers.py::test_contributing_shows_the_tree_of_the_code",
    )  # fmt: skip
    code = (
        "import juryrank as jr; data = jr.from_orders([['a', 'b', 'c'], ['b', 'a', 'c'], ['b', 'c']]);"
        "print(jr.parse_metric('first(rel=2)'), jr.Shortlist(k=2).fit_predict(data).to_dict())"
    )
    assert run(tree, "-c", code) == "First(rel=2) {'all': {'b': 3.0, 'a': 2.0, 'c': 1.0}}\n"


def test_the_format_is_read_and_written_and_refuses_what_it_cannot_represent(tree: Path) -> None:
    done = run(tree, "-m", "pytest", "-q", "-p", "no:cacheprovider", "tests/files/test_fuzz.py", "-k", "lunch")
    assert re.search(r"\d passed", done)
    sample = "tests/files/samples/lunch.order"
    written = run(tree, "-m", "juryrank", "convert", sample, "-", "--to", "order")
    assert written == "1. soup\n2. cake\n2. salad\n4. apples\n"  # tied items in the order of their names
    code = (
        "import juryrank as jr\n"
        f"for thing in ({sample!r}, jr.from_orders([['a'], ['b']])):\n"
        "    try: jr.write(jr.read(thing, columns={'item': 'dish'}) if isinstance(thing, str) else thing, 'x.order')\n"
        "    except jr.JuryrankError as error: print(error)"
    )
    assert run(tree, "-c", code).splitlines() == [
        f"{sample}: columns= does not apply to the format order",
        "an order is one list, and the data has 2; write a table instead",
    ]


def test_the_linter_and_the_type_checker_have_nothing_to_say(tree: Path) -> None:
    pytest.importorskip("mypy")
    pytest.importorskip("ruff")
    changed = [*FILES, *(name for name, _ in LINES), "src/juryrank/io/formats/__init__.py"]
    run(tree, "-m", "ruff", "check", *changed)
    run(tree, "-m", "ruff", "format", "--check", *changed)
    run(tree, "-m", "mypy", *FILES)


def test_the_file_is_a_plugin_as_it_stands(tmp_path: Path) -> None:
    (tmp_path / "shortlist.py").write_text(FILES["src/juryrank/methods/positional/shortlist.py"])
    (tmp_path / "a.run").write_text("1 Q0 a 1 2.0 x\n1 Q0 b 2 1.0 x\n")
    args = ["a.run", "--plugin", "shortlist.py", "--method", "shortlist", "-p", "k=1"]
    copy_package(tmp_path / "src")
    assert run(tmp_path, "-m", "juryrank", "rank", *args) == "1 Q0 a 1 1.0 juryrank\n1 Q0 b 2 0.0 juryrank\n"


@pytest.mark.parametrize("page", ["docs/add-a-method.md", "CONTRIBUTING.md"])
def test_every_path_of_the_page_exists(page: str) -> None:
    named = set(re.findall(r"`((?:src|tests|docs|studies)/[\w/.-]+)`", (ROOT / page).read_text()))
    new = {*FILES, "tests/methods/test_shortlist.py", *(path for path in named if path.endswith("/x.py"))}
    assert [path for path in sorted(named - new) if not (ROOT / path).exists()] == []
    assert len(named - new) > 3
