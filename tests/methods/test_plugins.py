"""Methods from outside the package: registered, in a Python file, or by an entry point of an installed package."""

import subprocess
import sys
import warnings
from dataclasses import dataclass
from pathlib import Path

import pytest

import juryrank as jr
from juryrank.cli import completion
from juryrank.errors import DataError, JuryrankWarning, ParameterError, PluginError, UnknownNameError
from juryrank.methods import CLASSES, METHODS, PLUGINS, Aggregator, load_plugin, method, register, usable_methods
from juryrank.params import param

LISTS = {"x": {"q": ["a", "b", "c"]}, "y": {"q": ["b", "a", "c"]}, "z": {"q": ["b", "c"]}}
SHORTLISTED = {"b": 3.0, "a": 2.0, "c": 1.0}
TEXT = '''
from dataclasses import dataclass
import numpy as np
from juryrank.methods import Aggregator
from juryrank.params import param

@dataclass(kw_only=True)
class Shortlist(Aggregator):
    """Shortlist: the number of lists that place the item among their best k."""

    name = "shortlist"
    k: int = param(10, "how many items each list puts on its shortlist", at_least=1)

    def _scores(self, rankings, out):
        np.add.at(out, rankings.entry_slot[rankings.entry_rank <= self.k], 1.0)
'''


@pytest.fixture(autouse=True)
def _nothing_registered(monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setattr(PLUGINS, "registered", {})


def plugin(folder: Path, text: str = TEXT, name: str = "my_methods.py") -> Path:
    path = folder / name
    path.write_text(text)
    return path


def install(folder: Path, monkeypatch: pytest.MonkeyPatch, points: str, package: str = "shortlists") -> None:
    """A package as pip leaves it: a module, and a folder of metadata with entry points."""
    (folder / f"{package}.py").write_text(TEXT)
    info = folder / f"{package}-1.0.dist-info"
    info.mkdir()
    (info / "METADATA").write_text(f"Metadata-Version: 2.1\nName: {package}\nVersion: 1.0\n")
    (info / "entry_points.txt").write_text(f"[juryrank.methods]\n{points}\n")
    if str(folder) not in sys.path:
        monkeypatch.syspath_prepend(folder)
    monkeypatch.delitem(sys.modules, package, raising=False)


def test_a_registered_class_is_in_the_catalogue() -> None:
    @register
    @dataclass(kw_only=True)
    class Half(jr.RRF):
        name = "half"

    assert METHODS["half"] is Half
    assert list(METHODS) == [*CLASSES, "half"]
    assert len(METHODS) == len(CLASSES) + 1
    assert jr.fuse({"x": ["a", "b"]}, "half") == jr.fuse({"x": ["a", "b"]}, "rrf")


def test_a_file_gives_its_methods(tmp_path: Path) -> None:
    assert load_plugin(plugin(tmp_path)) == ["shortlist"]
    assert method("shortlist", k=2).fit_predict(jr.from_dicts(LISTS)).to_dict() == {"q": SHORTLISTED}
    with pytest.raises(ParameterError, match="shortlist has no parameter 'kk'; it has k"):
        method("shortlist", kk=2)
    with pytest.raises(ParameterError, match="k of Shortlist must be >= 1, got 0"):
        jr.fit(LISTS, "shortlist", k=0)


def test_a_file_may_register_its_methods_itself_and_may_be_loaded_again(tmp_path: Path) -> None:
    text = TEXT.replace("@dataclass", "from juryrank.methods import register\n\n@register\n@dataclass")
    for _ in range(2):
        assert load_plugin(plugin(tmp_path, text)) == ["shortlist"]


def test_a_base_class_that_methods_of_a_file_share_needs_no_name(tmp_path: Path) -> None:
    text = TEXT.replace('    name = "shortlist"\n', "") + '\n\nclass First(Shortlist):\n    name = "first"\n'
    assert load_plugin(plugin(tmp_path, text)) == ["first"]


def test_a_comparison_takes_the_method_by_name(tmp_path: Path) -> None:
    load_plugin(plugin(tmp_path))
    labels = {"q": {"a": 0, "b": 1, "c": 0}}
    result = jr.compare(["shortlist:k=2", "rrf"], jr.from_dicts(LISTS, labels=labels), ["RR"])
    assert [row["method"] for row in result.rows()] == ["shortlist:k=2", "rrf"]


def test_a_model_is_saved_and_loaded_where_the_plugin_is(tmp_path: Path) -> None:
    load_plugin(plugin(tmp_path))
    jr.save(jr.fit(LISTS, "shortlist", k=2), tmp_path / "model.json")
    assert jr.fuse({expert: of["q"] for expert, of in LISTS.items()}, model=tmp_path / "model.json") == SHORTLISTED
    PLUGINS.registered.clear()
    missing = "model of method 'shortlist', which this installation does not have; give --plugin FILE or install"
    with pytest.raises(DataError, match=missing):
        jr.load(tmp_path / "model.json")


def test_a_model_with_a_member_of_a_missing_plugin_names_the_member(tmp_path: Path) -> None:
    jr.save(jr.fit(LISTS, "auto", labels={"q": {"a": 1, "b": 0}}), tmp_path / "model.json")  # chooses rrf
    text = (tmp_path / "model.json").read_text().replace('"name": "rrf"', '"name": "shortlist"')
    (tmp_path / "model.json").write_text(text)
    missing = (
        "chosen_ must be a fitted method, but it needs method 'shortlist', which this installation does not have; "
    )
    with pytest.raises(DataError, match=missing + "give --plugin FILE or install the package"):
        jr.load(tmp_path / "model.json")


def test_an_entry_point_of_an_installed_package_is_in_the_catalogue(tmp_path, monkeypatch) -> None:
    install(tmp_path, monkeypatch, "shortlist = shortlists:Shortlist")
    assert "shortlist" in METHODS
    assert list(METHODS) == [*CLASSES, "shortlist"]
    assert "shortlists" not in sys.modules  # names are known before anything is loaded
    model = jr.fit(LISTS, "shortlist", k=2)
    jr.save(model, tmp_path / "model.json")
    assert jr.load(tmp_path / "model.json") == model
    assert type(model).__module__ == "shortlists"


def test_built_in_names_are_found_without_a_look_at_entry_points() -> None:
    code = "import juryrank, sys; juryrank.method('rrf'); 'rrf' in juryrank.METHODS; print(*sys.modules)"
    done = subprocess.run([sys.executable, "-c", code], capture_output=True, text=True, check=True)
    assert "importlib.metadata" not in done.stdout.split()


def test_an_entry_point_with_a_built_in_name_is_ignored_with_a_warning(tmp_path, monkeypatch) -> None:
    install(tmp_path, monkeypatch, "rrf = shortlists:Shortlist")
    with pytest.warns(JuryrankWarning, match="the method 'rrf' of the package shortlists is ignored: that name"):
        assert list(METHODS) == list(CLASSES)
    assert METHODS["rrf"] is jr.RRF
    with warnings.catch_warnings(record=True) as shown:
        assert completion.methods("rrf") == ["rrf"]
    assert not shown


def test_a_package_that_cannot_be_loaded_does_not_stop_the_others(tmp_path, monkeypatch) -> None:
    install(tmp_path, monkeypatch, "shortlist = shortlists:Shortlist\nbroken = nowhere:Broken")
    with pytest.warns(JuryrankWarning, match="'broken' of the package shortlists cannot be loaded: .*left out"):
        names = [name for name, _ in usable_methods()]
    assert names == [*CLASSES, "shortlist"]
    with pytest.raises(PluginError, match="'broken' of the package shortlists cannot be loaded: ModuleNotFoundError"):
        method("broken")


def test_two_packages_with_one_method_are_an_error(tmp_path, monkeypatch) -> None:
    for package in ("shortlists", "votes"):
        install(tmp_path, monkeypatch, f"shortlist = {package}:Shortlist", package)
    with pytest.raises(PluginError, match=r"several packages have a method 'shortlist': .*shortlists and .*votes"):
        method("shortlist")


@pytest.mark.parametrize(
    ("points", "complaint"),
    [
        ("shortlist = nowhere:Shortlist", "of the package shortlists cannot be loaded: ModuleNotFoundError"),
        ("shortlist = shortlists:Nothing", "of the package shortlists cannot be loaded: AttributeError"),
        ("shortlist = shortlists:np", "a method must be a class that inherits from juryrank.methods.Aggregator"),
        (
            "votes = shortlists:Shortlist",
            "'votes' of the package shortlists has another name in its class: 'short",
        ),
    ],
)
def test_an_entry_point_that_is_no_method_is_an_error(tmp_path, monkeypatch, points: str, complaint: str) -> None:
    install(tmp_path, monkeypatch, points)
    with pytest.raises(PluginError, match=complaint):
        method(points.partition(" ")[0])


@pytest.mark.parametrize(
    ("text", "complaint"),
    [
        (
            TEXT.replace('"shortlist"', '"rrf"'),
            r"my_methods.py: Shortlist: the name 'rrf' is that of a built-in",
        ),
        (TEXT.replace('"shortlist"', '"sum"'), "the name 'sum' is that of a built-in method"),
        (TEXT.replace('"shortlist"', '"My Method"'), "lower-case letters, digits and single hyphens, got 'My Method'"),
        (TEXT.replace('"shortlist"', "7"), "lower-case letters, digits and single hyphens, got 7"),
        (TEXT.replace('    name = "shortlist"\n', ""), "Shortlist: the class has no name"),
        (
            TEXT.replace("@dataclass(kw_only=True)\n", ""),
            r"k is not a parameter yet; add @dataclass\(kw_only=True\) to",
        ),
        ("x = 1\n", "no method in it; a method is a class that inherits from juryrank.methods.Aggregator"),
        ("class Shortlist:\n    name = 'shortlist'\n", "no method in it"),
        ("x = 1\n1 / 0\n", r"my_methods.py:2: ZeroDivisionError: division by zero"),
        ("x = 1\ndef f(:\n", r"my_methods.py:2: SyntaxError"),
        ("import nowhere\n", r"my_methods.py:1: ModuleNotFoundError: No module named 'nowhere'"),
        ("import sys\nsys.exit(3)\n", r"my_methods.py:2: SystemExit: 3"),
    ],
)
def test_a_file_that_is_no_plugin_is_an_error(tmp_path: Path, text: str, complaint: str) -> None:
    with pytest.raises(PluginError, match=complaint):
        load_plugin(plugin(tmp_path, text))
    assert list(METHODS) == list(CLASSES)


def test_a_file_that_does_not_exist_or_is_no_python_file_is_an_error(tmp_path: Path) -> None:
    with pytest.raises(PluginError, match=r"nowhere.py: no such file; a plugin is a Python file with methods"):
        load_plugin(tmp_path / "nowhere.py")
    with pytest.raises(PluginError, match=r"methods.txt: a plugin is a Python file, with the ending .py"):
        load_plugin(plugin(tmp_path, TEXT, "methods.txt"))


def test_two_plugins_with_one_name_are_an_error(tmp_path: Path) -> None:
    load_plugin(plugin(tmp_path))
    with pytest.raises(PluginError, match=r"other.py: .* the name 'shortlist' is that of .*my_methods.py: Shortlist"):
        load_plugin(plugin(tmp_path, TEXT, "other.py"))


@pytest.mark.parametrize("thing", [int, 7, "rrf", jr.RRF(), Aggregator])
def test_what_is_no_method_cannot_be_registered(thing: object) -> None:
    with pytest.raises(PluginError):
        register(thing)  # type: ignore[type-var]


def test_an_unknown_name_is_compared_with_the_names_of_plugins(tmp_path: Path) -> None:
    load_plugin(plugin(tmp_path))
    with pytest.raises(UnknownNameError, match="did you mean 'shortlist'"):
        method("shortlists")


def test_a_registered_method_has_parameters_of_its_own() -> None:
    @dataclass(kw_only=True)
    class Third(jr.RRF):
        name = "third"
        depth: int = param(3, "how deep", at_least=1)

    register(Third)
    assert method("third", depth=5).params()["depth"] == 5


@pytest.mark.parametrize(
    ("second", "message"),
    [("rrf", "the name 'rrf' is that of a built-in method"), ("shortlist", "two methods have the name 'shortlist'")],
)
def test_a_file_with_a_name_that_is_taken_registers_none_of_its_methods(tmp_path, second: str, message: str) -> None:
    (tmp_path / "two.py").write_text(TEXT + f"\nclass Second(Shortlist):\n    name = {second!r}\n")
    with pytest.raises(PluginError, match=message):
        load_plugin(tmp_path / "two.py")
    assert "shortlist" not in METHODS
