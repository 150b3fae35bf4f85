"""The study of a crowd reads what the track has, and shows what it is there to show."""

import numpy as np
import pytest

from studies.papers import crowd


@pytest.fixture(scope="module")
def judgements(shared_data):
    return crowd.read_crowd(shared_data / "trec2011-crowd" / "trec-rf10-data.txt.gz")


def test_the_judgements_are_those_of_the_track(judgements):
    assert len(judgements) == 100
    assert judgements.rankings.n_slots == 19_033
    assert len(judgements.experts) == 762
    assert len(judgements.labels.label_value) == 3_275


def test_what_is_said_about_pages_without_a_label_can_be_left_out(judgements):
    some = judgements[:5]
    only = crowd.labelled(some)
    said = np.bincount(only.rankings.entry_slot, minlength=only.rankings.n_slots) > 0
    assert only.rankings.n_slots == some.rankings.n_slots
    assert not np.isnan(only.slot_labels[said]).any()
    assert only.rankings.n_entries == int((~np.isnan(some.slot_labels)[some.rankings.entry_slot]).sum())


def test_the_learned_hybrid_beats_majority_vote_and_consensus(judgements):
    trials = {name: crowd.TRIALS[name] for name in ("majority-vote", "condorcet", "jury hybrid")}
    found = crowd.study(judgements, trials)
    best = found.means("jury hybrid")
    assert best[9] > found.means("majority-vote")[9] + 1
    assert found.lead("jury hybrid", "majority-vote").clear
    assert (best > found.means("condorcet")).all()
