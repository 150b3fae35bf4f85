"""The story of the studio: a simulated judge goes the whole way, and the numbers are those of the library."""

import json

import pytest

from juryrank.errors import DataError
from studies.studio_story import RRF, interval, tell


def test_a_simulated_judge_gets_a_model_out_of_the_studio(shared_data) -> None:
    pytest.importorskip("fastapi", reason="the studio needs the extra serve")
    story = tell(folder=shared_data, most=12)
    assert story.judgements == 12
    assert story.topics == story.held_out == 15
    assert {RRF, "model of 12 judgements", "model of all labels", *story.experts} == set(story.values)
    assert all(0 < value < 1 for value in story.values.values())
    assert story.gains["model of all labels"][0] == pytest.approx(
        story.values["model of all labels"] - story.values[RRF]
    )
    assert json.loads(story.render("json"))["judgements"] == 12


def test_runs_that_are_not_there_are_named(tmp_path) -> None:
    with pytest.raises(DataError, match=r"has no x\.gz"):
        tell(("x",), tmp_path)


def test_the_interval_is_that_of_the_t_distribution() -> None:
    from numpy import array

    mean, low, high = interval(array([1.0, 2.0, 3.0]))
    assert (mean, high - mean) == pytest.approx((2.0, 4.302652729911275 / 3**0.5))  # t(0.975; 2), from a table
    assert low == pytest.approx(2 * mean - high)
