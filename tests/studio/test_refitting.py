"""The model that is fitted again after each judgement, against whole fits."""

import random
from dataclasses import replace

import numpy as np
import pytest

from conftest import random_dataset
from juryrank.data import Dataset
from juryrank.errors import DataError
from juryrank.methods.learned.jury import Jury
from juryrank.studio.current_labels import CurrentLabels
from juryrank.studio.refitting import RefittedJury
from juryrank.tasks.judge.judgements import Judgement, labels_of
from juryrank.tasks.judge.session import Session
from juryrank.tasks.judge.store import JudgementFile


def lists_only(seed: int) -> Dataset:
    return replace(random_dataset(seed, n_queries=13), labels=None)


def keys_of(data: Dataset) -> list[tuple[str, str]]:
    r = data.rankings
    return [
        (query, r.items[r.slot_item[slot]])
        for q, query in enumerate(r.queries)
        for slot in range(r.slot_ptr[q], r.slot_ptr[q + 1])
    ]


def judgements(data: Dataset, seed: int, judges: tuple[str, ...] = ("ann",), n_items: int = 40) -> list[Judgement]:
    rng = random.Random(seed)
    keys = rng.sample(keys_of(data), n_items)
    return [Judgement(*key, judge, float(rng.randrange(3))) for key in keys for judge in judges]


def by_name(data: Dataset) -> dict[tuple[str, str], tuple[float, float]]:
    labels = data.labels
    assert labels is not None
    weights = np.ones(len(labels.label_value)) if labels.label_weight is None else labels.label_weight
    return {
        (query, labels.items[labels.label_item[n]]): (float(labels.label_value[n]), float(weights[n]))
        for q, query in enumerate(labels.queries)
        for n in range(labels.label_ptr[q], labels.label_ptr[q + 1])
    }


@pytest.mark.parametrize("block_entries", [1, 100, 10**9])
@pytest.mark.parametrize("judges", [("ann",), ("ann", "ben")])
def test_after_each_judgement_the_curves_are_those_of_a_whole_fit(block_entries: int, judges: tuple[str, ...]) -> None:
    data = lists_only(0)
    refitted, before = RefittedJury(data, block_entries), CurrentLabels(data)
    refitted.update(before, [])
    assert refitted.model is None
    answers = judgements(data, 1, judges, n_items=14)
    for n in [*range(1, len(answers) + 1), 10, 5, 0]:  # at the end, answers are taken back
        labels = CurrentLabels.of(data, answers[:n])
        refitted.update(labels, labels.changed(before))
        before = labels
        try:
            whole = Jury().fit(replace(data, labels=labels_of(answers[:n])))
        except DataError:  # nothing relevant, or nothing at all
            assert refitted.model is None
            continue
        assert refitted.model is not None
        assert refitted.n_queries == whole.n_queries_
        scores = [model.predict(data, warn_unknown=False).scores for model in (refitted.model, whole)]
        np.testing.assert_allclose(*scores, rtol=1e-9, atol=1e-11)


def test_labels_of_the_data_are_learned_from_in_blocks() -> None:
    data = random_dataset(3, n_queries=21)
    refitted = RefittedJury(data, block_entries=200)
    refitted.update(CurrentLabels(data), [])
    whole = Jury().fit(data)
    assert refitted.model is not None
    np.testing.assert_allclose(refitted.model.predict(data).scores, whole.predict(data).scores, rtol=1e-9)
    key = next(key for key in keys_of(data) if key not in by_name(data))
    labels = CurrentLabels.of(data, [Judgement(*key, "ann", 2.0)])
    refitted.update(labels, [key[0]])
    more = Jury().fit(replace(data, labels=labels.whole))
    assert not np.allclose(more.predict(data).scores, whole.predict(data).scores)
    np.testing.assert_allclose(refitted.model.predict(data).scores, more.predict(data).scores, rtol=1e-9)


@pytest.mark.parametrize("judges", [("ann",), ("ann", "ben", "cem")])
def test_grades_replace_labels_of_the_data_as_in_a_session(tmp_path, judges: tuple[str, ...]) -> None:
    data = random_dataset(5, n_queries=9)
    file = JudgementFile(tmp_path / "judgements.csv")
    answers = judgements(data, 2, judges)
    for answer in answers:
        file.append(answer)
    expected = Session(data, file, "ann").labels()
    labels = CurrentLabels.of(data, answers)
    ours = by_name(replace(data, labels=labels.whole))
    assert ours == by_name(replace(data, labels=expected))
    assert labels.counts == {query: n for query in data.queries if (n := sum(key[0] == query for key in ours))}
    for query in data.queries:
        assert labels.of_query(query) == {key[1]: value for key, value in ours.items() if key[0] == query}


def test_the_kind_of_labels_may_change_with_an_answer() -> None:
    """Labels of relevant items only weigh by place; answers that nothing is relevant here make them few labels."""
    data = lists_only(4)
    keys = keys_of(data)
    gold = [Judgement(*next(key for key in keys if key[0] == query), "gold", 1.0) for query in data.queries]
    base = replace(data, labels=labels_of(gold))
    rest = [key for key in keys if key not in by_name(base)]
    refitted, before, kinds = RefittedJury(base, 100), CurrentLabels(base), []
    refitted.update(before, [])
    for n in range(4):
        labels = CurrentLabels.of(base, [Judgement(*key, "ann", 0.0) for key in rest[:n]])
        refitted.update(labels, labels.changed(before))
        before, whole = labels, Jury().fit(replace(base, labels=labels.whole))
        assert refitted.model is not None
        np.testing.assert_allclose(refitted.model.predict(base).scores, whole.predict(base).scores, rtol=1e-9)
        assert refitted.model.survey == whole.survey
        kinds.append(whole.survey.kind)
    assert (kinds[0], kinds[-1]) == ("positives only", "few")
