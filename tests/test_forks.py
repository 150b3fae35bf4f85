"""Forked processes answer as their parent does, or say at once why they cannot; they never wait for ever."""

import ast
import os
import subprocess
import sys
from pathlib import Path

import pytest

pytestmark = pytest.mark.skipif(not hasattr(os, "fork"), reason="this system does not fork")

HERE = Path(__file__).resolve().parents[1]
DEMO = HERE / "src/juryrank/demo/cooking.csv"

# A parent that has used polars, and a fork for each of these; compiled code is at hand, because the parent went first.
ACTIONS = """
import multiprocessing, sys, warnings
import numpy as np
import juryrank
from juryrank import explain, from_array, from_dicts, from_orders, rank_files
from juryrank.data.long_table import labels_from_dict

demo, folder = sys.argv[1:]
data = juryrank.read(demo)
jury = juryrank.method("jury").fit(data)
consensus = jury.predict(data)
juryrank.save(jury, f"{folder}/model.json")
juryrank.write(consensus, f"{folder}/a.run")
juryrank.write(data, f"{folder}/a.parquet")
one = {"bm25": ["a", "b"], "title": {"b": 1.0, "c": 0.5}}
many = {"bm25": {f"q{n}": ["x", "y", "z"] for n in range(12)}, "title": {"q1": {"z": 2.0, "x": 1.0}, "7": ["x"]}}
actions = {
    "fuse one query": lambda: juryrank.fuse(one),
    "fuse one query by a chain": lambda: juryrank.fuse(one, "mc4"),
    "fuse many queries": lambda: juryrank.fuse(many),
    "fuse many queries with gaps": lambda: juryrank.fuse({"a": {"q": {"x": 1.0, "y": float("nan")}, "10": ["x", "x"]}}),
    "fuse many queries by scores": lambda: juryrank.fuse({"a": {"q": {"x": 1.0, "y": 3.0}, "10": {"z": 1}}}, "combsum"),
    "fuse by a model": lambda: juryrank.fuse(one, model=jury),
    "fuse many by a model": lambda: juryrank.fuse(many, model=jury),
    "fuse by a file": lambda: juryrank.fuse(one, model=f"{folder}/model.json"),
    "load": lambda: juryrank.load(f"{folder}/model.json").predict(data).to_dict(),
    "predict": lambda: jury.predict(data).top(3),
    "fit": lambda: juryrank.method("jury").fit(data).predict(data).to_dict(),
    "evaluate": lambda: repr(juryrank.evaluate(consensus, data, ["nDCG@10", "AP"])),
    "evaluate dicts": lambda: repr(juryrank.evaluate({"q": {"a": 1.0}}, {"q": {"a": 1, "b": 0}}, ["AP"])),
    "compare": lambda: repr(juryrank.compare(["rrf", "borda"], data, ["AP"]).to_frame().rows()),
    "to_frame": lambda: consensus.to_frame().rows(),
    "from orders": lambda: repr(from_orders([["a", "b"], ["b", ("a", "c")]])),
    "from an array": lambda: repr(from_array(np.array([[1.0, 2.0], [2.0, np.nan]]))),
    "from dicts": lambda: repr(from_dicts(many, labels={"q1": {"x": 1}})),
    "labels": lambda: repr(labels_from_dict({"q1": {"x": 1}, "q10": {"y": 0}})),
    "explain": lambda: repr(explain(jury, data, "q23")),
    "save": lambda: juryrank.save(jury, f"{folder}/again.json"),
    "show": lambda: data._repr_html_(),
    "read a table": lambda: repr(juryrank.read(demo)),
    "read a run": lambda: repr(juryrank.read(f"{folder}/a.run")),
    "read parquet": lambda: repr(juryrank.read(f"{folder}/a.parquet")),
    "read a frame": lambda: repr(juryrank.read(consensus.to_frame())),
    "write a table": lambda: juryrank.write(data, f"{folder}/b.csv"),
    "write a run": lambda: juryrank.write(consensus, f"{folder}/b.run"),
    "to_trec": lambda: consensus.to_trec(),
    "rank files": lambda: rank_files([f"{folder}/a.run"], juryrank.method("rrf"), f"{folder}/c.run", memory=10**8),
}

def outcome(action):
    with warnings.catch_warnings():
        warnings.simplefilter("ignore")
        return repr(action())

def send(pipe, action):
    try:
        pipe.send(outcome(action))
    except Exception as error:
        pipe.send(f"{type(error).__name__}: {error}")

fork = multiprocessing.get_context("fork")
answers = {}
for name, action in actions.items():
    expected = outcome(action)
    ours, theirs = fork.Pipe()
    process = fork.Process(target=send, args=(theirs, action))
    process.start()
    answer = ours.recv() if ours.poll(30) else "waits for ever"
    process.kill()
    process.join()
    answers[name] = "the same" if answer == expected else answer
print(answers)
"""


def run(code, *args, timeout=400, **environment):
    command = [sys.executable, "-W", "ignore::DeprecationWarning", "-c", code, *map(str, args)]
    environment = os.environ | {"PYTHONPATH": str(HERE / "src")} | environment
    done = subprocess.run(command, capture_output=True, text=True, timeout=timeout, env=environment)
    assert done.returncode == 0, done.stderr
    return ast.literal_eval(done.stdout)


def test_a_forked_process_does_the_same_or_refuses_at_once(tmp_path):
    answers = run(ACTIONS, DEMO, tmp_path)
    refused = {name for name, answer in answers.items() if answer.startswith("ForkError: ")}
    assert {name: answer for name, answer in answers.items() if name not in refused and answer != "the same"} == {}
    assert refused == {name for name in answers if name.startswith(("read ", "write ", "to_trec", "rank files"))}
    assert all("get_context('spawn')" in answers[name] for name in refused)


BEFORE_POLARS = """
import multiprocessing, sys
import juryrank, juryrank.io

def read(path):
    return len(juryrank.read(path))

fork = multiprocessing.get_context("fork")
with fork.Pool(2) as pool:
    print(pool.map_async(read, [sys.argv[1]] * 4).get(60))
"""


def test_a_process_that_was_forked_before_anything_was_read_reads():
    assert run(BEFORE_POLARS, DEMO) == [24] * 4


# Two workers share the parent's socket, as those of gunicorn --preload do.
SERVER = """
import json, os, signal, sys, threading, urllib.request, warnings
from concurrent.futures import ThreadPoolExecutor
from http.server import BaseHTTPRequestHandler, HTTPServer
import juryrank

data = juryrank.read(sys.argv[1])
model = juryrank.method("jury").fit(data)
model.predict(data)
requests = [{"bm25": ["a", "b", str(n)], "title": ["b", "c"]} for n in range(20)]
requests += [{"bm25": {"q": ["a", "b"], str(n): ["c"]}, "title": {"q": ["b", "c"]}} for n in range(20)]

class Handler(BaseHTTPRequestHandler):
    def do_POST(self):
        lists = json.loads(self.rfile.read(int(self.headers["Content-Length"])))
        body = json.dumps([os.getpid(), juryrank.fuse(lists, model=model)]).encode()
        self.send_response(200)
        self.send_header("Content-Length", str(len(body)))
        self.end_headers()
        self.wfile.write(body)

    def log_message(self, *_):
        pass

server = HTTPServer(("127.0.0.1", 0), Handler)
workers = []
for _ in range(2):
    if (worker := os.fork()) == 0:
        try:
            server.serve_forever()
        finally:
            os._exit(1)
    workers.append(worker)
address = f"http://127.0.0.1:{server.server_port}"
opener = urllib.request.build_opener(urllib.request.ProxyHandler({}))

def ask(lists):
    with opener.open(urllib.request.Request(address, json.dumps(lists).encode()), timeout=30) as answer:
        return json.load(answer)

try:
    with ThreadPoolExecutor(4) as pool:
        answers = list(pool.map(ask, requests))
finally:
    for worker in workers:
        os.kill(worker, signal.SIGKILL)
        os.waitpid(worker, 0)
right = [answer == juryrank.fuse(lists, model=model) for lists, (_, answer) in zip(requests, answers)]
print((sum(right), {pid for pid, _ in answers} <= set(workers)))
"""


def test_the_workers_of_a_server_that_forks_answer_as_their_parent_does():
    assert run(SERVER, DEMO) == (40, True)
