"""The comparison of ``make same`` finds what differs; the digests are compared by ``make same`` alone: two minutes."""

import json
import re

import pytest

import juryrank as jr
from outputs import FORMATS
from same import DIGESTS, differences, digest, normalise
from sessions import COMMANDS, SESSIONS

TABLE = {"a": "1111", "b": "2222", "c": "3333"}


def test_nothing_is_found_where_nothing_differs():
    assert differences(TABLE, dict(reversed(TABLE.items()))) == []


def test_what_changed_is_missing_or_new_is_named():
    assert differences(TABLE, {"a": "1111", "b": "9999", "d": "4444"}) == ["changed: b", "missing: c", "new: d"]


def test_the_last_digits_do_not_matter_and_all_others_do():
    assert digest("0.12345678912 x", "9.9") == digest("0.12345678913 x", "9.9")
    assert digest("0.123456789 x", "9.9") != digest("0.123456788 x", "9.9")
    assert digest("7 of 12", "9.9") != digest("8 of 12", "9.9")
    assert digest("3e-17", "9.9") == digest("-2e-16", "9.9")


@pytest.mark.parametrize("text", ["123456789012345", "q0.12345678912", "d1e5", "1.2.3", "127.0.0.1"])
def test_what_is_no_measured_number_is_compared_as_it_is(text):
    assert normalise(text, "9.9") == text


def test_the_clock_and_the_version_do_not_matter():
    for one, other in [("2026-11-19T20:28:44+00:00", "2027-01-01T00:00:00Z"), ("took 0.12 s", "took 3.40 s")]:
        assert digest(one, "9.9") == digest(other, "9.9")
    assert digest("juryrank 0.1.0", "0.1.0") == digest("juryrank 0.2.0", "0.2.0")


def test_bytes_that_are_no_text_are_compared_as_they_are():
    assert digest(b"\xff\x00", "9.9") != digest(b"\xff\x01", "9.9")


def test_every_method_format_and_command_is_in_the_table():
    names = json.loads(DIGESTS.read_text(encoding="utf-8"))
    assert list(names) == sorted(names)
    assert {f"made: {name}: run" for name in jr.METHODS} <= names.keys()
    assert {f"demo: data as {form}" for form in FORMATS} <= names.keys()
    with pytest.raises(jr.JuryrankError) as error:
        jr.write(jr.from_orders([["a", "b"]]), "nowhere", format="nonsense")
    assert set(FORMATS) == set(str(error.value).partition("known: ")[2].split(", "))
    assert {f"$ juryrank {name} --help" for name in COMMANDS} <= names.keys()
    assert {f"$ juryrank {line}" for line in SESSIONS.strip().splitlines()} <= names.keys()
    assert not [name for name in names if re.search(r"/tmp|:\d{4,5}\b", name)]
