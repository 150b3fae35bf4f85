"""``juryrank demo``: complete, and honest."""

import juryrank
from cli.conftest import DEMO, Run
from juryrank.methods import consensus_methods


def test_the_demo_shows_a_question_every_method_and_its_limits(run: Run) -> None:
    shown = run("demo", "--query", "q04")
    assert shown.code == 0
    assert "cake collapsed in the centre" in shown.out
    for name in [*consensus_methods(), *juryrank.read(DEMO).experts]:
        assert f" {name} " in shown.out
    assert "none of them beat chargram" in shown.out
    assert "not a benchmark" in shown.out


def test_the_demo_refuses_a_question_it_does_not_have(run: Run) -> None:
    assert run("demo", "--query", "q99").code == 2
