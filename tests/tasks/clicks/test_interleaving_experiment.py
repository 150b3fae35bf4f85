"""InterleavingTest: clicks credited to teams, logs that are read, added twice, merged and saved."""

import json
import random
from itertools import permutations

import polars as pl
import pytest

import juryrank
from juryrank.errors import DataError, ParameterError, UnknownNameError
from juryrank.tasks.clicks.interleaving import interleave
from juryrank.tasks.clicks.interleaving_experiment import InterleavingTest

PAGE = {"a": "old", "b": "new", "c": "old", "d": "new", "e": None}
DOCUMENTS = [f"d{n}" for n in range(12)]


def of(test: InterleavingTest, name: str = "new") -> tuple[int, int, int]:
    found = next(c for c in test.result().challengers if c.name == name)
    return found.wins, found.losses, found.ties


@pytest.mark.parametrize(
    ("clicked", "expected"),
    [
        (["b"], (1, 0, 0)),
        (["a"], (0, 1, 0)),
        (["a", "b"], (0, 0, 1)),
        (["a", "b", "d"], (1, 0, 0)),
        ([], (0, 0, 1)),
        (["e"], (0, 0, 1)),  # of no team
        (["b", "b", "b", "a", "c"], (0, 1, 0)),  # several clicks on an item count once
        (["x", "y"], (0, 0, 1)),  # not shown
    ],
)
def test_the_team_with_more_clicked_items_wins_the_session(clicked, expected):
    test = InterleavingTest(["old", "new"])
    test.add("s", PAGE, clicked)
    assert of(test) == expected


def test_clicks_without_credit_are_counted():
    test = InterleavingTest(["old", "new"])
    test.add(1, PAGE, ["e", "x", "y", "a"])
    found = test.result()
    assert (found.n_clicks, found.n_without_team, found.n_not_shown) == (4, 1, 2)
    assert "2 clicks on items that were not shown, ignored" in str(found)


def test_a_session_that_is_added_again_changes_nothing_and_parts_add_up():
    test = InterleavingTest(["old", "new"])
    test.add("s", PAGE, ["a"])
    once = test.result().to_dict()
    test.add("s", PAGE, ["a"])
    test.add("s", PAGE, [])
    assert test.result().to_dict() == once
    test.add("s", PAGE, ["b", "d"])
    assert of(test) == (1, 0, 0)
    test.add("s", {"a": "old"}, ["a"], query="another")
    assert (of(test), len(test)) == ((0, 0, 1), 1)


def simulated(n: int, seed: int, better: float = 0.5) -> tuple[InterleavingTest, list[dict]]:
    """Sessions of a ranking in use and two challengers, the first of which people like better; and their log."""
    rng = random.Random(seed)
    test, rows = InterleavingTest(["old", "new", "same"]), []
    for session in range(n):
        rankings = {"old": DOCUMENTS, "new": DOCUMENTS[6:] + DOCUMENTS[:6], "same": DOCUMENTS}
        page = interleave(rankings, request=f"{seed}-{session}", seed=4, top=6)
        clicked = [i for i in page.items if rng.random() < (better if int(i[1:]) > 5 else 0.1)]
        test.add(page.request, page, clicked, query="q")
        rows += [{**row, "clicked": row["item"] in clicked} for row in page.log_rows("q")]
    return test, rows


def test_the_better_of_several_challengers_is_accepted_and_the_equal_one_is_not():
    test, _ = simulated(400, seed=1)
    found = test.result()
    assert test.verdict == found.verdict == "accept new"
    assert {c.name: c.verdict for c in found.challengers}["same"] != "accept"
    assert found.test.level == 0.05 / 2


def test_a_log_gives_the_same_result_as_adding_its_sessions(tmp_path):
    test, rows = simulated(60, seed=2)
    expected = test.result().to_dict()
    frame = pl.DataFrame(rows)
    frame.write_csv(tmp_path / "log.csv")
    frame.with_columns(clicked=pl.when("clicked").then(pl.lit("yes")).otherwise(pl.lit("no"))).write_csv(
        tmp_path / "words.csv"
    )
    frame.rename({"session": "Request ID", "item": "docid", "team": "who"}).write_parquet(tmp_path / "log.parquet")
    for log in (rows, frame, str(tmp_path / "log.csv"), tmp_path / "words.csv", [frame[:90], frame[90:], frame[50:70]]):
        assert InterleavingTest.from_log(log, control="old").result().to_dict() == expected
    other = InterleavingTest.from_log(tmp_path / "log.parquet", control="old", columns={"team": "who"})
    assert other.result().to_dict() == expected


def test_parts_merge_in_any_order_and_twice():
    whole, rows = simulated(30, seed=3)
    parts = [InterleavingTest.from_log(rows[start : start + 70], control="old") for start in range(0, 180, 50)]
    for order in permutations(parts):
        merged = order[0]
        for part in (*order[1:], order[0]):
            merged = merged.merge(part)
        assert merged.result().to_dict() == whole.result().to_dict()


def test_an_item_recorded_for_different_teams_counts_for_none_in_any_order():
    records = [{"a": "old"}, {"a": "new"}, {}, {"a": "new"}]
    for order in permutations(records):
        test = InterleavingTest(["old", "new"])
        for record in order:
            test.add("s", record, ["a"])
        assert of(test) == (0, 0, 1)
        assert test.result().n_without_team == 1


def test_a_saved_test_is_loaded_and_goes_on(tmp_path):
    test, _ = simulated(20, seed=4)
    test.add("last", {"x": None}, ["x", "unseen"])
    test.save(tmp_path / "test.json")
    loaded = InterleavingTest.load(tmp_path / "test.json")
    assert loaded.result().to_dict() == test.result().to_dict()
    for each in (loaded, test):
        each.add("more", {"x": "new"}, ["x"])
    assert loaded.result().to_dict() == test.result().to_dict()


@pytest.mark.parametrize(
    "change",
    [
        {"format": "juryrank-model"},
        {"version": 99},
        {"teams": ["one"]},
        {"sessions": {"s": [["q", "i", "unknown"]]}},
        {"sessions": {"s": [["q"]]}},
        {"sessions": []},
        {"level": 7},
        {"teams": None},
    ],
)
def test_a_damaged_file_is_refused(tmp_path, change):
    InterleavingTest(["old", "new"]).save(tmp_path / "test.json")
    content = json.loads((tmp_path / "test.json").read_text())
    (tmp_path / "test.json").write_text(json.dumps({**content, **change}))
    with pytest.raises(DataError, match="not the file of an InterleavingTest"):
        InterleavingTest.load(tmp_path / "test.json")
    (tmp_path / "test.json").write_text("{")
    with pytest.raises(DataError, match="not the file of an InterleavingTest"):
        InterleavingTest.load(tmp_path / "test.json")


def test_different_tests_do_not_merge():
    test = InterleavingTest(["old", "new"])
    for other in (InterleavingTest(["new", "old"]), InterleavingTest(["old", "new"], level=0.1)):
        with pytest.raises(ParameterError, match="only tests with the same teams"):
            test.merge(other)


def test_wrong_names_and_logs_are_refused():
    for teams in (["one"], ["a", "a"], "ab", ["a", ""], ["a", 1]):
        with pytest.raises(ParameterError, match="teams must be two or more different names"):
            InterleavingTest(teams)
    test = InterleavingTest(["old", "new"])
    with pytest.raises(UnknownNameError, match="did you mean 'new'"):
        test.add("s", {"a": "now"}, [])
    with pytest.raises(DataError, match="a session needs an id"):
        test.add(None, PAGE, ["a"])
    with pytest.raises(DataError, match="clicked must be a list of the items"):
        test.add(1, PAGE, "ab")
    rows = [{"session": 1, "item": "a", "team": "old", "clicked": 1}, {"session": 1, "item": "b", "clicked": 0}]
    with pytest.raises(DataError, match="two teams or more"):
        InterleavingTest.from_log(rows, control="old")
    rows[1]["team"] = "new"
    with pytest.raises(ParameterError, match="one of new, old"):
        InterleavingTest.from_log(rows, control=None)
    with pytest.raises(UnknownNameError, match="no team 'A'"):
        InterleavingTest.from_log(rows, control="A")
    with pytest.raises(DataError, match="needs a column 'clicked'"):
        InterleavingTest.from_log(pl.DataFrame(rows).drop("clicked"), control="old")
    with pytest.raises(DataError, match="no column 'who'; columns are"):
        InterleavingTest.from_log(rows, control="old", columns={"team": "who"})
    with pytest.raises(DataError, match="row 2: expected a session"):
        InterleavingTest.from_log([rows[0], {**rows[1], "session": None}], control="old")
    with pytest.raises(DataError, match="row 2: expected 0 or 1"):
        InterleavingTest.from_log([{**rows[0], "clicked": "1"}, {**rows[1], "clicked": "often"}], control="old")
    for log in (7, []):
        with pytest.raises(DataError, match="the log: expected"):
            InterleavingTest.from_log(log, control="old")


def test_rows_without_a_position_were_not_shown():
    rows = [
        {"session": "s", "item": "a", "team": "old", "position": 1, "clicked": 0},
        {"session": "s", "item": "b", "team": "new", "position": 2, "clicked": 0},
        {"session": "s", "item": "c", "team": "new", "position": None, "clicked": 1},
    ]
    found = InterleavingTest.from_log(rows, control="old").result()
    assert (found.n_not_shown, found.challengers[0].ties) == (1, 1)


def test_the_result_is_a_report(tmp_path):
    test, _ = simulated(30, seed=5)
    found = test.result()
    assert "Verdict: " in found.render("text")
    assert json.loads(found.render("json"))["challengers"][0]["name"] == "new"
    assert found.render("csv").startswith("name,wins,losses,ties")
    assert repr(found) == f"InterleavingResult(30 sessions: {found.verdict})"
    assert "30 sessions" in repr(test)
    assert juryrank.InterleavingTest is InterleavingTest


def test_the_confidence_sequence_is_drawn(tmp_path):
    pytest.importorskip("matplotlib")
    test, _ = simulated(30, seed=6)
    test.result().plot(tmp_path / "sequence.png")
    assert (tmp_path / "sequence.png").read_bytes().startswith(b"\x89PNG")
    InterleavingTest(["a", "b"]).result().plot(tmp_path / "empty.svg")
    assert (tmp_path / "empty.svg").read_text().rstrip().endswith("</svg>")


def log_of_users(n_users: int, each: int, preferring_new: int) -> list[dict]:
    """Each user clicks in all sessions on the items of one ranking."""
    return [
        {"session": f"{user}-{n}", "user_id": user, "item": item, "team": team, "clicked": (team == "new") == new}
        for user in range(n_users)
        for new in [user < preferring_new]
        for n in range(each)
        for item, team in (("a", "old"), ("b", "new"))
    ]


def test_sessions_of_a_user_who_is_always_of_one_mind_count_as_one():
    rows = log_of_users(20, each=50, preferring_new=12)
    found = InterleavingTest.from_log(rows, control="old").result()
    once = InterleavingTest.from_log(log_of_users(20, each=1, preferring_new=12), control="old").result()
    blind = InterleavingTest.from_log(rows, control="old", columns={"user": None}).result()
    challenger, expected = found.challengers[0], once.challengers[0]
    assert (found.verdict, once.verdict, blind.verdict) == ("go on", "go on", "accept new")
    assert (challenger.wins, challenger.losses, challenger.preference) == (600, 400, expected.preference)
    assert (challenger.p, challenger.independent) == pytest.approx((expected.p, 20))
    assert (found.n_users, found.n_without_user, blind.n_users) == (20, 0, None)
    assert "Users: 20;" in str(found)
    assert "1000 as 20 (new)" in str(found)
    assert "as no user is known" in str(blind)


def test_users_are_kept_by_add_merge_save_and_load(tmp_path):
    rows = log_of_users(12, each=5, preferring_new=9)
    whole = InterleavingTest.from_log(rows, control="old")
    added = InterleavingTest(["old", "new"])
    for session in {row["session"]: None for row in rows}:
        one = [row for row in rows if row["session"] == session]
        added.add(session, {}, [])  # the user is told later
        clicked = [row["item"] for row in one if row["clicked"]]
        added.add(session, {row["item"]: row["team"] for row in one}, clicked, user=one[0]["user_id"])
    halves = [InterleavingTest.from_log(part, control="old") for part in (rows[:70], rows[50:])]
    whole.save(tmp_path / "test.json")
    assert json.loads((tmp_path / "test.json").read_text())["version"] == 2  # so that no older version drops the users
    for other in (added, halves[0].merge(halves[1]), halves[1].merge(halves[0]), whole.merge(whole)):
        assert other.result().to_dict() == whole.result().to_dict()
    assert InterleavingTest.load(tmp_path / "test.json").result().to_dict() == whole.result().to_dict()


def test_a_session_of_two_users_is_refused_and_sessions_without_one_are_told():
    rows = log_of_users(3, each=2, preferring_new=2)
    with pytest.raises(DataError, match="session '0-0': expected one user, got '0' and '7'"):
        InterleavingTest.from_log([*rows, {**rows[0], "user_id": 7}], control="old")
    rows[-4]["user_id"] = rows[-3]["user_id"] = None
    found = InterleavingTest.from_log(rows, control="old").result()
    assert (found.n_users, found.n_without_user) == (3, 1)
    assert "1 sessions without a user count as those of users of their own" in str(found)
