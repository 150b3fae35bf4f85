"""Claims of the README and of the front page that code can check."""

import importlib.util
import re
from pathlib import Path

import pytest

from juryrank.cli.demo import LEARNED, METRIC, Result, best_system, measure, read_demo
from juryrank.evaluation import compare
from juryrank.evaluation.significance import half_width, randomisation
from juryrank.methods import consensus_methods

ROOT = Path(__file__).parents[1]
README = (ROOT / "README.md").read_text()
COUNTED = {54: "Fifty-four"}  # the word of the README; another number needs another word


@pytest.fixture(scope="module")
def results() -> list[Result]:
    """The means are checked against trec_eval in tests/cli/test_demo.py."""
    return measure(read_demo())


def test_the_readme_counts_the_consensus_methods() -> None:
    word = COUNTED[len(consensus_methods())]
    assert f"**{word} consensus methods**" in README
    assert f"{word.lower()} consensus methods" in (ROOT / "pyproject.toml").read_text()


def test_the_table_of_the_readme_has_the_numbers_of_the_demo(results: list[Result]) -> None:
    rows = {row.name: row for row in results}
    stated = {"best single system": best_system(results), "RRF of all": rows["rrf"], "`jury` of all": rows[LEARNED]}
    for start, row in stated.items():
        low, high = row.interval
        numbers = f"{row.mean:.3f} | {low:.3f} – {high:.3f} |"
        assert re.search(rf"^\| {start}.* {re.escape(numbers)}$", README, re.MULTILINE), numbers


def test_the_gain_over_rrf_that_the_readme_states_is_that_of_the_demo(results: list[Result]) -> None:
    rows = {row.name: row for row in results}
    gain = rows[LEARNED].values - rows["rrf"].values
    low, high = gain.mean() - half_width(gain), gain.mean() + half_width(gain)
    claim = f"gains {gain.mean():.3f} over RRF (95 % interval {low:.3f} to {high:.3f}, p = {randomisation(gain):.3f})"
    assert claim in README


def test_the_readme_states_how_much_the_folds_matter() -> None:
    data = read_demo()
    means = [compare([LEARNED], data, METRIC, folds=5, seed=seed).mean(LEARNED, METRIC) for seed in range(20)]
    claim = f"with twenty random seeds for the folds, its nDCG@10 is between {min(means):.3f} and {max(means):.3f}."
    assert claim in " ".join(README.split())


def test_the_front_page_states_the_means_of_the_demo(results: list[Result]) -> None:
    rows = {row.name: row for row in results}
    page = " ".join((ROOT / "docs" / "index.md").read_text().split())
    assert f"best single system reaches {best_system(results).mean:.3f}; RRF" in page
    assert f"no judgements, {rows['rrf'].mean:.3f}; and `jury`" in page
    assert f"(five-fold cross-validation), {rows[LEARNED].mean:.3f}." in page


def test_the_picture_is_drawn_from_the_demo(results: list[Result]) -> None:
    spec = importlib.util.spec_from_file_location("picture", ROOT / "docs" / "picture.py")
    assert spec is not None
    assert spec.loader is not None
    picture = importlib.util.module_from_spec(spec)
    spec.loader.exec_module(picture)
    number = re.compile(r"\d+\.\d+")
    drawn, stored = picture.draw(results), (ROOT / "docs" / "demo.svg").read_text()
    assert number.sub("", drawn) == number.sub("", stored)
    # A tenth of a pixel may differ between machines.
    assert [*map(float, number.findall(stored))] == pytest.approx([*map(float, number.findall(drawn))], abs=0.11)
    for row in results:
        assert f">{row.mean:.3f}</text>" in stored
