"""What the command line prints and writes, and what the service and the studio answer."""

import http.client
import json
import os
import re
import shlex
import subprocess
import sys
import time
from collections.abc import Iterator
from contextlib import closing, contextmanager
from pathlib import Path
from urllib.parse import urljoin

from outputs import EXPORTS, Made, click_log, comparable

START_SECONDS = 120.0
TOKEN = "token-of-the-guards"
HEADERS = ("content-type", "allow", "location", "content-disposition", "content-security-policy")
OF_A_FILE = re.compile(r'(?<="version":)"[0-9a-f]{12}"|(?<="size":)\d+')
IMPORT = re.compile(r'from "(\.[^"]+)"')
ADDRESS = re.compile(r"http://127\.0\.0\.1:(\d+)")
COMMANDS = (
    "methods", "fuse", "rank", "leaderboard", "election", "evaluate", "compare", "fit", "judge", "crowd", "clicks",
    "interleave", "explain", "export", "convert", "serve", "studio", "demo",
)  # fmt: skip
SESSIONS = """
methods
methods jury
methods nonsense
demo --quiet
convert demo/cooking.csv runs --to trec-run
convert demo/cooking.csv cooking.parquet
convert demo/cooking.csv labels.qrels
convert demo/cooking.csv again.parquet --memory 200MB
convert cooking.parquet cooking.letor
convert demo/judgements.csv judged.qrels
convert demo/trec-covid/runs.parquet covid --to trec-run --quiet
fuse runs/bm25.run runs/dense.run runs/title.run -o fused.run
fuse runs --top 3 --tag ours
fuse runs --method rrf -p k=10 -p missing=last --weights bm25=2,dense=0.5 -o weighted.csv
fuse runs --method mc4 -o chain.run
fuse runs --memory 200MB -o streamed.run
fuse nowhere.run
fit demo/cooking.csv -o model.json
fit runs --labels labels.qrels --method ridge -p shrink=5 -o ridge.json
fit runs --labels labels.qrels --memory 200MB -o streamed.json
fit covid --labels demo/trec-covid/qrels.parquet -o covid.json --quiet
rank runs --model model.json -o ranked.run
rank cooking.parquet --method copeland --tie-break random --seed 7 -o copeland.csv
evaluate fused.run --labels labels.qrels -m nDCG@10 -m AP -m P@5 --format csv
evaluate cooking.parquet -m nDCG@10 --baseline bm25 --format json
evaluate ranked.run fused.run --qrels demo/cooking.csv -m nDCG@10
compare demo/cooking.csv --methods rrf,jury --folds 5 -m nDCG@10 --format csv --quiet
compare demo/cooking.csv --methods rrf:k=10,borda -m nDCG@10 --baseline borda -o table.csv --quiet
leaderboard demo/battles.csv --bootstrap 50
leaderboard demo/battles.csv --by expert --interval sandwich --no-judges --format json
election demo/ballots.csv
election demo/ballots.csv --rules irv,borda --matrix pairs.csv -o result.html
judge runs --budget 30 -o to-judge.csv
judge demo/cooking.csv --columns label= --labels demo/judgements.csv --budget 20 -o more.csv
judge demo/cooking.csv --columns label= --texts demo/corpus.csv --budget 10 -o sheet.csv
judge --agreement demo/judgements.csv
judge --combine demo/judgements.csv --trusted ann -o combined.csv
crowd demo/judgements.csv -o crowd.csv --workers workers.csv
clicks log.csv -o clicked.csv
interleave runs/bm25.run runs/dense.run --top 3 --seed 2
explain model.json --format markdown
explain model.json runs --labels labels.qrels -o why.html
explain model.json demo/cooking.csv --query q23 -o query.html
explain ridge.json demo/cooking.csv --format json
serve nowhere
"""


def commands(folder: Path) -> Made:
    """Every help, then the sessions, in order, with the content of each file that they write."""
    click_log().write_csv(folder / "log.csv")
    known: dict[Path, tuple[int, int]] = {}
    new_files(folder, known)
    lines = ["--help", *(f"{name} --help" for name in COMMANDS), *SESSIONS.strip().splitlines()]
    engines = ("elasticsearch", "opensearch", "qdrant")
    for to in EXPORTS:
        lines.append(f"export model.json --to {to}" + (" --data demo/cooking.csv" if to in engines else " --depth 20"))
    for line in lines:
        done = run(shlex.split(line), folder)
        yield f"$ juryrank {line}", f"{done.returncode}\n{done.stdout}\n{done.stderr}"
        parts: dict[str, list[bytes]] = {}
        for path in new_files(folder, known):
            name = path.relative_to(folder).as_posix()
            parts.setdefault(name.partition("/")[0], []).append(name.encode() + b"\n" + comparable(path.read_bytes()))
        for name, contents in parts.items():
            yield f"$ juryrank {line}: {name}", b"\n".join(contents)


def environment() -> dict[str, str]:
    """A terminal without colours and of one width; warnings as for users."""
    env = {name: value for name, value in os.environ.items() if name not in ("PYTHONWARNINGS", "FORCE_COLOR")}
    return env | {"COLUMNS": "120", "TERMINAL_WIDTH": "120", "NO_COLOR": "1", "TERM": "dumb", "LC_ALL": "C.UTF-8"}


def run(args: list[str], folder: Path) -> subprocess.CompletedProcess[str]:
    """One command."""
    command = [sys.executable, "-m", "juryrank", *args]
    return subprocess.run(
        command, cwd=folder, env=environment(), capture_output=True, text=True, stdin=subprocess.DEVNULL, check=False
    )


def new_files(folder: Path, known: dict[Path, tuple[int, int]]) -> list[Path]:
    """Files that are new or changed since the last call."""
    now = {path: (path.stat().st_mtime_ns, path.stat().st_size) for path in sorted(folder.rglob("*")) if path.is_file()}
    found = [path for path, state in now.items() if known.get(path) != state]
    known.update(now)
    return found


@contextmanager
def server(
    folder: Path, *args: str, program: tuple[str, ...] = ("-m", "juryrank")
) -> Iterator[http.client.HTTPConnection]:
    """A service on a free port of this machine, until the block ends."""
    log_path = folder / f"{args[0]}.log"
    command = [sys.executable, *program, *args, "--port", "0"]
    with log_path.open("wb") as log:
        process = subprocess.Popen(
            command, cwd=folder, env=environment(), stdout=log, stderr=log, stdin=subprocess.DEVNULL
        )
    try:
        end = time.monotonic() + START_SECONDS
        while not (found := ADDRESS.search(log_path.read_text() + " ")) or not log_path.read_text().endswith("\n"):
            if process.poll() is not None or time.monotonic() > end:
                raise RuntimeError(f"juryrank {args[0]} does not listen: {log_path.read_text()}")
            time.sleep(0.05)
        connection = http.client.HTTPConnection("127.0.0.1", int(found[1]), timeout=START_SECONDS)
        with closing(connection):
            yield connection
    finally:
        process.terminate()
        process.wait()


def ask(connection: http.client.HTTPConnection, method: str, path: str, body: object = None) -> str:
    """Status, headers and body of an answer; the version and the size of a model depend on its last digits."""
    sent = {"x-request-id": "guard", "authorization": f"Bearer {TOKEN}"}
    if body is not None:
        sent["content-type"] = "application/json"
    for _ in range(100):
        try:
            connection.request(method, path, body if body is None or isinstance(body, str) else json.dumps(body), sent)
            break
        except ConnectionRefusedError:  # the socket is not open yet
            time.sleep(0.1)
    found = connection.getresponse()
    text = OF_A_FILE.sub("MODEL FILE", found.read().decode("utf-8", "replace"))
    return "\n".join([str(found.status), *(f"{name}: {found.getheader(name)}" for name in HEADERS), text])


def servers(folder: Path) -> Made:
    """Answers of the service and of the studio."""
    (folder / "models").mkdir()
    for name, method in (("jury", "jury"), ("ridge", "ridge"), ("fused", "rrf")):
        run(["fit", "demo/cooking.csv", "--method", method, "-o", f"models/{name}.json", "--quiet"], folder)
    with server(folder, "serve", "models") as service:
        yield from ((f"serve: {name}", text) for name, text in service_answers(service))
    with server(folder, "studio", "demo/cooking.csv", "--columns", "label=", "--judge", "ann", "--grades", "0-2",
                "--texts", "demo/corpus.csv", "--query-texts", "demo/queries.json", "--no-browser",
                "--token", TOKEN) as studio:  # fmt: skip
        yield from ((f"studio: {name}", text) for name, text in studio_answers(studio))


LISTS = {"bm25": ["a", "b", "c"], "dense": ["c", "a"], "title": ["d", "b"]}
SCORES = {"bm25": {"a": 3.5, "b": 2.0}, "dense": {"b": 0.9, "c": 0.1}}


def service_answers(service: http.client.HTTPConnection) -> Iterator[tuple[str, str]]:
    """Routes, right requests and wrong ones."""
    names = ("jury", "ridge", "fused")
    models = [f"/v1/models/{name}" for name in (*names, "nobody")]
    for path in ("/openapi.json", "/healthz", "/readyz", "/v1/models", "/nowhere", "/v1/fuse", *models):
        yield f"GET {path}", ask(service, "GET", path)
    bodies: dict[str, object] = {"no JSON": "{", "empty": {}, "wrong": {"lists": 3}}
    bodies["unknown"] = {"lists": LISTS, "model": "nobody"}
    bodies["queries"] = {"queries": {"q1": LISTS, "q2": SCORES}, "model": "jury"}
    for kind, lists in {"ids": LISTS, "scores": SCORES}.items():
        bodies[f"{kind} rrf k=10"] = {"lists": lists, "method": "rrf", "params": {"k": 10}}
        for method in ("borda", "mc4", "combsum"):
            bodies[f"{kind} {method}"] = {"lists": lists, "method": method, "top": 2}
        for name in names:
            bodies[f"{kind} model {name}"] = {"lists": lists, "model": name}
    for name, body in bodies.items():
        for path in ("/v1/fuse", "/v1/explain"):
            yield f"POST {path} {name}", ask(service, "POST", path, body)
    yield "POST /v1/feedback wrong", ask(service, "POST", "/v1/feedback", {"nothing": 1})
    yield "PUT /v1/models/new wrong", ask(service, "PUT", "/v1/models/new", "no model")
    yield "POST rollback unknown", ask(service, "POST", "/v1/models/fused/rollback", {"version": "nothing"})
    yield "DELETE /v1/models/nobody", ask(service, "DELETE", "/v1/models/nobody")


def studio_answers(studio: http.client.HTTPConnection) -> Iterator[tuple[str, str]]:
    """The page and its files, the queries, and the labels after some answers; what is computed beside is left out."""
    page = ask(studio, "GET", "/")
    yield "GET /", page
    waiting, seen = re.findall(r'"(/studio/static/[^"]+)"', page), set()
    while waiting:
        path = waiting.pop(0)
        if path not in seen:
            seen.add(path)
            file = ask(studio, "GET", path)
            yield f"GET {path}", file
            waiting += [urljoin(path, name) for name in IMPORT.findall(file)]
    for path in ("queries", "queries?search=egg&sort=id&limit=3", "query?id=q05", "query?id=nothing", "judge/next"):
        yield f"GET {path}", ask(studio, "GET", f"/studio/api/{path}")
    for grade in (2, 0, 1):
        question = json.loads(ask(studio, "GET", "/studio/api/judge/next?judge=ann").splitlines()[-1])["question"]
        body = {"judge": "ann", "query": question["query"], "item": question["item"], "grade": grade}
        ask(studio, "POST", "/studio/api/judge", body)
    for path in ("export/qrels", "export/qrels?format=csv", "nothing"):
        yield f"GET {path}, 3 grades", ask(studio, "GET", f"/studio/api/{path}")
    yield "POST judge wrong", ask(studio, "POST", "/studio/api/judge", {"judge": "ann"})
