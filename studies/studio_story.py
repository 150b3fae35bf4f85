"""The story of docs/studio.md: from the runs of two retrievers to a deployed model, through ``juryrank studio``.

The studio runs as a process, and a simulated judge answers its questions over HTTP by the qrels of TREC-COVID round 1;
an item without a label is not relevant. It has the lists of every other topic. The exported model is then evaluated on
the remaining topics, by all labels.
"""

from __future__ import annotations

import json
import subprocess
import sys
import tempfile
import time
from collections.abc import Iterator
from contextlib import contextmanager
from dataclasses import asdict, dataclass, field
from pathlib import Path
from typing import Any
from urllib.request import Request, urlopen

import juryrank as jr
from juryrank.errors import DataError
from studies import SHARED_DATA
from studies.tables import Report, Table

FOLDER, METRIC = "trec-covid-round1", "nDCG@10"
RUNS = ("sab20.1.meta.docs", "CSIROmedNIR")  # the two best runs; lexical, and neural
TOKEN = "token-of-the-simulated-judge"
MOST, SECONDS, STEP = 200, 300.0, 25  # judgements; for an answer; between two looks at the advice
KEPT = (50, 100, 200)  # judgements after which the model is kept
RRF = "RRF of both"


@dataclass(frozen=True, eq=False, repr=False)
class Story(Report):
    """What the judge did, what the studio said, and how good the model is on topics that it has not seen."""

    experts: tuple[str, ...]
    topics: int  # in the studio
    judgements: int
    enough_after: int | None  # judgements, when the studio said that it is enough
    verdict: str  # at the end
    seconds: float  # of the whole way, without reading by a person
    slowest: float  # milliseconds from a grade to the answer with the next question
    median: float
    held_out: int  # topics
    values: dict[str, float]  # of the metric, by what is used
    gains: dict[str, tuple[float, float, float]]  # of models over RRF: mean and 95 % interval

    def tables(self, percent: bool | None = None) -> list[Table]:
        """The values on held-out topics, with gains over RRF."""
        said = "never" if self.enough_after is None else f"after {self.enough_after}"
        note = (
            f"{self.judgements} judgements of {self.topics} topics; {self.held_out} held-out topics with all labels. "
            f"The studio said that it is enough: {said}. From a grade to the next question {self.median:.0f} ms "
            f"(slowest {self.slowest:.0f} ms). The machine took {self.seconds:.0f} s in all. Verdict at the end: "
            f"{self.verdict}"
        )
        rows = [
            [name, f"{value:.4f}", *(f"{number:+.4f}" for number in self.gains.get(name, ()))]
            for name, value in self.values.items()
        ]
        columns = ["", METRIC, "gain", "low", "high"]
        padded = [row + [""] * (len(columns) - len(row)) for row in rows]
        return [Table("From two runs to a model", columns, padded, note=note)]

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
            judged = judge(url, labels, most)
            overview = wait(url, "overview")
        models = {}
        for number, text in judged.models.items():
            (work / "model.json").write_bytes(text)
            models[f"model of {number} judgements"] = jr.load(work / "model.json").predict(test)
    seconds, times = time.monotonic() - start, sorted(judged.milliseconds)
    rankings = {RRF: jr.fit(test, "rrf").predict(test), **models, "model of all labels": jr.fit(learn).predict(test)}
    found, alone = jr.evaluate(rankings, test, METRIC), jr.evaluate(test, test, METRIC)
    by_name = {name: of[0] for name, of in zip(found.names, found.values, strict=True)}
    values = {name: float(alone[METRIC][name]) for name in alone.names}
    values |= {name: float(found[METRIC][name]) for name in rankings}
    return Story(
        experts=runs, topics=len(learn), judgements=len(times), enough_after=judged.enough_after,
        verdict=(overview["verdict"] or overview["advice"])["text"], seconds=seconds, slowest=times[-1],
        median=times[len(times) // 2], held_out=len(test), values=values,
        gains={name: interval(of - by_name[RRF]) for name, of in by_name.items() if name != RRF},
    )  # fmt: skip


def interval(differences: Any) -> tuple[float, float, float]:
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


@dataclass
class Judged:
    """What came of judging: the time of each grade, the models on the way, and when it was enough."""

    milliseconds: list[float] = field(default_factory=list)
    models: dict[int, bytes] = field(default_factory=dict)
    enough_after: int | None = None


def judge(url: str, labels: dict[str, dict[str, int]], most: int) -> Judged:
    """Grade what is asked, as often as ``most``."""
    judged = Judged()
    question = wait(url, "judge/next?judge=simulated")["question"]
    while question is not None and (number := len(judged.milliseconds)) < most:
        grade = labels.get(question["query"], {}).get(question["item"], 0)
        body = {"judge": "simulated", "query": question["query"], "item": question["item"], "grade": max(grade, 0)}
        start = time.perf_counter()
        question = ask(url, "judge", body)["next"]["question"]
        judged.milliseconds.append((time.perf_counter() - start) * 1e3)
        number += 1
        if number in KEPT or number == most:
            judged.models[number] = ask(url, "export/model", as_json=False)
        if number % STEP == 0 and judged.enough_after is None:
            advice = wait(url, "overview")["advice"]
            judged.enough_after = number if advice is not None and advice["enough"] else None
    return judged
