"""The story of docs/studio.md: from the runs of two retrievers to a deployed model, through ``juryrank studio``.

The studio runs as a process, and a simulated judge answers its questions over HTTP by the qrels of TREC-COVID round 1;
an item without a label is not relevant. It has the lists of every other topic. The exported model is then evaluated on
the remaining topics, by all labels. The two runs were chosen by what they are, before anything was measured.
"""

from __future__ import annotations

import json
import subprocess
import sys
import tempfile
import time
from collections.abc import Iterator
from contextlib import contextmanager
from dataclasses import asdict, dataclass
from pathlib import Path
from typing import Any
from urllib.request import Request, urlopen

import juryrank as jr
from juryrank.errors import DataError
from studies import SHARED_DATA
from studies.tables import Report, Table

FOLDER, METRIC = "trec-covid-round1", "nDCG@10"
RUNS = ("bm25_baseline", "T5R1")  # BM25, and a neural reranker
TOKEN = "token-of-the-simulated-judge"
MOST, SECONDS, STEP = 400, 300.0, 25  # judgements; for an answer; between two looks at the advice
PER_JUDGEMENT = 10.0  # seconds that a person is assumed to need


@dataclass(frozen=True, eq=False, repr=False)
class Story(Report):
    """What the judge did, what the studio said, and how good the model is on topics that it has not seen."""

    experts: tuple[str, ...]
    topics: int  # in the studio
    judgements: int  # when the studio said that it is enough, or MOST
    enough: bool
    verdict: str
    seconds: float  # of the whole way, without reading by a person
    slowest: float  # milliseconds from a grade to the answer with the next question
    median: float
    held_out: int  # topics
    values: dict[str, float]  # of the metric, by what is used
    difference: tuple[float, float, float]  # model - RRF: mean and 95 % interval

    def tables(self, percent: bool | None = None) -> list[Table]:
        """The values on held-out topics."""
        mean, low, high = self.difference
        minutes = (self.seconds + self.judgements * PER_JUDGEMENT) / 60
        note = (
            f"{self.judgements} judgements of {self.topics} topics; {self.held_out} held-out topics with all labels. "
            f"Model - RRF: {mean:+.4f}, 95 % interval {low:+.4f} to {high:+.4f}. From a grade to the next question "
            f"{self.median:.0f} ms (slowest {self.slowest:.0f} ms). The machine took {self.seconds:.0f} s; with "
            f"{PER_JUDGEMENT:g} s for each judgement, the way takes {minutes:.0f} minutes. The studio: {self.verdict}"
        )
        rows = [[name, f"{value:.4f}"] for name, value in self.values.items()]
        return [Table("From two runs to a model", ["", METRIC], rows, note=note)]

    def rows(self) -> list[dict[str, Any]]:
        """One row for each ranking."""
        return [{"name": name, METRIC: value} for name, value in self.values.items()]

    def to_dict(self) -> dict[str, Any]:
        """Everything."""
        return asdict(self)


def tell(runs: tuple[str, ...] = RUNS, folder: Path = SHARED_DATA, most: int = MOST) -> Story:
    """Go the whole way once."""
    source = folder / FOLDER
    files = [source / "runs" / f"{name}.gz" for name in runs]
    if absent := [file.name for file in files if not file.is_file()]:
        raise DataError(f"{source / 'runs'} has no {', '.join(absent)}")
    data = jr.read(files, labels=source / "qrels.txt")
    learn, test = data[::2], data[1::2]
    labels = json.loads(_labels(source / "qrels.txt"))
    start = time.monotonic()
    with tempfile.TemporaryDirectory(prefix="jr-story-") as made:
        work = Path(made)
        jr.write(jr.Dataset(rankings=learn.rankings), work / "runs", format="trec-run")
        with studio(work) as url:
            times, enough = judge(url, labels, most)
            overview = wait(url, "overview")
            model_text = ask(url, "export/model", as_json=False)
        (work / "model.json").write_bytes(model_text)
        model = jr.load(work / "model.json")
    seconds = time.monotonic() - start
    rankings = {
        "RRF of both": jr.fit(test, "rrf").predict(test),
        f"model of {len(times)} judgements": model.predict(test),
        "model of all labels": jr.fit(learn).predict(test),
    }
    found = jr.evaluate(rankings, test, METRIC)
    alone = jr.evaluate(test, test, METRIC)
    values = {name: float(alone[METRIC][name]) for name in alone.names}
    values |= {name: float(found[METRIC][name]) for name in rankings}
    by_query = dict(zip(found.names, found.values, strict=True))
    first, second = (by_query[name][0] for name in list(rankings)[:2])
    times = sorted(times)
    verdict = overview["verdict"]["text"] if overview["verdict"] else overview["advice"]["text"]
    return Story(
        experts=runs, topics=len(learn), judgements=len(times), enough=enough, verdict=verdict, seconds=seconds,
        slowest=times[-1], median=times[len(times) // 2], held_out=len(test), values=values,
        difference=_interval(second - first),
    )  # fmt: skip


def _interval(differences: Any) -> tuple[float, float, float]:
    """The mean and its 95 % interval by the t distribution."""
    from scipy.stats import t

    mean, n = float(differences.mean()), len(differences)
    half = float(t.ppf(0.975, n - 1) * differences.std(ddof=1) / n**0.5)
    return mean, mean - half, mean + half


def _labels(path: Path) -> str:
    found: dict[str, dict[str, int]] = {}
    for line in path.read_text().splitlines():
        query, _, item, label = line.split()
        found.setdefault(query, {})[item] = int(label)
    return json.dumps(found)


@contextmanager
def studio(work: Path) -> Iterator[str]:
    """``juryrank studio`` on the lists, and its address."""
    command = [sys.executable, "-m", "juryrank", "studio", "runs", "--no-browser", "--port", "0", "--token", TOKEN,
               "--grades", "0-2", "--judge", "simulated"]  # fmt: skip
    with (work / "studio.log").open("wb") as log:
        process = subprocess.Popen(command, cwd=work, stdin=subprocess.DEVNULL, stdout=log, stderr=log)
    try:
        yield _address(process, work / "studio.log")
    finally:
        process.terminate()
        process.wait(SECONDS)


def _address(process: subprocess.Popen[bytes], log: Path) -> str:
    end = time.monotonic() + SECONDS
    while time.monotonic() < end and process.poll() is None:
        for word in log.read_text(errors="replace").split():
            if word.startswith("http://127.0.0.1:") and "/?token=" in word:
                return word.partition("/?token=")[0]
        time.sleep(0.05)
    raise DataError(f"the studio does not start: {log.read_text(errors='replace')[-300:]}")


def ask(url: str, path: str, body: dict[str, Any] | None = None, *, as_json: bool = True) -> Any:
    """What the studio answers."""
    sent = None if body is None else json.dumps(body).encode()
    headers = {"Authorization": f"Bearer {TOKEN}", "Content-Type": "application/json"}
    with urlopen(Request(f"{url}/studio/api/{path}", sent, headers), timeout=SECONDS) as reply:
        content = reply.read()
    return json.loads(content) if as_json else content


def wait(url: str, path: str) -> Any:
    """What the studio answers when it has computed everything."""
    end = time.monotonic() + SECONDS
    while (found := ask(url, path)).get("pending") or found.get("working"):
        if time.monotonic() > end:
            raise DataError(f"the studio has not computed {path} within {SECONDS:g} s")
        time.sleep(0.1)
    return found


def judge(url: str, labels: dict[str, dict[str, int]], most: int) -> tuple[list[float], bool]:
    """Grade what is asked until the studio says that it is enough: milliseconds by grade, and whether it said so."""
    times: list[float] = []
    question = wait(url, "judge/next?judge=simulated")["question"]
    while question is not None and len(times) < most:
        grade = labels.get(question["query"], {}).get(question["item"], 0)
        body = {"judge": "simulated", "query": question["query"], "item": question["item"], "grade": max(grade, 0)}
        start = time.perf_counter()
        question = ask(url, "judge", body)["next"]["question"]
        times.append((time.perf_counter() - start) * 1e3)
        if len(times) % STEP == 0 and (advice := wait(url, "overview")["advice"]) is not None and advice["enough"]:
            return times, True
    return times, False
