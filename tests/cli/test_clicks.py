"""``juryrank clicks``: from a log to labels to a model, and errors in one line."""

import csv
import json

import numpy as np
import pytest

import juryrank


@pytest.fixture
def log(tmp_path):
    """Three hundred sessions with six queries; d0 is the best item, d3 the worst, shown in random order."""
    rng, path = np.random.default_rng(0), tmp_path / "log.csv"
    with open(path, "w", newline="") as file:
        rows = csv.writer(file)
        rows.writerow(["query", "item", "position", "clicked", "session"])
        for session in range(300):
            for place, item in enumerate(rng.permutation(4), 1):
                clicked = int(rng.random() < (0.9, 0.6, 0.3, 0.1)[item] / place)
                rows.writerow([f"q{session % 6}", f"d{item}", place, clicked, session])
    return path


def test_a_log_becomes_labels_and_a_model(run, log, tmp_path):
    best = [f"d{n}" for n in range(4)]
    for name, order in (("good", best), ("bad", best[::-1])):
        lines = [f"q{q} Q0 {item} {n} {5 - n} {name}\n" for q in range(6) for n, item in enumerate(order, 1)]
        (tmp_path / f"{name}.run").write_text("".join(lines))
    labels, model = tmp_path / "labels.csv", tmp_path / "model.json"
    made = run("clicks", log, "-o", labels, "--json")
    content = json.loads(made.out)
    assert (made.code, content["log"]["sessions"], content["log"]["queries"]) == (0, 300, 6)
    shown = {row["position"]: (row["low"], row["high"]) for row in content["bias"]["positions"]}
    assert shown[2][0] < 1 / 2 < shown[2][1]
    assert shown[4][0] < 1 / 4 < shown[4][1]
    assert made.err.startswith(f"{labels}: 24 labels of 6 queries")
    assert labels.read_text().splitlines()[0] == "query,item,label,weight"
    fitted = run("fit", tmp_path / "good.run", tmp_path / "bad.run", "--labels", labels, "-o", model)
    assert fitted.code == 0
    weights = juryrank.load(model).expert_weights()
    assert weights["good"]["u"] > weights["bad"]["u"]


def test_the_tables_say_what_was_used(run, log, tmp_path):
    shown = run("clicks", log, "-o", tmp_path / "labels.parquet", "--quiet")
    assert (shown.code, shown.err) == (0, "")
    assert "sessions" in shown.out
    assert "Examination relative to the first position" in shown.out
    assert "100% of impressions are of items shown at several positions" in " ".join(shown.out.split())


def test_the_bias_can_be_given_and_drawn(run, log, tmp_path):
    picture = tmp_path / "bias.svg"
    shown = run(
        "clicks", log, "-o", tmp_path / "l.csv", "--examination", "1,0.5,0.33,0.25", "--plot", picture, "--json"
    )
    content = json.loads(shown.out)["bias"]
    assert content["source"] == "given"
    assert [row["examined"] for row in content["positions"]] == [1, 0.5, 0.33, 0.25]
    assert picture.read_text().startswith("<?xml")


@pytest.mark.parametrize(
    ("options", "code", "message"),
    [
        (["-o", "labels.qrels"], 2, "labels with weights are a table"),
        (["-o", "l.csv", "--columns", "clicked=nope"], 1, "no column 'nope'"),
        (["-o", "l.csv", "--from", "xml"], 2, "no format of click logs 'xml'"),
        (["-o", "l.csv", "--examination", "1,x"], 2, "expected numbers, got 'x'"),
        (["-o", "l.csv", "--examination", "1,0.5"], 1, "examination has 2 positions"),
        ([], 2, "Missing option '--out'"),
    ],
)
def test_a_mistake_is_one_message_and_writes_nothing(options, code, message, run, log, tmp_path, monkeypatch):
    monkeypatch.chdir(tmp_path)
    failed = run("clicks", log, *options)
    assert (failed.code, failed.out) == (code, "")
    assert message in " ".join(failed.err.replace("│", "").split())
    assert [path.name for path in tmp_path.iterdir()] == ["log.csv"]


def test_a_log_is_read_from_stdin(run, log, tmp_path, monkeypatch):
    with open(log) as file:
        monkeypatch.setattr("sys.stdin", file)
        assert run("clicks", "-", "-o", tmp_path / "piped.csv", "--quiet").code == 0
    assert run("clicks", log, "-o", tmp_path / "read.csv", "--quiet").code == 0
    assert (tmp_path / "piped.csv").read_text() == (tmp_path / "read.csv").read_text()


def test_ubi_without_impressions_needs_the_number_of_items_on_a_page(run, tmp_path):
    """A hundred hits of which ten were shown: without --shown, the others would get labels near 0."""
    hits, log, out = [f"d{n}" for n in range(100)], tmp_path / "log.ndjson", tmp_path / "labels.csv"
    documents = [{"query_id": f"u{n}", "user_query": "q", "query_response_hit_ids": hits} for n in range(30)]
    for n in range(20):
        item = {"object": {"object_id": f"d{n % 3}"}}
        documents.append({"query_id": f"u{n}", "action_name": "click", "event_attributes": item})
    log.write_text("".join(json.dumps(document) + "\n" for document in documents))
    refused = run("clicks", log, "-o", out)
    assert (refused.code, out.exists()) == (1, False)
    assert "hits (up to 100) were shown" in " ".join(refused.err.split())
    assert run("clicks", log, "-o", out, "--shown", "10", "--quiet").code == 0
    assert {row["item"] for row in csv.DictReader(out.read_text().splitlines())} == set(hits[:10])


def test_queries_that_differ_by_case_or_blanks_are_one_if_wanted(run, log, tmp_path):
    header, *lines = log.read_text().splitlines(keepends=True)
    log.write_text(header + "".join(f"Q{line[1:]}" if n < 100 else line for n, line in enumerate(lines)))
    apart = run("clicks", log, "-o", tmp_path / "labels.csv", "--json")
    assert json.loads(apart.out)["log"]["queries"] == 12
    assert "12 queries differ only by case or blanks" in " ".join(apart.err.split())
    one = run("clicks", log, "-o", tmp_path / "labels.csv", "--json", "--normalise-queries")
    assert (json.loads(one.out)["log"]["queries"], "differ only" in one.err) == (6, False)
    with (tmp_path / "labels.csv").open() as file:
        assert {row["query"] for row in csv.DictReader(file)} == {f"q{n}" for n in range(6)}
