"""``juryrank judge``: plans as files, and sessions whose answers come from a pipe."""

import io
import json
import re
from pathlib import Path

import polars as pl
import pytest

from cli.conftest import DEMO, Outcome, Run
from conftest import partly_judged
from juryrank.io.dataset_frames import long_table

RUNS = (DEMO, "--columns", "label=")
TEXTS = ("--texts", DEMO.with_name("corpus.csv"), "--query-texts", DEMO.with_name("queries.json"))
CONTROL = re.compile(r"[\x00-\x09\x0b-\x1f\x7f-\x9f\u202e\u2028]")


@pytest.fixture(autouse=True)
def _here(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.chdir(tmp_path)


@pytest.fixture
def judge(run: Run, monkeypatch: pytest.MonkeyPatch) -> Run:
    """A session with these answers, on the runs of the demo unless there are others."""

    def answer(answers: str, *args: object, data: tuple[object, ...] = RUNS, name: str = "ann") -> Outcome:
        monkeypatch.setattr("sys.stdin", io.StringIO(answers))
        return run("judge", *data, "--interactive", "--judge", name, *args)

    return answer


def rows(path: str = "judgements.csv") -> list[tuple[str, ...]]:
    """Query, item, judge, grade and note of each row."""
    return pl.read_csv(path, infer_schema=False).select("query", "item", "judge", "grade", "note").fill_null("").rows()


class TestPlan:
    def test_a_plan_is_written_with_a_column_to_fill_in(self, run: Run) -> None:
        done = run("judge", *RUNS, "--budget", 30, "-o", "to-judge.csv")
        assert (done.code, done.out) == (0, "")
        assert re.match(r"to-judge.csv: 30 items of \d+ queries to judge; 0 judged so far", done.err)
        assert "--labels to-judge.csv" in done.err
        plan = pl.read_csv("to-judge.csv", infer_schema=False)
        assert plan.columns == ["query", "item", "why", "label"]
        assert plan.height == plan.select("query", "item").n_unique() == 30
        assert plan["label"].null_count() == 30

    def test_the_plan_is_the_same_in_all_formats_and_on_stdout(self, run: Run) -> None:
        shown = run("judge", *RUNS, "--budget", 5, "--quiet")
        assert (shown.code, shown.err) == (0, "")
        for name in ("a.csv", "a.tsv", "a.parquet", "a.jsonl", "a.json"):
            assert run("judge", *RUNS, "--budget", 5, "-o", name).code == 0
        expected = pl.read_csv(io.StringIO(shown.out)).select("query", "item", "why")
        assert pl.read_csv("a.csv").select("query", "item", "why").equals(expected)
        assert pl.read_csv("a.tsv", separator="\t").select("query", "item", "why").equals(expected)
        assert pl.read_parquet("a.parquet").equals(expected)
        assert pl.read_ndjson("a.jsonl").equals(expected)
        assert json.loads(Path("a.json").read_text())["plan"] == expected.to_dicts()

    def test_a_filled_in_plan_is_labels_for_fit_and_for_the_next_plan(self, run: Run) -> None:
        run("judge", *RUNS, "--budget", 30, "-o", "to-judge.csv")
        plan = pl.read_csv("to-judge.csv", infer_schema=False)
        labels = [str(n % 3) if n % 5 else None for n in range(30)]
        plan.with_columns(label=pl.Series(labels, dtype=pl.String)).write_csv("to-judge.csv")
        done = run("fit", *RUNS, "--labels", "to-judge.csv", "-o", "model.json")
        assert done.code == 0
        assert "to-judge.csv: 6 of 30 rows have no label; they are left out" in done.err
        assert "with 24 labels" in done.err
        more = run("judge", *RUNS, "--labels", "to-judge.csv", "--budget", 10)
        judged = set(plan.with_columns(label=pl.Series(labels)).drop_nulls("label").select("query", "item").rows())
        assert "24 judged so far" in more.err
        assert not judged.intersection(pl.read_csv(io.StringIO(more.out)).select("query", "item").rows())

    def test_files_of_several_batches_are_given_as_a_folder_with_advice(self, run: Run) -> None:
        Path("judged").mkdir()
        first = run("judge", *RUNS, "--budget", 40, "-o", "judged/1.csv")
        assert "Go on" not in first.err
        plan = pl.read_csv("judged/1.csv", infer_schema=False)
        labels = pl.read_csv(DEMO).select("query", "item", "label").unique().drop_nulls().cast(pl.String)
        plan.drop("label").join(labels, on=["query", "item"], how="left").write_csv("judged/1.csv")
        second = run("judge", *RUNS, "--labels", "judged", "--budget", 40, "-o", "judged/2.csv")
        assert re.search(
            r"^Not shown yet: after 40 judgements, on \d+ held-out queries, jury has a gain", second.err, re.M
        )
        assert "50 more judgements can be expected to add" in second.err
        assert "fit DATA --labels judged," in second.err
        more = pl.read_csv("judged/2.csv", infer_schema=False)
        assert not set(plan.select("query", "item").rows()).intersection(more.select("query", "item").rows())
        more.with_columns(label=pl.lit("1")).write_csv("judged/2.csv")
        assert "with 80 labels" in run("fit", *RUNS, "--labels", "judged", "-o", "model.json").err
        elsewhere = run("judge", *RUNS, "--labels", "judged/1.csv", "--budget", 3, "-o", "3.csv")
        assert "put it into one folder with judged/1.csv" in elsewhere.err

    def test_labels_that_somebody_has_filled_in_are_not_replaced(self, run: Run) -> None:
        run("judge", *RUNS, "--budget", 3, "-o", "plan.csv")
        assert run("judge", *RUNS, "--budget", 4, "-o", "plan.csv").code == 0  # nobody has used it yet
        filled = pl.read_csv("plan.csv", infer_schema=False).with_columns(label=pl.Series(["1", " ", None, "0"]))
        filled.write_csv("plan.csv")
        before = Path("plan.csv").read_bytes()
        failed = run("judge", *RUNS, "-o", "plan.csv")
        assert (failed.code, failed.err.count("\n")) == (1, 1)
        assert "plan.csv: the plan would replace this file (a plan with 2 labels)" in failed.err
        assert Path("plan.csv").read_bytes() == before

    @pytest.mark.parametrize(
        ("name", "content", "found"),
        [
            (
                "g.csv",
                DEMO.with_name("judgements.csv").read_text(),
                "170 rows with the columns 'query', 'item', 'judge'",
            ),
            ("g.csv", "query,item,relevance\nq16,caramel-crystal,1\n", "1 row with the columns"),
            ("g.csv", "query,item,why,label,mine\nq16,caramel-crystal,place 1 of RRF,,2\n", "'label', 'mine'"),
            ("g.csv", "query,item,why,label\nq16,caramel-crystal,relevant,\n", "1 row with the columns"),
            ("g.csv", "query;item;why;label\nq16;caramel-crystal;place 1 of RRF;2\n", "a plan with 1 label)"),
            ("g.tsv", "q16 0 caramel-crystal 1\n", "0 rows with the columns 'q16 0 caramel-crystal 1'"),
            ("g.csv", 'not a table\n"', "no table that can be read"),
            ("g.csv", "\n", "no table that can be read"),
            ("g.jsonl", '{"query": "q16", "item": "caramel-crystal", "grade": 1}\n', "'query', 'item', 'grade'"),
            ("g.json", '{"format": "juryrank-model"}\n', "no table that can be read"),
            ("g.json", '{"q16": {"caramel-crystal": 1}}\n', "no table that can be read"),
        ],
    )
    @pytest.mark.parametrize("labels", [False, True])
    def test_a_file_that_is_no_plan_is_not_replaced(
        self, run: Run, name: str, content: str, found: str, labels: bool
    ) -> None:
        Path(name).write_text(content)
        failed = run("judge", *RUNS, "--budget", 5, "-o", name, *(("--labels", name) if labels else ()))
        assert (failed.code, failed.out, failed.err.count("\n")) == (1, "", 1)
        assert f"{name}: the plan would replace this file (" in failed.err
        assert found in failed.err
        assert "give another name, or move the file" in failed.err
        assert Path(name).read_text() == content

    @pytest.mark.parametrize("ending", ["csv", "tsv", "jsonl", "parquet", "json", "csv.gz"])
    def test_a_plan_without_labels_and_an_empty_file_are_replaced(self, run: Run, ending: str) -> None:
        Path(f"plan.{ending}").touch()
        judged = DEMO.with_name("judgements.csv")  # 146 items, so that the model chooses some of the next
        pl.read_csv(DEMO).select("query", "item").unique().with_columns(label=1).write_csv("all.csv")
        for labels, items in ((judged, 20), ("all.csv", 0), (judged, 4)):
            done = run("judge", *RUNS, "--labels", labels, "--budget", items or 9, "-o", f"plan.{ending}")
            assert (done.code, f"plan.{ending}: {items} items of " in done.err) == (0, True)

    def test_an_item_added_to_a_plan_in_json_is_not_replaced(self, run: Run) -> None:
        run("judge", *RUNS, "--budget", 3, "-o", "plan.json")
        plan = json.loads(Path("plan.json").read_text())
        plan["plan"][2]["grade"] = 1
        Path("plan.json").write_text(json.dumps(plan))
        assert "3 rows with the columns 'query', 'item', 'why', 'grade'" in run("judge", *RUNS, "-o", "plan.json").err
        assert json.loads(Path("plan.json").read_text()) == plan

    def test_texts_are_columns_that_no_spreadsheet_takes_for_formulas(self, run: Run, runs: list[Path]) -> None:
        Path("texts.csv").write_text('item,text\na,"=HYPERLINK(""x"")"\nb,"two\nlines"\nz,elsewhere\n')
        done = run("judge", *runs, "--texts", "texts.csv", "-o", "plan.csv")
        assert "texts.csv: 2 of 5 items have a text; 1 texts of others are not used" in done.err
        plan = pl.read_csv("plan.csv")
        assert plan.columns == ["query", "item", "why", "text", "label"]
        texts = dict(plan.select("item", "text").rows())
        assert (texts["a"], texts["b"], texts["x"]) == ('\'=HYPERLINK("x")', "two\nlines", None)

    @pytest.mark.parametrize(
        ("args", "code", "complaint"),
        [
            ((), 2, "DATA is required"),
            ((*RUNS, "-o", "plan.xyz"), 2, "the extension of plan.xyz is none of .csv"),
            ((*RUNS, "--budget", "0"), 2, "--budget"),
            ((*RUNS, "--texts", "absent.csv"), 1, "absent.csv: cannot be read"),
            (("absent.run",), 1, "absent.run"),
        ],
    )
    def test_a_mistake_has_one_message(self, run: Run, args: tuple[object, ...], code: int, complaint: str) -> None:
        failed = run("judge", *args)
        assert (failed.code, failed.out) == (code, "")
        assert complaint in " ".join(failed.err.replace("│", " ").split())
        assert not Path("plan.xyz").exists()


class TestSession:
    def test_answers_from_a_pipe_are_saved_and_the_same_command_continues(self, judge: Run, run: Run) -> None:
        order = pl.read_csv(io.StringIO(run("judge", *RUNS, "--budget", 5).out)).select("query", "item").rows()
        first = judge("2\n0\n", "--budget", 5)
        assert first.code == 0
        assert re.search(r"2 items graded; saved in judgements.csv.\n[^─]*The same command continues.", first.out)
        second = judge("3\n1\n1\n2\n", "--budget", 5)
        assert "Continued after 2 graded and 0 skipped items" in second.out
        assert "── 3 of 5 ──" in second.out
        assert "5 items graded; saved in judgements.csv.\n" in second.out
        assert "The same command with a larger --budget continues." in second.out
        assert rows() == [(*key, "ann", grade, "") for key, grade in zip(order, "20311", strict=True)]
        third = judge("2\n", "--budget", 5)
        assert "── " not in third.out

    def test_undo_skip_help_more_and_unknown_answers(self, judge: Run) -> None:
        done = judge("u\n2\nu\n1\ns\n?\n\nx\n7\nm\nq\n3\n", *TEXTS)
        assert done.code == 0
        assert "There is no answer to take back." in done.out
        first = rows()[0][:2]
        assert f"Taken back: {first[0]}, {first[1]} (2)." in done.out
        assert "There is no answer 'x'; ? lists the keys." in done.out
        assert "There is no answer '7'" in done.out
        assert "take the last answer back" in done.out
        assert [(row[:2] == first, *row[2:]) for row in rows()] == [
            (True, "ann", "2", ""), (True, "ann", "", "undone"), (True, "ann", "1", ""), (False, "ann", "", "skipped"),
        ]  # fmt: skip
        assert "1 item graded, 1 skipped" in done.out

    def test_the_judge_sees_texts_but_neither_reasons_nor_the_grades_of_others(self, judge: Run) -> None:
        judge("3\n" * 4)
        done = judge("q\n", *TEXTS, "--overlap", "100%", name="ben")
        assert "RRF" not in done.out
        assert "ann" not in done.out.replace("ann judges", "")
        key = re.search(r"query  (\w+): (.*)\nitem   (\S+)\n  (.*)\n", done.out)
        assert key is not None
        texts = json.loads(DEMO.with_name("queries.json").read_text())
        assert texts[key[1]] == key[2]
        assert (key[1], key[3]) in {row[:2] for row in rows()}

    def test_names_of_grades_are_shown_and_may_be_typed(self, judge: Run) -> None:
        done = judge("partly\n2\nYES\n", "--grades", "no,partly,yes")
        assert "0 no · 1 partly · 2 yes · s skip" in done.out
        assert [row[3] for row in rows()] == ["1", "2", "2"]

    def test_what_was_judged_is_used_by_fit_evaluate_compare_and_convert(self, judge: Run, run: Run) -> None:
        answers = "".join(f"{n % 4}\n" for n in range(40))
        judge(f"{answers}u\ns\n")
        assert run("fit", *RUNS, "--labels", "judgements.csv", "-o", "model.json").code == 0
        assert run("evaluate", *RUNS, "--labels", "judgements.csv").code == 0
        compared = run("compare", *RUNS, "--labels", "judgements.csv", "--methods", "rrf,jury", "--folds", "2")
        assert compared.code == 0
        assert run("convert", "judgements.csv", "labels.qrels").code == 0
        expected = {(query, item, grade) for query, item, _, grade, _ in rows()[:39]}
        assert {(a, c, d) for a, _, c, d in map(str.split, Path("labels.qrels").read_text().splitlines())} == expected

    def test_labels_so_far_are_not_asked_and_may_be_the_file_itself(self, judge: Run, run: Run) -> None:
        run("judge", *RUNS, "--budget", 3, "-o", "before.csv")
        before = pl.read_csv("before.csv", infer_schema=False)
        before.with_columns(label=pl.lit("1")).write_csv("before.csv")
        judge("1\n1\n", "--labels", "before.csv")
        assert not {row[:2] for row in rows()}.intersection(before.select("query", "item").rows())
        first = rows()[0][:2]
        again = judge("u\nu\n0\nq\n", "--labels", "judgements.csv")
        assert again.code == 0
        assert (rows()[-1][:2], rows()[-1][3]) == (first, "0")

    def test_after_a_batch_and_at_the_end_there_is_advice(self, judge: Run) -> None:
        done = judge("".join(f"{n % 3}\n" for n in range(27)))
        words = " ".join(done.out.split())
        assert re.search(r"── 26 of 100 ──.*27 items graded", words)
        assert re.search(r"(Go on|Enough): after 25 judgements.*── 26 of 100 ──", words)
        assert re.search(r"27 items graded.*(Go on|Enough): after 27 judgements", words)
        few = judge("", "--budget", 100)
        assert "judgements" not in few.out.replace("judgements.csv", "")  # nothing new

    def test_where_there_is_enough_no_question_has_a_goal(self, judge: Run) -> None:
        data = partly_judged(60, n_judged=12, knowing=2)
        long_table(data).write_csv("lists.csv")
        done = judge("".join(f"{n % 2}\n" for n in range(30)), "--budget", 120, data=("lists.csv",))
        before, enough, after = done.out.partition("\nEnough: ")
        assert enough
        n = int(re.match(r"after (\d+) judgements", after)[1]) - 720
        assert f"── {n} of 120 ──" in before
        assert f"── {n + 1} ──" in after
        assert " of 120" not in after

    def test_grades_that_mean_nothing_are_never_enough(self, judge: Run) -> None:
        done = judge("".join(f"{n * 7 % 5 % 3}\n" for n in range(80)), "--budget", 120)
        assert "\nNot shown yet: after 80 judgements" in done.out
        assert "Enough" not in done.out

    def test_a_half_written_answer_is_dropped_with_a_message(self, judge: Run) -> None:
        judge("1\n2\n")
        path = Path("judgements.csv")
        whole = path.read_bytes()
        path.write_bytes(whole[:-6])
        done = judge("3\n")
        assert "warning: judgements.csv: the last row is incomplete, it was dropped" in done.err
        assert [row[3] for row in rows()] == ["1", "3"]

    @pytest.mark.parametrize(
        ("args", "code", "complaint"),
        [
            (["-o", "x.csv"], 2, "saved in the file of --judgements"),
            (["--judge", "  "], 2, "the judge needs a name of printable characters; got ' '"),
            (["--judge", "a\x1b[31m"], 2, "printable"),
            (["--overlap", "110%"], 2, "from 0 to 1, or 0% to 100%"),
            (["--overlap", "nan"], 2, "from 0 to 1, or 0% to 100%"),
            (["--grades", "3-1"], 1, "grades are a range such as 0-3"),
            (["--judgements", "j.csv.gz"], 1, "judgements are saved as .csv or .tsv"),
            (["--judgements", "absent/j.csv"], 1, "absent/j.csv: cannot be written: there is no folder absent"),
            (["--labels", "-"], 2, "stdin has the answers"),
        ],
    )
    def test_a_wrong_option_has_one_message(self, judge: Run, args: list[str], code: int, complaint: str) -> None:
        failed = judge("1\n", *args)
        assert failed.code == code
        assert complaint in " ".join(failed.err.replace("│", " ").split())
        assert not Path("judgements.csv").exists()


class TestTexts:
    def test_nothing_that_a_terminal_obeys_is_shown(self, judge: Run) -> None:
        evil = "\x1b]0;owned\x07\x1b[2J\x9b31m\u202eabc\r\x08"
        pl.DataFrame(
            {"query": ["q", "q"], "item": [f"item {evil}", "other\nline"], "expert": ["e", "e"], "rank": [1, 2]}
        ).write_parquet("runs.parquet")
        texts = pl.DataFrame({"id": [f"item {evil}", "other\nline"], "text": [f"{evil} text\n\x1b[5mblink", "x\ty"]})
        texts.write_parquet("texts.parquet")
        pl.DataFrame({"id": ["q"], "text": [f"question {evil}"]}).write_parquet("queries.parquet")
        args = ("--texts", "texts.parquet", "--query-texts", "queries.parquet", "--grades", "0-1")
        done = judge(f"{evil}\ns\nm\nu\ns\n1\n", *args, data=("runs.parquet",))
        assert CONTROL.findall(done.out + done.err) == []
        assert "\\x1b[2J" in done.out

    def test_a_carriage_return_in_a_name_is_an_error_that_names_it(self, judge: Run) -> None:
        pl.DataFrame({"query": ["q"], "item": ["a\rb"], "expert": ["e"], "rank": [1]}).write_parquet("runs.parquet")
        failed = judge("1\n", data=("runs.parquet",))
        assert failed.code == 1
        assert "cannot be saved: item 'a\\rb'" in failed.err
        assert not Path("judgements.csv").exists()

    def test_long_texts_are_cut_and_shown_on_demand(self, judge: Run, runs: list[Path]) -> None:
        words = [f"word{n}" for n in range(3000)]
        Path("texts.csv").write_text("item,text\n" + "".join(f"{item},{' '.join(words)}\n" for item in "abcxy"))
        Path("queries.csv").write_text("query,text\n" + "".join(f"{query},{' '.join(words)}\n" for query in "12"))
        done = judge("q\n", "--texts", "texts.csv", "--query-texts", "queries.csv", data=tuple(runs))
        assert max(map(len, done.out.splitlines())) <= 100
        assert len(done.out.splitlines()) < 40
        assert re.search(r"… \d+ more lines: m", done.out)
        whole = judge("m\nq\n", "--texts", "texts.csv", data=tuple(runs))
        assert all(word in whole.out for word in words)

    def test_wide_characters_and_words_without_blanks_fit(self, judge: Run, runs: list[Path]) -> None:
        Path("texts.csv").write_text("item,text\n" + "".join(f"{item},{'漢字' * 200}\n" for item in "abcxy"))
        done = judge("q\n", "--texts", "texts.csv", data=tuple(runs))
        assert "漢字" in done.out
        assert max(line.count("漢") * 2 + line.count("字") * 2 for line in done.out.splitlines()) <= 80

    def test_missing_texts_and_texts_of_other_items_are_counted(self, judge: Run, runs: list[Path]) -> None:
        Path("texts.csv").write_text("item,text\nelse,where\n")
        done = judge("q\n", "--texts", "texts.csv", data=tuple(runs))
        assert "texts.csv: 0 of 5 items have a text; 1 texts of others are not used" in done.err
        assert "(no text)" in done.out


class TestJudges:
    def test_overlap_is_reported_as_agreement_at_the_end_and_on_demand(self, judge: Run, run: Run) -> None:
        judge("".join(f"{n % 4}\n" for n in range(20)))
        alone = run("judge", "--agreement", "judgements.csv")
        assert "agreement is unknown" in alone.out
        done = judge("0\n1\n" * 5, "--overlap", "50%", name="ben")
        assert re.search(r"ann and ben: weighted κ -?\d.\d\d \(95 % interval .* 5 common items", done.out)
        shown = run("judge", "--agreement", "judgements.csv")
        assert shown.code == 0
        assert "Krippendorff's α" in shown.out
        assert re.search(r"ann +ben +5 ", shown.out)
        assert run("judge", "--agreement", "judgements.csv", "-o", "agreement.json").code == 0
        found = json.loads(Path("agreement.json").read_text())
        assert (found["judges"], found["items"], found["pairs"][0]["items"]) == (["ann", "ben"], 5, 5)

    def test_a_file_that_is_missing_or_of_another_kind_is_an_error(self, run: Run) -> None:
        Path("other.csv").write_text("a,b\n1,2\n")
        assert "absent.csv: cannot be read" in run("judge", "--agreement", "absent.csv").err
        assert "judgements have the columns query, item, judge, grade" in run("judge", "--agreement", "other.csv").err
