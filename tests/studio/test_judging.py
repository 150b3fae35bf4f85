"""Judging over HTTP: durability, undo, several judges, and the way from no label to a model."""

import csv
import signal
import threading
from contextlib import suppress
from http.client import HTTPException
from pathlib import Path

import numpy as np
import polars as pl
import pytest

import juryrank as jr
from juryrank.io.dataset_frames import long_table
from juryrank.models import from_json
from studio.studios import (
    DEMO,
    TOKEN,
    RunningStudio,
    cooking_labels,
    judge_cooking,
    running_studio,
    wait_for,
)

NEEDED = 10  # queries with something relevant


def rows(folder: Path) -> list[dict[str, str]]:
    with (folder / "judgements.csv").open(newline="") as file:
        return list(csv.DictReader(file))


def test_from_no_label_to_a_model(tmp_path: Path) -> None:
    with running_studio(tmp_path, "--judge", "ann") as studio:
        state = studio.ask("/state")
        assert (state["judgements"], state["labelled_queries"], state["judge"]) == (0, 0, "ann")
        assert studio.request("/export/model").status == 422
        assert not any(target["available"] for target in studio.ask("/deploy")["targets"])
        given = judge_cooking(studio, 80)
        state = studio.ask("/state")
        assert state["judgements"] == 80
        overview = studio.when_ready("/overview")
        model = from_json(studio.request("/export/model").body.decode())
        qrels = studio.request("/export/qrels").body.decode()
        comparison = studio.when_ready("/compare", metric="AP")
        targets = studio.when_ready("/deploy")["targets"]
        files = {target["name"]: studio.request("/deploy/file", target=target["name"]) for target in targets}
    (tmp_path / "labels.qrels").write_text(qrels)
    lists = pl.read_csv(DEMO / "cooking.csv").drop("label")
    whole = jr.fit(lists, "jury", labels=tmp_path / "labels.qrels")
    found = {tuple(np.array(line.split())[[0, 2]]): int(line.split()[3]) for line in qrels.splitlines()}
    assert found == given
    assert model.learned()["own_"] == whole.learned()["own_"]
    np.testing.assert_allclose(model.learned()["curves_"], whole.learned()["curves_"], rtol=1e-9)
    verdict = whole.verdict()
    assert verdict is not None
    assert overview["verdict"]["text"] == verdict.text
    assert {row["name"] for row in comparison["rows"]} >= {"rrf", "borda", "jury", "bm25", "title"}
    assert all(target["available"] for target in targets)
    assert {name for name, file in files.items() if file.status != 200} == set()
    assert jr.export(whole, "csv") == files["csv"].body.decode()


def test_nothing_is_said_about_quality_before_enough_queries_are_judged(tmp_path: Path) -> None:
    truth = cooking_labels()
    with running_studio(tmp_path) as studio:
        question, found = studio.next("ann"), 0
        while True:
            state = studio.ask("/state")
            overview, comparison = studio.when_ready("/overview"), studio.when_ready("/compare")
            assert state["enough"]["now"] == found
            assert state["enough"]["needed"] == NEEDED
            if found >= NEEDED:
                break
            assert (overview["verdict"], overview["learning_curve"]) == (None, None)
            assert all(expert["quality"] is None for expert in overview["experts"])
            assert comparison["hidden"]
            assert "rows" not in comparison
            assert f"{found} of {NEEDED}" in state["enough"]["text"]
            assert not overview["advice"]["enough"]
            saved = studio.grade("ann", question, truth[question["query"], question["item"]])
            assert (saved["refit"]["verdict"], saved["refit"]["trust"]) == (None, None) or saved["state"]["enough"][
                "now"
            ] >= NEEDED
            question = saved["next"]["question"]
            found = len({row["query"] for row in rows(tmp_path) if float(row["grade"]) > 0})
        assert overview["verdict"]["n_queries"] == NEEDED
        assert all(expert["quality"] is not None for expert in overview["experts"] if expert["name"] != "title")
        assert comparison["rows"]


def test_a_kill_after_an_answer_loses_nothing(tmp_path: Path) -> None:
    with running_studio(tmp_path) as studio:
        given = judge_cooking(studio, 12)
        question = studio.next("ann")
        studio.send("/judge", judge="ann", query=question["query"], item=question["item"], skip=True)
        studio.kill()
    assert len(rows(tmp_path)) == 13
    with running_studio(tmp_path) as studio:
        assert studio.ask("/state")["judgements"] == 12
        progress = studio.when_ready("/judge/next", judge="ann")["progress"]
        assert (progress["graded"], progress["skipped"]) == (12, 1)
        later = judge_cooking(studio, 5)
        assert not later.keys() & {*given, (question["query"], question["item"])}
        assert studio.send("/judge/undo", judge="ann").json()["undone"] is not None


def test_a_kill_at_any_time_keeps_every_answer_that_was_confirmed(tmp_path: Path) -> None:
    confirmed: list[tuple[str, str]] = []
    for seconds in (0.15, 0.4):
        with running_studio(tmp_path) as studio:
            question = studio.next("ann")
            threading.Timer(seconds, studio.process.kill).start()
            with suppress(OSError, HTTPException):  # how a connection ends when the server is killed
                while True:
                    key = (question["query"], question["item"])
                    question = studio.grade("ann", question, 1)["next"]["question"]
                    confirmed.append(key)
            studio.process.wait()
    assert confirmed
    with running_studio(tmp_path) as studio:
        assert studio.ask("/state")["judgements"] >= len(confirmed)
    assert set(confirmed) <= {(row["query"], row["item"]) for row in rows(tmp_path)}


def test_undo_asks_the_same_item_again_and_forgets_the_grade(tmp_path: Path) -> None:
    with running_studio(tmp_path) as studio:
        assert studio.send("/judge/undo", judge="ann").json()["undone"] is None
        question = studio.next("ann")
        studio.grade("ann", question, 3)
        assert studio.ask("/state")["enough"]["now"] == 1
        undone = studio.send("/judge/undo", judge="ann").json()
        key = {name: question[name] for name in ("query", "item")}
        assert undone["undone"] == key
        assert {name: undone["next"]["question"][name] for name in key} == key
        assert (undone["state"]["judgements"], undone["state"]["enough"]["now"]) == (0, 0)
        labels = {item["id"]: item["label"] for item in studio.ask("/query", id=key["query"])["consensus"]}
        assert labels[key["item"]] is None


def test_two_tabs_of_one_judge_and_a_change_of_mind(tmp_path: Path) -> None:
    with running_studio(tmp_path) as studio:
        question = studio.next("ann")
        assert studio.next("ann") == question  # the other tab
        studio.grade("ann", question, 0)
        after = studio.grade("ann", question, 2)  # the other tab, later: it counts
        assert after["state"]["judgements"] == 1
        assert after["next"]["progress"]["graded"] == 1
        shown = studio.ask("/query", id=question["query"])["consensus"]
        assert {item["id"]: item["label"] for item in shown}[question["item"]] == 2.0
    assert [row["grade"] for row in rows(tmp_path)] == ["0", "2"]


def test_judges_begin_apart_share_some_items_and_are_compared(tmp_path: Path) -> None:
    with running_studio(tmp_path, "--overlap", "50%") as studio:
        ann = judge_cooking(studio, 15, "ann")
        ben = judge_cooking(studio, 10, "ben")
        shared = ann.keys() & ben.keys()
        assert len(shared) == 5
        progress = studio.ask("/judge/next", judge="ben")["progress"]
        assert progress["judges"] == {"ann": 15, "ben": 10}
        assert progress["agreement"]["items"] == 5
        expected = jr.agreement(tmp_path / "judgements.csv")
        assert progress["agreement"]["alpha"] == pytest.approx(expected.alpha, nan_ok=True)
        state = studio.ask("/state")
        assert (state["judges"], state["judgements"], state["judged_items"]) == (["ann", "ben"], 25, 20)


def test_rows_that_another_program_writes_are_noticed(tmp_path: Path) -> None:
    with running_studio(tmp_path) as studio:
        question = studio.next("ann")
        studio.grade("ann", question, 1)
        before = studio.ask("/state")
        with (tmp_path / "judgements.csv").open("a") as file:
            file.write("q01,bread-storage,cem,2,,2026-01-01T00:00:00Z\n")
        after = studio.ask("/state")
        assert (after["judgements"], after["judges"]) == (2, ["ann", "cem"])
        assert after["version"] != before["version"]


@pytest.mark.parametrize(
    ("body", "status", "word"),
    [
        ({"grade": 4}, 422, "grades are 0-3"),
        ({"grade": 1.5}, 422, "whole number"),
        ({"grade": -1}, 422, "grades are 0-3"),
        ({}, 422, "grade"),
        ({"grade": 1, "skip": True}, 422, "skip"),
        ({"grade": "1"}, 422, "grade"),
        ({"grade": 1, "query": "nope"}, 404, "no query 'nope'"),
        ({"grade": 1, "item": "nope"}, 404, "no item 'nope'"),
        ({"grade": 1, "judge": " "}, 422, "name"),
        ({"grade": 1, "judge": "a\nb"}, 422, "name"),
        ({"grade": 1, "judge": "x" * 101}, 422, "name"),
        ({"grade": 1, "more": 1}, 422, "more"),
    ],
)
def test_an_answer_that_cannot_be_is_refused_and_not_saved(
    shared: RunningStudio, body: dict[str, object], status: int, word: str
) -> None:
    question = shared.next("ann")
    sent = {"judge": "ann", "query": question["query"], "item": question["item"], **body}
    reply = shared.send("/judge", **sent)
    assert (reply.status, reply.headers["content-type"]) == (status, "application/problem+json")
    assert word in reply.json()["detail"]
    assert shared.ask("/state")["judgements"] == 0


def test_bodies_that_are_no_json_or_too_large_are_refused(shared: RunningStudio) -> None:
    json = {"Content-Type": "application/json"}
    assert shared.post("/studio/api/judge", b"{", json).status == 422
    assert shared.post("/studio/api/judge", b" " * 100_000, json).status == 413


@pytest.fixture(scope="module")
def shared(tmp_path_factory: pytest.TempPathFactory):
    with running_studio(tmp_path_factory.mktemp("studio")) as studio:
        yield studio


HOSTILE = [
    "<script>alert(1)</script>", "\"quoted\" 'twice'", "\u202eright to left\u202c", "x" * 300, "a,b;c\td",
    "=1+1", "@SUM(A1)", "-1+cmd|' /C calc'!A0", "'=2", "../../etc/passwd", "q?id=1&x=%00#", "ünïcödé 漢字 🎲",
    "' OR 1=1 --",
]  # fmt: skip


def test_hostile_names_come_back_as_they_are(tmp_path: Path) -> None:
    entries = [
        {"query": query, "item": item, "expert": expert, "rank": (n + k) % len(HOSTILE) + 1}
        for query in HOSTILE
        for k, expert in enumerate(HOSTILE)
        for n, item in enumerate(HOSTILE)
    ]
    pl.DataFrame(entries).write_parquet(tmp_path / "lists.parquet")
    judge = '<b>Änn</b>, "the" judge'
    with running_studio(tmp_path, "lists.parquet", "--judge", judge) as studio:
        assert sorted(studio.ask("/state")["experts"]) == sorted(HOSTILE)
        assert {row["id"] for row in studio.ask("/queries")["queries"]} == set(HOSTILE)
        for query in HOSTILE:
            found = studio.ask("/query", id=query, method="borda")
            assert found["id"] == query
            assert {item["id"] for item in found["consensus"]} == set(HOSTILE)
            assert {expert["name"] for expert in found["experts"]} == set(HOSTILE)
            for n, item in enumerate(HOSTILE):
                studio.grade(judge, {"query": query, "item": item}, n % 3)
        assert studio.ask("/state")["judges"] == [judge]
        reply = studio.request("/export/qrels")
        assert reply.status == 422  # names with blanks cannot be in qrels
        assert "blank" in reply.json()["detail"] or "whitespace" in reply.json()["detail"]
        table = studio.request("/export/qrels", format="csv")
        labels = pl.read_csv(table.body)
        expected = {(query, item, n % 3) for query in HOSTILE for n, item in enumerate(HOSTILE)}
        shown = {name: f"'{name}" if name.lstrip("'")[0] in "=+-@" else name for name in HOSTILE}  # no formulas
        assert set(labels.select("query", "item", "label").rows()) == {
            (shown[query], shown[item], label) for query, item, label in expected
        }
        (tmp_path / "labels.csv").write_bytes(table.body)
        again = long_table(jr.read(tmp_path / "labels.csv"))
        assert set(again.select("query", "item", "label").rows()) == expected
        cells = [cell for row in csv.reader((tmp_path / "judgements.csv").read_text().splitlines()) for cell in row]
        assert not [cell for cell in cells if cell[:1] in ("=", "+", "-", "@")]
        assert studio.when_ready("/overview")["verdict"] is not None
        shell = studio.when_ready("/deploy")["curl"]
        assert "'\"'\"' OR 1=1" in shell  # quoted for a shell
        studio.kill()
    with running_studio(tmp_path, "lists.parquet", "--judge", judge) as studio:
        assert studio.ask("/state")["judgements"] == len(HOSTILE) ** 2


@pytest.mark.parametrize("busy", [False, True])
def test_an_interrupt_ends_it_with_one_line(tmp_path: Path, busy: bool) -> None:
    with running_studio(tmp_path) as studio:
        judge_cooking(studio, 40)
        if busy:
            studio.ask("/overview")
        studio.process.send_signal(signal.SIGINT)
        code = studio.process.wait(60)
        lines = studio.log.splitlines()
    assert code in ((0, 130) if busy else (0,))
    assert [line for line in lines if TOKEN not in line] == [
        "The studio has ended; judgements are saved in judgements.csv."
    ]


def test_labels_of_the_data_are_learned_from_at_the_start(tmp_path: Path) -> None:
    with running_studio(tmp_path, DEMO / "cooking.csv", "--texts", DEMO / "corpus.csv") as studio:
        state = wait_for(lambda: studio.ask("/state"), lambda found: found["enough"]["now"] > 0)
        whole = jr.fit(jr.read(DEMO / "cooking.csv"), "jury")
        assert state["enough"]["now"] == whole.n_queries_
        overview = studio.when_ready("/overview")
        judgements = [point["judgements"] for point in overview["learning_curve"]]
        assert judgements == sorted(judgements)
        assert len(judgements) > 1
        assert studio.next("ann")["text"]
