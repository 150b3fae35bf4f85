"""Each consensus method against its definition, written slowly in ``slow.py``."""

import itertools

import numpy as np
import pytest
from numpy.testing import assert_allclose, assert_array_equal
from scipy.stats import rankdata
from slow import beats, completed, dense, kemeny, outranking, outranking_classes, places, rho, transition

from conftest import random_dataset
from juryrank.data.build import from_dicts, from_orders
from juryrank.errors import ConvergenceWarning, DataError, DataWarning
from juryrank.methods import method
from juryrank.methods.cost import check_matrix_size
from juryrank.methods.scores.scores import normalise_scores
from juryrank.tasks.fuse import Fuser, fuse

SEEDS = pytest.mark.parametrize("seed", range(4))
POLICIES = pytest.mark.parametrize("missing", ["ignore", "last", "mean"])
TWO_POLICIES = pytest.mark.parametrize("missing", ["ignore", "last"])


def by_query(model, data):
    consensus = model.fit(data).predict(data)
    return [(q, consensus[q].scores, *dense(data, q)) for q in range(len(data)) if dense(data, q)[0].size]


@SEEDS
@POLICIES
def test_borda_counts_the_items_below(seed, missing):
    data = random_dataset(seed)
    for _, scores, ranks, _ in by_query(method("borda", missing=missing), data):
        n = ranks.shape[1]
        listed = (~np.isnan(ranks)).sum(1, keepdims=True)
        points = (listed if missing == "ignore" else n) - places(ranks)
        absent = (n - listed - 1) / 2 if missing == "mean" else 0 * listed
        assert_allclose(scores, np.where(np.isnan(points), absent, points).sum(0))


CURVES = {
    "rrf": lambda r: 1 / (60 + r),
    "dowdall": lambda r: 1 / r,
    "rbc": lambda r: 0.1 * 0.9 ** (r - 1),
    "isr": lambda r: 1 / r**2,
    "log-isr": lambda r: 1 / r**2,
}


@SEEDS
@POLICIES
@pytest.mark.parametrize("ranks", ["given", "dense"])
@pytest.mark.parametrize("name", CURVES)
def test_positional_methods_sum_their_points(name, ranks, missing, seed):
    data = random_dataset(seed)
    for _, scores, given, _ in by_query(method(name, ranks=ranks, missing=missing), data):
        rank = given if ranks == "given" else places(given)
        expected = np.nansum(CURVES[name](completed(rank, missing)), 0)
        count = (~np.isnan(given)).sum(0)
        if name == "isr":
            expected = expected * count
        if name == "log-isr":
            expected = expected * np.log(np.maximum(count, 1) + 0.01)
        assert_allclose(scores, expected, atol=1e-12)


@SEEDS
@POLICIES
@pytest.mark.parametrize("choice", [{}, {"ranks": "given"}])
@pytest.mark.parametrize(("name", "average"), [("mean-rank", np.nanmean), ("median-rank", np.nanmedian)])
def test_mean_and_median_rank(name, average, choice, missing, seed):
    data = random_dataset(seed)
    for _, scores, given, _ in by_query(method(name, missing=missing, **choice), data):
        ranks = given if choice else places(given)
        said = ~np.isnan(completed(ranks, missing)).all(0)
        assert_allclose(scores[said], -average(completed(ranks, missing)[:, said], 0))
        assert (scores[~said] < scores[said].min()).all()


@pytest.mark.parametrize("name", ["mean-rank", "median-rank"])
def test_tied_items_take_their_mean_rank_by_default(name):
    tied = {"x": {"q": {"a": 0.9, "b": 0.5, "c": 0.5, "d": 0.1}}}
    expected = -rankdata([-0.9, -0.5, -0.5, -0.1])
    assert method(name).fit_predict(from_dicts(tied)).scores.tolist() == expected.tolist()
    assert list(fuse({"x": tied["x"]["q"]}, name).values()) == expected.tolist()
    best = method(name, ranks="given").fit_predict(from_dicts(tied)).scores.tolist()
    assert best == (-rankdata([-0.9, -0.5, -0.5, -0.1], "min")).tolist()


@pytest.mark.parametrize("name", ["mean-rank", "median-rank"])
def test_numbers_that_are_no_ranks_are_ranked_and_told(name):
    errors = {"x": {"a": 120, "b": 45, "c": 300}, "y": {"a": 2, "b": 1, "c": 3}, "z": {"a": 7, "b": 9}}
    message = f"{name}: the ranks of 2 of 3 lists are not 1, 2, 3, … with ties; .*; ranks='given'"
    with pytest.warns(DataWarning, match=message):
        fused = fuse(errors, name, values="rank")
    as_orders = {"x": ["b", "a", "c"], "y": ["b", "a", "c"], "z": ["a", "b"]}
    assert fused == fuse(as_orders, name)
    data = from_dicts({expert: {"q": of} for expert, of in errors.items()}, values="rank")
    with pytest.warns(DataWarning, match=message):
        found = method(name).fit_predict(data).to_dict()
    assert found == {"q": fused}
    with pytest.warns(DataWarning, match=message):
        Fuser(name).detailed(errors, values="rank")
    assert fuse(errors, name, values="rank", ranks="given", missing="ignore")["c"] == -(300 + 3) / 2


def test_weighted_median_counts_weights_as_copies():
    once = from_orders([["a", "b", "c"], ["b", "c", "a"], ["c", "a", "b"]], weights=[3, 1, 2])
    copies = from_orders([["a", "b", "c"]] * 3 + [["b", "c", "a"]] + [["c", "a", "b"]] * 2)
    for name in ("median-rank", "mean-rank", "borda", "kemeny", "copeland", "mc1", "mc2", "mc3", "mc4", "outranking"):
        assert_allclose(method(name).fit_predict(once).scores, method(name).fit_predict(copies).scores, err_msg=name)


@SEEDS
@TWO_POLICIES
def test_copeland_counts_majorities(seed, missing):
    for _, scores, ranks, weights in by_query(method("copeland", missing=missing), random_dataset(seed)):
        over = beats(ranks, weights, missing)
        assert_allclose(scores, (over > over.T).sum(1) - (over < over.T).sum(1))


@SEEDS
@TWO_POLICIES
def test_condorcet_leaves_no_neighbours_against_a_majority(seed, missing):
    for _, scores, ranks, weights in by_query(method("condorcet", missing=missing), random_dataset(seed)):
        over = beats(ranks, weights, missing)
        order = np.argsort(-scores, kind="stable")
        for above, below in itertools.pairwise(order):
            assert over[above, below] >= over[below, above] or scores[above] == scores[below]


@SEEDS
def test_a_condorcet_winner_comes_first(seed):
    found = 0
    for name in ("condorcet", "copeland", "kemeny"):
        for _, scores, ranks, weights in by_query(method(name), random_dataset(seed)):
            over = beats(ranks, weights, "last")
            winners = np.flatnonzero(((over > over.T).sum(1)) == len(over) - 1)
            for winner in winners:
                found += 1
                assert scores[winner] == scores.max()
    assert found


@SEEDS
@TWO_POLICIES
@pytest.mark.parametrize("name", ["mc1", "mc2", "mc3", "mc4"])
@pytest.mark.parametrize("teleport", [0.05, 0.5])
def test_chains_are_stationary_under_their_dense_matrix(name, teleport, missing, seed):
    data = random_dataset(seed)
    for _, scores, ranks, weights in by_query(method(name, missing=missing, teleport=teleport, tol=1e-13), data):
        p = transition(name, ranks, weights, missing)
        assert_allclose(p.sum(1), 1)
        n = len(p)
        assert scores.sum() == pytest.approx(1)
        assert_allclose(scores, (1 - teleport) * scores @ p + teleport / n, atol=1e-10)


def test_a_chain_that_does_not_converge_warns_at_the_users_line_and_keeps_its_estimate(dataset):
    with pytest.warns(ConvergenceWarning, match="mc2: 6 of 6 queries did not converge after 2 steps") as caught:
        consensus = method("mc2", max_iter=2).fit(dataset).predict(dataset)
    assert [warning.filename for warning in caught] == [__file__]
    assert consensus[0].scores.sum() == pytest.approx(1)


@SEEDS
@TWO_POLICIES
@pytest.mark.parametrize("solver", ["exact", "auto", "heuristic"])
def test_kemeny_finds_the_smallest_distance_over_all_orders(seed, missing, solver):
    data = random_dataset(seed, n_items=6)
    consensus = method("kemeny", missing=missing, solver=solver, ties="broken").fit(data).predict(data)
    for q in range(len(data)):
        ranks, weights = dense(data, q)
        if not ranks.size:
            continue
        best = kemeny(ranks, weights, missing)
        found = consensus.details["objective"][q]
        over = beats(ranks, weights, missing)
        order = np.argsort(-consensus[q].scores, kind="stable")
        assert found == pytest.approx(sum(over[b, a] for n, a in enumerate(order) for b in order[n + 1 :]))
        assert found >= best - 1e-9
        if consensus.details["optimal"][q]:
            assert found == pytest.approx(best)
        else:
            assert solver == "heuristic"


def test_exact_kemeny_equals_a_plain_integer_program():
    from scipy.optimize import Bounds, LinearConstraint, milp

    n = 14
    rng = np.random.default_rng(5)
    data = from_orders([[f"{i:02}" for i in rng.permutation(n)] for _ in range(9)])
    ranks, weights = dense(data, 0)
    over = beats(ranks, weights, "last")
    number = {pair: k for k, pair in enumerate((i, j) for i in range(n) for j in range(n) if i != j)}
    rows = []
    for i in range(n):
        for j in range(i + 1, n):
            row = np.zeros(len(number))
            row[[number[i, j], number[j, i]]] = 1
            rows.append((row, 1, 1))
        for j in range(n):
            for k in range(n):
                if len({i, j, k}) == 3:
                    row = np.zeros(len(number))
                    row[[number[i, j], number[j, k], number[k, i]]] = 1
                    rows.append((row, 0, 2))
    cost = np.array([over[j, i] for i, j in number])
    limits = LinearConstraint(np.array([r for r, _, _ in rows]), [a for _, a, _ in rows], [b for _, _, b in rows])
    answer = milp(cost, integrality=np.ones(len(cost)), bounds=Bounds(0, 1), constraints=limits)
    ours = method("kemeny", solver="exact").fit_predict(data)
    assert ours.details["optimal"][0]
    assert ours.details["objective"][0] == pytest.approx(answer.fun)


@SEEDS
@TWO_POLICIES
def test_rra_is_the_smallest_order_statistic_chance(seed, missing):
    for _, scores, ranks, _ in by_query(method("rra", missing=missing), random_dataset(seed)):
        shares = places(ranks) / ranks.shape[1]
        for i, score in enumerate(scores):
            given = shares[:, i][~np.isnan(shares[:, i])].tolist()
            n = len(ranks) if missing == "last" else len(given)
            if given:
                everyone = given + [1.0] * (n - len(given))
                assert score == pytest.approx(-np.log(rho(everyone, n) * n))
            else:
                assert score <= scores.min() + 1e-12 or missing == "ignore"


def test_rra_orders_as_the_published_example():
    # Kolde et al. 2012: an item first in every list is the least likely by chance.
    data = from_orders([["a", "b", "c", "d"], ["a", "c", "d", "b"], ["a", "d", "b", "c"]])
    scores = method("rra").fit_predict(data).to_dict()["all"]
    assert scores["a"] == pytest.approx(-np.log(3 * 0.25**3))
    assert max(scores, key=scores.get) == "a"


def test_outranking_by_hand():
    # Three lists over 4 items: a is above b in two lists and 3 places (a share of 0.75) below it in one: one veto of
    # three is more than 0.25, so a does not outrank b, and b has too few lists to outrank a. Both outrank c and d.
    data = from_orders([["a", "b", "c", "d"], ["a", "b", "c", "d"], ["b", "c", "d", "a"]])
    scores = method("outranking").fit_predict(data).to_dict()["all"]
    assert scores == {"a": 0.0, "b": 0.0, "c": -1.0, "d": -2.0}
    lenient = method("outranking", discordance=0.5).fit_predict(data).to_dict()["all"]
    assert lenient == {"a": 0.0, "b": -1.0, "c": -2.0, "d": -3.0}


@pytest.mark.parametrize("scale", [1, 0.1, 1 / 3])
def test_outranking_is_met_exactly_at_each_threshold(scale):
    def classes(orders, weights, **params):
        data = from_orders(orders, weights=[scale * weight for weight in weights])
        return method("outranking", **params).fit_predict(data).to_dict()["all"]

    # Lists of 6 of 10 are for a, so it outranks b at a concordance of 0.6 and no more.
    split = [["a", "b"], ["a", "b"], ["a", "b"], ["b", "a"]], (1, 2, 3, 4)
    assert classes(*split, concordance=0.6, discordance=1.0) == {"a": 0.0, "b": -1.0}
    assert classes(*split, concordance=0.61, discordance=1.0) == {"a": 0.0, "b": 0.0}
    # Lists of 4 of 10 put a half of the items below b: as many as may.
    assert classes(*split, concordance=0.6, veto=0.5, discordance=0.4) == {"a": 0.0, "b": -1.0}
    assert classes(*split, concordance=0.6, veto=0.5, discordance=0.39) == {"a": 0.0, "b": 0.0}
    assert classes(*split, concordance=0.6, veto=0.51, discordance=0.39) == {"a": 0.0, "b": -1.0}


def test_a_lead_of_exactly_the_preference_counts():
    items = [f"{i:02}" for i in range(50)]
    scores = method("outranking", preference=0.14).fit_predict(from_orders([items])).to_dict()["all"]
    place = np.arange(50)
    expected = outranking_classes(place - place[:, None] >= 7)  # 0.14 * 50 is more than 7 by rounding
    assert_array_equal([scores[item] for item in items], -expected)


@SEEDS
@TWO_POLICIES
@pytest.mark.parametrize("limits", [(0.0, 0.75, 0.5, 0.25), (0.1, 0.3, 0.3, 0.1), (0.25, 0.2, 0.0, 0.5)])
def test_outranking_removes_classes_from_the_relation_of_its_words(seed, missing, limits):
    data = random_dataset(seed)
    names = ("preference", "veto", "concordance", "discordance")
    model = method("outranking", missing=missing, **dict(zip(names, limits, strict=True)))
    for _, scores, ranks, weights in by_query(model, data):
        assert_array_equal(scores, -outranking_classes(outranking(ranks, weights, missing, *limits)))


def test_three_groups_in_a_cycle_of_majorities_converge_in_few_steps():
    groups = [[f"{g}{i}" for i in range(4 + 3 * k)] for k, g in enumerate("abc")]
    data = from_orders([[*groups[k], *groups[(k + 1) % 3], *groups[(k + 2) % 3]] for k in range(3)])
    consensus = method("mc4").fit_predict(data)
    ranks, weights = dense(data, 0)
    p = transition("mc4", ranks, weights, "last")
    assert_allclose(consensus.scores, 0.95 * consensus.scores @ p + 0.05 / len(p), atol=1e-10)
    assert consensus.details["steps"][0] < 60


LISTS = {"x": {"q": {"a": 9.0, "b": 5.0, "c": 1.0}}, "y": {"q": {"b": 0.9, "c": 0.1}}, "z": {"q": {"d": 3.0}}}
NORMALISED = {
    "none": [9, 5, 1, 0.9, 0.1, 3],
    "min-max": [1, 0.5, 0, 1, 0, 1],
    "max": [1, 5 / 9, 1 / 9, 1, 1 / 9, 1],
    "sum": [8 / 12, 4 / 12, 0, 1, 0, 1],
    "z-score": [np.sqrt(1.5), 0, -np.sqrt(1.5), 1, -1, 0],
    "rank": [1, 2 / 3, 1 / 3, 1, 1 / 2, 1],
    "borda": [1, 3 / 4, 2 / 4, 1, 3 / 4, 1],
    "dbsf": [0.5 + 1 / 6, 0.5, 0.5 - 1 / 6, 0.5 + 0.5**0.5 / 6, 0.5 - 0.5**0.5 / 6, 0.5],
}


@pytest.mark.parametrize("norm", NORMALISED)
def test_normalisations_by_hand(norm):
    assert_allclose(normalise_scores(from_dicts(LISTS).rankings, norm), NORMALISED[norm], atol=1e-12)


@pytest.mark.parametrize(
    ("name", "expected"),
    [
        ("combsum", {"a": 1, "b": 1.5, "c": 0, "d": 1}),
        ("combmnz", {"a": 1, "b": 3, "c": 0, "d": 1}),
        ("combanz", {"a": 1, "b": 0.75, "c": 0, "d": 1}),
        ("combgmnz", {"a": 1, "b": 6, "c": 0, "d": 1}),
        ("combmin", {"a": 1, "b": 0.5, "c": 0, "d": 1}),
        ("combmax", {"a": 1, "b": 1, "c": 0, "d": 1}),
        ("combmed", {"a": 1, "b": 0.75, "c": 0, "d": 1}),
    ],
)
def test_combinations_by_hand(name, expected):
    assert method(name, missing="ignore").fit_predict(from_dicts(LISTS)).to_dict()["q"] == pytest.approx(expected)


def test_a_missing_item_can_get_the_lowest_score_of_the_list():
    lists = from_dicts({"x": {"q": {"a": 4.0, "b": 2.0}}, "y": {"q": {"b": 7.0, "c": 6.0}}})
    for name, expected in [
        ("combsum", {"a": 4 + 6, "b": 2 + 7, "c": 2 + 6}),
        ("combmin", {"a": 4, "b": 2, "c": 2}),
        ("combmax", {"a": 6, "b": 7, "c": 6}),
        ("combmed", {"a": 5, "b": 4.5, "c": 4}),
        ("combanz", {"a": 5, "b": 4.5, "c": 4}),
    ]:
        scores = method(name, norm="none", missing="last").fit_predict(lists).to_dict()["q"]
        assert scores == pytest.approx(expected), name


# rank 1 and rank 3, weights 2 and 1 of two lists; formulas as the systems' sources have them, r counted from 0.
DIALECTS = {
    "cormack": (lambda r, w, n: w / (60 + r + 1)),
    "elasticsearch": (lambda r, w, n: w / (60 + r + 1)),
    "opensearch": (lambda r, w, n: w / (60 + r + 1)),
    "langchain": (lambda r, w, n: w / (60 + r + 1)),
    "llamaindex": (lambda r, w, n: 1 / (60 + r)),
    "haystack": (lambda r, w, n: (w / 3 * n / (61 + r)) / (n / 61)),
    "qdrant": (lambda r, w, n: 1 / ((r + 1) / w + 2 - 1)),
}


@pytest.mark.parametrize("dialect", DIALECTS)
def test_rrf_speaks_the_dialects_of_search_systems(dialect):
    formula = DIALECTS[dialect]
    lists = {"x": ["a", "b", "c"], "y": ["c", "d"]}
    expected = {
        "a": formula(0, 2, 2),
        "b": formula(1, 2, 2),
        "c": formula(2, 2, 2) + formula(0, 1, 2),
        "d": formula(1, 1, 2),
    }
    model = method("rrf", dialect=dialect, weights={"x": 2.0})
    assert model.fit_predict(from_dicts({k: {"q": v} for k, v in lists.items()})).to_dict()["q"] == pytest.approx(
        expected
    )


def test_majority_vote_by_hand():
    judged = {"w1": {"q": {"a": 1, "b": 0}}, "w2": {"q": {"a": 1, "b": 1}}, "w3": {"q": {"b": 0, "c": 2}}}
    data = from_dicts(judged)
    assert method("majority-vote").fit_predict(data).to_dict()["q"] == pytest.approx({"a": 1, "c": 1, "b": 1 / 3})
    everyone = method("majority-vote", missing="last").fit_predict(data).to_dict()["q"]
    assert everyone == pytest.approx({"a": 2 / 3, "b": 1 / 3, "c": 1 / 3})


def test_methods_that_need_a_matrix_refuse_what_will_not_fit():
    for name, most in {"condorcet": 10_000, "kemeny": 10_000, "mc4": 28_284, "outranking": 10_000}.items():
        data = from_orders([list(map(str, range(most + 1)))])
        with pytest.raises(DataError, match=f"{name} compares all pairs and takes up to {most} items"):
            method(name).fit(data).predict(data)


def test_the_limit_of_a_matrix_is_in_bytes(dataset):
    largest = int(dataset.rankings.query_size.max())
    check_matrix_size("x", dataset.rankings, "y", limit=8 * largest**2)
    with pytest.raises(DataError, match=f"x compares all pairs and takes up to {largest - 1} items .* use y"):
        check_matrix_size("x", dataset.rankings, "y", limit=8 * largest**2 - 1)
    check_matrix_size("x", dataset.rankings, "y", cell=1, limit=largest**2)
