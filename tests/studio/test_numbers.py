"""One number for one thing in all that the studio shows, and none while labels are still being read."""

import json
import threading
from collections.abc import Iterator
from pathlib import Path

import numpy as np
import polars as pl
import pytest

import juryrank as jr
from conftest import partly_judged
from juryrank.io.dataset_frames import long_table
from juryrank.studio.assessment import Assessment
from juryrank.studio.judging import JudgingSettings
from juryrank.studio.material import Material
from juryrank.studio.overview import Overview
from juryrank.studio.refitting import RefittedJury
from juryrank.studio.studio import Studio
from juryrank.tasks.judge.grades import Grades
from juryrank.tasks.judge.store import JudgementFile
from studio.studios import DEMO, RunningStudio, running_studio, wait_for

DATA = pl.read_csv(DEMO / "cooking.csv")
JUDGED = DATA.filter(pl.col("label").is_not_null()).select("query", "item").unique()


@pytest.fixture(scope="module")
def labelled(tmp_path_factory: pytest.TempPathFactory) -> Iterator[RunningStudio]:
    """The cooking data with labels in a file of their own, some of them of items that nobody ranks."""
    folder = tmp_path_factory.mktemp("labelled")
    DATA.drop("label").write_csv(folder / "lists.csv")
    labels = DATA.filter(pl.col("label").is_not_null()).select("query", "item", "label").unique(["query", "item"])
    unranked = labels.with_columns(item="nobody ranks " + pl.col("item"))
    pl.concat([labels, unranked]).write_csv(folder / "labels.csv")
    with running_studio(folder, "lists.csv", "--labels", "labels.csv") as found:
        wait_for(lambda: found.ask("/state"), lambda state: not state["enough"]["reading"])
        yield found


def test_judgements_are_ranked_items_with_a_label_everywhere(labelled: RunningStudio) -> None:
    overview = labelled.when_ready("/overview")
    by_query = [row["judged"] for row in labelled.ask("/queries", limit=100)["queries"]]
    assert labelled.ask("/state")["judged_items"] == JUDGED.height
    assert sum(by_query) == JUDGED.height
    assert overview["learning_curve"][-1]["judgements"] == JUDGED.height


def test_the_learning_curve_ends_at_the_gain_of_the_verdict(labelled: RunningStudio) -> None:
    overview = labelled.when_ready("/overview")
    end, gain = overview["learning_curve"][-1], overview["verdict"]["differences"]["learned - rrf"]
    assert (end["gain"], end["low"], end["high"]) == (gain["mean"], gain["low"], gain["high"])
    assert "gain over RRF" not in overview["advice"]["text"]  # which would be one of judged items alone


def test_learned_fusion_and_rrf_have_the_values_of_the_verdict_in_the_comparison(labelled: RunningStudio) -> None:
    verdict = labelled.when_ready("/overview")["verdict"]
    rows = {row["name"]: row for row in labelled.when_ready("/compare")["rows"]}
    assert rows["jury"]["mean"] == pytest.approx(verdict["means"]["learned"], abs=1e-12)
    assert rows["rrf"]["mean"] == pytest.approx(verdict["means"]["rrf"], abs=1e-12)
    assert rows["jury"]["difference"] == pytest.approx(verdict["differences"]["learned - rrf"]["mean"], abs=1e-12)
    for metric, low in (("AP", 0.1), ("P@10", 0.1), ("RR", 0.1)):
        other = {row["name"]: row["mean"] for row in labelled.when_ready("/compare", metric=metric)["rows"]}
        assert low < other["jury"] < 1


def test_losses_of_exports_are_differences(labelled: RunningStudio) -> None:
    """Values on the queries that were learned from would be further numbers of the same model."""
    targets = {each["name"]: each for each in labelled.when_ready("/deploy")["targets"]}
    loss = targets["elasticsearch"]["loss"]["text"]
    assert "on the queries that it has learned from, against the model: nDCG@10 " in loss
    assert not set(loss.split()) & {"instead"}


def test_a_grade_of_a_judged_item_is_no_further_judgement(tmp_path: Path) -> None:
    JUDGED.head(3).with_columns(label=1).write_csv(tmp_path / "labels.csv")
    DATA.drop("label").write_csv(tmp_path / "lists.csv")
    with running_studio(tmp_path, "lists.csv", "--labels", "labels.csv") as studio:
        query, item = JUDGED.row(0)
        studio.next("ann")
        studio.grade("ann", {"query": query, "item": item}, 2)
        other = DATA.filter((pl.col("query") == query) & (pl.col("item") != item)).join(
            JUDGED.head(3), on=["query", "item"], how="anti"
        )
        state = studio.grade("ann", {"query": query, "item": other["item"][0]}, 0)["state"]
        assert (state["judgements"], state["judged_items"]) == (2, 4)


def test_grades_that_mean_nothing_are_no_reason_to_use_learned_fusion(tmp_path: Path) -> None:
    rng = np.random.default_rng(7)
    with running_studio(tmp_path) as studio:
        question = studio.next("ann")
        for grade in rng.integers(0, 4, 90):
            question = studio.grade("ann", question, int(grade))["next"]["question"]
        verdict, comparison = studio.when_ready("/overview")["verdict"], studio.when_ready("/compare")
        note = studio.when_ready("/deploy")["note"]
    assert verdict["evidence"] in ("expected", "none")
    assert verdict["headline"].startswith("not shown")
    assert note.startswith("Verdict: not shown")
    assert "use learned fusion" not in json.dumps([verdict, comparison]).lower()


def test_labels_of_relevant_items_only_show_nothing_in_any_view(tmp_path: Path) -> None:
    gold = DATA.filter(pl.col("label") > 0).unique("query", keep="first", maintain_order=True)
    gold.select("query", "item", "label").write_csv(tmp_path / "gold.csv")
    DATA.drop("label").write_csv(tmp_path / "lists.csv")
    with running_studio(tmp_path, "lists.csv", "--labels", "gold.csv") as studio:
        wait_for(lambda: studio.ask("/state"), lambda state: not state["enough"]["reading"])
        overview, comparison = studio.when_ready("/overview"), studio.when_ready("/compare")
        deploy = studio.when_ready("/deploy")
    verdict, told = overview["verdict"], "not shown, and labels of relevant items only cannot show it"
    assert (verdict["evidence"], verdict["labels"]) == ("none", "positives only")
    assert verdict["headline"].startswith(told)
    assert not overview["learning_curve"]
    assert not overview["advice"]["enough"]
    assert "these values decide nothing" in comparison["note"]
    assert deploy["note"].startswith(f"Verdict: {told}")
    assert not any("nDCG" in (each["loss"] or {}).get("text", "") for each in deploy["targets"])


def test_no_goal_is_set_where_there_is_enough(tmp_path: Path) -> None:
    long_table(partly_judged(60, n_judged=12, knowing=2)).write_csv(tmp_path / "lists.csv")
    with running_studio(tmp_path, "lists.csv") as studio:
        overview = studio.when_ready("/overview")
        question = studio.next("ann")
    assert overview["advice"]["enough"]
    assert overview["verdict"]["evidence"] == "shown"
    assert (question["number"], question["budget"]) == (1, None)


def test_while_labels_are_read_nothing_is_said_to_be_missing(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    may_learn, update = threading.Event(), RefittedJury.update

    def held(*args: object) -> None:
        may_learn.wait()
        update(*args)  # type: ignore[arg-type]

    monkeypatch.setattr(RefittedJury, "update", held)
    settings = JudgingSettings(JudgementFile(tmp_path / "judgements.csv"), "ann", Grades.parse("0-3"))
    studio = Studio(Material("cooking", jr.read(DEMO / "cooking.csv")), settings)
    overview = Overview(studio, Assessment(studio))
    try:
        state, shown = studio.state(), overview.show()
        assert state["enough"] == {"now": 0, "needed": 10, "text": "The labels are being read.", "reading": True}
        assert state["judged_items"] is None
        assert (shown["advice"], shown["enough"]["reading"]) == (None, True)
        assert "labels" in shown["working"]
        assert "quer" not in json.dumps([shown["advice"], shown["enough"], state["enough"]])
    finally:
        may_learn.set()
    state = wait_for(studio.state, lambda found: not found["enough"]["reading"])
    assert state["judged_items"] == JUDGED.height
    assert state["enough"]["text"] == "24 queries in which a relevant item was found: quality can be measured."
