"""``--plugin FILE``: methods of one's own on the command line."""

from pathlib import Path

import pytest

from cli.conftest import Run, items
from juryrank.methods import PLUGINS

REVERSED = '''
from juryrank import RRF

class Reversed(RRF):
    """Reversed: the worst first."""

    name = "reversed"

    def _scores(self, rankings, out):
        super()._scores(rankings, out)
        out *= -1
'''


@pytest.fixture(autouse=True)
def _nothing_registered(monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setattr(PLUGINS, "registered", {})


@pytest.fixture
def plugin(tmp_path: Path) -> Path:
    path = tmp_path / "my_methods.py"
    path.write_text(REVERSED)
    return path


@pytest.fixture
def ranked(run: Run, runs: list[Path]) -> dict[str, list[str]]:
    return {query: found[::-1] for query, found in items(run("rank", *runs, "--method", "rrf").out).items()}


def test_rank_takes_a_plugin_anywhere(run: Run, runs: list[Path], plugin: Path, ranked: dict[str, list[str]]) -> None:
    for args in (
        ("rank", *runs, "--plugin", plugin, "--method", "reversed"),
        ("rank", "--method", "reversed", *runs, "--plugin", plugin),
        ("--plugin", plugin, "rank", *runs, "--method", "reversed"),
        ("fuse", *runs, "--method", "reversed", "--plugin", plugin, "-p", "k=60"),
    ):
        PLUGINS.registered.clear()
        done = run(*args)
        assert (done.code, items(done.out)) == (0, ranked), done.err


def test_a_model_of_a_plugin_is_fitted_and_used(
    run: Run, runs: list[Path], plugin: Path, tmp_path: Path, ranked: dict[str, list[str]]
) -> None:
    model = tmp_path / "model.json"
    assert run("fit", *runs, "--method", "reversed", "--plugin", plugin, "-o", model).code == 0
    PLUGINS.registered.clear()
    missing = run("rank", *runs, "--model", model)
    assert missing.code == 1
    assert "model of method 'reversed', which this installation does not have; give --plugin FILE" in missing.err
    assert items(run("rank", *runs, "--model", model, "--plugin", plugin).out) == ranked
    for command in (("explain", model), ("export", model, "--to", "csv", "--depth", "3")):
        PLUGINS.registered.clear()
        assert run(*command, "--plugin", plugin).code == 0


def test_methods_and_compare_know_the_plugin(run: Run, runs: list[Path], qrels: Path, plugin: Path) -> None:
    assert "reversed" in run("methods", "--plugin", plugin).out
    PLUGINS.registered.clear()
    assert "Reversed: the worst first." in run("methods", "reversed", "--plugin", plugin).out
    PLUGINS.registered.clear()
    args = ("compare", *runs, "--labels", qrels, "--methods", "reversed:k=10,rrf", "--folds", "2", "--plugin", plugin)
    done = run(*args, "-q")
    assert done.code == 0, done.err
    assert "reversed:k=10" in done.out


def test_a_plugin_that_cannot_be_used_is_an_error(run: Run, runs: list[Path], plugin: Path) -> None:
    plugin.write_text("1 / 0\n")
    failed = run("rank", *runs, "--plugin", plugin, "--method", "reversed")
    assert failed.code == 1
    assert failed.err == f"error: {plugin}:1: ZeroDivisionError: division by zero\n"
    failed = run("rank", *runs, "--plugin", plugin.with_name("none.py"), "--method", "reversed")
    assert failed.code == 1
    assert "none.py: no such file" in failed.err


def test_the_shell_completes_methods_of_a_plugin(run: Run, plugin: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    words = f"juryrank rank x.run --plugin {plugin} --method rev"
    monkeypatch.setenv("_JURYRANK_COMPLETE", "complete_bash")
    monkeypatch.setenv("COMP_WORDS", words)
    monkeypatch.setenv("COMP_CWORD", str(len(words.split(" ")) - 1))
    assert run().out.split() == ["reversed"]
    PLUGINS.registered.clear()
    plugin.write_text("1 / 0\n")
    assert (run().out, run().err) == ("\n", "")
