"""What the library gives, on the demo data and on made data: models, runs, reports, exports."""

import io
import random
import warnings
from collections.abc import Callable, Iterator
from dataclasses import replace
from functools import partial
from pathlib import Path
from typing import Any

import polars as pl

import juryrank as jr

REPORTS = ("csv", "html", "json", "latex", "markdown", "text")
FORMATS = (
    "ballot-choices", "ballot-grid", "ballot-orders", "blt", "comparisons", "letor", "letor-features", "preflib",
    "ratings", "table", "trec-qrels", "trec-run",
)  # fmt: skip
ENDINGS = (
    ".csv", ".tsv", ".ndjson", ".parquet", ".run", ".csv.zst", ".trec", ".qrels", ".letor", ".svm", ".blt", ".soc",
    ".soi", ".toc", ".toi", ".run.gz",
)  # fmt: skip
EXPORTS = ("csv", "json", "python", "qdrant-formula", "sql", "sqlite", "elasticsearch", "opensearch", "qdrant")
EXPORTED = ("rrf", "borda", "dowdall", "isr", "jury", "ridge", "tuned-rrf", "kemeny")
Made = Iterator[tuple[str, str | bytes]]


def library() -> Made:
    """Everything."""
    with warnings.catch_warnings():
        warnings.simplefilter("ignore")
        sets = {"demo": jr.read("demo/cooking.csv"), "made": made_data()}
        for part in (methods, formats, exports, evaluations, explanations):
            for name, data in sets.items():
                for thing, content in part(data):
                    yield f"{name}: {thing}", content
        yield from comparisons()
        yield from elections()
        yield from judgements(sets["demo"])
        yield from clicks()
        yield from fusions(sets["made"])


def attempt(call: Callable[[], str | bytes]) -> str | bytes:
    """What the call returns, or the message of its error."""
    try:
        return call()
    except jr.JuryrankError as error:
        return f"{type(error).__name__}: {error}"


def comparable(content: bytes) -> bytes:
    """The content of a file; of Parquet, which names the version of its writer, the types and the rows."""
    if content[:4] != b"PAR1":
        return content
    frame = pl.read_parquet(io.BytesIO(content))
    return f"{dict(frame.schema)}\n{frame.write_csv()}".encode()


def written(path: str, write: Callable[[str], object]) -> bytes:
    """The content of the file, or of the files of the folder, that is written."""
    write(path)
    files = sorted(file for file in [Path(path), *Path(path).rglob("*")] if file.is_file())
    parts = [file.as_posix().encode() + b"\n" + comparable(file.read_bytes()) for file in files]
    for file in files:
        file.unlink()
    if Path(path).is_dir():
        Path(path).rmdir()
    return b"\n".join(parts)


def made_data() -> jr.Dataset:
    """Made queries: scores with ties, lists of unequal length, labels, item features."""
    rng = random.Random(5)
    rows, features = [], []
    for q in range(14):
        items = [f"d{rng.randrange(900):03d}" for _ in range(12)]
        items = sorted(set(items))
        worth = {item: rng.choice([0, 0, 0, 1, 1, 2]) for item in items}
        features += [
            (f"q{q}", item, round(worth[item] + rng.random() * 2, 3), round(rng.random(), 3)) for item in items
        ]
        for expert, noise in (("bm25", 1.0), ("dense", 1.6), ("sparse", 2.5), ("title", 4.0)):
            for item in rng.sample(items, rng.randint(5, len(items))):
                rows.append((f"q{q}", item, expert, round(worth[item] + rng.random() * noise, 1) / 2, worth[item]))
    table = pl.DataFrame(rows, ["query", "item", "expert", "score", "label"], orient="row")
    return jr.read(table, features=pl.DataFrame(features, ["query", "item", "length", "age"], orient="row"))


def methods(data: jr.Dataset) -> Made:
    """Every method: the file of its model, its run, its scores by a loaded model and by a Fuser."""
    lists = {expert: [f"d{(7 * n + k) % 11}" for n in range(8)] for k, expert in enumerate(data.experts)}
    for name in jr.METHODS:
        try:
            model = jr.fit(data, name)
        except jr.JuryrankError as error:
            yield f"{name}: error", str(error)
            continue
        yield f"{name}: model", attempt(lambda m=model: written("model.json", lambda path: jr.save(m, path)))
        yield f"{name}: run", attempt(lambda m=model: written("out.csv", lambda path: jr.write(m.predict(data), path)))
        yield f"{name}: fused", attempt(lambda m=model: repr(jr.fuse(lists, model=m)))


def formats(data: jr.Dataset) -> Made:
    """Data and a fused run in every format."""
    fused = jr.fit(data, "rrf").predict(data)
    for kind, thing in (("data", data), ("run", fused)):
        for form in FORMATS:
            write = partial(jr.write, thing, format=form)
            yield f"{kind} as {form}", attempt(lambda f=form, w=write, k=kind: written(f"{k}-{f}", w))
        for ending in ENDINGS if kind == "data" else ENDINGS[:6]:
            write = partial(jr.write, thing)
            yield f"{kind} as {ending}", attempt(lambda e=ending, w=write: unpacked(written(f"out{e}", w), e))


def unpacked(content: bytes, ending: str) -> bytes:
    """Compressed bytes depend on the library that compresses; their first line and magic number do not."""
    return content.partition(b"\n")[2][:3] if ending.endswith((".gz", ".zst")) else content


def exports(data: jr.Dataset) -> Made:
    """Exported models."""
    for name in EXPORTED:
        try:
            model = jr.fit(data, name)
        except jr.JuryrankError:
            continue
        for to in EXPORTS:
            engine = {"data": data} if to in ("elasticsearch", "opensearch", "qdrant") else {"depth": 12, "items": 12}
            yield f"{name} exported to {to}", attempt(lambda m=model, t=to, e=engine: jr.export(m, t, **e))


def reports(name: str, make: Callable[[], Any]) -> Made:
    """A report in every format, or its error."""
    try:
        report = make()
    except jr.JuryrankError as error:
        yield f"{name}: error", str(error)
        return
    for form in REPORTS:
        yield f"{name} as {form}", attempt(lambda f=form: report.render(f))


METRICS = ["nDCG@10", "AP", "P@5", "RR", "ERR@5", "R@5", "RBP", "Bpref", "infAP", "Success@5", "Judged@5"]


def evaluations(data: jr.Dataset) -> Made:
    """Evaluate, compare, verdict."""
    runs = {name: jr.fit(data, name).predict(data) for name in ("rrf", "borda")}
    yield from reports("evaluate", lambda: jr.evaluate(runs, data.labels, METRICS, baseline="rrf"))
    letor = {"convention": "letor", "unjudged": "ignore"}
    yield from reports("evaluate letor", lambda: jr.evaluate(runs["rrf"], data.labels, ["nDCG@3", "AP"], **letor))
    yield from reports("compare", lambda: timeless(["rrf", "borda", "mc4"], data, ["nDCG@10", "AP"], experts=True))
    yield from reports("compare folds", lambda: timeless(["rrf", "jury", "ridge"], data, "nDCG@10", folds=3, seed=2))
    yield from reports("verdict", lambda: jr.verdict(data, folds=3))


def timeless(*args: Any, **options: Any) -> Any:
    """A comparison without the seconds that its methods took."""
    comparison = jr.compare(*args, **options)
    return replace(comparison, seconds=dict.fromkeys(comparison.seconds, (0.0, 0.0)))


def explanations(data: jr.Dataset) -> Made:
    """Explanations of models, alone, with data, and of one query."""
    query = next(iter(data.queries))
    for name in ("rrf", "jury", "ridge", "mc4", "boosted", "combsum", "kemeny"):
        try:
            model = jr.fit(data, name)
        except jr.JuryrankError:
            continue
        yield from reports(f"explain {name}", lambda m=model: jr.explain(m))
        yield from reports(f"explain {name} with data", lambda m=model: jr.explain(m, data, query))


def comparisons() -> Made:
    """Leaderboards."""
    battles = jr.read("demo/battles.csv")
    for name in ("bradley-terry", "elo", "trueskill", "rank-centrality", "crowd-bt"):
        yield from reports(f"leaderboard {name}", lambda n=name: jr.leaderboard(battles, n, bootstrap=30, elo=True))
    yield from reports("leaderboard sandwich", lambda: jr.leaderboard(battles, interval="sandwich", by="expert"))


def elections() -> Made:
    """Elections."""
    ballots = jr.read("demo/ballots.csv")
    for name, options in {"": {}, " seats": {"seats": 2}, " random": {"tie_break": "random", "seed": 3}}.items():
        yield from reports(f"election{name}", lambda o=options: jr.election(ballots, **o))
    rules = [name for name, cls in jr.METHODS.items() if not cls.supervised and not cls.needs_features]
    for rule in rules:
        yield f"election by {rule}", attempt(lambda r=rule: jr.election(ballots, [r]).render("json"))
    yield "election matrix", attempt(lambda: jr.election(ballots).matrix_csv())


def judgements(data: jr.Dataset) -> Made:
    """Plans, advice, agreement and reliability of judges, labels of a crowd."""
    path = "demo/judgements.csv"
    yield from reports("judging plan", lambda: jr.judging_plan(data, budget=40))
    yield from reports("judging plan with labels", lambda: jr.judging_plan(data, labels=path, budget=40))
    yield from reports("judging advice", lambda: jr.judging_advice(data))
    yield from reports("agreement", lambda: jr.agreement(path))
    for method in ("dawid-skene", "majority-vote"):
        yield from reports(f"combined by {method}", lambda m=method: jr.combine_judgements(path, method=m))
    yield from reports("combined, ann trusted", lambda: jr.combine_judgements(path, trusted=["ann"], labels="expected"))
    rng = random.Random(2)
    rows = [
        (f"t{task:02d}", f"w{worker}", "abc"[task % 3] if rng.random() < 0.3 + 0.15 * worker else rng.choice("abc"))
        for task in range(40)
        for worker in range(4)
    ]
    table = pl.DataFrame(rows, ["task", "worker", "label"], orient="row")
    for method in ("dawid-skene", "one-coin", "glad", "majority-vote", "ordinal-dawid-skene"):
        yield from reports(f"crowd by {method}", lambda m=method: jr.crowd(table, m))
        yield f"crowd by {method}: labels", attempt(lambda m=method: jr.crowd(table, m).to_frame().write_csv())
        yield f"crowd by {method}: workers", attempt(lambda m=method: str(jr.crowd(table, m).workers_frame().rows()))


def click_log() -> pl.DataFrame:
    """Clicks of made users, who look at position p with probability 1/p."""
    rng = random.Random(3)
    rows = []
    for session in range(900):
        items = rng.sample(["a", "b", "c", "d"], 4)
        for position, item in enumerate(items, 1):
            clicked = rng.random() < {"a": 0.8, "b": 0.5, "c": 0.2, "d": 0.1}[item] / position
            rows.append((f"q{session % 8}", item, position, int(clicked), f"s{session}"))
    return pl.DataFrame(rows, ["query", "item", "position", "clicked", "session"], orient="row")


def clicks() -> Made:
    """Labels from clicks, and interleaving."""
    log = click_log()
    for name, frame in {"sessions": log, "no sessions": log.drop("session")}.items():
        labels = jr.click_labels(jr.read_clicks(frame))
        yield f"click labels, {name}", labels.to_frame().write_csv()
        yield from reports(f"click report, {name}", labels.report)
    rng, rows = random.Random(4), []
    test = jr.InterleavingTest(["new", "old"])
    for request in range(60):
        rankings = {"new": rng.sample("abcdefgh", 6), "old": rng.sample("abcdefgh", 6)}
        page = jr.interleave(rankings, request=request, top=5, seed=1)
        rows += page.log_rows(f"q{request % 7}", request)
        clicked = [item for item in page.items if rng.random() < 0.3]
        test.add(request, page, clicked)
    yield "interleaved pages", repr(rows)
    yield from reports("interleaving", test.result)


def fusions(data: jr.Dataset) -> Made:
    """Lists as plain Python objects."""
    lists = {"x": {"a": 3.5, "b": 2.0, "c": 0.5}, "y": {"b": 9.0, "d": 4.0}, "z": {"a": 0.1, "d": 0.05}}
    orders = {"x": ["a", "b", "c"], "y": ["b", "d"], "z": ["d", "a"]}
    for name in jr.METHODS:
        yield (
            f"fuse by {name}",
            "\n".join(str(attempt(lambda n=name, x=x: repr(jr.fuse(x, n)))) for x in (lists, orders)),
        )
    yield "fuse, the first 2", repr(jr.fuse(orders, top=2))
    model = jr.fit(data)
    chosen = {"bm25": ["a", "b", "c"], "dense": ["c", "a"], "sparse": ["b"], "title": ["d", "a"]}
    yield "Fuser, explored", repr(jr.Fuser(model, explore=0.4).explored(chosen, request="r1"))
    yield "Fuser, detailed", repr(jr.Fuser(model).detailed(chosen))
