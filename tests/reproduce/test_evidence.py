"""What is found on the way rests on what it says."""

import numpy as np
from numpy.testing import assert_allclose

from conftest import random_dataset
from juryrank.features.panel import Panel
from juryrank.reproduce.evidence import LibrarySigns, RandomSigns, upside_down


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
