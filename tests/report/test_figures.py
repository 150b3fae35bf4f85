"""Pictures show names as they are, whatever is in them, and end in one clear error where they cannot be drawn."""

import warnings
from collections.abc import Callable
from pathlib import Path
from xml.etree import ElementTree

import pytest

import juryrank
from juryrank.data.build import from_dicts, from_orders
from juryrank.errors import DataError, DataWarning, UnknownNameError
from juryrank.report.figure import check_picture, drawing, drawn_names, picture_bytes
from juryrank.tasks.explain import explain
from juryrank.tasks.leaderboard import leaderboard

pytest.importorskip("matplotlib")

NAMES = [
    "$a_b_c$", "$", "$$", "a$b$c", r"$\frac{$", r"\alpha", "a_b", "a^b^c", "%", "&", "#", "{", "}", "~", "\\",
    "<b>&amp;</b>", "-->", "a--b",
    "a\nb", "a\tb", "\x1b[31m", "\0", "\x07", "x" * 1000, "x" * 999 + "y", "[red]", "e\u0301", "'", '"',
]  # fmt: skip
STRANGE = ["日本語", "\U0001f600", "עברית"]
Draw = Callable[[list[str], Path], None]


def draw_board(names: list[str], path: Path) -> None:
    orders = [[one, other] for n, one in enumerate(names) for other in names[n + 1 :]] + [[names[-1], names[0]]]
    leaderboard(from_orders(orders), "bradley-terry", bootstrap=2).plot(path)


def draw_wins(names: list[str], path: Path) -> None:
    orders = [[one, other] for n, one in enumerate(names) for other in names[n + 1 :]] + [[names[-1], names[0]]]
    leaderboard(from_orders(orders), "bradley-terry", bootstrap=2).plot_wins(path)


def draw_explanation(names: list[str], path: Path) -> None:
    queries = [f"q{n}" for n in range(6)]
    runs = {
        name: {q: ["a", "b", names[0]] if n % 2 else ["b", "c", "a"] for q in queries} for n, name in enumerate(names)
    }
    data = from_dicts(runs, labels={q: {"a": 2, "b": 1, "c": 0} for q in queries})
    found = explain(juryrank.method("jury").fit(data), data, "q1", metrics=["nDCG@10"])
    path.write_bytes(found.picture(path.suffix[1:]))


DRAWN = {"board": draw_board, "wins": draw_wins, "explanation": draw_explanation}


@pytest.mark.parametrize("ending", ["png", "svg"])
@pytest.mark.parametrize("draw", DRAWN.values(), ids=DRAWN)
def test_hostile_names_are_drawn(tmp_path: Path, draw: Draw, ending: str) -> None:
    path = tmp_path / f"a.{ending}"
    with warnings.catch_warnings():
        warnings.filterwarnings("ignore", "constrained_layout not applied", UserWarning)
        draw(NAMES, path)
    content = path.read_bytes()
    assert content.startswith(b"\x89PNG") or ElementTree.fromstring(content).tag.endswith("svg")


def test_a_dollar_is_drawn_as_a_dollar() -> None:
    def texts(name: str) -> str:
        with drawing(3.0, 1.0, **{"svg.fonttype": "none"}) as figure:
            figure.subplots().set_title(drawn_names([name])[0])
            page = ElementTree.fromstring(picture_bytes(figure, "svg"))
        return "".join(page.itertext())

    assert "$a_b_c$" in texts("$a_b_c$")
    assert r"\x1b[31m" in texts("\x1b[31m")


@pytest.mark.parametrize("draw", DRAWN.values(), ids=DRAWN)
def test_letters_that_the_font_lacks_are_one_warning(tmp_path: Path, draw: Draw) -> None:
    text = "the font of the picture lacks 3 characters of names, drawn as escapes; set font.family of matplotlib"
    with pytest.warns(DataWarning, match="lacks") as caught:
        draw(["z", *STRANGE], tmp_path / "a.png")
    assert [(warning.category, str(warning.message)) for warning in caught] == [(DataWarning, text)]
    assert caught[0].filename == __file__


def test_letters_that_the_font_lacks_are_drawn_as_escapes() -> None:
    with pytest.warns(DataWarning, match="lacks 3 characters"):
        assert drawn_names(STRANGE) == [r"\u65e5\u672c\u8a9e", "\U0001f600", "עברית"]


def test_letters_of_a_further_font_family_are_drawn_as_they_are() -> None:
    only_letters, everything = "cmtt10", "DejaVu Sans"  # come with matplotlib
    with drawing(1.0, 1.0, **{"font.family": [only_letters, "no such font", everything]}):
        assert drawn_names(["aжz"]) == ["aжz"]
    with pytest.warns(DataWarning, match="lacks a character"), drawing(1.0, 1.0, **{"font.family": [only_letters]}):
        assert drawn_names(["aжz"]) == [r"a\u0436z"]


def test_long_names_are_shortened_and_stay_apart() -> None:
    names = drawn_names(["x" * 500, "x" * 250 + "y" + "x" * 249, "short"])
    assert len(set(names)) == 3
    assert names[2] == "short"
    assert len(drawn_names(["x" * 500])[0]) == 60


@pytest.mark.parametrize("name", ["a.xyz", "a.pgf", "a.raw", "a.doc", "a.csv"])
def test_an_unknown_ending_is_one_error_that_names_the_known_ones(tmp_path: Path, name: str) -> None:
    with pytest.raises(UnknownNameError, match=r"no picture format '\w+';.* known: .*pdf, png, .*svg"):
        draw_board(["a", "b"], tmp_path / name)
    assert list(tmp_path.iterdir()) == []


def test_a_picture_without_an_ending_is_png() -> None:
    assert [check_picture(path) for path in ("a", "a.PNG", "b.c/a.svg", ".hidden")] == ["png", "png", "svg", "png"]


def test_a_picture_that_cannot_be_written_is_one_clear_error(tmp_path: Path) -> None:
    with pytest.raises(DataError, match=r"no-such-folder/a\.png: cannot be written: No such file or directory"):
        draw_board(["a", "b"], tmp_path / "no-such-folder" / "a.png")
    (tmp_path / "a.png").mkdir()
    with pytest.raises(DataError, match=r"a\.png: only a file can be written"):
        draw_board(["a", "b"], tmp_path / "a.png")
