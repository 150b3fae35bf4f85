"""``juryrank interleave``."""

import io
import json
from pathlib import Path

import polars as pl
import pytest

from juryrank.tasks.clicks.interleaving import interleave

RUN_A = "q1 Q0 a 1 9 A\nq1 Q0 b 2 8 A\nq1 Q0 c 3 7 A\nq2 Q0 x 1 5 A\n"
RUN_B = "q1 Q0 c 1 9 B\nq1 Q0 d 2 8 B\nq1 Q0 a 3 7 B\n"


@pytest.fixture
def runs(tmp_path: Path) -> list[Path]:
    (tmp_path / "A.run").write_text(RUN_A)
    (tmp_path / "B.run").write_text(RUN_B)
    return [tmp_path / "A.run", tmp_path / "B.run"]


def write_log(path: Path, n_new: int, n_old: int) -> Path:
    rows = ["session,item,team,clicked"]
    for session in range(n_new + n_old):
        rows += [f"s{session},a,old,{int(session >= n_new)}", f"s{session},b,new,{int(session < n_new)}"]
    path.write_text("\n".join(rows) + "\n")
    return path


def test_runs_are_interleaved_by_query(run, runs, tmp_path):
    done = run("interleave", *runs, "--seed", 3, "-o", tmp_path / "pages.csv")
    assert (done.code, done.err) == (0, f"{tmp_path / 'pages.csv'}: 2 pages of 2 rankings\n")
    pages = pl.read_csv(tmp_path / "pages.csv")
    expected = interleave({"A": ["a", "b", "c"], "B": ["c", "d", "a"]}, request="q1", seed=3)
    assert pages.filter(query="q1")["item"].to_list() == expected.items
    assert pages.filter(query="q1")["team"].to_list() == expected.teams
    assert pages.filter(query="q2")["item"].to_list() == ["x"]
    assert run("interleave", *runs, "--seed", 3).out == (tmp_path / "pages.csv").read_text()
    assert len(run("interleave", *runs, "--top", 1).out.splitlines()) == 3


@pytest.mark.parametrize(("wins", "losses", "verdict"), [(90, 10, "accept new"), (10, 90, "keep old"), (6, 4, "go on")])
def test_a_log_leads_to_a_verdict(run, tmp_path, wins, losses, verdict):
    log = write_log(tmp_path / "log.csv", wins, losses)
    done = run("interleave", "--log", log, "--control", "old")
    assert done.code == 0
    assert f"Verdict: {verdict}" in done.out
    found = json.loads(run("interleave", "--log", log, "--control", "old", "--json").out)
    assert (found["verdict"], found["challengers"][0]["wins"], found["sessions"]) == (verdict, wins, wins + losses)
    twice = json.loads(run("interleave", "--log", log, "--log", log, "--control", "old", "--json").out)
    assert twice == found


def test_a_log_is_read_from_stdin(run, tmp_path, monkeypatch):
    log = write_log(tmp_path / "log.csv", 9, 1)
    monkeypatch.setattr("sys.stdin", io.TextIOWrapper(io.BytesIO(log.read_bytes())))
    assert json.loads(run("interleave", "--log", "-", "--control", "old", "--json").out)["sessions"] == 10


def test_level_and_minimum_are_options(run, tmp_path):
    log = write_log(tmp_path / "log.csv", 62, 38)
    strict = run("interleave", "--log", log, "--control", "old", "--level", 0.01)
    loose = run("interleave", "--log", log, "--control", "old", "--level", 0.3, "--minimum", 0.2)
    assert "Verdict: go on" in strict.out
    assert "Verdict: accept new" in loose.out


def test_the_confidence_sequence_is_drawn(run, tmp_path):
    pytest.importorskip("matplotlib")
    log = write_log(tmp_path / "log.csv", 30, 20)
    assert run("interleave", "--log", log, "--control", "old", "--plot", tmp_path / "p.png").code == 0
    assert (tmp_path / "p.png").stat().st_size > 1000


def test_wrong_use_ends_with_a_message(run, runs, tmp_path):
    log = write_log(tmp_path / "log.csv", 3, 2)
    assert run("interleave").code == 2
    assert run("interleave", *runs, "--log", log).code == 2
    for flags in (["--json"], ["--control", "A"], ["-o", tmp_path / "pages.txt"]):
        assert run("interleave", *runs, *flags).code == 2
    for args, message in (
        (["--log", log], "control must be the team of the ranking in use: one of new, old"),
        (["--log", tmp_path / "none.csv"], "cannot be read"),
        (["--log", runs[0], "--control", "old"], "needs a column 'session'"),
        ([runs[0]], "two rankings or more"),
        (["--log", log, "--control", "old", "--level", 2], "level must be a number between 0 and 1"),
    ):
        done = run("interleave", *args)
        assert (done.code, done.err.count("\n")) == (1, 1), done
        assert message in done.err
    assert run("interleave", "--log", log, "--control", "newer").code == 2


def test_sessions_of_one_user_count_as_fewer(run, tmp_path):
    rows = ["session,who,item,team,clicked"]
    for session in range(1000):  # of 20 users, 12 of whom always prefer the new one
        new = session % 20 < 12
        rows += [f"s{session},u{session % 20},a,old,{int(not new)}", f"s{session},u{session % 20},b,new,{int(new)}"]
    (tmp_path / "log.csv").write_text("\n".join(rows) + "\n")
    command = ["interleave", "--log", tmp_path / "log.csv", "--control", "old"]
    assert "Verdict: accept new" in run(*command).out
    done = run(*command, "--columns", "user=who")
    assert "Verdict: go on" in done.out
    assert "Users: 20;" in done.out
    found = json.loads(run(*command, "--columns", "user=who", "--json").out)
    assert (found["users"], found["challengers"][0]["independent"]) == (20, 20)


def test_a_session_of_two_users_ends_with_a_message(run, tmp_path):
    (tmp_path / "log.csv").write_text("session,user,client,item,team,clicked\ns,u1,web,a,old,1\ns,u2,web,b,new,0\n")
    command = ["interleave", "--log", tmp_path / "log.csv", "--control", "old"]
    done = run(*command)
    assert (done.code, done.out, done.err.count("\n")) == (1, "", 1)
    assert "session 's': expected one user, got 'u1' and 'u2'" in done.err
    assert "count as independent" in run(*command, "--columns", "user=").out
