"""A folder is checked file by file, compressed or not."""

import gzip
import hashlib
import re
from pathlib import Path

import pytest

from juryrank.errors import UnknownNameError
from studies.datasets import DataSet, data_set, data_sets
from studies.datasets.verify import verify
from studies.papers import EXPERIMENTS

DIGEST = hashlib.sha256(b"text").hexdigest()


def test_every_state_of_a_file_has_its_word(tmp_path):
    folder = tmp_path / "some"
    folder.mkdir()
    (folder / "plain").write_bytes(b"text")
    (folder / "packed.gz").write_bytes(gzip.compress(b"text"))
    (folder / "changed").write_bytes(b"texts")
    (folder / "cut.gz").write_bytes(gzip.compress(b"text")[:-4])
    (folder / "fake.gz").write_bytes(b"text")
    (folder / "any").write_bytes(b"whatever")
    names = dict.fromkeys(("plain", "packed", "changed", "cut", "fake", "absent"), DIGEST) | {"any": ""}
    assert verify(DataSet("some", "", "", "", (), names, ""), tmp_path) == {
        "plain": "as expected",
        "packed": "as expected",
        "changed": "different",
        "cut": "different",
        "fake": "different",
        "absent": "missing",
        "any": "there, checksum not known",
    }


def test_the_real_data_are_as_expected(shared_data: Path):
    for name in ("MQ2008", "ml-100k", "preflib", "trec2011-crowd"):
        assert set(verify(data_set(name), shared_data).values()) == {"as expected"}


def test_every_set_says_where_it_is_and_what_it_may_be_used_for():
    for each in data_sets().values():
        assert each.home.startswith("https://")
        assert each.licence
        assert each.files
        assert all(re.fullmatch(r"|[0-9a-f]{64}", digest) for digest in each.files.values())
        assert not each.address or all(each.files.values())


def test_what_experiments_need_is_in_the_catalogue():
    for experiment in EXPERIMENTS:
        for need in experiment.needs:
            found = data_set(Path(need).parts[0])
            assert experiment.paper == "ours" or experiment.paper in found.papers


def test_an_unknown_set_is_an_error_with_the_nearest_name():
    with pytest.raises(UnknownNameError, match="did you mean 'ml-100k'"):
        data_set("ml-100")
