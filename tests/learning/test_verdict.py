"""The verdict on constructed data whose truth is known, and its words and numbers."""

import json

import numpy as np
import pytest
from scipy.stats import sem, t

from juryrank.data.build import from_dicts
from juryrank.learning.verdict_rule import OTHERS, REGULARISED, Expectation, decide, expectations_of, shrunk_mean
from juryrank.methods import method


def noisy(qualities, n_queries, *, n_items=30, seed=0):
    """Experts that see the grade of each item with noise: standard deviations by expert."""
    rng = np.random.default_rng(seed)
    runs, labels = {name: {} for name in qualities}, {}
    for q in range(n_queries):
        grade = np.where(rng.random(n_items) < 0.2, rng.integers(1, 4, n_items), 0)
        labels[f"q{q}"] = {f"i{i}": int(g) for i, g in enumerate(grade)}
        for name, noise in qualities.items():
            seen = grade + rng.normal(0, noise, n_items)
            runs[name][f"q{q}"] = [f"i{i}" for i in np.argsort(-seen)]
    return from_dicts(runs, labels=labels)


def complementary(n_queries):
    """Two experts that rank the relevant items of two kinds, and two that rank at random."""
    rng = np.random.default_rng(1)
    runs, labels = {name: {} for name in ("first", "second", "third", "fourth")}, {}
    for q in range(n_queries):
        items = [f"i{i}" for i in range(40)]
        labels[f"q{q}"] = {item: int(n < 8) for n, item in enumerate(items)}
        for name, known in (("first", range(4)), ("second", range(4, 8))):
            others = [items[n] for n in rng.permutation(40) if n not in known]
            runs[name][f"q{q}"] = [*(items[n] for n in known), *others]
        for name in ("third", "fourth"):
            runs[name][f"q{q}"] = [items[n] for n in rng.permutation(40)]
    return from_dicts(runs, labels=labels)


def test_one_perfect_expert_among_noise_is_used_alone():
    data = noisy({"noise1": 50.0, "perfect": 1e-9, "noise2": 50.0, "noise3": 50.0}, 40)
    found = method("jury", prior="equal", shrink=300.0).fit(data).verdict()  # which has no time to learn it
    assert (found.choice, found.expert) == ("expert", "perfect")
    assert found.means["expert"] == pytest.approx(1.0)
    assert found.differences["expert - rrf"].low > 0
    assert found.text.startswith(
        "Verdict: use expert 'perfect' alone. On 40 held-out queries expert 'perfect' has nDCG"
    )
    assert found.evidence == "shown"


def test_equally_good_experts_leave_nothing_to_learn():
    for noise in (1.0, 2.0):
        found = method("jury").fit(noisy(dict.fromkeys("abcdef", noise), 150)).verdict()
        assert found.choice == "rrf"
        assert found.text.startswith(
            "Verdict: not shown, but no gain over RRF is expected. On 150 held-out queries RRF "
        )


def test_experts_that_complement_each_other_among_noise_are_combined_by_the_learned_method():
    found = method("jury").fit(complementary(40)).verdict()
    assert (found.choice, found.evidence, found.headline) == ("learned", "shown", "use jury")
    assert found.differences["learned - rrf"].low > 0
    assert found.differences["learned - expert"].low > 0


def test_a_single_expert_needs_no_fusion():
    found = method("jury").fit(noisy({"only": 1.0}, 10)).verdict()
    assert (found.choice, found.expert) == ("expert", "only")
    assert found.means["learned"] == found.means["rrf"] == pytest.approx(found.means["expert"])


def test_with_one_query_there_is_no_evidence_and_rrf_stays():
    model = method("jury").fit(noisy({"a": 1.0, "b": 2.0}, 1))
    found = model.verdict()
    assert (found.choice, found.evidence, found.n_queries, found.differences) == ("rrf", "none", 1, {})
    assert (
        "\nVerdict: not shown, because there is only one labelled query: RRF until there are more. " in model.report()
    )


def test_without_held_out_queries_rrf_stays():
    found = decide({"learned": np.empty(0), "rrf": np.empty(0)}, np.empty(0), method="m", metric="AP", judged={})
    assert (found.choice, found.expert, found.means) == ("rrf", None, {})
    assert found.text.startswith("Verdict: not shown, because there is no labelled query: RRF until there are more. ")


def test_equal_experts_do_not_depend_on_their_order():
    names = ["x", "y", "z"]
    data = [noisy(dict.fromkeys(order, 1e-9), 6) for order in (names, names[::-1])]
    assert {method("jury").fit(d).verdict().expert for d in data} == {"x"}


def three(n, learned, rrf, expert, spread=0.1, seed=0):
    rng = np.random.default_rng(seed)
    noise = rng.normal(0, spread, (3, n))
    noise -= noise.mean(axis=1, keepdims=True)
    return dict(zip(("learned", "rrf", "expert"), np.array([[learned], [rrf], [expert]]) + noise, strict=True))


def choose(values, **more):
    n = len(values["rrf"])
    given = {"judged": {}, "expert": "x", "experts": among(values["expert"], 4), **more}
    return decide(values, np.ones(n), method="jury", metric="nDCG@10", **given)


def among(best, n_experts):
    """The values of an expert, and of others that are always worse by the same."""
    return np.column_stack([best, *(best - 0.1 * k for k in range(1, n_experts))])


def test_an_interval_is_that_of_the_t_test_where_one_expert_is_always_best():
    values = three(12, 0.6, 0.5, 0.55)
    for a, b in (("learned", "rrf"), ("learned", "expert"), ("expert", "rrf")):
        apart = values[a] - values[b]
        wanted = t.interval(0.95, 11, apart.mean(), sem(apart))
        found = choose(values).differences[f"{a} - {b}"]
        assert (found.low, found.high) == pytest.approx(wanted)


def test_an_interval_is_wider_where_different_experts_were_chosen():
    values = three(12, 0.6, 0.5, 0.55)
    plain, changing = choose(values), choose(values, experts=among(values["expert"][::-1] + 0.02, 4))
    for pair in plain.differences:
        one, other = plain.differences[pair], changing.differences[pair]
        assert one.mean == other.mean
        assert (other.high - other.low > one.high - one.low) == ("expert" in pair)


def test_an_interval_has_no_impossible_values():
    two = {"learned": np.array([0.9, 0.2]), "rrf": np.array([0.1, 0.3]), "expert": np.array([0.5, 0.4])}
    found = choose(two).differences["learned - rrf"]
    assert (found.low, found.high) == (-1.0, 1.0)
    wider = choose({name: 2 * v for name, v in two.items()}).differences["learned - rrf"]  # not a share
    assert wider.high > 2


def test_few_queries_do_not_outweigh_the_expectation_and_many_do():
    for n, choice in ((5, "learned"), (200, "expert")):
        assert choose(three(n, 0.50, 0.45, 0.53, spread=0.15)).choice == choice


def test_the_expected_difference_is_the_mean_of_the_posterior():
    prior = Expectation(mean=-0.03, deviation=0.035, query_variance=0.03)
    n, variance, mean = 20, 0.001, 0.05
    pooled = (10 * 0.03 + 19 * n * variance) / 29 / n
    grid = np.linspace(-1, 1, 400_001)
    log_density = -((grid - prior.mean) ** 2) / 2 / prior.deviation**2 - (mean - grid) ** 2 / 2 / pooled
    weight = np.exp(log_density - log_density.max())
    assert prior.update(mean, variance, n) == pytest.approx(float(weight @ grid / weight.sum()), abs=1e-6)


def test_the_more_experts_the_more_evidence_one_of_them_needs():
    values = three(20, 0.5, 0.45, 0.5)
    expected = [choose(values, experts=among(values["expert"], k)).expected["expert"] for k in (2, 4, 8)]
    assert expected[0] > expected[1] > expected[2] > REGULARISED.expert.mean * np.log(8)


def test_methods_that_are_not_regularised_need_more_evidence():
    values = three(60, 0.50, 0.52, 0.45)
    kinds = [choose(values, expectations=expectations_of(name)).choice for name in ("jury", "kernel")]
    assert kinds == ["learned", "rrf"]
    assert OTHERS.rrf.deviation > REGULARISED.rrf.deviation


def test_the_best_of_experts_that_differ_by_noise_is_shrunk_to_the_mean_of_all():
    rng = np.random.default_rng(0)
    found, plain = [], []
    for _ in range(400):  # the truth is 0.5 for all experts
        values = rng.normal(0.5, 0.2, (15, 6))
        best = int(values.mean(axis=0).argmax())
        found.append(shrunk_mean(values, best, np.ones(15)))
        plain.append(values.mean(axis=0)[best])
    assert np.mean(plain) - 0.5 > 0.05
    assert np.mean(found) - 0.5 < 0.3 * (np.mean(plain) - 0.5)


def test_the_best_of_experts_that_differ_in_truth_keeps_its_mean():
    rng = np.random.default_rng(0)
    values = np.linspace(0.1, 0.9, 5) + rng.normal(0, 0.01, (50, 5))
    assert shrunk_mean(values, 4, np.ones(50)) == pytest.approx(values[:, 4].mean(), abs=1e-4)
    assert shrunk_mean(values[:, :1], 0, np.ones(50)) == pytest.approx(values[:, 0].mean())


def test_the_weight_of_shrinkage_is_that_of_a_two_way_analysis_of_variance():
    values = np.random.default_rng(2).random((9, 4))
    queries, experts = values.mean(axis=1, keepdims=True), values.mean(axis=0)
    residual = ((values - queries - experts + values.mean()) ** 2).sum() / (8 * 3)  # mean square, 8 · 3 degrees
    between = 9 * ((experts - values.mean()) ** 2).sum() / 3
    weight = max(1 - residual / between, 0.0)  # 1 - 1/F
    best = int(experts.argmax())
    expected = weight * experts[best] + (1 - weight) * values.mean()
    assert shrunk_mean(values, best, np.ones(9)) == pytest.approx(expected)


def test_a_gain_that_is_too_small_is_explained():
    found = choose({**three(400, 0.5, 0.4999, 0.3, spread=0.0005), "expert": np.full(400, 0.3)})
    assert found.choice == "rrf"
    assert "The gain of jury is expected to be too small for a learned model." in found.text


def test_alternatives_that_no_query_tells_apart_are_not_said_to_differ():
    same = np.linspace(0.2, 0.8, 7)
    found = choose({"learned": same, "rrf": same, "expert": same - 0.1})
    assert (found.choice, found.evidence) == ("rrf", "shown")  # against the expert; the model is the same as RRF
    alike = choose({"learned": same, "rrf": same, "expert": same}, experts=same[:, None])
    assert (alike.choice, alike.evidence) == ("expert", "none")
    assert (
        alike.headline
        == "not shown, because no held-out query tells the alternatives apart: expert 'x' is the simplest"
    )
    assert "jury 0.5000 (difference +0.0000, 95 % interval +0.0000 to +0.0000)" in found.text
    assert "higher" not in found.text


def test_a_choice_with_a_lower_mean_is_explained():
    text = choose(three(5, 0.50, 0.45, 0.53, spread=0.15)).text
    assert "The higher mean of expert 'x' is within what so few queries vary" in text
    assert text.endswith("The choice rests on what other collections gave; more labels could change it.")


@pytest.mark.parametrize("above", [True, False])
def test_only_what_is_above_all_others_is_shown(above):
    """A few queries may contradict what other collections gave, and still not decide."""
    values = three(4, 0.50, 0.45, 0.30, spread=0.001) if above else three(4, 0.50, 0.503, 0.30, spread=0.001)
    found = choose(values)
    assert found.choice == "learned"
    assert found.differences["learned - rrf"].excludes_zero
    assert found.evidence == ("shown" if above else "expected")
    assert found.headline == ("use jury" if above else "not shown, but jury is expected to be best")
    assert ("That jury is better than expert 'x' is shown." in found.text) != above


def test_labels_of_relevant_items_only_show_nothing_however_clear_the_values():
    for best in ("learned", "rrf", "expert"):
        values = three(40, **{name: 0.9 if name == best else 0.2 for name in ("learned", "rrf", "expert")})
        found = choose(values, labels="positives only")
        assert (found.choice, found.evidence, found.expected) == ("learned", "none", {})
        assert found.headline == "not shown, and labels of relevant items only cannot show it: judge other items, too"
        assert "in 21 of 24 draws" in found.text
        assert not any(words in found.text for words in ("use jury", "stay with", "usually lower", "Judged@10"))


def test_grades_that_mean_nothing_are_no_reason_to_use_anything():
    rng = np.random.default_rng(5)
    runs = {name: {f"q{q}": [f"i{i}" for i in rng.permutation(30)] for q in range(30)} for name in "abc"}
    labels = {f"q{q}": {runs["a"][f"q{q}"][i]: int(rng.integers(0, 4)) for i in range(3)} for q in range(30)}
    found = method("jury").fit(from_dicts(runs, labels=labels)).verdict()
    assert found.evidence == "expected"
    assert found.text.startswith("Verdict: not shown, but ")


@pytest.mark.parametrize(
    ("judged", "warned"),
    [
        ({"learned": 0.9, "rrf": 0.95, "expert": 0.9}, None),
        ({"learned": 0.9, "rrf": 0.95, "expert": 0.6}, "Judged@10 differs (jury 0.90, RRF 0.95, expert 'x' 0.60)"),
        ({"learned": 0.3, "rrf": 0.35, "expert": 0.32}, "few of the top 10 are judged"),
    ],
)
def test_unjudged_items_get_a_caution(judged, warned):
    text = choose(three(30, 0.6, 0.5, 0.55), judged=judged).text
    assert ("Caution" in text) == (warned is not None)
    assert warned is None or warned in text


def test_judged_shares_are_those_of_the_top_ten():
    runs = {"deep": {"q": list("abcdefghijkl"), "p": list("abc")}, "rare": {"q": ["z"], "p": ["b", "a"]}}
    data = from_dicts(runs, labels={"q": {"a": 1, "b": 0, "l": 1}, "p": {"a": 1, "b": 0}})
    found = method("jury").fit(data)
    by_expert = dict(zip(found.own_, found.judged_[2:] / 2, strict=True))
    assert by_expert["deep"] == pytest.approx((2 / 10 + 2 / 3) / 2)
    assert by_expert["rare"] == pytest.approx((0 + 1) / 2)


def test_a_verdict_is_a_report():
    found = choose(three(30, 0.6, 0.5, 0.55), judged={"learned": 0.9, "rrf": 0.95, "expert": 0.9})
    plain = json.loads(found.render("json"))
    assert plain["choice"] == "learned"
    assert plain["differences"]["learned - rrf"]["mean"] == pytest.approx(0.1)
    assert plain["text"] == found.text
    assert [row["alternative"] for row in found.rows()] == ["learned", "rrf", "expert"]
    assert found.text in found.render("markdown")
    assert "expert" in found.render("csv")
    assert repr(found) == "Verdict(jury, shown, nDCG@10, 30 held-out queries)"
    assert (plain["evidence"], plain["headline"]) == ("shown", "use jury")
    assert [row["evidence"] for row in found.rows()] == ["shown", None, None]


def test_the_fewer_items_of_condensed_lists_are_judged_the_wider_is_the_interval():
    rng = np.random.default_rng(3)
    values = {"learned": rng.random(30), "rrf": rng.random(30)}

    def half_width(share, n_condensed):
        judged = dict.fromkeys(values, share)
        found = decide(values, np.ones(30), method="jury", metric="nDCG@10", judged=judged, n_condensed=n_condensed)
        difference = found.differences["learned - rrf"]
        return (difference.high - difference.low) / 2

    apart = values["learned"] - values["rrf"]
    assert half_width(0.2, 0) == pytest.approx(half_width(1.0, 30)) == pytest.approx(t.ppf(0.975, 29) * sem(apart))
    assert half_width(0.25, 30) == pytest.approx(t.ppf(0.975, 29) * np.hypot(sem(apart), 0.03))  # 3/4 of 0.04
    assert half_width(0.25, 30) > half_width(0.25, 15) > half_width(0.25, 0)
