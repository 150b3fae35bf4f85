"""The study of a crowd reads what the track has, and shows what it is there to show."""

import numpy as np
import polars as pl
import pytest

import juryrank as jr
from studies.papers import crowd


@pytest.fixture(scope="module")
def judgements(shared_data):
    return crowd.read_crowd(shared_data / "trec2011-crowd" / "trec-rf10-data.txt.gz")


def test_the_judgements_are_those_of_the_track(judgements):
    assert len(judgements) == 100
    assert judgements.rankings.n_slots == 19_033
    assert len(judgements.experts) == 762
    assert len(judgements.labels.label_value) == 3_275


def test_gold_labels_of_each_kind_can_be_left_out_as_many_as_the_paper_lacks(shared_data):
    fewer, other = (crowd.read_crowd(shared_data / crowd.FILE, 500, seed).labels for seed in (0, 1))
    values, counts = np.unique(fewer.label_value, return_counts=True)
    assert dict(zip(values.tolist(), counts.tolist(), strict=True)) == {0.0: 1000, 1.0: 1275}  # those of the paper
    assert not np.array_equal(fewer.label_item, other.label_item)


def test_what_is_said_about_pages_without_a_label_can_be_left_out(judgements):
    some = judgements[:5]
    only = crowd.labelled(some)
    said = np.bincount(only.rankings.entry_slot, minlength=only.rankings.n_slots) > 0
    assert only.rankings.n_slots == some.rankings.n_slots
    assert not np.isnan(only.slot_labels[said]).any()
    assert only.rankings.n_entries == int((~np.isnan(some.slot_labels)[some.rankings.entry_slot]).sum())


def test_around_twenty_workers_have_features_of_their_own_as_printed(judgements):
    orders = crowd.orders_of(len(judgements), 5)
    assert [len(crowd.frequent(judgements, order)) for order in orders] == [20, 22, 20, 21, 24]
    assert [len(crowd.frequent(judgements, order, "pairs")) for order in orders] == [56, 59, 61, 58, 61]


def test_judgements_and_ordered_pairs_are_counted_one_by_one():
    data = votes(3)
    r = data.rankings
    made, ordered = dict.fromkeys(r.experts, 0), dict.fromkeys(r.experts, 0)
    for m, worker in enumerate(r.list_expert):
        said = r.entry_score[r.entry_ptr[m] : r.entry_ptr[m + 1]]
        made[r.experts[worker]] += len(said)
        ordered[r.experts[worker]] += sum(bool(a > b) for a in said for b in said)
    assert dict(zip(r.experts, crowd.counted(data, "judgements"), strict=True)) == made
    assert dict(zip(r.experts, crowd.counted(data, "pairs"), strict=True)) == ordered


def test_all_other_workers_are_one_expert_whose_lists_stay_as_they_are():
    data = votes(4)
    named = [data.experts[2], data.experts[0]]
    seen = crowd.pooled(data, named)
    assert seen.experts == (*named, "all others")
    before, after = (np.array(d.experts)[d.rankings.list_expert] for d in (data, seen))
    assert after.tolist() == [name if name in named else "all others" for name in before]
    np.testing.assert_array_equal(seen.rankings.entry_slot, data.rankings.entry_slot)


def test_pooled_workers_are_one_matrix_as_those_that_share_weights():
    data = votes(5)
    params = {"unjudged": "ignore", "form": "binary", "singular_values": True, "epochs": 5}
    shared = jr.method("svd-lambdarank", experts="shared", **params).fit(data)
    alone = jr.method("svd-lambdarank", **params).fit(crowd.pooled(data, []))
    one, other = (next(iter(model.expert_weights().values())) for model in (shared, alone))
    assert one.keys() == other.keys()
    before, after = shared.predict(data).scores, alone.predict(crowd.pooled(data, [])).scores
    assert np.corrcoef(before, after)[0, 1] > 0.999  # initial weights are other random numbers


def votes(seed):
    """Judgements of some workers of the items of eight queries, with gold labels of all items."""
    rng = np.random.default_rng(seed)
    rows = [
        {"query": f"q{q}", "expert": f"w{w}", "item": f"d{i}", "score": score, "rank": 1.0 if score else 6.0}
        for q in range(8)
        for w in range(4)
        for i in range(6)
        if rng.random() < 0.7
        for score in [float(rng.random() < 0.5)]
    ]
    labels = [{"query": f"q{q}", "item": f"d{i}", "label": float(i % 2)} for q in range(8) for i in range(6)]
    return jr.read(pl.DataFrame(rows), labels=pl.DataFrame(labels))


def test_the_learned_hybrid_beats_majority_vote_and_consensus(judgements):
    hybrid = "jury hybrid, 500 pairs"
    trials = {name: crowd.TRIALS[name] for name in ("majority-vote", "condorcet", hybrid)}
    found = crowd.study(judgements, trials)
    best = found.means(hybrid)
    assert best[9] > found.means("majority-vote")[9] + 1
    assert found.lead(hybrid, "majority-vote").clear
    assert (best > found.means("condorcet")).all()
