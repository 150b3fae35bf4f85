"""What is found on the way rests on what it says."""

from dataclasses import replace

import numpy as np
from numpy.testing import assert_allclose

import juryrank
from conftest import random_dataset
from juryrank.training.panel import Panel
from studies.papers.evidence import LibrarySigns, RandomSigns, upside_down
from studies.papers.published import LETOR_METRICS, TABLES


def test_a_list_upside_down_has_its_last_item_first():
    r = random_dataset(1).rankings
    turned = upside_down(r)
    for m in range(r.n_lists):
        here = slice(r.entry_ptr[m], r.entry_ptr[m + 1])
        before = dict(zip(r.entry_slot[here], r.entry_rank[here], strict=True))
        after = dict(zip(turned.entry_slot[here], turned.entry_rank[here], strict=True))
        assert {s: max(before.values()) + 1 - rank for s, rank in before.items()} == after
        assert (np.diff(turned.entry_rank[here]) >= 0).all()


def test_only_signs_change():
    r = random_dataset(2, ties=False).rankings
    panel = Panel(r.experts)
    plain = super(RandomSigns, RandomSigns())._values(r, panel)
    for model in (RandomSigns(), LibrarySigns()):
        values = model._values(r, panel)
        assert_allclose(np.abs(values), np.abs(plain))
        assert_allclose(values[:, 0], plain[:, 0])
    assert (RandomSigns()._values(r, panel) != plain).any()


def test_the_published_borda_row_reads_ranks_upside_down(shared_data):
    data = juryrank.read(shared_data / "MQ2008-agg")
    turned = replace(data, rankings=upside_down(data.rankings))
    borda = juryrank.method("borda", missing="mean")
    found = juryrank.compare([borda], turned, list(LETOR_METRICS), convention="letor").means[0]
    theirs = np.array(TABLES["MQ2008-agg"]["borda"].values, float)
    given = ~np.isnan(theirs)
    assert given.sum() == 3
    assert_allclose(100 * found[given], theirs[given], atol=0.006)


def test_rrf_has_its_published_row(shared_data):
    data = juryrank.read(shared_data / "MQ2008-agg")
    found = juryrank.compare(["rrf"], data, list(LETOR_METRICS), convention="letor").means[0]
    assert_allclose(100 * found, TABLES["MQ2008-agg"]["rrf"].values, atol=0.02)
