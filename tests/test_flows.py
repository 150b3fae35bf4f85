"""The flows of most users use no more files and functions of juryrank than these budgets: each step is code to read.

Who needs more says why in the commit; who needs less lowers the budget.
"""

import http.client
import json
import socket
import subprocess
import sys
import time
from pathlib import Path

import pytest

import juryrank
from flows import FLOWS, IDS, SCORES
from sessions import ask, environment, server

FLOWS_FILE = Path(__file__).with_name("flows.py")
# Flow: files, functions.
BUDGETS = {
    "fuse ids": (5, 7),
    "fuse scores": (6, 9),
    "fuse by mc4": (23, 70),
    "juryrank fuse": (54, 206),
    "fit, save, load, Fuser": (42, 225),
    "fit_files": (70, 262),
    "evaluate dicts": (15, 52),
    "evaluate a dataset": (19, 65),
    "compare": (52, 273),
    "juryrank evaluate": (73, 276),
    "juryrank compare": (107, 515),
    "POST /v1/fuse ids": (16, 46),
    "POST /v1/fuse scores": (17, 51),
    "POST /v1/explain": (22, 62),
}


@pytest.fixture(scope="module")
def folder(tmp_path_factory: pytest.TempPathFactory) -> Path:
    """The demo data, as a table and as runs, and a model."""
    folder = tmp_path_factory.mktemp("flows")
    (folder / "demo").symlink_to(Path(juryrank.__file__).parent / "demo")
    (folder / "models").mkdir()
    data = juryrank.read(folder / "demo" / "cooking.csv")
    juryrank.write(data, folder / "runs", format="trec-run")
    juryrank.save(juryrank.fit(data), folder / "models" / "jury.json")
    return folder


def check(flow: str, files: int, functions: int) -> None:
    """Fail with both numbers if a flow uses more than its budget."""
    budget = BUDGETS[flow]
    told = f"{flow}: {files} files and {functions} functions, budget {budget[0]} and {budget[1]}"
    assert all(used <= most for used, most in zip((files, functions), budget, strict=True)), told


def test_a_count_above_its_budget_fails_with_both_numbers():
    files, functions = BUDGETS["compare"]
    check("compare", files, functions)
    with pytest.raises(AssertionError, match=f"compare: {files} files and {functions + 1} functions, budget {files} "):
        check("compare", files, functions + 1)


@pytest.mark.parametrize("flow", FLOWS)
def test_a_flow_keeps_its_budget(flow, folder):
    command = [sys.executable, str(FLOWS_FILE), flow]
    usual = {name: value for name, value in environment().items() if not name.startswith("JURYRANK_")}
    done = subprocess.run(command, cwd=folder, env=usual, capture_output=True, text=True)
    assert done.returncode == 0, done.stderr
    check(flow, *json.loads((folder / "counts").read_text()))


def counts(folder: Path) -> list[int]:
    """Files and functions that the service has used since the last question."""
    (folder / "counts").unlink(missing_ok=True)
    (folder / "question").touch()
    while not (folder / "counts").exists():
        time.sleep(0.01)
    found: list[int] = json.loads((folder / "counts").read_text())
    return found


def post(connection: socket.socket, path: str, body: object) -> int:
    """The status of the answer to a request, which is sent as one piece: pieces may arrive at different times."""
    content = json.dumps(body).encode()
    head = f"POST {path} HTTP/1.1\r\nhost: 127.0.0.1\r\ncontent-type: application/json\r\n"
    connection.sendall(f"{head}content-length: {len(content)}\r\n\r\n".encode() + content)
    answer = http.client.HTTPResponse(connection)
    answer.begin()
    answer.read()
    return answer.status


def test_requests_keep_their_budgets(folder):
    requests = {
        "POST /v1/fuse ids": ("/v1/fuse", {"lists": IDS}),
        "POST /v1/fuse scores": ("/v1/fuse", {"lists": SCORES}),
        "POST /v1/explain": ("/v1/explain", {"lists": IDS}),
    }
    with server(folder, "serve", "models", program=(str(FLOWS_FILE),)) as service:
        ask(service, "GET", "/healthz")  # now it listens
        with socket.create_connection((service.host, service.port)) as connection:
            for flow, (path, body) in requests.items():
                rounds = []
                for _ in range(4):  # the first requests of a kind do more, and some functions run now and then
                    for _ in range(5):  # what follows an answer may run while the next request is on its way
                        assert post(connection, path, body) == 200
                    rounds.append(counts(folder))
                check(flow, *min(rounds))
