"""Words eight bytes at a time are what they are byte by byte."""

from collections.abc import Iterator

import numpy as np
import pytest
from hypothesis import example, given
from hypothesis import strategies as st

from juryrank.kernels.words import (
    any_line_end,
    hash_word,
    merge_names,
    name_places,
    number_word,
    number_words,
    same_word,
    word_end,
)


@pytest.fixture(autouse=True, scope="module")
def _wrapping_around() -> Iterator[None]:
    """Without Numba, numpy warns of integers that wrap around, as these are meant to."""
    with np.errstate(over="ignore"):
        yield


TEXT = st.binary(max_size=40).map(lambda text: text.replace(b"\0", b"a"))
NAME = st.text("abé-09ÿ", min_size=1, max_size=20).map(str.encode)


def padded(text: bytes) -> np.ndarray:
    return np.frombuffer(bytearray(text + bytes(16)), np.uint8)


@given(TEXT, st.integers(0, 9))
@example(b"\x80\xa0 ", 0)
@example(b"!" * 16 + b" ", 3)
def test_a_word_ends_at_the_first_blank_or_control_character(text: bytes, at: int) -> None:
    text = b"." * at + text + b"\n"
    end = next(i for i in range(at, len(text)) if text[i] <= 32)
    assert word_end(padded(text), at) == hash_word(padded(text), at)[0] == end
    assert any_line_end(padded(text), at) == next(i for i in range(at, len(text)) if text[i] in b"\n\r")


@given(NAME, NAME, st.integers(0, 9), st.integers(0, 9))
def test_words_are_the_same_wherever_they_stand(one: bytes, other: bytes, before: int, gap: int) -> None:
    text = padded(b"x" * before + one + b" " + b"y" * gap + other + b"\n")
    again = before + len(one) + 1 + gap
    ends = (before, before + len(one), again, again + len(other))
    assert same_word(text, *ends[:2], text, *ends[2:]) == (one == other)
    assert (hash_word(text, before)[1] == hash_word(text, again)[1]) == (one == other)


def number_together(listed: list[bytes], book: np.ndarray, names: np.ndarray, count: np.ndarray) -> list[int]:
    text = padded(b"".join(name + b"\n" for name in listed))
    batch, at = np.empty((len(listed), 4), np.int64), 0
    for n in range(len(listed)):
        end, hashed = hash_word(text, at)
        batch[n, :3], at = (hashed, at, end), end + 1
    out = np.empty(len(listed), np.int32)
    table = np.full(1024, -1, np.int32)
    for first in range(0, len(listed), 7):
        part = slice(first, min(first + 7, len(listed)))
        assert number_words(text, batch[part], part.stop - first, table, book, names, count, 0, out[part])
    return out.tolist()


@given(st.lists(NAME, min_size=1, max_size=60), st.lists(NAME, max_size=60))
def test_names_are_numbered_as_they_are_met_and_adopted_by_others(names: list[bytes], others: list[bytes]) -> None:
    books, texts, counts, numbers = [], [], [], []
    for listed in (names, others):
        book, text, count = np.empty((120, 3), np.int64), padded(bytes(8000)), np.zeros(1, np.int64)
        table = np.full(1024, -1, np.int32)
        found = []
        for name in listed:
            word = padded(name + b"\n")
            end, hashed = hash_word(word, 0)
            found.append(number_word(word, 0, end, hashed, table, book, text, count, 0))
        books.append(book), texts.append(text), counts.append(count), numbers.append(found)
        together = [np.empty((120, 3), np.int64), padded(bytes(8000)), np.zeros(1, np.int64)]
        assert number_together(listed, *together) == found
        assert together[1].tobytes() == text.tobytes()
    known = list(dict.fromkeys(names))
    assert numbers[0] == [known.index(name) for name in names]
    out = np.empty(counts[1][0], np.int32)
    merge_names(texts[1], books[1], len(out), books[0], texts[0], counts[0], out)
    known = list(dict.fromkeys(names + others))
    assert [int(out[n]) for n in numbers[1]] == [known.index(name) for name in others]
    size = books[0][len(known) - 1, 2]
    assert texts[0][:size].tobytes().split(b"\n") == known


@given(st.sets(st.one_of(NAME, NAME.map(lambda name: name * 5)), max_size=100))
@example({b"a" * n for n in range(1, 80)} | {bytes([200 - n]) * 9 for n in range(60)})
def test_names_are_put_in_the_order_of_their_bytes(names: set[bytes]) -> None:
    given = list(names)
    ends = np.cumsum([len(name) + 1 for name in given], dtype=np.int64)
    book = np.zeros((len(given), 3), np.int64)
    book[:, 2] = ends - 1
    book[:, 1] = book[:, 2] - [len(name) for name in given]
    text = b"".join(name + b"\n" for name in given)
    place, ordered = np.empty(len(given), np.int32), np.zeros(len(text), np.uint8)
    name_places(padded(text), book, len(given), place, ordered)
    assert ordered.tobytes() == b"".join(name + b"\n" for name in sorted(given))
    assert [sorted(given).index(name) for name in given] == place.tolist()
