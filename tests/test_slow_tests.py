"""The list of slow tests stays true."""

from pathlib import Path

import slow_tests


def test_every_slow_file_exists() -> None:
    root = Path(__file__).parents[1]
    assert [file for file in sorted(slow_tests.FILES) if not (root / file).is_file()] == []


def test_a_test_is_slow_by_its_file_its_method_or_its_data() -> None:
    class Item:
        fixturenames: tuple[str, ...] = ()

        def __init__(self, nodeid: str) -> None:
            self.nodeid = nodeid

    reads = Item("tests/test_x.py::test_a")
    reads.fixturenames = ("shared_data",)
    slow = [reads, Item("tests/test_docs.py::test_a"), Item("tests/methods/test_contract.py::test_a[3-crf]")]
    assert [slow_tests.is_slow(item) for item in slow] == [True] * 3
    quick = ["tests/test_x.py::test_a", "tests/methods/test_contract.py::test_a[rrf]", "tests/test_x.py::test_crf"]
    assert [slow_tests.is_slow(Item(nodeid)) for nodeid in quick] == [False] * 3
