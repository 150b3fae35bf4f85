"""``import juryrank`` and the catalogue of methods cost nothing: looked at in a fresh process."""

import subprocess
import sys
from pathlib import Path

import pytest

from conftest import random_dataset
from juryrank.methods import method
from juryrank.models import save

HEAVY = {"polars", "scipy", "sklearn", "pandas", "pyarrow", "rich"}


def loaded_after(code: str) -> set[str]:
    show = "\nimport sys; print(*{name.partition('.')[0] for name in sys.modules})"
    done = subprocess.run([sys.executable, "-c", code + show], capture_output=True, text=True, check=True)
    return set(done.stdout.split())


def test_importing_juryrank_loads_only_the_standard_library() -> None:
    added = loaded_after("import juryrank; dir(juryrank)") - loaded_after("pass")
    assert added - sys.stdlib_module_names == {"juryrank"}


@pytest.mark.parametrize("name", ["METHODS", "METRICS", "method('rrf')", "Dataset", "read", "fuse", "RRF"])
def test_a_public_name_does_not_load_the_heavy_libraries(name: str) -> None:
    assert not HEAVY & loaded_after(f"import juryrank; juryrank.{name}")


def test_the_command_line_shows_its_help_without_the_heavy_libraries() -> None:
    code = "import juryrank.cli; import typer.testing; typer.testing.CliRunner().invoke(juryrank.cli.app, ['--help'])"
    assert not (HEAVY - {"rich"}) & loaded_after(code)


def test_fusing_one_query_does_not_load_polars() -> None:
    code = "import juryrank; juryrank.fuse({'a': {'x': 2.0, 'y': 1.0}, 'b': {'y': 3.0}})"
    assert not {"polars", "scipy"} & loaded_after(code)


def test_serving_a_saved_model_does_not_load_polars(tmp_path: Path) -> None:
    path = tmp_path / "model.json"
    save(method("jury").fit(random_dataset(0)), path)
    code = f"import juryrank; juryrank.fuse({{'e0': ['x', 'y'], 'e1': {{'y': 2.0}}}}, model={str(path)!r})"
    assert not {"polars", "scipy"} & loaded_after(code)


SHAPES = """
import warnings, sys, juryrank
warnings.simplefilter("ignore")
scored = {"a": {"x": 2.0, "y": 1.0, "z": float("nan")}, "e0": {"y": 3.0, "w": 3.0}}
shapes = lambda: {
    "scores": scored,
    "pairs": {e: list(of.items()) for e, of in scored.items()},
    "repeated pairs": {e: [*of.items(), ("y", 7.0)] for e, of in scored.items()},
    "generators": {e: iter(of.items()) for e, of in scored.items()},
    "repeated ids": {e: [*of, "y"] for e, of in scored.items()},
    "records": {e: [{"id": i, "score": s} for i, s in of.items()] for e, of in scored.items()},
    "scores and an order": {**scored, "c": ["y", "x"]},
    "ties": {"a": {"x": 1.0, "y": 1.0}},
    "many queries": {"a": {"q": ["x", "y"], "r": {"x": 2.0, "y": float("nan")}}, "e0": {"q": [("y", 1.0), ("y", 2.0)]}},
}
ranks = {"a": {"x": 1, "y": 9}, "e0": [("y", 2.5), ("w", 2.5)], "c": ["x", "x"]}
"""


@pytest.mark.parametrize("norm", ["min-max", "max", "sum", "z-score", "rank", "borda", "dbsf", "none"])
def test_no_ordinary_list_makes_a_combination_of_scores_build_a_dataset(norm: str) -> None:
    code = f"""
for name in ("combsum", "combmnz", "combgmnz", "combanz", "combmax", "combmin", "combmed"):
    for lists in shapes().values():
        assert juryrank.Fuser(name, norm={norm!r})(lists)
"""
    assert not {"polars", "scipy"} & loaded_after(SHAPES + code)


def test_no_ordinary_list_makes_a_sum_of_points_build_a_dataset(tmp_path: Path) -> None:
    path = tmp_path / "model.json"
    save(method("jury").fit(random_dataset(0)), path)
    code = f"""
for fuser in (juryrank.Fuser("rrf"), juryrank.Fuser("rrf", ranks="dense"), juryrank.Fuser({str(path)!r})):
    for lists in shapes().values():
        assert fuser(lists)
"""
    assert not {"polars", "scipy"} & loaded_after(SHAPES + code)


@pytest.mark.parametrize("missing", ["ignore", "last", "mean"])
def test_no_ordinary_list_makes_a_method_by_rank_build_a_dataset(missing: str) -> None:
    code = f"""
params = {{"missing": {missing!r}, "weights": {{"a": 2.0}}}}
fusers = [juryrank.Fuser(name, **params) for name in ("borda", "isr", "log-isr", "mean-rank", "median-rank", "rbc")]
fusers += [juryrank.Fuser("rrf", dialect=dialect, **params) for dialect in ("haystack", "langchain", "qdrant")]
fusers += [juryrank.Fuser("majority-vote"), juryrank.Fuser("majority-vote", missing="last"), juryrank.Fuser("combsum")]
for fuser in fusers:
    assert fuser(ranks, values="rank")
    for lists in shapes().values():
        assert fuser(lists)
"""
    assert not {"polars", "scipy"} & loaded_after(SHAPES + code)
