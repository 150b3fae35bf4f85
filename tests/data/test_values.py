"""What the numbers of a list are: ranks that are no ranks are refused, distances are scores turned round."""

import numpy as np
import pandas as pd
import pytest

from juryrank import Exploration, Fuser, from_array, from_dicts, fuse, method, read
from juryrank.errors import DataError, DataWarning

DISTANCES = {"a": {"q1": {"x": 0.13, "y": 0.42, "z": 0.91}}, "b": {"q1": {"z": 12.5, "x": 3.0}}}
NEGATED = {expert: {q: {i: -v for i, v in of.items()} for q, of in by.items()} for expert, by in DISTANCES.items()}
FLAT = {expert: by["q1"] for expert, by in DISTANCES.items()}
FLAT_NEGATED = {expert: by["q1"] for expert, by in NEGATED.items()}
REMEDIES = r"scores \(large is best\): values='score'; .* small is best: values='distance'"


@pytest.mark.parametrize(
    "ranks", [[0.91, 0.42, 0.13], [1.3, 2.0, 3.0], [1.0, 2.5, 4.0], [0.0, 1.0, 2.0], [-1.0, 2.0, 3.0]]
)
def test_numbers_that_are_no_ranks_are_refused_with_both_remedies(ranks):
    with pytest.raises(DataError, match=REMEDIES):
        from_array(np.array([ranks]))
    listed = dict(zip("xyz", ranks, strict=True))
    with pytest.raises(DataError, match=REMEDIES):
        from_dicts({"e": {"q": listed}}, values="rank")
    for name in ("rrf", "combsum", "kemeny"):
        with pytest.raises(DataError, match=REMEDIES):
            fuse({"e": listed}, name, values="rank")
    frame = pd.DataFrame({"item": list("xyz"), "expert": "e", "error": ranks})
    with (
        pytest.warns(
            DataWarning, match=r"read as ranks \(1 is best\); if small is best, use columns={'distance': 'error'}"
        ),
        pytest.raises(DataError, match=r"columns={'score': 'error'}; .* columns={'distance': 'error'}"),
    ):
        read(frame, columns={"rank": "error"})


def test_ranks_with_gaps_and_mean_ranks_of_ties_are_ranks():
    data = from_array(np.array([[1, 2.5, 2.5, 4], [3, 7, np.nan, 7]]))
    assert data.rankings.entry_rank.tolist() == [1, 2.5, 2.5, 4, 3, 7, 7]
    assert list(fuse({"e": {"x": 1, "y": 2.5, "z": 2.5}}, values="rank")) == ["x", "y", "z"]


@pytest.mark.parametrize("name", ["rrf", "borda", "mean-rank", "combsum", "combmnz", "kemeny"])
def test_distances_order_as_their_negated_numbers_do(name):
    expected = from_dicts(NEGATED)
    found = from_dicts(DISTANCES, values="distance")
    model = method(name)
    assert model.fit_predict(found).to_dict() == model.fit_predict(expected).to_dict()
    assert fuse(DISTANCES, name, values="distance") == fuse(NEGATED, name)
    assert fuse(FLAT, name, values="distance") == fuse(FLAT_NEGATED, name)
    assert read(DISTANCES, values="distance").rankings.entry_score.tolist() == expected.rankings.entry_score.tolist()


def test_a_fuser_takes_distances_wherever_it_takes_scores():
    fuser = Fuser("combsum")
    assert fuser.detailed(FLAT, values="distance") == fuser.detailed(FLAT_NEGATED)
    shown = fuser.explored(FLAT, request="r", values="distance")
    assert shown.ranking == fuser.explored(FLAT_NEGATED, request="r").ranking
    exploring = Fuser("rrf", explore=Exploration(spread=0.5))
    assert exploring(FLAT, request="r", values="distance") == exploring(FLAT_NEGATED, request="r")
    assert exploring.explored(FLAT, request="r", values="distance") == exploring.explored(FLAT_NEGATED, request="r")
    hits = [{"id": "x", "score": 0.1}, {"id": "y", "score": 0.7}]
    assert list(fuser({"e": hits}, values="distance")) == ["x", "y"]


def test_an_array_of_scores_or_distances():
    numbers = np.array([[0.91, 0.42, 0.13], [0.5, np.nan, 0.7]])
    scores, distances = from_array(numbers, values="score"), from_array(numbers, values="distance")
    assert scores.rankings.entry_slot.tolist() == [0, 1, 2, 5 - 3, 0]
    assert distances.rankings.entry_slot.tolist() == [2, 1, 0, 0, 2]
    assert distances.rankings.entry_score.tolist() == [-0.13, -0.42, -0.91, -0.5, -0.7]
    with pytest.raises(DataError, match="values must be 'score', 'rank' or 'distance', got 'scores'"):
        from_array(numbers, values="scores")


def long_frame(header):
    rows = [(q, item, expert, v) for expert, by in DISTANCES.items() for q, of in by.items() for item, v in of.items()]
    return pd.DataFrame(rows, columns=["query", "item", "expert", header])


@pytest.mark.parametrize(
    ("header", "options"),
    [
        ("distance", {}),
        ("Distance", {"values": "distance"}),
        ("l2", {"columns": {"distance": "l2"}}),
        ("value", {"values": "distance"}),
        ("score", {"columns": {"distance": "score"}}),
    ],
)
@pytest.mark.parametrize("ending", ["", ".csv", ".parquet", ".ndjson"])
def test_a_column_of_distances(tmp_path, header, options, ending):
    source = long_frame(header)
    if ending:
        path = tmp_path / f"some{ending}"
        if ending == ".csv":
            source.to_csv(path, index=False)
        elif ending == ".parquet":
            source.to_parquet(path, index=False)
        else:
            source.to_json(path, orient="records", lines=True)
        source = path
    found, expected = read(source, **options).rankings, from_dicts(NEGATED).rankings
    for name in ("entry_slot", "entry_rank", "entry_score"):
        assert getattr(found, name).tolist() == getattr(expected, name).tolist()


def test_a_column_of_distances_for_each_expert():
    wide = pd.DataFrame({"query": "q1", "item": ["x", "y", "z"], "a": [0.13, 0.42, 0.91], "b": [3.0, np.nan, 12.5]})
    found = read(wide, columns={"expert": ["a", "b"]}, values="distance").rankings
    assert found.entry_score.tolist() == from_dicts(NEGATED).rankings.entry_score.tolist()


def test_a_column_of_distances_beside_others_is_used_when_it_is_named():
    frame = long_frame("distance").assign(rank=[1, 2, 3, 2, 1])
    with pytest.warns(DataWarning, match="1 column is not used: 'distance'"):
        assert read(frame).rankings.entry_score is None
    with pytest.raises(
        DataError, match=r"scores or by distances, .*; to use the distances, add columns={'score': None}"
    ):
        read(long_frame("distance").assign(score=1.0), columns={"distance": "distance"})


def test_a_header_that_says_small_is_best_is_not_taken_for_a_score_without_a_word():
    frame = long_frame("distance")
    with pytest.warns(
        DataWarning, match=r"'distance' is read as scores \(large is best\); .*columns={'distance': 'distance'}"
    ):
        read(frame, columns={"score": "distance"})
