"""The TAB key of a shell, by the protocol that its scripts speak."""

import pytest

from cli.conftest import Run
from juryrank.cli import completion
from juryrank.methods import METHODS
from juryrank.metrics import parse_metric


def offered(run: Run, monkeypatch: pytest.MonkeyPatch, words: str) -> list[str]:
    """What bash is offered for the last of these words."""
    monkeypatch.setenv("_JURYRANK_COMPLETE", "complete_bash")
    monkeypatch.setenv("COMP_WORDS", words)
    monkeypatch.setenv("COMP_CWORD", str(len(words.split(" ")) - 1))
    return run().out.split()


@pytest.mark.parametrize(
    "words",
    ["juryrank rank x.run --method ", "juryrank fuse x.run --method ", "juryrank fit x.run --method ",
     "juryrank leaderboard x.csv --method ", "juryrank methods ", "juryrank compare x.csv --methods ",
     "juryrank election x.csv --rules "],
)  # fmt: skip
def test_methods_are_completed(run: Run, monkeypatch: pytest.MonkeyPatch, words: str) -> None:
    assert offered(run, monkeypatch, words) == list(METHODS)
    assert offered(run, monkeypatch, f"{words}comb") == [name for name in METHODS if name.startswith("comb")]
    assert offered(run, monkeypatch, f"{words}nothing-like-that") == []


def test_a_list_of_methods_is_completed_at_its_end(run: Run, monkeypatch: pytest.MonkeyPatch) -> None:
    given = offered(run, monkeypatch, "juryrank compare x.csv --methods rrf,mc1,mc")
    assert given == ["rrf,mc1,mc2", "rrf,mc1,mc3", "rrf,mc1,mc4"]


@pytest.mark.parametrize("command", ["evaluate", "compare", "explain"])
def test_metrics_are_completed(run: Run, monkeypatch: pytest.MonkeyPatch, command: str) -> None:
    given = offered(run, monkeypatch, f"juryrank {command} x -m n")
    assert {"nDCG", "nDCG@10", "ndcg_cut_10"} <= set(given)
    assert {"P@10", "P_10"} <= set(offered(run, monkeypatch, f"juryrank {command} x --metric P"))


def test_every_metric_that_is_offered_is_one() -> None:
    every = completion.metrics("")
    assert len(set(every)) == len(every)
    assert all(parse_metric(name) for name in every)


def test_formats_and_conventions_are_completed(run: Run, monkeypatch: pytest.MonkeyPatch) -> None:
    assert offered(run, monkeypatch, "juryrank evaluate x --format l") == ["latex"]
    assert offered(run, monkeypatch, "juryrank evaluate x --convention l") == ["letor"]
