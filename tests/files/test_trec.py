from pathlib import Path

import pytest

from juryrank.errors import DataError, DataWarning
from juryrank.io import read
from juryrank.io.files import load
from juryrank.io.sources import read_rows

from .sameness import labels_of, lists_of, slots_of


def run(tmp_path: Path, text: str, name: str = "some.run") -> Path:
    path = tmp_path / name
    path.write_text(text)
    return path


def ranks(path: Path) -> dict[str, float]:
    r = read(path).rankings
    return dict(zip(r.items[r.slot_item[r.entry_slot]].tolist(), r.entry_rank.tolist(), strict=True))


def test_scores_are_kept_and_equal_scores_tie(samples: Path) -> None:
    data = read(samples / "bm25.run")
    assert lists_of(data) == {
        ("q1", "bm25", frozenset({("d1", 1.0, 12.5), ("d2", 2.0, 9.25), ("d3", 2.0, 9.25)})): 1,
        ("q2", "bm25", frozenset({("d9", 1.0, 3.0)})): 1,
    }


def test_two_runs_make_two_experts_and_a_query_may_be_missing_in_one(samples: Path) -> None:
    data = read([samples / "bm25.run", samples / "dense.run"])
    assert data.queries == ("q1", "q2", "q3")
    assert data.experts == ("bm25", "dense")
    assert [(len(q), q.rankings.n_lists) for q in data] == [(1, 2), (1, 1), (1, 1)]


def test_a_folder_is_all_its_files_but_hidden_ones(samples: Path, tmp_path: Path) -> None:
    for name in ("bm25.run", "dense.run"):
        (tmp_path / name).write_bytes((samples / name).read_bytes())
    (tmp_path / ".DS_Store").write_bytes(b"\0\1\2")
    assert read(tmp_path).experts == ("bm25", "dense")


def test_the_order_is_that_of_the_scores_whatever_the_lines_and_ranks(tmp_path: Path) -> None:
    path = run(tmp_path, "1 Q0 c 3 1.0 t\n1 Q0 a 1 3.0 t\n2 Q0 z 1 5 t\n1 Q0 b 2 2.0 t\n")
    assert ranks(path) == {"a": 1, "b": 2, "c": 3, "z": 1}


def test_ranks_that_contradict_scores_warn_with_a_count(tmp_path: Path) -> None:
    path = run(tmp_path, "1 Q0 a 3 9 t\n1 Q0 b 2 8 t\n1 Q0 c 1 7 t\n2 Q0 a 0 2 t\n2 Q0 b 1 1 t\n")
    with pytest.warns(DataWarning, match="ranks and scores disagree on 2 neighbouring entries; the scores are used"):
        assert ranks(path)["a"] == 1


def test_different_ranks_at_one_score_contradict_nothing(tmp_path: Path) -> None:
    path = run(tmp_path, "1 Q0 a 2 0.5 t\n1 Q0 b 1 0.5 t\n1 Q0 c 3 0.25 t\n")
    assert ranks(path) == {"a": 1, "b": 1, "c": 3}


def test_ranks_may_start_at_zero_or_be_absent_or_no_numbers(tmp_path: Path) -> None:
    zero = ranks(run(tmp_path, "1 Q0 a 0 9 t\n1 Q0 b 1 8 t\n"))
    absent = ranks(run(tmp_path, "1 Q0 a 9 t\n1 Q0 b 8 t\n"))
    words = ranks(run(tmp_path, "1 Q0 a - 9 t\n1 Q0 b - 8 t\n"))
    assert zero == absent == words == {"a": 1, "b": 2}


@pytest.mark.parametrize("blank", ["\t", "  ", " \t ", "\t\t"])
def test_any_blanks_separate(tmp_path: Path, samples: Path, blank: str) -> None:
    text = (samples / "bm25.run").read_text().replace(" ", blank)
    assert lists_of(read(run(tmp_path, text))) == lists_of(read(samples / "bm25.run"))


def test_blanks_may_change_within_a_file_and_stand_at_the_ends(tmp_path: Path, samples: Path) -> None:
    text = "  q1\tQ0 d1   1 12.5 bm25 \n\n\nq1 Q0\td2 2\t9.25 bm25\t\nq1 Q0 d3 3 9.25 bm25\n \nq2 Q0 d9 1 3 bm25"
    assert lists_of(read(run(tmp_path, text))) == lists_of(read(samples / "bm25.run"))


def test_files_with_one_tag_are_named_after_the_files(tmp_path: Path) -> None:
    one = run(tmp_path, "1 Q0 a 1 9 STANDARD\n", "first.run")
    two = run(tmp_path, "1 Q0 b 1 9 STANDARD\n", "second.txt")
    other = run(tmp_path, "1 Q0 b 1 9 own\n", "third.run")
    with pytest.warns(DataWarning, match="2 files share the expert 'STANDARD'"):
        assert read([one, two, other]).experts == ("first", "own", "second")


def test_files_with_one_tag_and_one_name_are_named_by_their_paths(tmp_path: Path) -> None:
    paths = []
    for folder in ("x", "y"):
        (tmp_path / folder).mkdir()
        paths.append(run(tmp_path / folder, "1 Q0 a 1 9 STANDARD\n"))
    with pytest.warns(DataWarning, match="2 files share"):
        assert read(paths).experts == tuple(str(path) for path in paths)


def test_files_with_one_tag_about_different_queries_are_one_expert(tmp_path: Path) -> None:
    one = run(tmp_path, "1 Q0 a 1 9 bm25\n", "first.run")
    two = run(tmp_path, "2 Q0 b 1 9 bm25\n", "second.run")
    assert read([one, two]).experts == ("bm25",)


def test_one_file_may_hold_several_experts(tmp_path: Path) -> None:
    assert read(run(tmp_path, "1 Q0 a 1 9 x\n1 Q0 a 1 9 y\n")).experts == ("x", "y")


def test_qrels_are_labels_whatever_the_iteration_and_the_blanks(samples: Path) -> None:
    data = read(samples / "small.qrels")
    assert labels_of(data) == {("q1", "d1"): 2, ("q1", "d2"): 0, ("q1", "d8"): 1, ("q2", "d9"): 1}
    assert data.rankings.n_lists == 0


def test_labels_of_unranked_items_are_kept_but_make_no_slots(samples: Path) -> None:
    data = read([samples / "bm25.run"], labels=samples / "small.qrels")
    assert ("q1", "d8") not in slots_of(data)
    assert labels_of(data)["q1", "d8"] == 1
    assert data.slot_labels.tolist()[:2] == [2, 0]


def test_qrels_among_the_runs_are_the_labels(samples: Path) -> None:
    together = read([samples / "bm25.run", samples / "small.qrels"])
    apart = read(samples / "bm25.run", labels=samples / "small.qrels")
    assert slots_of(together) == slots_of(apart)
    assert labels_of(together) == labels_of(apart)


def test_labels_may_be_a_dict(samples: Path) -> None:
    data = read(samples / "bm25.run", labels={"q1": {"d3": 2, "d4": 1}, "q9": {"d1": 1}})
    assert labels_of(data) == {("q1", "d3"): 2, ("q1", "d4"): 1}


@pytest.mark.parametrize(
    ("text", "line", "message"),
    [
        ("1 Q0 a 1 9 t\n1 Q0 b 2 t\n", 2, "expected 6 columns: query iteration item rank"),
        ("1 Q0 a 1 9 t\n\n1 Q0 b 2 8 t extra\n", 3, "got '1 Q0 b 2 8 t extra'"),
        ("1 Q0 a 1 9 t\n1 Q0 b 2 best t\n", 2, "score (a number)"),
        ("1 Q0 a 9 t\n1 Q0 b 8\n", 2, "expected 5 columns"),
    ],
)
def test_a_bad_line_of_a_run_is_named(tmp_path: Path, text: str, line: int, message: str) -> None:
    path = run(tmp_path, text)
    with pytest.raises(DataError) as caught:
        read(path)
    assert str(caught.value).startswith(f"{path}:{line}: ")
    assert message in str(caught.value)


def test_a_bad_line_of_qrels_is_named(tmp_path: Path) -> None:
    path = run(tmp_path, "1 0 a 1\n1 0 b yes\n", "q.txt")
    with pytest.raises(DataError, match=r"q\.txt:2: expected 4 columns.*got '1 0 b yes'"):
        read(path)


def test_scores_that_are_not_finite_are_dropped_and_counted(tmp_path: Path) -> None:
    path = run(tmp_path, "1 Q0 a 1 inf t\n1 Q0 b 2 8 t\n1 Q0 c 3 nan t\n")
    with pytest.warns(DataWarning, match="2 entries without a score are dropped"):
        assert read(path).rankings.n_entries == 1


@pytest.mark.parametrize("n_items", [5, 3000], ids=["small", "large"])
@pytest.mark.parametrize("separator", ["\t", " "], ids=["tabs", "blanks"])
def test_blanks_around_names_do_not_count(separator: str, n_items: int, tmp_path: Path) -> None:
    cells = [(f"q{q}", "Q0", f"document-{i}", i, n_items - i, "bm25") for q in range(10) for i in range(1, n_items + 1)]
    lines = [separator.join(map(str, row)) for row in cells]
    whole, padded = tmp_path / "whole.run", tmp_path / "padded.run"
    whole.write_text("\n".join(lines) + "\n")
    lines[1] += " "
    lines[2] = " " + lines[2]
    lines[3] = lines[3].replace("document", " document").replace("Q0", "Q0 ")
    padded.write_text("\n".join(lines) + "\n")
    rankings, expected = read(padded).rankings, read(whole).rankings
    assert (rankings.queries, rankings.experts) == (expected.queries, ("bm25",))
    assert rankings.items.tolist() == expected.items.tolist()
    assert rankings.entry_slot.tolist() == expected.entry_slot.tolist()


def test_names_between_tabs_may_have_blanks_inside(tmp_path: Path) -> None:
    path = tmp_path / "x.run"
    path.write_text("q1\tQ0\tcoffee\t1\t2.0\tx\nq1\tQ0\tgreen tea\t2\t1.0\tx\n")
    assert read(path).rankings.items.tolist() == ["coffee", "green tea"]


def test_a_tab_far_down_in_a_run_with_blanks_is_a_blank(tmp_path: Path) -> None:
    path = tmp_path / "x.run"
    lines = [f"q Q0 {'d' * 2000}{n} {n} {20 - n} bm25" for n in range(1, 11)]
    path.write_text("\n".join([*lines[:-1], lines[-1] + "\t"]) + "\n")
    assert read(path).rankings.experts == ("bm25",)


BLANK_RULES = [  # a line, and its query, item and expert
    ("q1\tQ0\td 1\t1\t2.0\tbm25", ("q1", "d 1", "bm25")),
    ("my query\tQ0\td1\t1\t2.0\tbm25", ("my query", "d1", "bm25")),
    (" q1\tQ0\t d1 \t1 \t 2.0\tbm25 ", ("q1", "d1", "bm25")),
    ("q1\t\tQ0\td1\t1\t2.0\tbm25", ("q1", "d1", "bm25")),
    ("q1 Q0 d1 1 2.0 bm25 ", ("q1", "d1", "bm25")),
    ("q1  Q0\td1\v1 2.0\fbm25\t", ("q1", "d1", "bm25")),
    ("            q1 Q0 d1 1 2.0 bm25", ("q1", "d1", "bm25")),
    ("\t\t\t\t\t\t\tq1\tQ0\td1\t1\t2.0\tbm25", ("q1", "d1", "bm25")),
    ("q1\tQ0\td1\t\t2.0\tbm25", ("q1", "d1", "bm25")),
    ("q1\tQ0\td1\tfirst\t2.0\tbm25", ("q1", "d1", "bm25")),
]


@pytest.mark.parametrize("usual", ["a Q0 b 1 9.0 x", "a\tQ0\tb\t1\t9.0\tx"])
@pytest.mark.parametrize("n_usual", [0, 1, 600])
def test_a_line_is_split_by_one_rule_whatever_the_others_are(n_usual: int, usual: str, tmp_path: Path) -> None:
    for odd in (None, "a  Q0 b2 1   8.0 x"):
        for line, expected in BLANK_RULES:
            before = [usual.replace("b", f"b{n}", 1) for n in range(n_usual)]
            path = run(tmp_path, "\n".join([*before, line, *([] if odd is None else [odd])]) + "\n")
            rows = read_rows([load(path)], "trec-run", {}).entries
            assert rows is not None
            assert rows.select("query", "item", "expert").row(n_usual) == expected
            assert rows.height == n_usual + 1 + (odd is not None)


@pytest.mark.parametrize("line", ["q1\tx Q0 d1 1 2.0 bm25", "q1 Q0 d1  2.0 bm25", "q1 Q0 d 1 1 2.0 bm25"])
def test_a_line_with_too_few_or_too_many_words_is_an_error(line: str, tmp_path: Path) -> None:
    path = run(tmp_path, f"a Q0 b 1 9.0 x\n{line}\n")
    with pytest.raises(DataError, match=":2: expected 6 columns"):
        read(path)


def test_a_run_without_ranks_may_have_blanks_inside_names_between_tabs(tmp_path: Path) -> None:
    path = run(tmp_path, "my query\tQ0\td1\t0.5\tx\nother\tQ0\td1\t0.5\tx\n")
    assert read(path, format="trec-run").queries == ("my query", "other")
