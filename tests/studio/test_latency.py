"""How long judging takes on real data; times are printed, the machine may be busy."""

import time
from pathlib import Path

import numpy as np

from studio.studios import running_studio


def test_judging_twelve_runs_of_a_thousand_items(tmp_path: Path, shared_data: Path, capsys, record_property) -> None:
    folder = shared_data / "trec-covid-round1"
    lines = (line.split() for line in (folder / "qrels.txt").read_text().splitlines())
    truth = {(query, item): int(grade) for query, _, item, grade in lines}
    times, refits = [], []
    with running_studio(tmp_path, folder / "runs") as studio:
        question = studio.next("ann")
        for _ in range(60):
            grade = truth.get((question["query"], question["item"]), 0)
            start = time.perf_counter()
            saved = studio.grade("ann", question, grade)
            times.append((time.perf_counter() - start) * 1e3)
            refits.append(saved["refit"]["milliseconds"])
            question = saved["next"]["question"]
        views = {}
        for path in (
            "/state",
            "/queries?limit=50",
            "/query?id=1&method=jury",
            "/query?id=1&method=kemeny",
            "/overview",
        ):
            start = time.perf_counter()
            assert studio.get(f"/studio/api{path}").status == 200
            views[path] = round((time.perf_counter() - start) * 1e3, 1)
        assert saved["state"]["judgements"] == 60
        assert saved["state"]["enough"]["now"] > 5
    shown = f"judge: median {np.median(times):.1f} ms, largest {max(times):.1f}; refit {np.median(refits):.1f}; {views}"
    record_property("latency", shown)
    with capsys.disabled():
        print(f"\n{shown}")
