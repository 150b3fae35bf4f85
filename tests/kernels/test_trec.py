"""The scanner of TREC text reads what one slow obvious version reads, in any text, number and place."""

import random

import numpy as np
import pytest
from hypothesis import example, given
from hypothesis import strategies as st

from juryrank.kernels.trec import Lines, Names, find_queries

BLANKS = b" \f\v"
PIECES = [
    b" ",
    b"\t",
    b"  ",
    b"\v",
    b"q1",
    b"Q0",
    b"d1",
    b"d22",
    b"a-long-name-of-an-item",
    b"1",
    b"2.5",
    b"-",
    b"x\x01",
]
LINE = st.lists(st.sampled_from(PIECES), max_size=14).map(b"".join)
TEXT = st.lists(LINE | st.sampled_from([b"q1 Q0 d1 1 2.5 x", b"q1\tQ0\td 2\t2\t2.5\tx", b"q1 Q0 d1 2.5 x"]), max_size=8)


def split(line, n):
    """The columns of a line: between tabs, where that gives all, otherwise between blanks of any kind."""
    cells = [cell.strip(BLANKS) for cell in line.split(b"\t")]
    if len(cells) == n and all(cell or (n == 6 and at == 3) for at, cell in enumerate(cells)):
        return cells
    return line.split()


def number(text):
    try:
        return float(text) if text == text.strip() and b"_" not in text else None
    except ValueError:
        return None


def scan(*texts, n=6):
    return Lines(texts, [n] * len(texts), np.arange(len(texts)), [0] * len(texts), list(map(len, texts)))


def names_of(names):
    return bytes(names).split(b"\n")[:-1]


@given(TEXT, st.sampled_from([b"\n", b"\r\n", b"\r"]), st.sampled_from([4, 5, 6]))
@example([b"q\tQ0\td\t\t1\tx", b"q\tQ0\td 1 1 x"], b"\n", 6)
def test_lines_are_read_as_slowly_up_to_the_first_that_is_none(lines, end, n):
    text, entries, at, bad = end.join(lines), [], 0, None
    for line in lines:
        columns = split(line, n)
        if columns:
            score = number(columns[n - 1 - (n > 4)]) if len(columns) == n else None
            if score is None:
                bad = (0, at)
                break
            entries.append((columns[0], columns[2], score, columns[n - 1] if n > 4 else None))
        at += len(line + end)
    found = scan(text, n=n)
    assert found.bad == bad
    size = np.diff(found.list_start)
    query, item = [names_of(found.queries)[q] for q in np.repeat(found.list_query, size)], names_of(found.items)
    tag = [names_of(found.experts)[k] if n > 4 else None for k in np.repeat(found.list_expert, size)]
    assert list(zip(query, [item[i] for i in found.item], found.score.tolist(), tag, strict=True)) == entries


@given(TEXT, st.sampled_from([b"\n", b"\r\n", b"\r"]))
def test_queries_are_found_as_slowly(lines, end):
    columns, starts, at = [], [], 0
    for line in lines:
        if found := split(line, 6)[:7]:
            columns.append(found)
            starts.append(at)
        at += len(line + end)
    new = [n for n, found in enumerate(columns) if n == 0 or found[0] != columns[n - 1][0]]
    words, start, tags = find_queries(end.join(lines), 6)
    assert (words, start.tolist()) == (b"".join(columns[n][0] + b"\n" for n in new), [starts[n] for n in new])
    assert tags == list(dict.fromkeys(found[-1] for found in columns))[:2]


@given(
    st.floats(allow_nan=False).map(repr) | st.from_regex(r"\A[-+]?[0-9]{0,25}\.?[0-9]{0,30}([eE][-+]?[0-9]{1,4})?\Z")
)
@example("9007199254740993.0")
@example("1e-400")
@example("Infinity")
def test_a_number_is_the_double_that_python_makes_of_it(text):
    found, expected = scan(f"q Q0 d 1 {text} x".encode()), number(text.encode())
    assert found.score.tolist() == ([] if expected is None else [expected])
    assert [repr(value) for value in found.score.tolist()] == ([] if expected is None else [repr(expected)])


@pytest.mark.parametrize("text", ["-", ".", "1.2.3", "1e", "1e+", "1x", "nan(1)", "infin", "1_0", "0x1", "--1", "+-1"])
def test_what_is_no_decimal_number_is_refused(text):
    assert scan(f"q Q0 d 1 2 x\nq Q0 d 1 {text} x".encode()).bad == (0, 13)


def test_names_are_numbered_as_they_are_met_and_by_others():
    rng = random.Random(0)
    listed = ["".join(rng.choices("abé-09", k=rng.randint(1, 20))) for _ in range(3000)] * 2
    names, others = Names(), Names()
    known = list(dict.fromkeys(listed))
    assert [known[n] for n in names.number_all("".join(f"{name}\n" for name in listed).encode())] == listed
    others.number_all("".join(f"{name}\n" for name in known[::-2]).encode())
    assert [known[n] for n in names.number_all(bytes(others))] == known[::-2]
    assert len(names) == len(known)


def test_parts_are_read_in_their_order_and_must_be_within_their_text():
    texts = b"1 Q0 a 1 2 x\n2 Q0 b 1 2 x\n", b"1 Q0 c 1 2 y\n2 Q0 a 1 2 y\n"
    found = Lines(texts, [6, 6], [0, 1, 0, 1], [0, 0, 13, 13], [13, 13, 26, 26])
    assert (names_of(found.items), found.list_source.tolist()) == ([b"a", b"c", b"b"], [0, 1, 0, 1])
    for source, start, stop in ([2, 0, 1], [0, 0, 27], [0, 5, 4], [-1, 0, 1], [0, -1, 1]):
        with pytest.raises(ValueError, match="not within its text"):
            Lines(texts, [6, 6], [source], [start], [stop])
