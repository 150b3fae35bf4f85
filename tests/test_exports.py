"""Catalogue = package = ``__all__``: nothing is forgotten, nothing is there twice."""

import importlib
import inspect
from abc import ABC
from pathlib import Path
from types import ModuleType

import pytest

import juryrank
import juryrank.methods
import juryrank.metrics
from juryrank.methods import ALIASES, METHODS, Aggregator
from juryrank.metrics import METRICS, Metric
from stubs import stub


def concrete_classes(package: ModuleType, base: type) -> set[type]:
    """Every class below ``base`` that a file of the package defines and that can be made."""
    folder = Path(inspect.getfile(package)).parent
    found = set()
    for file in folder.rglob("*.py"):
        path = file.relative_to(folder).with_suffix("").parts
        module = importlib.import_module(".".join((package.__name__, *(part for part in path if part != "__init__"))))
        for cls in vars(module).values():
            if inspect.isclass(cls) and issubclass(cls, base) and not inspect.isabstract(cls) and cls is not base:
                found.add(cls)
    return {cls for cls in found if cls.__module__.startswith(package.__name__) and ABC not in cls.__bases__}


@pytest.mark.parametrize(
    ("package", "catalogue", "base"),
    [(juryrank.methods, METHODS, Aggregator), (juryrank.metrics, METRICS, Metric)],
    ids=["methods", "metrics"],
)
class TestCatalogues:
    def test_the_catalogue_holds_every_class_of_the_package(self, package, catalogue, base) -> None:
        assert set(catalogue.values()) == concrete_classes(package, base)

    def test_every_class_of_the_catalogue_is_exported(self, package, catalogue, base) -> None:
        assert [cls for cls in catalogue.values() if getattr(package, cls.__name__, None) is not cls] == []

    def test_every_exported_name_exists(self, package, catalogue, base) -> None:
        assert [name for name in getattr(package, "__all__", dir(package)) if not hasattr(package, name)] == []

    def test_the_catalogue_is_sorted(self, package, catalogue, base) -> None:
        classes = [cls.__name__ for cls in catalogue.values()]
        assert classes == sorted(classes, key=str.lower)

    def test_every_entry_has_a_first_line_that_is_one_sentence(self, package, catalogue, base) -> None:
        first = {name: (cls.__doc__ or "").partition("\n")[0] for name, cls in catalogue.items()}
        assert {name: line for name, line in first.items() if not (line.endswith(".") and len(line) < 120)} == {}


def test_a_method_is_found_under_its_own_name_and_file() -> None:
    files = {name: cls.__module__.rpartition(".")[2] for name, cls in METHODS.items()}
    assert files == {name: name.replace("-", "_") for name in METHODS}


def test_every_alias_leads_to_a_method() -> None:
    for alias, (meant, preset) in ALIASES.items():
        made = juryrank.method(alias)
        assert (made.name, {name: made.params()[name] for name in preset}) == (meant, preset)
    assert not set(ALIASES) & set(METHODS)


# fmt: off
PUBLIC = [
    "METHODS", "METRICS", "Consensus", "DataWarning", "Dataset", "Fuser", "JuryrankError", "Labels", "Rankings",
    "agreement", "click_labels", "combine_judgements", "crowd", "election", "elections",
    "compare", "evaluate", "explain", "export", "fit", "from_array", "from_dicts", "from_orders", "from_pairs", "fuse",
    "judging_advice", "judging_plan", "leaderboard", "load", "method", "parse_metric", "rank_files", "read", "save",
    "read_clicks", "write",
    "Exploration", "InterleavingTest", "interleave",
    "AsyncClient", "Client",
    "compare_files", "convert_files", "evaluate_files", "fit_files",
    "verdict",
]
PUBLIC_METHODS = [
    "Auto", "Blend", "Boosted", "Borda", "BordaFuse", "BradleyTerry", "CPS", "CRF", "CombANZ", "CombGMNZ", "CombMAX",
    "CombMED", "CombMIN", "CombMNZ", "CombSUM", "Condorcet", "Convex", "Copeland", "CrowdBT", "Dowdall", "Elo",
    "GeneralisedMallows", "HodgeRank", "ISR", "Jury", "Kemeny", "Kernel", "LambdaRank", "LogISR", "MC1", "MC2", "MC3",
    "MC4", "MPM", "MajorityVote", "Mallows", "MeanRank", "MedianRank", "MonotoneRetargeting", "Outranking",
    "PlackettLuce", "PlackettLuceGamma", "RBC", "RRA", "RRF", "RankCentrality", "Retargeting", "Ridge", "SVDLambdaRank",
    "SVP", "SupervisedBorda", "SupervisedMC1", "SupervisedMC2", "SupervisedMC3", "SupervisedMC4", "ThetaCPS",
    "ThetaMPM", "Thurstone", "TrueSkill", "TunedRRF", "WengLin",
]
# fmt: on


def test_the_public_names_are_those_written_here_and_the_classes_of_methods() -> None:
    classes = {cls.__name__ for cls in METHODS.values()}
    assert juryrank.__all__ == dir(juryrank) == sorted([*PUBLIC, *classes])
    assert classes >= set(PUBLIC_METHODS)  # a new method need not be written here, but none disappears


def test_the_classes_of_the_catalogue_are_public() -> None:
    assert {name: getattr(juryrank, cls.__name__) for name, cls in METHODS.items()} == dict(METHODS)


def test_the_stub_is_made_from_the_table() -> None:
    assert Path(juryrank.__file__).with_suffix(".pyi").read_text() == stub(), "run make stubs"


def test_a_star_import_gives_every_public_name() -> None:
    names: dict[str, object] = {}
    exec("from juryrank import *", names)
    assert set(juryrank.__all__) <= names.keys()


def test_every_public_name_can_be_had() -> None:
    assert [name for name in juryrank.__all__ if getattr(juryrank, name, None) is None] == []


def test_an_unknown_name_is_an_attribute_error() -> None:
    with pytest.raises(AttributeError, match="no attribute 'nonsense'"):
        _ = juryrank.nonsense


def test_no_module_has_the_name_of_a_public_function() -> None:
    folder = Path(juryrank.__file__).parent
    assert not set(juryrank.__all__) & {path.stem for path in folder.iterdir()}


def test_the_version_is_that_of_the_installed_package() -> None:
    assert juryrank.__version__ == importlib.metadata.version("juryrank")
