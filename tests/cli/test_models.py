"""``juryrank fit``, ``rank --model``, ``explain`` and ``export``."""

import json
import re
from pathlib import Path

import pytest

import juryrank
from cli.conftest import DEMO, Run, items
from juryrank.tasks.export import PORTABLE


@pytest.fixture
def model(run: Run, tmp_path: Path) -> Path:
    path = tmp_path / "model.json"
    assert run("fit", DEMO, "-o", path).code == 0
    return path


def test_fit_saves_jury_and_prints_what_left_out_queries_say(run: Run, tmp_path: Path) -> None:
    path = tmp_path / "model.json"
    fitted = run("fit", DEMO, "-o", path)
    assert fitted.code == 0
    assert fitted.err == f"{path}: jury, learned from 24 of 24 queries with 383 labels of 747 items\n"
    saved = juryrank.load(path)
    assert saved.name == "jury"
    assert fitted.out == saved.report() + "\n"
    assert "gain +" in fitted.out


def test_fit_takes_a_method_its_parameters_and_labels_of_their_own(
    run: Run, runs: list[Path], qrels: Path, tmp_path: Path
) -> None:
    path = tmp_path / "model.json"
    done = run("fit", *runs, "--labels", qrels, "--method", "ridge", "-p", "shrink=7", "-o", path, "--quiet")
    assert (done.code, done.err) == (0, "")
    assert juryrank.load(path).params()["shrink"] == 7


@pytest.mark.parametrize(
    ("judged", "told"),
    [
        (
            "q1 0 a 1\nq1 0 b 0\n",
            "none of the 1 queries with labels is in the data, .*without the prefix 'q' in the labels",
        ),
        ("1 0 A 1\n1 0 B 0\n", "no ranked item is judged in any of the 1 queries .*if case were ignored"),
        ("1 0 a 1\n1 0 b 1\n1 0 c 1\n", "no query has lists and labels that differ"),
    ],
    ids=["other queries", "other case", "equal labels"],
)
@pytest.mark.parametrize(
    "method", ["jury", "ridge", "auto", "borda-fuse", "theta-cps", "theta-mpm", "supervised-borda"]
)
def test_fit_refuses_labels_that_teach_nothing(
    run: Run, runs: list[Path], tmp_path: Path, judged: str, told: str, method: str
) -> None:
    (tmp_path / "other.qrels").write_text(judged)
    failed = run("fit", *runs, "--labels", tmp_path / "other.qrels", "--method", method, "-o", tmp_path / "m.json")
    if (
        method == "borda-fuse" and "differ" in told
    ):  # it weighs experts by their metric, which labels of one grade allow
        assert failed.code == 0
        return
    assert (failed.code, failed.out) == (1, "")
    assert re.search(told, failed.err)
    assert failed.err.count("\n") == 1
    assert not (tmp_path / "m.json").exists()


def test_a_model_needs_a_file(run: Run) -> None:
    assert run("fit", DEMO, "-o", "-").code == 2


def test_fit_chooses_on_the_validation_queries(run: Run, tmp_path: Path) -> None:
    data = juryrank.read(DEMO)
    juryrank.write(data[:16], tmp_path / "train.csv")
    juryrank.write(data[16:], tmp_path / "vali.csv")
    path = tmp_path / "model.json"
    options = ["--method", "lambdarank", "-p", "epochs=3", "-o", path]
    assert run("fit", tmp_path / "train.csv", "--valid", tmp_path / "vali.csv", *options).code == 0
    train, valid = juryrank.read(tmp_path / "train.csv"), juryrank.read(tmp_path / "vali.csv")
    same = juryrank.method("lambdarank", epochs=3).fit(train, valid=valid)
    assert (juryrank.load(path).weights_ == same.weights_).all()  # type: ignore[attr-defined]


def test_a_method_without_a_report_is_fitted_silently(run: Run, tmp_path: Path) -> None:
    assert run("fit", DEMO, "--method", "rrf", "-o", tmp_path / "m.json", "-q").out == ""


def test_rank_with_a_model_is_what_the_model_predicts(run: Run, model: Path) -> None:
    ranked = run("rank", DEMO, "--model", model)
    assert items(ranked.out) == juryrank.load(model).predict(juryrank.read(DEMO)).top(1000)
    assert run("fuse", DEMO, "--model", model).out == ranked.out


@pytest.mark.parametrize(
    "args", [[], ["--method", "rrf", "--model", "m.json"], ["--model", "m.json", "-p", "k=3"]], ids=str
)
def test_rank_needs_either_a_method_or_a_model(run: Run, args: list[str]) -> None:
    assert run("rank", DEMO, *args).code == 2


def test_a_method_that_learns_needs_labels_or_a_model(run: Run, runs: list[Path], tmp_path: Path) -> None:
    for command in (["rank", *runs, "--method", "jury"], ["fuse", *runs, "--method", "jury"]):
        failed = run(*command)
        assert (failed.code, failed.out) == (1, "")
        assert failed.err == ("error: jury learns from labels, and the data has none; give labels, or a fitted model\n")
    assert run("fit", *runs, "-o", tmp_path / "m.json").code == 1
    assert not (tmp_path / "m.json").exists()


def test_compare_tests_methods_that_learn_on_other_queries(run: Run) -> None:
    done = run("compare", DEMO, "--methods", "rrf,jury", "--folds", "3", "--json")
    assert done.code == 0
    assert json.loads(done.out)["methods"]["jury"]["name"] == "jury"
    refused = run("compare", DEMO, "--methods", "rrf,jury")
    assert refused.code == 1
    assert "must be evaluated on held-out queries" in refused.err


@pytest.mark.parametrize("command", [["rank", DEMO, "--model"], ["explain"], ["export", "--to", "json"]], ids=str)
@pytest.mark.parametrize("damage", ["cut", "foreign", "absent", "binary", "newer", "wrong"])
def test_a_bad_model_is_one_line(run: Run, model: Path, tmp_path: Path, command: list[str], damage: str) -> None:
    bad, text = tmp_path / "bad.json", model.read_text()
    if damage == "binary":
        bad.write_bytes(b"\xff\xfe\x00")
    elif damage != "absent":
        changed = {"cut": text[: len(text) // 2], "foreign": '{"weights": [1, 2]}'}
        changed["newer"] = text.replace('"version": 1', '"version": 99')
        changed["wrong"] = text.replace('"curves_"', '"curvs_"')
        bad.write_text(changed[damage])
    failed = run(*command, bad)
    assert (failed.code, failed.out) == (1, "")
    assert failed.err.startswith(f"error: {bad}")
    assert failed.err.count("\n") == 1


def test_explain_shows_weights_and_with_data_the_rest(run: Run, model: Path) -> None:
    assert "■" in run("explain", model).out
    whole = run("explain", model, "--data", DEMO, "--query", "q23", "--top", "3", "--format", "json")
    content = json.loads(whole.out)
    assert set(content) >= {"method", "params", "report", "weights", "without", "redundancy", "matrix"}
    assert len(content["matrix"]["items"]) == 3
    assert content["without"]["refitted"] is False


@pytest.mark.parametrize(
    "spelled", [["a", "b"], ["--data", "a", "--data", "b"], ["--data", "a", "b"], ["a", "--data", "b"]], ids=" ".join
)
def test_explain_and_export_take_several_files(run: Run, model: Path, runs: list[Path], spelled: list[str]) -> None:
    paths = dict(zip("ab", runs, strict=True))
    given = [paths.get(word, word) for word in spelled]
    content = json.loads(run("explain", model, *given, "--format", "json").out)
    assert sorted(content["redundancy"]["experts"]) == ["bm25", "dense"]
    assert run("export", model, *given, "--to", "elasticsearch").code == 0


def test_explain_refits_when_asked(run: Run, model: Path) -> None:
    content = json.loads(run("explain", model, "--data", DEMO, "--refit", "-m", "AP", "--format", "json").out)
    assert content["without"]["refitted"] is True
    assert list(content["without"]["all"]) == ["AP"]


@pytest.mark.parametrize(
    ("name", "start"), [("e.png", b"\x89PNG"), ("e.svg", b"<?xml"), ("e.html", b"<!doctype html>"), ("e.txt", b"jury")]
)
def test_explain_writes_what_the_ending_says(run: Run, model: Path, tmp_path: Path, name: str, start: bytes) -> None:
    if name.endswith(("png", "svg")):
        pytest.importorskip("matplotlib")
    out = tmp_path / name
    written = run("explain", model, "--data", DEMO, "--query", "q01", "-o", out)
    assert (written.code, written.out) == (0, "")
    assert out.read_bytes().startswith(start)


@pytest.mark.parametrize(
    "args", [["--query", "q01"], ["--format", "png"], ["--labels", "x.qrels"], ["-o", "e.doc"]], ids=str
)
def test_explain_refuses_what_makes_no_sense(run: Run, model: Path, args: list[str]) -> None:
    assert run("explain", model, *args).code == 2


def test_an_unknown_query_or_export_ends_with_2(run: Run, model: Path) -> None:
    assert run("explain", model, "--data", DEMO, "--query", "q99").code == 2
    assert run("export", model, "--to", "excel").code == 2


@pytest.mark.parametrize("to", [*PORTABLE, "elasticsearch", "opensearch", "qdrant"])
def test_export_writes_what_it_prints(run: Run, model: Path, tmp_path: Path, to: str) -> None:
    sizes = ["--depth", "30"] if to in PORTABLE else []  # engines take weights, which have no depth
    options = ["export", model, "--to", to, *sizes, "--data", DEMO]
    printed, out = run(*options), tmp_path / "exported"
    assert (printed.code, printed.err) == (0, "")
    written = run(*options, "-o", out)
    assert (written.code, written.out, written.err) == (0, "", f"{out}: jury for {to}\n")
    assert out.read_text() == printed.out


def test_export_says_what_is_missing(run: Run, model: Path, tmp_path: Path) -> None:
    failed = run("export", model, "--to", "qdrant")
    assert failed.code == 1
    assert "give data" in failed.err
    borda = tmp_path / "borda.json"
    assert run("fit", DEMO, "--method", "borda", "-o", borda, "-q").code == 0
    assert "give items" in run("export", borda, "--to", "json").err
    assert run("export", borda, "--to", "json", "--items", "40").code == 0


def test_export_takes_the_experts_of_an_engine(run: Run, model: Path, tmp_path: Path) -> None:
    six = run("export", model, "--to", "opensearch", "--data", DEMO, "--experts", "bm25, dense")
    assert (six.code, json.loads(six.out)["weights"].keys()) == (0, {"bm25", "dense"})
    rrf = tmp_path / "rrf.json"
    assert run("fit", DEMO, "--method", "rrf", "-o", rrf, "-q").code == 0
    failed = run("export", rrf, "--to", "opensearch", "--data", DEMO)
    assert failed.code == 1
    assert "at most 5 queries" in failed.err
    assert "--experts" in failed.err


@pytest.mark.parametrize("valid", [["--valid", "a.csv", "b.csv"], ["--valid=a.csv", "b.csv"]])
def test_a_path_after_the_value_of_valid_is_an_error_and_not_training_data(run: Run, valid: list[str]) -> None:
    refused = run("fit", "train.csv", *valid, "-o", "model.json")
    assert refused.code == 2
    assert "--valid takes one path, and 'b.csv' follows it" in " ".join(refused.err.replace("│", "").split())


def test_training_data_may_stand_after_the_options(run: Run, tmp_path: Path) -> None:
    done = run("fit", "--valid", DEMO, "--method", "borda", "-o", tmp_path / "m.json", DEMO)
    assert done.code == 0
    done = run("fit", "-o", tmp_path / "n.json", "--method", "borda", "--valid", DEMO, DEMO)
    assert done.code == 0
    assert (tmp_path / "m.json").read_bytes() == (tmp_path / "n.json").read_bytes()


def test_fit_prints_the_verdict_or_how_to_get_one(run: Run, tmp_path: Path) -> None:
    shown = run("fit", DEMO, "-o", tmp_path / "m.json")
    verdict = shown.out.splitlines()[1]
    assert verdict.startswith(
        "Verdict: not shown, but jury is expected to be best. On 24 held-out queries jury has nDCG"
    )
    other = run("fit", DEMO, "--method", "borda-fuse", "-o", tmp_path / "m.json")
    assert "juryrank compare … --methods rrf,borda-fuse --folds 5" in other.err
    assert run("fit", DEMO, "--method", "rrf", "-o", tmp_path / "m.json").err.count("\n") == 1  # learns nothing
