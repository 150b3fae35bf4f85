"""``juryrank demo``: complete, and honest."""

import juryrank
from cli.conftest import DEMO, Run
from juryrank.cli.demo import CONSENSUS, LEARNED


def test_the_demo_shows_a_question_its_methods_and_their_limits(run: Run) -> None:
    shown = run("demo", "--query", "q04")
    assert shown.code == 0
    assert "cake collapsed in the centre" in shown.out
    for name in [*CONSENSUS, LEARNED, *juryrank.read(DEMO).experts]:
        assert f" {name} " in shown.out
    assert "above 10 of the 10 methods that use no labels" in shown.out
    assert "best single expert is chargram" in shown.out
    assert "not a benchmark" in shown.out


def test_the_demo_refuses_a_question_it_does_not_have(run: Run) -> None:
    assert run("demo", "--query", "q99").code == 2
