"""What a session asks, in which order, and what it remembers."""

from collections import Counter
from pathlib import Path
from typing import Any

import pytest

import juryrank
from juryrank.data import Dataset
from juryrank.errors import DataError, ParameterError
from juryrank.tasks.judge.grades import Grades
from juryrank.tasks.judge.judgements import Judgement
from juryrank.tasks.judge.plan import judging_plan
from juryrank.tasks.judge.session import Question, Session
from juryrank.tasks.judge.store import JudgementFile

QUERIES, ITEMS = 6, 9


@pytest.fixture
def data() -> Dataset:
    runs = {
        expert: {f"q{q}": [f"i{(n * step + q) % ITEMS}" for n in range(ITEMS)] for q in range(QUERIES)}
        for expert, step in (("bm25", 1), ("dense", 2), ("title", 4))
    }
    return juryrank.from_dicts(runs)


@pytest.fixture
def file(tmp_path: Path) -> JudgementFile:
    return JudgementFile(tmp_path / "judgements.csv")


def asked(session: Session) -> Question:
    question = session.next()
    assert question is not None
    return question


def answer(session: Session, n: int, grade: float = 1) -> list[tuple[str, str]]:
    keys = []
    for _ in range(n):
        question = asked(session)
        session.grade(question, grade)
        keys.append(question.key)
    return keys


def planned(data: Dataset, budget: int, labels: Any = None) -> list[tuple[Any, ...]]:
    return judging_plan(data, labels=labels, budget=budget).to_frame().select("query", "item").rows()


def test_a_session_asks_in_the_order_of_the_plan(data: Dataset, file: JudgementFile) -> None:
    assert answer(Session(data, file, "ann", budget=10), 10) == planned(data, 10)


def test_after_a_batch_the_plan_is_made_from_the_labels_so_far(data: Dataset, file: JudgementFile) -> None:
    seen: list[tuple[int, int]] = []

    def plan(data: Dataset, labels: Any, budget: int) -> Any:
        seen.append((0 if labels is None else len(labels.label_value), budget))
        return judging_plan(data, labels=labels, budget=budget)

    session = Session(data, file, "ann", budget=10, batch=4, plan=plan)
    answer(session, 10)
    assert session.next() is None
    assert seen == [(0, 4), (4, 4), (8, 2)]


def test_the_same_command_continues_and_the_budget_counts_all_sessions(data: Dataset, file: JudgementFile) -> None:
    first = answer(Session(data, file, "ann", budget=10), 4)
    session = Session(data, file, "ann", budget=10)
    assert (session.n_graded, asked(session).number) == (4, 5)
    rest = answer(session, 6)
    assert session.next() is None
    assert first + rest == planned(data, 10)


def test_what_is_undone_is_asked_again_also_in_a_later_session(data: Dataset, file: JudgementFile) -> None:
    keys = answer(Session(data, file, "ann"), 3, grade=2)
    session = Session(data, file, "ann")
    for key in reversed(keys):
        last = session.undo()
        assert last is not None
        assert (last.key, last.grade) == (key, 2)
        assert asked(session).key == key
    assert session.undo() is None
    assert file.read() == []
    assert answer(Session(data, file, "ann"), 3) == keys


def test_what_a_judge_looks_at_stays_the_question_while_it_is_open(data: Dataset, file: JudgementFile) -> None:
    session, other = Session(data, file, "ann", overlap=0), Session(data, file, "ben", overlap=0)
    planned_first, shown = (question.key for question in session.ahead(2))
    session.keep(shown)
    session.keep(shown)
    assert [question.key for question in session.ahead(2)] == [shown, planned_first]
    session.grade(asked(session), 1)
    for gone in (shown, (shown[0], "an item of no list"), ("no query", shown[1])):
        session.keep(gone)
        assert asked(session).key == planned_first
    taken = session.ahead(2)[1]
    other.grade(taken, 1)
    session.keep(taken.key)
    assert asked(session).key == planned_first


def test_a_skipped_item_is_not_asked_again_and_does_not_use_the_budget(data: Dataset, file: JudgementFile) -> None:
    session = Session(data, file, "ann", budget=5)
    first = asked(session)
    session.skip(first)
    assert asked(session).number == 1
    rest = answer(session, 5)
    assert first.key not in rest
    assert session.next() is None
    again = Session(data, file, "ann", budget=60)
    assert (again.n_graded, again.n_skipped) == (5, 1)
    assert first.key not in answer(again, QUERIES * ITEMS - 6)
    assert again.next() is None


def test_skipping_everything_ends(data: Dataset, file: JudgementFile) -> None:
    session = Session(data, file, "ann", batch=7)
    skipped = set()
    while (question := session.next()) is not None:
        session.skip(question)
        skipped.add(question.key)
    assert len(skipped) == QUERIES * ITEMS


@pytest.mark.parametrize(("overlap", "shared"), [(0.0, 0), (0.1, 2), (0.25, 5), (1.0, 12)])
def test_the_overlap_is_the_share_of_items_that_another_judge_has_graded(
    data: Dataset, file: JudgementFile, overlap: float, shared: int
) -> None:
    first = answer(Session(data, file, "ann"), 12)
    second = answer(Session(data, file, "ben", overlap=overlap), 20)
    assert len(set(second)) == 20
    assert len(set(first).intersection(second)) == shared


def test_a_third_judge_shares_the_items_that_two_have_graded(data: Dataset, file: JudgementFile) -> None:
    first = answer(Session(data, file, "ann"), 20)
    common = set(first).intersection(answer(Session(data, file, "ben", overlap=0.2), 20))
    assert len(common) == 4
    third = answer(Session(data, file, "cem", overlap=0.2), 20)
    assert set(third).intersection(first) == common


def test_two_judges_at_the_same_time_do_not_grade_the_same_items_without_overlap(
    data: Dataset, file: JudgementFile
) -> None:
    ann, ben = (Session(data, file, name, overlap=0) for name in ("ann", "ben"))
    given = []
    for _ in range(10):  # each is asked before the other has answered
        questions = [asked(ann), asked(ben)]
        for session, question in zip((ann, ben), questions, strict=True):
            session.grade(question, 1)
            given.append(question.key)
    assert [n for n in Counter(given).values() if n > 1] == [2]  # the first, when neither knew of the other


def test_an_item_that_is_taken_back_is_asked_next_although_others_have_graded_it(
    data: Dataset, file: JudgementFile
) -> None:
    answer(Session(data, file, "ann"), 12)
    session = Session(data, file, "ben", overlap=0.25)
    keys = answer(session, 4)
    assert session.n_shared == 1
    session.undo()
    assert asked(session).key == keys[-1]
    session.skip(asked(session))
    assert asked(session).key not in keys


def test_several_questions_are_available_at_a_time(data: Dataset, file: JudgementFile) -> None:
    session = Session(data, file, "model", budget=30, batch=10)
    ahead = session.ahead(8)
    assert [question.key for question in ahead] == planned(data, 8)
    assert [question.number for question in ahead] == list(range(1, 9))
    for question in reversed(ahead):
        session.grade(question, 0)
    assert len(session.ahead(8)) == 2
    assert session.n_graded == 8


def test_labels_of_the_data_and_grades_of_judges_are_joined(data: Dataset, file: JudgementFile) -> None:
    labelled = data.with_labels(juryrank.from_dicts({}, labels={"q0": {"i0": 3, "i1": 2}}).labels)
    assert labelled.labels is not None
    session = Session(labelled, file, "ann")
    assert session.labels() is labelled.labels
    file.append(Judgement("q0", "i1", "ann", 0.0))
    file.append(Judgement("q1", "i2", "ann", 1.0))
    asked(session)
    labels = session.labels()
    assert labels is not None
    found = {
        (query, labels.items[item]): value
        for q, query in enumerate(labels.queries)
        for item, value in zip(
            labels.label_item[labels.label_ptr[q] : labels.label_ptr[q + 1]],
            labels.label_value[labels.label_ptr[q] : labels.label_ptr[q + 1]],
            strict=True,
        )
    }
    assert found == {("q0", "i0"): 3, ("q0", "i1"): 0, ("q1", "i2"): 1}


def test_judgements_of_other_data_are_counted_and_not_used(data: Dataset, file: JudgementFile) -> None:
    file.append(Judgement("q0", "elsewhere", "ann", 1.0))
    file.append(Judgement("other", "i0", "ben", 1.0))
    session = Session(data, file, "ann", overlap=1)
    assert (session.n_foreign, session.n_graded) == (2, 0)
    assert answer(session, 3) == planned(data, 3)


def test_grades_that_are_not_on_the_scale_are_an_error(data: Dataset, file: JudgementFile) -> None:
    file.append(Judgement("q0", "i0", "ann", 4.0))
    with pytest.raises(DataError, match=r"judgements\.csv: grades are 0-3, but there is 4; choose the scale"):
        Session(data, file, "ann")
    session = Session(data, file, "ann", grades=Grades.parse("0-4"))
    with pytest.raises(DataError, match="an answer: grades are 0-4, but there is 5"):
        session.grade(asked(session), 5)


@pytest.mark.parametrize(
    ("text", "keys"),
    [
        ("0-2", {"0": "not relevant", "1": "", "2": "perfectly relevant"}),
        ("1 - 2", {"1": "not relevant", "2": "perfectly relevant"}),
        ("no,partly, ja sicher", {"0": "no", "1": "partly", "2": "ja sicher"}),
    ],
)
def test_a_scale_is_a_range_or_names(text: str, keys: dict[str, str]) -> None:
    grades = Grades.parse(text)
    assert grades.by_key() == keys
    for key, name in keys.items():
        assert grades.grade_of(key) == int(key)
        assert not name or grades.grade_of(name.upper()) == int(key)
    assert grades.grade_of("9") is None
    assert grades.grade_of("") is None


@pytest.mark.parametrize(
    "text",
    ["", "3", "3-3", "3-0", "0-10", "no", "no,no", "no,No", "u,v", "a,,b", "yes,n\x1bo", ",".join("abcdefghijk")],
)
def test_other_scales_are_an_error(text: str) -> None:
    with pytest.raises(ParameterError, match="grades are a range such as 0-3"):
        Grades.parse(text)
