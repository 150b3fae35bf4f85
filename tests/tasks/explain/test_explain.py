"""Explanations: what each expert adds, whom a model can do without, who agrees with whom."""

import csv
import json
import xml.etree.ElementTree as ElementTree
from html.parser import HTMLParser
from itertools import combinations, pairwise, product
from pathlib import Path

import numpy as np
import polars as pl
import pytest
from numpy.testing import assert_allclose, assert_array_equal

import juryrank
from conftest import random_dataset, suited
from juryrank.data.build import from_dicts
from juryrank.data.long_table import from_long
from juryrank.errors import DataError, MissingExtraError, NotFittedError, UnknownNameError
from juryrank.methods import METHODS, method
from juryrank.tasks.explain import contributions, explain
from juryrank.tasks.explain.leave_one_out import leave_one_out
from juryrank.tasks.explain.redundancy import redundancy

DEMO = Path(juryrank.__file__).parent / "demo"


@pytest.mark.parametrize("name", ["jury", "ridge", "rrf", "borda", "lambdarank", "svd-lambdarank", "borda-fuse"])
def test_contributions_add_up_to_the_score_of_a_sum(name, dataset):
    model = method(name).fit(dataset)
    whole = model.predict(dataset).scores
    parts = contributions(model, dataset).sum(axis=1)
    assert_allclose(parts, whole, atol=1e-9 * max(1.0, np.abs(whole).max()))


def test_a_contribution_is_the_curve_at_the_rank(dataset):
    model = method("jury").fit(dataset)
    r, parts = dataset.rankings, contributions(model, dataset)
    owner = np.repeat(r.list_expert, r.list_size)
    for e in range(r.n_entries):
        curve = model.formula().of(r.experts[owner[e]], r.entry_rank[e : e + 1])[0]
        assert parts[r.entry_slot[e], owner[e]] == pytest.approx(curve, abs=1e-12)
    assert np.count_nonzero(parts) <= r.n_entries


@pytest.mark.parametrize("name", METHODS)
def test_every_method_can_be_explained(name, dataset):
    dataset = suited(method(name), dataset)
    found = explain(method(name).fit(dataset), dataset, "q0")
    for weights in found.weights.values():
        assert all(np.isfinite(value) for value in weights.values())
    assert len({tuple(weights) for weights in found.weights.values()}) <= 1
    assert json.loads(found.render("json"))["method"] == name


def test_weights_are_those_of_the_model(dataset):
    jury = method("jury").fit(dataset)
    for name, row in zip(jury.own_, jury.curves_, strict=True):
        assert explain(jury).weights[name] == dict(zip("uvmw", row, strict=True))
    assert list(explain(jury).weights)[-1] == "*"
    assert explain(method("rrf", weights={"e1": 2.0}).fit(dataset)).weights == {"e1": {"weight": 2.0}}
    fused = method("borda-fuse").fit(dataset)
    assert [w["weight"] for w in explain(fused).weights.values()] == fused.weights_.tolist()


@pytest.mark.parametrize("name", ["jury", "crf", "lambdarank", "auto", "blend"])
def test_an_expert_named_like_all_others_has_its_own_row(name):
    queries = [f"q{n}" for n in range(6)]
    runs = {"*": {key: ["a", "b", "c"] for key in queries}, "y": {key: ["c", "a", "b"] for key in queries}}
    data = from_dicts(runs, labels={key: {"a": 2, "b": 1, "c": 0} for key in queries})
    params = {"auto": {"among": "jury"}, "blend": {"epochs": 3}}.get(name, {})
    found = explain(method(name, **params).fit(data))
    assert list(found.weights) == ["*", "y", "**"]
    assert found.weights["*"] != found.weights["**"]
    assert "** stands for all other experts" in found.tables()[0].note


def test_the_note_on_all_others_is_not_about_an_expert_of_that_name(dataset):
    text = explain(method("rrf", weights={"*": 2.0}).fit(dataset)).tables()[0].note
    assert "stands for all other experts" not in text


def test_the_matrix_of_a_query_holds_ranks_labels_and_rrfs_order():
    runs = {"x": {"q": ["a", "b", "c"]}, "y": {"q": ["c", "d"]}, "silent": {"other": ["z"]}}
    data = from_dicts(runs, labels={"q": {"a": 2, "d": 0}, "other": {"z": 1}})
    matrix = explain(method("rrf", weights={"x": 3.0}).fit(data), data, "q", top=3).matrix
    assert matrix is not None
    assert (matrix.items, matrix.experts, matrix.n_items) == (("c", "a", "b"), ("x", "y"), 4)
    assert_array_equal(matrix.labels, [np.nan, 2.0, np.nan])
    assert_array_equal(matrix.ranks, [[3, 1], [1, np.nan], [2, np.nan]])
    assert_array_equal(matrix.rrf_places, [1, 2, 3])
    assert_allclose(matrix.contributions, [[3 / 63, 1 / 61], [3 / 61, 0], [3 / 62, 0]], atol=1e-15)
    assert_allclose(matrix.rrf, [1 / 63 + 1 / 61, 1 / 61, 1 / 62])


def test_leaving_an_expert_out_is_evaluating_without_its_lists(dataset):
    model = method("jury").fit(dataset)
    found = leave_one_out(model, dataset, ["AP", "nDCG@3"])
    assert found.whole == pytest.approx(
        list(juryrank.evaluate(model.predict(dataset), dataset, ["AP", "nDCG@3"]).means().values())
    )
    r = dataset.rankings
    for name, rows in found.left_out.items():
        rest = r.keep_lists(r.list_expert != r.experts.index(name))
        expected = juryrank.evaluate(model.predict(rest), dataset, ["AP", "nDCG@3"]).means()
        assert [row[0] for row in rows] == pytest.approx(list(expected.values()))
        assert [row[1] for row in rows] == pytest.approx([row[0] - w for row, w in zip(rows, found.whole, strict=True)])


def liars(n_queries: int = 20):
    """Two experts who know, one who says the opposite."""
    rng = np.random.default_rng(0)
    runs, labels = {"good": {}, "fair": {}, "liar": {}}, {}
    for q in range(n_queries):
        grade = rng.permutation(12)
        labels[f"q{q}"] = {f"i{i}": float(grade[i] // 4) for i in range(12)}
        for name, noise in (("good", 1.0), ("fair", 5.0), ("liar", 1.0)):
            sign = -1 if name == "liar" else 1
            runs[name][f"q{q}"] = [f"i{i}" for i in np.argsort(-sign * (grade + noise * rng.normal(size=12)))]
    return from_dicts(runs, labels=labels)


@pytest.mark.parametrize("refit", [False, True])
def test_rrf_can_do_without_a_liar_and_not_without_the_good(refit):
    data = liars()
    found = leave_one_out(method("rrf").fit(data), data, ["nDCG@5"], refit=refit)
    assert found.dispensable[0] == "liar"
    assert found.left_out["liar"][0][1] > 0.05
    assert found.left_out["good"][0][1] < -0.05
    assert found.refitted == refit


def test_a_refitted_jury_misses_the_good_more_than_the_fair():
    data = liars()
    change = leave_one_out(method("jury").fit(data), data, ["nDCG@5"], refit=True).left_out
    assert abs(change["fair"][0][1]) < abs(change["good"][0][1])


def test_agreement_is_the_share_of_pairs_in_the_same_order():
    r = random_dataset(4, n_queries=8, n_items=12).rankings
    found = redundancy(r)
    ranks = np.full((len(r.experts), r.n_slots), np.nan)
    ranks[np.repeat(r.list_expert, r.list_size), r.entry_slot] = r.entry_rank
    for a, b in combinations(range(len(r.experts)), 2):
        same = other = 0
        for q in range(len(r)):
            for i, j in combinations(range(r.slot_ptr[q], r.slot_ptr[q + 1]), 2):
                product = (ranks[a, i] - ranks[a, j]) * (ranks[b, i] - ranks[b, j])
                same, other = same + (product > 0), other + (product < 0)
        assert found.share[a, b] == found.share[b, a] == pytest.approx(same / (same + other))
    assert_array_equal(np.diag(found.share), 1.0)


def counted_list_by_list(r, a: int, b: int) -> float:
    """The share of pairs in the same order over all lists of a and all lists of b, straight from the definition."""
    same = other = 0.0
    ranks = [dict(zip(r.entry_slot[lo:hi], r.entry_rank[lo:hi], strict=True)) for lo, hi in pairwise(r.entry_ptr)]
    for m, n in product(np.flatnonzero(r.list_expert == a), np.flatnonzero(r.list_expert == b)):
        for i, j in combinations(ranks[m].keys() & ranks[n].keys(), 2):
            order = (ranks[m][i] - ranks[m][j]) * (ranks[n][i] - ranks[n][j])
            weight = r.list_weight[m] * r.list_weight[n]
            same, other = same + weight * (order > 0), other + weight * (order < 0)
    return same / (same + other) if same + other else np.nan


def several_lists(seed: int, n_lists: int, longest: int):
    """Experts with up to ``n_lists`` lists of up to ``longest`` items in each query, with ties and weights."""
    rng = np.random.default_rng(seed)
    rows = []
    for query, expert in product("pq", "xyz"):
        for n in range(rng.integers(0, n_lists + 1)):
            listed = rng.permutation(12)[: rng.integers(1, longest + 1)]
            weight = float(rng.choice([0.0, 0.5, 1.0, 3.0]))
            ranks = np.sort(rng.integers(1, 12, len(listed)))
            rows += [(query, expert, f"l{n}", f"i{i}", float(k), weight) for i, k in zip(listed, ranks, strict=True)]
    columns = ["query", "expert", "list", "item", "rank", "weight"]
    return from_long(pl.DataFrame(rows, schema=columns, orient="row")).rankings


@pytest.mark.parametrize(("n_lists", "longest"), [(2, 12), (4, 8), (30, 3), (12, 12)])
def test_agreement_counts_every_list_of_an_expert_by_its_weight(n_lists, longest):
    for seed in range(10):
        r = several_lists(seed, n_lists, longest)
        found = redundancy(r)
        for a, b in combinations(range(len(r.experts)), 2):
            assert found.share[a, b] == pytest.approx(counted_list_by_list(r, a, b), nan_ok=True)
            assert found.share[b, a] == pytest.approx(found.share[a, b], nan_ok=True)


def test_a_list_of_weight_two_agrees_as_two_copies_do():
    single = pl.DataFrame(
        {
            "expert": ["x"] * 3 + ["x"] * 2 + ["y"] * 3,
            "list": ["1"] * 3 + ["2"] * 2 + ["1"] * 3,
            "item": list("abc") + list("ca") + list("acb"),
            "rank": [1, 2, 3, 1, 2, 1, 2, 3],
            "weight": [2.0] * 3 + [1.0] * 5,
        }
    ).with_columns(query=pl.lit("q"))
    again = single.head(3).with_columns(list=pl.lit("3"))
    copies = pl.concat([single, again]).with_columns(weight=pl.lit(1.0))
    # Weight 2: two pairs of three in the same order, one opposite; weight 1: one pair, opposite.
    assert redundancy(from_long(single).rankings).share[0, 1] == pytest.approx(4 / 7)
    assert redundancy(from_long(copies).rankings).share[0, 1] == pytest.approx(4 / 7)


def test_the_agreement_of_the_demos_judges_is_that_of_their_verdicts():
    with open(DEMO / "battles.csv") as file:
        rows = [row for row in csv.DictReader(file) if row["winner"] != "tie"]
    verdicts = {name: [] for name in ("ada", "ben")}
    for row in rows:
        pair = (row["left"], row["right"])
        verdicts.setdefault(row["expert"], []).append(pair if row["winner"] == "left" else pair[::-1])
    pairs = list(product(verdicts["ada"], verdicts["ben"]))
    same, opposite = sum(x == y for x, y in pairs), sum(x == y[::-1] for x, y in pairs)
    data = juryrank.read(DEMO / "battles.csv")
    assert redundancy(data.rankings).share[0, 1] == pytest.approx(same / (same + opposite))
    assert round(same / (same + opposite), 2) == 0.66


def test_the_matrix_shows_the_mean_rank_of_several_lists():
    rows = [("1", "a", 1, 3.0), ("1", "b", 2, 3.0), ("2", "b", 1, 1.0), ("2", "a", 2, 1.0), ("3", "c", 4, 1.0)]
    frame = pl.DataFrame(rows, schema=["list", "item", "rank", "weight"], orient="row")
    data = from_long(frame.with_columns(query=pl.lit("q"), expert=pl.lit("x")))
    found = explain(method("rrf").fit(data), data, "q")
    assert found.matrix is not None
    assert dict(zip(found.matrix.items, found.matrix.ranks[:, 0], strict=True)) == {"a": 1.25, "b": 1.75, "c": 4.0}
    assert "mean of its ranks" in found.render("text")


def test_experts_without_a_common_pair_have_no_agreement():
    found = redundancy(from_dicts({"x": {"q": ["a", "b"]}, "y": {"q": ["a"]}, "z": {"p": ["a", "b"]}}).rankings)
    assert np.isnan(found.share[0, 1])
    assert np.isnan(found.share[0, 2])
    assert found.nearest(0) is None


def test_parts_that_need_more_are_left_out(dataset):
    model = method("jury").fit(dataset)
    bare = explain(model)
    assert (bare.leave_one_out, bare.redundancy, bare.matrix) == (None, None, None)
    assert [table.title for table in bare.tables()] == ["jury: weights of experts", "Verdict"]
    unlabelled = explain(model, dataset.rankings, "q0")
    assert unlabelled.leave_one_out is None
    assert unlabelled.redundancy is not None
    with pytest.raises(DataError, match="needs labels"):
        leave_one_out(model, juryrank.Dataset(rankings=dataset.rankings), ["AP"])


def test_what_cannot_be_explained_is_said(dataset):
    with pytest.raises(NotFittedError, match="must be fitted"):
        explain(method("jury"))
    with pytest.raises(UnknownNameError, match="no query 'q99'"):
        explain(method("jury").fit(dataset), dataset, "q99")


class Tags(HTMLParser):
    """Which tags a page has, and whether it asks for other files."""

    def __init__(self) -> None:
        super().__init__()
        self.seen: list[str] = []
        self.asked: list[str] = []

    def handle_starttag(self, tag: str, attrs: list[tuple[str, str | None]]) -> None:
        self.seen.append(tag)
        self.asked += [value or "" for name, value in attrs if name in ("src", "href")]


def test_the_page_stands_alone_and_escapes_names():
    data = from_dicts(
        {"<b>x</b>": {"q<1>": ["a&b", "c"]}, "y": {"q<1>": ["c", "a&b"]}}, labels={"q<1>": {"a&b": 1, "c": 0}}
    )
    page = explain(method("jury").fit(data), data, "q<1>").render("html")
    tags = Tags()
    tags.feed(page)
    assert tags.seen.count("svg") == 3
    assert tags.asked == []
    assert "<b>x</b>" not in page
    assert "&lt;b&gt;x&lt;/b&gt;" in page


def test_pictures_are_pictures_and_the_same_every_time(dataset):
    pytest.importorskip("matplotlib")
    found = explain(method("jury").fit(dataset), dataset, "q0")
    assert found.picture("png").startswith(b"\x89PNG")
    svg = found.picture("svg")
    assert ElementTree.fromstring(svg).tag.endswith("svg")
    assert svg == found.picture("svg")
    assert explain(method("rrf").fit(dataset)).picture("png").startswith(b"\x89PNG")
    with pytest.raises(UnknownNameError, match="no picture format 'gif'"):
        found.picture("gif")


def test_a_picture_without_matplotlib_names_the_extra(dataset, monkeypatch):
    monkeypatch.setitem(__import__("sys").modules, "matplotlib", None)
    with pytest.raises(MissingExtraError, match=r"juryrank\[plots\]"):
        explain(method("jury").fit(dataset)).picture()


def test_csv_has_a_row_per_weight_and_text_has_squares(dataset):
    found = explain(method("jury").fit(dataset))
    assert len(found.render("csv").splitlines()) == 1 + 4 * len(found.weights)
    assert "■" in found.render("text")


def test_an_explanation_has_the_verdict_of_the_model_once(dataset):
    model = method("jury").fit(dataset)
    found = explain(model)
    assert found.verdict.to_dict() == model.verdict().to_dict() == found.to_dict()["verdict"]
    assert found.render("text").count("Verdict: ") == 1
    assert found.render("html").count("Verdict: ") == 1
    assert "\\n" not in found.render("text")  # the report has two lines, a note has none


def test_a_model_without_held_out_values_has_no_verdict(dataset):
    found = explain(method("rrf").fit(dataset))
    assert found.verdict is None
    assert "verdict" not in found.to_dict()
